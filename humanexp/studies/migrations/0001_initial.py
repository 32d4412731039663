import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import humanexp.table_making


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("stimuli", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        humanexp.table_making.MakeTables(
            operations=[
                migrations.CreateModel(
                    name="Protocol",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("name", models.CharField(max_length=60)),
                        ("configuration", models.JSONField()),
                        ("digest", models.CharField(max_length=64, unique=True)),
                    ],
                    options={
                        "db_table": "experiments_protocol",
                    },
                ),
                migrations.CreateModel(
                    name="StudyFamily",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("slug", models.SlugField(max_length=80, unique=True)),
                    ],
                    options={
                        "verbose_name_plural": "study families",
                        "db_table": "experiments_studyfamily",
                    },
                ),
                migrations.CreateModel(
                    name="Study",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("version", models.PositiveSmallIntegerField(default=1)),
                        ("slug", models.SlugField(max_length=80, unique=True)),
                        ("title", models.CharField(max_length=200)),
                        (
                            "origin",
                            models.CharField(
                                choices=[("collected", "collected here"), ("imported", "imported trials")],
                                default="collected",
                                max_length=10,
                            ),
                        ),
                        (
                            "population",
                            models.CharField(
                                choices=[("people", "people"), ("scripted", "scripted participants")],
                                default="people",
                                max_length=10,
                            ),
                        ),
                        (
                            "state",
                            models.CharField(
                                choices=[
                                    ("draft", "draft"),
                                    ("collecting", "collecting"),
                                    ("paused", "paused"),
                                    ("stopped", "stopped"),
                                ],
                                default="draft",
                                max_length=12,
                            ),
                        ),
                        ("configuration", models.JSONField(default=dict)),
                        ("digest", models.CharField(blank=True, max_length=64)),
                        ("rule_set", models.JSONField(default=dict)),
                        ("seed", models.BigIntegerField(default=0)),
                        ("planned_sessions", models.PositiveIntegerField(default=0)),
                        ("plan_file", models.CharField(blank=True, max_length=300)),
                        ("plan_digest", models.CharField(blank=True, max_length=64)),
                        ("plan_notes", models.JSONField(default=list)),
                        ("labels_document", models.TextField(blank=True, default="")),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("frozen_at", models.DateTimeField(blank=True, null=True)),
                        (
                            "created_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "protocol",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="studies",
                                to="studies.protocol",
                            ),
                        ),
                        (
                            "stimulus_set",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="studies",
                                to="stimuli.stimulusset",
                            ),
                        ),
                        (
                            "family",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="studies",
                                to="studies.studyfamily",
                            ),
                        ),
                    ],
                    options={
                        "verbose_name_plural": "studies",
                        "db_table": "experiments_study",
                        "ordering": ["-created_at"],
                        "constraints": [
                            models.UniqueConstraint(fields=("family", "version"), name="study_version_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="PowerEstimate",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("question", models.JSONField()),
                        ("planned", models.JSONField()),
                        ("plan_digest", models.CharField(max_length=64)),
                        ("found", models.JSONField(default=list)),
                        ("report", models.JSONField(default=dict)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("completed_at", models.DateTimeField(blank=True, null=True)),
                        (
                            "created_by",
                            models.ForeignKey(
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
                                related_name="power_estimates",
                                to="studies.study",
                            ),
                        ),
                    ],
                    options={
                        "db_table": "experiments_powerestimate",
                        "ordering": ["-pk"],
                    },
                ),
                migrations.CreateModel(
                    name="StudyMembership",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "role",
                            models.CharField(
                                choices=[
                                    ("owner", "owner"),
                                    ("researcher", "researcher"),
                                    ("reviewer", "reviewer"),
                                    ("payer", "payer"),
                                    ("viewer", "viewer"),
                                ],
                                max_length=10,
                            ),
                        ),
                        ("since", models.DateTimeField(auto_now_add=True)),
                        (
                            "study",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="memberships",
                                to="studies.study",
                            ),
                        ),
                        (
                            "user",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="study_memberships",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                    options={
                        "db_table": "experiments_studymembership",
                        "ordering": ["pk"],
                        "constraints": [
                            models.UniqueConstraint(fields=("study", "user"), name="study_member_once"),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("role__in", ["owner", "researcher", "reviewer", "payer", "viewer"])
                                ),
                                name="study_member_has_a_role",
                            ),
                        ],
                    },
                ),
            ],
        ),
    ]
