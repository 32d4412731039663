import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import humanexp.table_making


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("core", "0001_initial"),
        ("stimuli", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        humanexp.table_making.MakeTables(
            operations=[
                migrations.CreateModel(
                    name="Retraining",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("pictures", models.JSONField(blank=True, default=list)),
                        ("tests", models.JSONField(blank=True, default=list)),
                        ("name", models.CharField(max_length=80)),
                        ("spec", models.CharField(max_length=300)),
                        ("device", models.CharField(default="cpu", max_length=20)),
                        ("labels_file", models.CharField(blank=True, max_length=300)),
                        ("own_labels", models.BooleanField(default=False)),
                        ("corruptions", models.JSONField(blank=True, default=list)),
                        ("recipe", models.JSONField(default=dict)),
                        ("share", models.FloatField(default=0.5)),
                        ("power", models.JSONField(default=dict)),
                        ("people_of", models.CharField(blank=True, max_length=80)),
                        ("out", models.CharField(max_length=300)),
                        ("classifier_digest", models.CharField(blank=True, max_length=64)),
                        ("report", models.JSONField(blank=True, default=dict)),
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
                            "evaluation_set",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="tested_retrainings",
                                to="stimuli.stimulusset",
                            ),
                        ),
                        (
                            "lab",
                            models.ForeignKey(
                                default="lab",
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="core.lab",
                            ),
                        ),
                        (
                            "stimulus_set",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="retrainings",
                                to="stimuli.stimulusset",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["-pk"],
                    },
                ),
                migrations.CreateModel(
                    name="EvaluationRun",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("name", models.CharField(max_length=80)),
                        ("spec", models.CharField(max_length=300)),
                        ("kind", models.CharField(blank=True, max_length=20)),
                        ("device", models.CharField(default="cpu", max_length=20)),
                        ("rule", models.CharField(default="mean", max_length=8)),
                        ("decide", models.CharField(default="among", max_length=8)),
                        ("labels_identity", models.CharField(blank=True, max_length=64)),
                        ("own_labels", models.BooleanField(default=False)),
                        ("labels_file", models.CharField(blank=True, max_length=300)),
                        ("classifier_digest", models.CharField(blank=True, max_length=64)),
                        ("label_space", models.PositiveIntegerField(default=16)),
                        ("preprocessing", models.CharField(blank=True, max_length=300)),
                        ("versions", models.JSONField(blank=True, default=dict)),
                        ("predictions_file", models.CharField(blank=True, max_length=300)),
                        ("predictions_sha256", models.CharField(blank=True, max_length=64)),
                        ("answers_file", models.CharField(blank=True, max_length=300)),
                        ("asking", models.JSONField(blank=True, default=dict)),
                        ("count", models.PositiveIntegerField(default=0)),
                        ("accuracy_clean", models.FloatField(blank=True, null=True)),
                        ("seconds", models.FloatField(blank=True, null=True)),
                        ("energy", models.JSONField(blank=True, default=dict)),
                        ("together", models.CharField(blank=True, max_length=40)),
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
                            "lab",
                            models.ForeignKey(
                                default="lab",
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="core.lab",
                            ),
                        ),
                        (
                            "stimulus_set",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="evaluations",
                                to="stimuli.stimulusset",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["name"],
                        "constraints": [
                            models.UniqueConstraint(fields=("stimulus_set", "name"), name="evaluation_name_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="UploadedModel",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("name", models.CharField(max_length=60)),
                        ("architecture", models.CharField(blank=True, max_length=120)),
                        ("description", models.JSONField(default=dict)),
                        ("waiting_file", models.CharField(blank=True, max_length=300)),
                        ("sha256", models.CharField(max_length=64)),
                        ("size", models.PositiveBigIntegerField()),
                        ("spec", models.CharField(blank=True, max_length=300)),
                        ("refusal", models.TextField(blank=True)),
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
                            "lab",
                            models.ForeignKey(
                                default="lab",
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="core.lab",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["-pk"],
                        "constraints": [
                            models.UniqueConstraint(
                                condition=models.Q(("refusal", "")),
                                fields=("name",),
                                name="uploaded_model_name_once_unless_refused",
                            )
                        ],
                    },
                ),
            ],
        ),
    ]
