import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import humanexp.table_making


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("studies", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        humanexp.table_making.MakeTables(
            operations=[
                migrations.CreateModel(
                    name="Backup",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("name", models.CharField(max_length=40)),
                        ("place", models.CharField(max_length=500)),
                        ("made_at", models.DateTimeField()),
                        ("verified_at", models.DateTimeField(blank=True, null=True)),
                        ("rows", models.PositiveBigIntegerField()),
                        ("files", models.PositiveBigIntegerField()),
                        ("lost_files", models.PositiveIntegerField(default=0)),
                        ("bytes_new", models.PositiveBigIntegerField()),
                    ],
                    options={
                        "ordering": ["-pk"],
                    },
                ),
                migrations.CreateModel(
                    name="LocalSite",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("kind", models.CharField(max_length=20, unique=True)),
                        ("is_wanted", models.BooleanField(default=False)),
                        ("host", models.CharField(blank=True, max_length=80)),
                        ("pid", models.PositiveIntegerField(default=0)),
                        ("fault", models.CharField(blank=True, max_length=500)),
                        ("at", models.DateTimeField(blank=True, null=True)),
                    ],
                ),
                migrations.CreateModel(
                    name="Preflight",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("to", models.CharField(max_length=12)),
                        ("began_at", models.DateTimeField()),
                        ("ended_at", models.DateTimeField()),
                        ("is_green", models.BooleanField()),
                        ("lines", models.JSONField(default=list)),
                        ("fingerprint", models.CharField(max_length=64)),
                        ("balance_cents", models.BigIntegerField(blank=True, null=True)),
                        (
                            "by",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "study",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="preflights",
                                to="studies.study",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["-pk"],
                        "indexes": [models.Index(fields=["study", "to"], name="console_pre_study_i_ed6e96_idx")],
                    },
                ),
            ],
        ),
    ]
