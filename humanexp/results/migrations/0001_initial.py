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
                    name="AnalysisPlan",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("content", models.JSONField()),
                        ("digest", models.CharField(max_length=64)),
                        ("answers_before", models.PositiveIntegerField(default=0)),
                        ("frozen_at", models.DateTimeField()),
                        (
                            "frozen_by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "study",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="analysis_plan",
                                to="studies.study",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="AnalysisRun",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("version", models.CharField(max_length=40)),
                        ("seed", models.BigIntegerField(default=0)),
                        ("data_digest", models.CharField(max_length=64)),
                        ("findings_file", models.CharField(max_length=300)),
                        ("n_bootstrap", models.PositiveIntegerField(default=1000)),
                        ("trials", models.PositiveIntegerField(default=0)),
                        ("selection", models.JSONField(blank=True, default=dict)),
                        ("seconds", models.FloatField(default=0.0)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "created_by",
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
                                related_name="analysis_runs",
                                to="studies.study",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["-pk"],
                        "get_latest_by": "pk",
                    },
                ),
                migrations.CreateModel(
                    name="Report",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("html_file", models.CharField(max_length=300)),
                        ("pdf_file", models.CharField(max_length=300)),
                        ("html_digest", models.CharField(max_length=64)),
                        ("pdf_digest", models.CharField(max_length=64)),
                        ("figures", models.PositiveIntegerField()),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "created_by",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "run",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="reports",
                                to="results.analysisrun",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["-pk"],
                    },
                ),
                migrations.CreateModel(
                    name="TrialImport",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("digest", models.CharField(max_length=64)),
                        ("files", models.JSONField()),
                        ("observers", models.JSONField()),
                        ("kinds", models.JSONField(blank=True, default=dict)),
                        ("trials", models.PositiveIntegerField()),
                        ("trials_file", models.CharField(max_length=300)),
                        ("pictures_file", models.CharField(blank=True, default="", max_length=300)),
                        ("export_file", models.CharField(blank=True, default="", max_length=300)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "created_by",
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
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="trial_import",
                                to="studies.study",
                            ),
                        ),
                    ],
                ),
            ],
        ),
    ]
