import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import humanexp.table_making


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("participation", "0001_initial"),
        ("studies", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        humanexp.table_making.MakeTables(
            operations=[
                migrations.CreateModel(
                    name="Verdict",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("is_current", models.BooleanField(default=True)),
                        ("accepted", models.BooleanField()),
                        ("reasons", models.JSONField(default=list)),
                        ("flags", models.JSONField(default=list)),
                        ("evidence", models.JSONField(default=list)),
                        ("rule_set", models.CharField(max_length=60)),
                        ("rule_version", models.CharField(max_length=40)),
                        ("written_reason", models.TextField(blank=True)),
                        ("decided_at", models.DateTimeField()),
                        (
                            "decided_by",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "session",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="verdicts",
                                to="participation.session",
                            ),
                        ),
                        (
                            "study",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="studies.study",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["pk"],
                        "indexes": [
                            models.Index(fields=["study", "id"], name="verdict_of_study"),
                            models.Index(
                                condition=models.Q(("is_current", True)),
                                fields=[
                                    "study",
                                    "accepted",
                                    "reasons",
                                    "flags",
                                    "decided_by",
                                    "session",
                                    "id",
                                    "is_current",
                                ],
                                name="verdict_current",
                            ),
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("decided_by", None),
                                    models.Q(("written_reason", ""), _negated=True),
                                    _connector="OR",
                                ),
                                name="verdict_by_a_person_has_a_reason",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("is_current", True)),
                                fields=("session",),
                                name="verdict_current_once",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="WithdrawnGold",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("original", models.CharField(max_length=200)),
                        ("category", models.CharField(max_length=40)),
                        ("shown", models.PositiveIntegerField()),
                        ("right", models.PositiveIntegerField()),
                        ("withdrawn_at", models.DateTimeField()),
                        (
                            "study",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="withdrawn_golds",
                                to="studies.study",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["pk"],
                        "constraints": [
                            models.UniqueConstraint(fields=("study", "original"), name="gold_withdrawn_once")
                        ],
                    },
                ),
            ],
        ),
    ]
