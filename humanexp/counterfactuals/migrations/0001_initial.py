import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import humanexp.table_making


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("core", "0001_initial"),
        ("stimuli", "0001_initial"),
        ("studies", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        humanexp.table_making.MakeTables(
            operations=[
                migrations.CreateModel(
                    name="SearchGroup",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("key", models.SlugField(max_length=16, unique=True)),
                        ("run_ids", models.JSONField(blank=True, default=list)),
                        ("result", models.JSONField(blank=True, default=dict)),
                        ("computed_at", models.DateTimeField(blank=True, null=True)),
                    ],
                    options={
                        "ordering": ["pk"],
                    },
                ),
                migrations.CreateModel(
                    name="SearchRun",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("name", models.SlugField(max_length=60, unique=True)),
                        ("classifier", models.CharField(max_length=300)),
                        ("generator", models.CharField(max_length=300)),
                        ("oracle", models.CharField(max_length=600)),
                        ("may_run_code", models.BooleanField(default=False)),
                        ("model_name", models.CharField(max_length=80)),
                        ("budget", models.PositiveSmallIntegerField(default=10)),
                        ("batch", models.PositiveSmallIntegerField(default=32)),
                        ("size_px", models.PositiveSmallIntegerField(default=224)),
                        ("seed", models.BigIntegerField(default=0)),
                        ("greyscale", models.BooleanField(default=False)),
                        ("fgsm", models.FloatField(default=0.0)),
                        ("device", models.CharField(default="cpu", max_length=20)),
                        ("answers_per_picture", models.PositiveSmallIntegerField(default=5)),
                        (
                            "population",
                            models.CharField(
                                choices=[("people", "people"), ("scripted", "scripted participants")],
                                default="people",
                                max_length=10,
                            ),
                        ),
                        ("cap_cents", models.PositiveIntegerField(blank=True, null=True)),
                        ("digests", models.JSONField(blank=True, default=dict)),
                        ("scores", models.JSONField(blank=True, default=dict)),
                        ("facts", models.JSONField(blank=True, default=dict)),
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
                            "source_set",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="searches",
                                to="stimuli.sourceset",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["-pk"],
                    },
                ),
                migrations.CreateModel(
                    name="Benchmark",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("name", models.SlugField(max_length=60, unique=True)),
                        ("manifest_sha256", models.CharField(max_length=64)),
                        ("count", models.PositiveIntegerField()),
                        ("frozen_at", models.DateTimeField(auto_now_add=True)),
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
                            "stimulus_set",
                            models.OneToOneField(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="benchmark",
                                to="stimuli.stimulusset",
                            ),
                        ),
                        (
                            "run",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="benchmark",
                                to="counterfactuals.searchrun",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["-pk"],
                    },
                ),
                migrations.CreateModel(
                    name="Round",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("step", models.PositiveSmallIntegerField()),
                        (
                            "state",
                            models.CharField(
                                choices=[("open", "waits for judgements"), ("judged", "judged")],
                                default="open",
                                max_length=10,
                            ),
                        ),
                        ("stimuli", models.JSONField(default=dict)),
                        ("verdicts", models.JSONField(blank=True, default=dict)),
                        ("opened_at", models.DateTimeField(auto_now_add=True)),
                        ("judged_at", models.DateTimeField(blank=True, null=True)),
                        (
                            "study",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="counterfactual_round",
                                to="studies.study",
                            ),
                        ),
                        (
                            "run",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="rounds",
                                to="counterfactuals.searchrun",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["run", "step"],
                        "constraints": [
                            models.UniqueConstraint(fields=("run", "step"), name="round_step_once"),
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("judged_at", None), ("state", "open")),
                                    models.Q(("judged_at__isnull", False), ("state", "judged")),
                                    _connector="OR",
                                ),
                                name="round_judged_at_when_judged",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Counterfactual",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("place", models.PositiveIntegerField()),
                        ("valid", models.BooleanField(null=True)),
                        ("accepted_steps", models.PositiveSmallIntegerField(default=0)),
                        ("ending", models.CharField(blank=True, max_length=10)),
                        ("clean_response", models.CharField(blank=True, max_length=40)),
                        ("clean_loss", models.FloatField(null=True)),
                        ("losses", models.JSONField(default=list)),
                        ("responses", models.JSONField(default=list)),
                        ("oracle_responses", models.JSONField(default=list)),
                        ("sha256", models.CharField(blank=True, max_length=64)),
                        (
                            "source_image",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="stimuli.sourceimage"
                            ),
                        ),
                        (
                            "run",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="counterfactuals",
                                to="counterfactuals.searchrun",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["place"],
                        "constraints": [
                            models.UniqueConstraint(fields=("run", "source_image"), name="counterfactual_once"),
                            models.UniqueConstraint(fields=("run", "place"), name="counterfactual_place_once"),
                        ],
                    },
                ),
            ],
        ),
    ]
