import django.db.models.deletion
import django.db.models.functions.comparison
from django.conf import settings
from django.db import migrations, models

import humanexp.table_making


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("stimuli", "0001_initial"),
        ("studies", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        humanexp.table_making.MakeTables(
            operations=[
                migrations.CreateModel(
                    name="EarlierCurves",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("digest", models.CharField(max_length=64, unique=True)),
                        ("content", models.JSONField()),
                        ("frozen_at", models.DateTimeField()),
                    ],
                ),
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
                        (
                            "family",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="participants",
                                to="studies.studyfamily",
                            ),
                        ),
                    ],
                    options={
                        "db_table": "experiments_participant",
                        "constraints": [
                            models.UniqueConstraint(fields=("family", "code"), name="participant_code_once")
                        ],
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
                        ("practised", models.BooleanField(blank=True, null=True)),
                        ("token_nonce", models.CharField(max_length=32)),
                        ("handoff_nonce", models.CharField(blank=True, max_length=32)),
                        ("lease", models.CharField(blank=True, max_length=64)),
                        ("opened_at", models.DateTimeField()),
                        (
                            "by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "study",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE, related_name="previews", to="studies.study"
                            ),
                        ),
                    ],
                    options={
                        "db_table": "experiments_preview",
                        "constraints": [models.UniqueConstraint(fields=("study", "by"), name="preview_once")],
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
                        ("recruiter", models.CharField(blank=True, default="", max_length=20)),
                        ("seen_before", models.BooleanField(default=False)),
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
                        ("slow_down_at", models.PositiveSmallIntegerField(blank=True, null=True)),
                        ("blocks", models.JSONField(default=list)),
                        ("blocks_digest", models.CharField(blank=True, default="", max_length=16)),
                        ("grid_order", models.JSONField(blank=True, default=list)),
                        ("token_nonce", models.CharField(max_length=32)),
                        ("handoff_nonce", models.CharField(blank=True, max_length=32)),
                        ("lease", models.CharField(blank=True, max_length=64)),
                        ("qualified", models.BooleanField(blank=True, null=True)),
                        ("practised", models.BooleanField(blank=True, null=True)),
                        ("environment", models.JSONField(default=dict)),
                        ("consent_version", models.CharField(blank=True, max_length=40)),
                        ("consent_digest", models.CharField(blank=True, default="", max_length=64)),
                        ("language", models.CharField(blank=True, default="", max_length=35)),
                        ("catalogue", models.CharField(blank=True, default="", max_length=64)),
                        ("guardian_agreed", models.BooleanField(default=False)),
                        ("consented_at", models.DateTimeField(blank=True, null=True)),
                        ("opened_at", models.DateTimeField()),
                        ("due_at", models.DateTimeField(blank=True, null=True)),
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
                        ("left_at", models.DateTimeField(blank=True, null=True)),
                        ("out_of_time", models.BooleanField(default=False)),
                        ("erase_after", models.DateTimeField(blank=True, null=True)),
                        ("erased_at", models.DateTimeField(blank=True, null=True)),
                        (
                            "participant",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="sessions",
                                to="participation.participant",
                            ),
                        ),
                        (
                            "rival_of",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="rivals",
                                to="participation.session",
                            ),
                        ),
                        (
                            "study",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT, related_name="sessions", to="studies.study"
                            ),
                        ),
                    ],
                    options={
                        "db_table": "experiments_session",
                        "ordering": ["pk"],
                        "indexes": [
                            models.Index(
                                fields=["study", "state", "is_verified", "qualified", "holds_slot", "blocks_digest"],
                                name="session_standing",
                            ),
                            models.Index(fields=["study", "opened_at", "state", "is_verified"], name="session_opened"),
                            models.Index(
                                fields=["study", "completed_at", "state", "is_verified"], name="session_completed"
                            ),
                            models.Index(
                                condition=models.Q(("completed_at__isnull", False)),
                                fields=["study", "id", "state", "is_verified", "cursor", "completed_at"],
                                name="session_ended",
                            ),
                            models.Index(
                                condition=models.Q(("completed_at__isnull", False)),
                                fields=["study", "is_verified", "state", "cursor", "completed_at"],
                                name="session_answers",
                            ),
                            models.Index(
                                models.F("study"),
                                models.OrderBy(
                                    django.db.models.functions.comparison.Coalesce("last_seen_at", "opened_at"),
                                    descending=True,
                                ),
                                models.OrderBy(models.F("id"), descending=True),
                                condition=models.Q(("completed_at__isnull", False)),
                                name="session_ended_seen",
                            ),
                            models.Index(
                                condition=models.Q(("completed_at__isnull", False)),
                                fields=["study", "active_s", "state"],
                                name="session_worked",
                            ),
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                condition=models.Q(
                                    ("holds_slot", True),
                                    models.Q(("state", "withdrawn"), _negated=True),
                                    models.Q(("qualified", None), ("qualified", True), _connector="OR"),
                                ),
                                fields=("study", "slot"),
                                name="session_slot_held_once",
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(
                                    ("is_verified", True), models.Q(("state", "withdrawn"), _negated=True)
                                ),
                                fields=("participant", "number"),
                                name="session_number_once",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("cursor__lte", models.F("total"))),
                                name="session_cursor_within_total",
                            ),
                        ],
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
                        (
                            "session",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="refused_calls",
                                to="participation.session",
                            ),
                        ),
                    ],
                    options={
                        "db_table": "experiments_refusedcall",
                        "ordering": ["-at"],
                    },
                ),
                migrations.CreateModel(
                    name="OwnCurve",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("card_key", models.CharField(blank=True, max_length=43, null=True, unique=True)),
                        ("card_made_at", models.DateTimeField(blank=True, null=True)),
                        (
                            "compared_with",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="own_curves",
                                to="participation.earliercurves",
                            ),
                        ),
                        (
                            "session",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="own_curve",
                                to="participation.session",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="ClosingAnswers",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "went_wrong",
                            models.CharField(
                                blank=True,
                                choices=[("no", "nothing went wrong"), ("yes", "something went wrong")],
                                max_length=8,
                            ),
                        ),
                        ("problem", models.TextField(blank=True)),
                        ("comment", models.TextField(blank=True)),
                        (
                            "device",
                            models.CharField(
                                blank=True,
                                choices=[
                                    ("desktop", "desktop computer"),
                                    ("laptop", "laptop"),
                                    ("phone", "phone or tablet"),
                                    ("other", "something else"),
                                ],
                                max_length=12,
                            ),
                        ),
                        ("given_at", models.DateTimeField()),
                        ("problem_cleared_at", models.DateTimeField(blank=True, null=True)),
                        ("comment_cleared_at", models.DateTimeField(blank=True, null=True)),
                        (
                            "session",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="closing_answers",
                                to="participation.session",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["pk"],
                    },
                ),
                migrations.CreateModel(
                    name="SetUp",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("items", models.JSONField(default=dict)),
                        ("answer_window_ms", models.PositiveIntegerField(blank=True, null=True)),
                        ("stored_at", models.DateTimeField()),
                        (
                            "session",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="set_up",
                                to="participation.session",
                            ),
                        ),
                    ],
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
                        (
                            "study",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE, related_name="tallies", to="studies.study"
                            ),
                        ),
                    ],
                    options={
                        "db_table": "experiments_studytally",
                        "constraints": [models.UniqueConstraint(fields=("study", "kind"), name="study_tally_once")],
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
                        ("options", models.JSONField(blank=True, default=list)),
                        (
                            "second_stimulus",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="stimuli.stimulus",
                            ),
                        ),
                        (
                            "session",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="trials",
                                to="participation.session",
                            ),
                        ),
                        (
                            "stimulus",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="stimuli.stimulus"
                            ),
                        ),
                        (
                            "third_stimulus",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="stimuli.stimulus",
                            ),
                        ),
                    ],
                    options={
                        "db_table": "experiments_trial",
                        "ordering": ["position"],
                        "constraints": [
                            models.UniqueConstraint(fields=("session", "position"), name="trial_position_once")
                        ],
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
                        ("set_aside", models.BooleanField(null=True)),
                        ("input_kind", models.CharField(blank=True, default="", max_length=8)),
                        ("is_scripted", models.BooleanField(default=False)),
                        ("received_at", models.DateTimeField()),
                        (
                            "session",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="responses",
                                to="participation.session",
                            ),
                        ),
                        (
                            "trial",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="response",
                                to="participation.trial",
                            ),
                        ),
                    ],
                    options={
                        "db_table": "experiments_response",
                        "ordering": ["position"],
                        "constraints": [
                            models.UniqueConstraint(fields=("session", "position"), name="response_position_once")
                        ],
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
                        (
                            "session",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="damaged_pictures",
                                to="participation.session",
                            ),
                        ),
                        (
                            "trial",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="participation.trial"
                            ),
                        ),
                    ],
                    options={
                        "db_table": "experiments_damagedpicture",
                        "ordering": ["pk"],
                    },
                ),
            ],
        ),
    ]
