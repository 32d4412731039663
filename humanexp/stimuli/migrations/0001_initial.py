import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import humanexp.table_making


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("core", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        humanexp.table_making.MakeTables(
            operations=[
                migrations.CreateModel(
                    name="LabelSet",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("name", models.SlugField(max_length=80, unique=True)),
                        ("identity", models.CharField(max_length=64)),
                        ("presentation", models.CharField(max_length=64)),
                        ("document", models.TextField()),
                        ("drawings", models.JSONField(blank=True, default=dict)),
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
                        "ordering": ["name"],
                    },
                ),
                migrations.CreateModel(
                    name="SourceSet",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("name", models.SlugField(max_length=80, unique=True)),
                        ("provenance", models.TextField(blank=True)),
                        ("licence", models.CharField(blank=True, max_length=200)),
                        ("frozen_at", models.DateTimeField(blank=True, null=True)),
                        ("gold_classifiers", models.JSONField(blank=True, default=list)),
                        ("import_report", models.JSONField(blank=True, default=dict)),
                        ("set_document", models.TextField(blank=True, default="")),
                        ("set_digest", models.CharField(blank=True, default="", max_length=64)),
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
                            "labels",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="source_sets",
                                to="stimuli.labelset",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["name"],
                    },
                ),
                migrations.CreateModel(
                    name="SourceImage",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("key", models.CharField(max_length=200)),
                        ("category", models.CharField(max_length=40)),
                        ("accepted", models.JSONField(blank=True, default=list)),
                        ("competing", models.CharField(blank=True, max_length=40)),
                        ("factors", models.JSONField(blank=True, default=dict)),
                        ("file", models.CharField(max_length=300)),
                        ("sha256", models.CharField(max_length=64)),
                        ("pixel_sha256", models.CharField(blank=True, max_length=64)),
                        ("width_px", models.PositiveIntegerField(blank=True, null=True)),
                        ("height_px", models.PositiveIntegerField(blank=True, null=True)),
                        ("source_name", models.CharField(blank=True, max_length=300)),
                        ("wnid", models.CharField(blank=True, max_length=9)),
                        ("classifiers_asked", models.PositiveSmallIntegerField(blank=True, null=True)),
                        ("classifiers_agreeing", models.PositiveSmallIntegerField(blank=True, null=True)),
                        ("smallest_probability", models.FloatField(blank=True, null=True)),
                        (
                            "source_set",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="images",
                                to="stimuli.sourceset",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["key"],
                        "indexes": [
                            models.Index(
                                fields=["source_set", "category", "key"], name="stimuli_sou_source__03b2d3_idx"
                            )
                        ],
                        "constraints": [
                            models.UniqueConstraint(fields=("source_set", "key"), name="source_image_key_once"),
                            models.UniqueConstraint(fields=("source_set", "sha256"), name="source_image_content_once"),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="StimulusSet",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("name", models.SlugField(max_length=80, unique=True)),
                        ("corruptions", models.JSONField(default=list)),
                        ("plain_functions", models.JSONField(blank=True, default=list)),
                        ("person_families", models.JSONField(blank=True, default=list)),
                        (
                            "sampling",
                            models.CharField(
                                choices=[
                                    ("even", "evenly over visual change"),
                                    ("uniform", "uniformly over the logarithm of the parameter"),
                                    ("uniform-parameter", "uniformly over the parameter, as published"),
                                    ("imagenet-c-levels", "the five published levels of ImageNet-C"),
                                    ("imported", "imported from elsewhere"),
                                ],
                                default="even",
                                max_length=20,
                            ),
                        ),
                        (
                            "framing",
                            models.CharField(
                                choices=[
                                    ("whole", "shorter side to the size, middle square"),
                                    (
                                        "imagenet",
                                        "shorter side to 256/224 of the size, middle square, as for ImageNet-C",
                                    ),
                                ],
                                default="whole",
                                max_length=10,
                            ),
                        ),
                        ("count_per_corruption", models.PositiveIntegerField()),
                        ("seed", models.BigIntegerField(default=0)),
                        ("size_px", models.PositiveSmallIntegerField(default=224)),
                        ("enlarged", models.PositiveSmallIntegerField(default=1)),
                        ("metric", models.CharField(max_length=40)),
                        ("pilots", models.JSONField(blank=True, default=dict)),
                        ("coverage", models.JSONField(blank=True, default=dict)),
                        ("energy", models.JSONField(blank=True, default=dict)),
                        ("manifest_sha256", models.CharField(blank=True, max_length=64)),
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
                            "cue_conflicts",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="stimuli.sourceset",
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
                                related_name="stimulus_sets",
                                to="stimuli.sourceset",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["name"],
                    },
                ),
                migrations.CreateModel(
                    name="Stimulus",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("key", models.CharField(max_length=60)),
                        ("corruption", models.CharField(max_length=40)),
                        ("corruption_version", models.CharField(max_length=20)),
                        ("parameter", models.FloatField()),
                        ("seed", models.BigIntegerField()),
                        ("target", models.FloatField(blank=True, null=True)),
                        ("visual_change", models.FloatField()),
                        ("evaluations", models.PositiveSmallIntegerField(default=0)),
                        ("reached", models.BooleanField(default=True)),
                        ("reach_low", models.FloatField(blank=True, null=True)),
                        ("reach_high", models.FloatField(blank=True, null=True)),
                        ("sha256", models.CharField(max_length=64)),
                        ("file", models.CharField(max_length=300)),
                        (
                            "source_image",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="stimuli",
                                to="stimuli.sourceimage",
                            ),
                        ),
                        (
                            "stimulus_set",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="stimuli",
                                to="stimuli.stimulusset",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["key"],
                        "indexes": [
                            models.Index(
                                fields=["stimulus_set", "corruption", "visual_change"],
                                name="stimuli_sti_stimulu_8c657b_idx",
                            ),
                            models.Index(
                                fields=["stimulus_set", "source_image", "corruption", "visual_change"],
                                name="stimuli_sti_stimulu_09aae3_idx",
                            ),
                            models.Index(
                                condition=models.Q(("reached", False)),
                                fields=["stimulus_set", "corruption", "visual_change"],
                                name="stimulus_out_of_reach",
                            ),
                        ],
                        "constraints": [
                            models.UniqueConstraint(fields=("stimulus_set", "key"), name="stimulus_key_once"),
                            models.CheckConstraint(
                                condition=models.Q(("visual_change__gte", 0), ("visual_change__lte", 1)),
                                name="stimulus_visual_change_in_unit",
                            ),
                        ],
                    },
                ),
            ],
        ),
    ]
