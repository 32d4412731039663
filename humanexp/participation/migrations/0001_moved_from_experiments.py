"""The tables are those of `experiments`, which keep their names: nothing is sent to the database."""

import django.db.models.deletion
import django.db.models.functions.comparison
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("studies", "0001_moved_from_experiments"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="Participant",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("code", models.CharField(max_length=20)),
                        ("is_scripted", models.BooleanField(default=False)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "db_table": "experiments_participant",
                    },
                ),
                migrations.CreateModel(
                    name="Preview",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("slot", models.PositiveIntegerField()),
                        ("hurry", models.PositiveSmallIntegerField(default=1)),
                        ("cursor", models.PositiveSmallIntegerField(default=0)),
                        ("right", models.PositiveSmallIntegerField(default=0)),
                        ("qualified", models.BooleanField(blank=True, null=True)),
                        ("token_nonce", models.CharField(max_length=32)),
                        ("handoff_nonce", models.CharField(blank=True, max_length=32)),
                        ("lease", models.CharField(blank=True, max_length=64)),
                        ("opened_at", models.DateTimeField()),
                    ],
                    options={
                        "db_table": "experiments_preview",
                    },
                ),
                migrations.CreateModel(
                    name="RefusedCall",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("at", models.DateTimeField()),
                        (
                            "reason",
                            models.CharField(
                                choices=[
                                    ("forged", "forged or damaged token"),
                                    ("expired", "expired token"),
                                    ("revoked", "token that was revoked, or of a session that is gone"),
                                    ("foreign", "token of a session of another study"),
                                    ("replayed", "one-time code used again"),
                                    ("altered", "another answer to an answered trial"),
                                    ("too-fast", "answers faster than pictures are shown"),
                                    ("too-many", "too many calls"),
                                ],
                                max_length=12,
                            ),
                        ),
                        ("call", models.CharField(max_length=40)),
                        ("caller", models.CharField(max_length=20)),
                    ],
                    options={
                        "db_table": "experiments_refusedcall",
                        "ordering": ["-at"],
                    },
                ),
                migrations.CreateModel(
                    name="Response",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("position", models.PositiveSmallIntegerField()),
                        ("response", models.CharField(max_length=40)),
                        ("correct", models.BooleanField(null=True)),
                        ("rt_ms", models.FloatField(blank=True, null=True)),
                        ("clicks", models.JSONField(default=list)),
                        ("timing", models.JSONField(default=dict)),
                        ("timing_ok", models.BooleanField(null=True)),
                        ("timing_rule", models.CharField(blank=True, max_length=20)),
                        ("is_scripted", models.BooleanField(default=False)),
                        ("received_at", models.DateTimeField()),
                    ],
                    options={
                        "db_table": "experiments_response",
                        "ordering": ["position"],
                    },
                ),
                migrations.CreateModel(
                    name="Session",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("code", models.CharField(max_length=20, unique=True)),
                        ("slot", models.PositiveIntegerField()),
                        ("holds_slot", models.BooleanField(default=True)),
                        ("is_verified", models.BooleanField(default=True)),
                        ("confirmed_at", models.DateTimeField(blank=True, null=True)),
                        ("number", models.PositiveSmallIntegerField(default=1)),
                        (
                            "state",
                            models.CharField(
                                choices=[
                                    ("open", "under way"),
                                    ("completed", "all trials answered"),
                                    ("submitted", "submitted"),
                                    ("withdrawn", "withdrawn"),
                                ],
                                default="open",
                                max_length=12,
                            ),
                        ),
                        ("is_scripted", models.BooleanField(default=False)),
                        ("cursor", models.PositiveSmallIntegerField(default=0)),
                        ("total", models.PositiveSmallIntegerField()),
                        ("block_began_at", models.DateTimeField(blank=True, null=True)),
                        ("pictures_fetched", models.TextField(blank=True, null=True)),
                        ("blocks", models.JSONField(default=list)),
                        ("blocks_digest", models.CharField(blank=True, default="", max_length=16)),
                        ("grid_order", models.JSONField(blank=True, default=list)),
                        ("token_nonce", models.CharField(max_length=32)),
                        ("handoff_nonce", models.CharField(blank=True, max_length=32)),
                        ("lease", models.CharField(blank=True, max_length=64)),
                        ("qualified", models.BooleanField(blank=True, null=True)),
                        ("environment", models.JSONField(default=dict)),
                        ("consent_version", models.CharField(blank=True, max_length=40)),
                        ("consented_at", models.DateTimeField(blank=True, null=True)),
                        ("opened_at", models.DateTimeField()),
                        ("completed_at", models.DateTimeField(blank=True, null=True)),
                        ("submitted_at", models.DateTimeField(blank=True, null=True)),
                        ("last_seen_at", models.DateTimeField(blank=True, null=True)),
                        ("active_s", models.FloatField(blank=True, null=True)),
                        ("withdrawn_at", models.DateTimeField(blank=True, null=True)),
                        (
                            "withdrawn_from",
                            models.CharField(
                                blank=True,
                                choices=[
                                    ("open", "under way"),
                                    ("completed", "all trials answered"),
                                    ("submitted", "submitted"),
                                    ("withdrawn", "withdrawn"),
                                ],
                                max_length=12,
                            ),
                        ),
                        ("erase_after", models.DateTimeField(blank=True, null=True)),
                        ("erased_at", models.DateTimeField(blank=True, null=True)),
                    ],
                    options={
                        "db_table": "experiments_session",
                        "ordering": ["pk"],
                    },
                ),
                migrations.CreateModel(
                    name="StudyTally",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("kind", models.CharField(max_length=20)),
                        ("content", models.JSONField()),
                        ("file", models.CharField(blank=True, max_length=300)),
                        ("answers", models.PositiveBigIntegerField()),
                        ("marker", models.CharField(max_length=120)),
                        ("seconds", models.FloatField()),
                        ("made_at", models.DateTimeField()),
                    ],
                    options={
                        "db_table": "experiments_studytally",
                    },
                ),
                migrations.CreateModel(
                    name="Trial",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("position", models.PositiveSmallIntegerField()),
                        ("block", models.PositiveSmallIntegerField()),
                        ("task", models.CharField(max_length=20)),
                        ("role", models.CharField(max_length=24)),
                        ("correct_response", models.CharField(blank=True, max_length=40)),
                        ("mask_seed", models.BigIntegerField()),
                        ("wanted", models.CharField(blank=True, max_length=40)),
                    ],
                    options={
                        "db_table": "experiments_trial",
                        "ordering": ["position"],
                    },
                ),
                migrations.CreateModel(
                    name="DamagedPicture",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("is_missing", models.BooleanField()),
                        ("found_at", models.DateTimeField()),
                        ("mended_at", models.DateTimeField(blank=True, null=True)),
                        (
                            "stimulus",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="stimuli.stimulus"
                            ),
                        ),
                    ],
                    options={
                        "db_table": "experiments_damagedpicture",
                        "ordering": ["pk"],
                    },
                ),
                migrations.AddField(
                    model_name="participant",
                    name="family",
                    field=models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="participants",
                        to="studies.studyfamily",
                    ),
                ),
                migrations.AddField(
                    model_name="preview",
                    name="by",
                    field=models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                migrations.AddField(
                    model_name="preview",
                    name="study",
                    field=models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="previews", to="studies.study"
                    ),
                ),
                migrations.AddField(
                    model_name="session",
                    name="participant",
                    field=models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="sessions",
                        to="participation.participant",
                    ),
                ),
                migrations.AddField(
                    model_name="session",
                    name="study",
                    field=models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="sessions", to="studies.study"
                    ),
                ),
                migrations.AddField(
                    model_name="response",
                    name="session",
                    field=models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="responses",
                        to="participation.session",
                    ),
                ),
                migrations.AddField(
                    model_name="refusedcall",
                    name="session",
                    field=models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="refused_calls",
                        to="participation.session",
                    ),
                ),
                migrations.AddField(
                    model_name="damagedpicture",
                    name="session",
                    field=models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="damaged_pictures",
                        to="participation.session",
                    ),
                ),
                migrations.AddField(
                    model_name="studytally",
                    name="study",
                    field=models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="tallies", to="studies.study"
                    ),
                ),
                migrations.AddField(
                    model_name="trial",
                    name="second_stimulus",
                    field=models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="stimuli.stimulus",
                    ),
                ),
                migrations.AddField(
                    model_name="trial",
                    name="session",
                    field=models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="trials", to="participation.session"
                    ),
                ),
                migrations.AddField(
                    model_name="trial",
                    name="stimulus",
                    field=models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="stimuli.stimulus"
                    ),
                ),
                migrations.AddField(
                    model_name="trial",
                    name="third_stimulus",
                    field=models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="stimuli.stimulus",
                    ),
                ),
                migrations.AddField(
                    model_name="response",
                    name="trial",
                    field=models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="response", to="participation.trial"
                    ),
                ),
                migrations.AddField(
                    model_name="damagedpicture",
                    name="trial",
                    field=models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="participation.trial"
                    ),
                ),
                migrations.AddConstraint(
                    model_name="participant",
                    constraint=models.UniqueConstraint(fields=("family", "code"), name="participant_code_once"),
                ),
                migrations.AddConstraint(
                    model_name="preview",
                    constraint=models.UniqueConstraint(fields=("study", "by"), name="preview_once"),
                ),
                migrations.AddIndex(
                    model_name="session",
                    index=models.Index(
                        fields=["study", "state", "is_verified", "qualified", "holds_slot", "blocks_digest"],
                        name="session_standing",
                    ),
                ),
                migrations.AddIndex(
                    model_name="session",
                    index=models.Index(fields=["study", "opened_at", "state", "is_verified"], name="session_opened"),
                ),
                migrations.AddIndex(
                    model_name="session",
                    index=models.Index(
                        fields=["study", "completed_at", "state", "is_verified"], name="session_completed"
                    ),
                ),
                migrations.AddIndex(
                    model_name="session",
                    index=models.Index(
                        condition=models.Q(("completed_at__isnull", False)),
                        fields=["study", "id", "state", "is_verified", "cursor", "completed_at"],
                        name="session_ended",
                    ),
                ),
                migrations.AddIndex(
                    model_name="session",
                    index=models.Index(
                        condition=models.Q(("completed_at__isnull", False)),
                        fields=["study", "is_verified", "state", "cursor", "completed_at"],
                        name="session_answers",
                    ),
                ),
                migrations.AddIndex(
                    model_name="session",
                    index=models.Index(
                        models.F("study"),
                        models.OrderBy(
                            django.db.models.functions.comparison.Coalesce("last_seen_at", "opened_at"), descending=True
                        ),
                        models.OrderBy(models.F("id"), descending=True),
                        condition=models.Q(("completed_at__isnull", False)),
                        name="session_ended_seen",
                    ),
                ),
                migrations.AddIndex(
                    model_name="session",
                    index=models.Index(
                        condition=models.Q(("completed_at__isnull", False)),
                        fields=["study", "active_s", "state"],
                        name="session_worked",
                    ),
                ),
                migrations.AddConstraint(
                    model_name="session",
                    constraint=models.UniqueConstraint(
                        condition=models.Q(
                            ("holds_slot", True),
                            models.Q(("state", "withdrawn"), _negated=True),
                            models.Q(("qualified", None), ("qualified", True), _connector="OR"),
                        ),
                        fields=("study", "slot"),
                        name="session_slot_held_once",
                    ),
                ),
                migrations.AddConstraint(
                    model_name="session",
                    constraint=models.UniqueConstraint(
                        condition=models.Q(("is_verified", True), models.Q(("state", "withdrawn"), _negated=True)),
                        fields=("participant", "number"),
                        name="session_number_once",
                    ),
                ),
                migrations.AddConstraint(
                    model_name="session",
                    constraint=models.CheckConstraint(
                        condition=models.Q(("cursor__lte", models.F("total"))), name="session_cursor_within_total"
                    ),
                ),
                migrations.AddConstraint(
                    model_name="studytally",
                    constraint=models.UniqueConstraint(fields=("study", "kind"), name="study_tally_once"),
                ),
                migrations.AddConstraint(
                    model_name="trial",
                    constraint=models.UniqueConstraint(fields=("session", "position"), name="trial_position_once"),
                ),
                migrations.AddConstraint(
                    model_name="response",
                    constraint=models.UniqueConstraint(fields=("session", "position"), name="response_position_once"),
                ),
            ]
        )
    ]
