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
                    name="Observation",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("name", models.CharField(max_length=40, unique=True)),
                        ("at", models.DateTimeField()),
                        ("seen", models.JSONField(default=dict)),
                    ],
                ),
                migrations.CreateModel(
                    name="Address",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "way",
                            models.CharField(
                                choices=[("email", "e-mail"), ("webhook", "webhook"), ("slack", "Slack or compatible")],
                                max_length=8,
                            ),
                        ),
                        ("target", models.CharField(blank=True, max_length=500)),
                        ("secret", models.CharField(blank=True, max_length=64)),
                        (
                            "pace",
                            models.CharField(
                                choices=[("now", "at once"), ("hourly", "once an hour"), ("daily", "once a day")],
                                default="now",
                                max_length=8,
                            ),
                        ),
                        ("of_all_studies", models.BooleanField(default=False)),
                        ("created_at", models.DateTimeField()),
                        ("sent_at", models.DateTimeField(blank=True, null=True)),
                        ("failures", models.PositiveIntegerField(default=0)),
                        ("last_error", models.CharField(blank=True, max_length=300)),
                        ("last_error_at", models.DateTimeField(blank=True, null=True)),
                        ("try_after", models.DateTimeField(blank=True, null=True)),
                        ("lease_until", models.DateTimeField(blank=True, null=True)),
                        (
                            "user",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="notice_addresses",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["pk"],
                        "constraints": [
                            models.UniqueConstraint(fields=("user", "way", "target"), name="notice_address_once"),
                            models.UniqueConstraint(
                                condition=models.Q(("user", None)),
                                fields=("way", "target"),
                                name="notice_address_here_once",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Event",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("name", models.CharField(max_length=40)),
                        ("about", models.CharField(blank=True, max_length=80)),
                        ("text", models.CharField(max_length=300)),
                        ("tone", models.CharField(max_length=8)),
                        ("path", models.CharField(max_length=300)),
                        ("button", models.CharField(max_length=80)),
                        ("actions", models.JSONField(default=list)),
                        ("studies", models.JSONField(default=list)),
                        ("opened_at", models.DateTimeField()),
                        ("resolved_at", models.DateTimeField(blank=True, null=True)),
                        (
                            "study",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="studies.study",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["pk"],
                        "indexes": [models.Index(fields=["resolved_at"], name="event_resolved")],
                        "constraints": [
                            models.UniqueConstraint(
                                condition=models.Q(("resolved_at", None), ("study__isnull", False)),
                                fields=("name", "study", "about"),
                                name="event_of_a_study_open_once",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("resolved_at", None), ("study", None)),
                                fields=("name", "about"),
                                name="event_of_no_study_open_once",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Mute",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("name", models.CharField(blank=True, max_length=40)),
                        ("until", models.DateTimeField()),
                        (
                            "study",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="studies.study",
                            ),
                        ),
                        (
                            "user",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["until"],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("study__isnull", False), models.Q(("name", ""), _negated=True), _connector="OR"
                                ),
                                name="mute_names_something",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Notice",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "change",
                            models.CharField(
                                choices=[("opened", "needs you"), ("resolved", "is resolved")], max_length=8
                            ),
                        ),
                        ("due_at", models.DateTimeField()),
                        ("batch", models.CharField(blank=True, max_length=32)),
                        ("attempts", models.PositiveIntegerField(default=0)),
                        ("sent_at", models.DateTimeField(blank=True, null=True)),
                        (
                            "address",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="notices",
                                to="notices.address",
                            ),
                        ),
                        (
                            "event",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE, related_name="notices", to="notices.event"
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["pk"],
                        "indexes": [
                            models.Index(
                                condition=models.Q(("sent_at", None)), fields=["address"], name="notice_unsent"
                            )
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("event", "address", "change"), name="event_told_once_to_an_address"
                            )
                        ],
                    },
                ),
            ],
        ),
    ]
