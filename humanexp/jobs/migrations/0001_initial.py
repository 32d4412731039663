import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import humanexp.table_making


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        humanexp.table_making.MakeTables(
            operations=[
                migrations.CreateModel(
                    name="Runner",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("name", models.CharField(max_length=80, unique=True)),
                        ("started_at", models.DateTimeField()),
                        ("beat_at", models.DateTimeField()),
                        ("prompt_at", models.DateTimeField(blank=True, null=True)),
                        ("long_at", models.DateTimeField(blank=True, null=True)),
                    ],
                    options={
                        "ordering": ["name"],
                    },
                ),
                migrations.CreateModel(
                    name="Job",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("kind", models.CharField(max_length=80)),
                        ("subject", models.CharField(blank=True, db_index=True, max_length=120)),
                        ("parameters", models.JSONField(default=dict)),
                        (
                            "state",
                            models.CharField(
                                choices=[
                                    ("queued", "waiting"),
                                    ("running", "running"),
                                    ("done", "done"),
                                    ("failed", "failed"),
                                    ("cancelled", "cancelled"),
                                ],
                                default="queued",
                                max_length=12,
                            ),
                        ),
                        ("done", models.PositiveIntegerField(default=0)),
                        ("total", models.PositiveIntegerField(default=0)),
                        ("rate", models.FloatField(blank=True, null=True)),
                        ("message", models.CharField(blank=True, max_length=300)),
                        ("error", models.TextField(blank=True)),
                        ("result", models.JSONField(default=dict)),
                        ("attempt", models.PositiveSmallIntegerField(default=0)),
                        ("max_attempts", models.PositiveSmallIntegerField(default=3)),
                        ("cancel_requested", models.BooleanField(default=False)),
                        ("run_after", models.DateTimeField(blank=True, null=True)),
                        ("runner", models.CharField(blank=True, max_length=80)),
                        ("lease_until", models.DateTimeField(blank=True, null=True)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("started_at", models.DateTimeField(blank=True, null=True)),
                        ("finished_at", models.DateTimeField(blank=True, null=True)),
                        ("request_id", models.CharField(blank=True, default="", max_length=64)),
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
                    ],
                    options={
                        "ordering": ["-pk"],
                        "indexes": [models.Index(fields=["state", "run_after"], name="jobs_job_state_8034c1_idx")],
                        "constraints": [
                            models.UniqueConstraint(
                                condition=models.Q(("state__in", ["queued", "running"]), ("subject", "periodic")),
                                fields=("kind",),
                                name="one_unfinished_periodic_job_of_a_kind",
                            )
                        ],
                    },
                ),
            ],
        ),
    ]
