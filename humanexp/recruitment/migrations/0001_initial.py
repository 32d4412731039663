import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import humanexp.core.clock
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
                    name="AgreedText",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("digest", models.CharField(max_length=64, unique=True)),
                        ("version", models.CharField(max_length=40)),
                        ("language", models.CharField(max_length=35)),
                        ("html", models.TextField()),
                        ("first_agreed_at", models.DateTimeField()),
                    ],
                    options={
                        "ordering": ["pk"],
                    },
                ),
                migrations.CreateModel(
                    name="ApprovalChange",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("is_withdrawn", models.BooleanField(default=False)),
                        ("until", models.DateField(blank=True, null=True)),
                        ("consent", models.CharField(blank=True, default="", max_length=40)),
                        ("changed_at", models.DateTimeField()),
                        (
                            "changed_by",
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
                                related_name="approval_changes",
                                to="studies.study",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["pk"],
                    },
                ),
                migrations.CreateModel(
                    name="Assignment",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("environment", models.CharField(max_length=12)),
                        ("assignment_id", models.CharField(max_length=64)),
                        (
                            "state",
                            models.CharField(
                                choices=[
                                    ("opened", "under way"),
                                    ("returned", "returned"),
                                    ("timed-out", "out of time"),
                                    ("submitted", "submitted"),
                                    ("approved", "approved"),
                                    ("rejected", "rejected"),
                                ],
                                default="opened",
                                max_length=10,
                            ),
                        ),
                        ("resume_name", models.CharField(blank=True, max_length=64)),
                        ("opening_hash", models.CharField(blank=True, max_length=64)),
                        (
                            "evidence",
                            models.CharField(
                                blank=True,
                                choices=[
                                    ("", "not submitted"),
                                    ("receipt", "finished here, and the submission proves it"),
                                    ("session", "finished here"),
                                    ("no-pictures", "finished here, and not one picture was fetched"),
                                    ("unfinished", "submitted before the last trial"),
                                    ("out-of-time", "time ran out before the last round"),
                                    ("half-undone", "time ran out before half of the trials were answered"),
                                    ("other-worker", "the session was opened under another id"),
                                    ("unknown", "no session of ours"),
                                    ("extra", "more sessions than one person may do"),
                                ],
                                default="",
                                max_length=14,
                            ),
                        ),
                        ("cleared_at", models.DateTimeField(blank=True, null=True)),
                        ("opened_at", models.DateTimeField(blank=True, null=True)),
                        ("submitted_at", models.DateTimeField(blank=True, null=True)),
                        ("auto_approves_at", models.DateTimeField(blank=True, null=True)),
                        ("decided_at", models.DateTimeField(blank=True, null=True)),
                        ("rejection_reason", models.TextField(blank=True)),
                        ("paid_by_hand_at", models.DateTimeField(blank=True, null=True)),
                        ("return_due_at", models.DateTimeField(blank=True, null=True)),
                        (
                            "session",
                            models.OneToOneField(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="assignment",
                                to="participation.session",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["pk"],
                    },
                ),
                migrations.CreateModel(
                    name="Call",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "kind",
                            models.CharField(
                                choices=[
                                    ("reward", "reward"),
                                    ("bonus", "bonus"),
                                    ("compensation", "compensation"),
                                    ("reject", "rejection"),
                                    ("create", "publish"),
                                    ("expire", "stop"),
                                    ("extend", "add places"),
                                    ("prolong", "stay open longer"),
                                    ("pause", "pause"),
                                    ("resume", "open again"),
                                    ("grant", "grant"),
                                    ("revoke", "revoke"),
                                    ("return", "request to return"),
                                    ("message", "message"),
                                ],
                                max_length=12,
                            ),
                        ),
                        ("environment", models.CharField(max_length=12)),
                        (
                            "state",
                            models.CharField(
                                choices=[
                                    ("planned", "planned"),
                                    ("sending", "on its way"),
                                    ("confirmed", "confirmed"),
                                    ("refused", "refused"),
                                    ("parked", "waits for a person"),
                                ],
                                default="planned",
                                max_length=10,
                            ),
                        ),
                        ("token", models.CharField(max_length=64, unique=True)),
                        ("created_at", models.DateTimeField(default=humanexp.core.clock.now, editable=False)),
                        ("cause", models.CharField(blank=True, max_length=60)),
                        ("places", models.PositiveIntegerField(default=0)),
                        ("amount_cents", models.PositiveIntegerField(default=0)),
                        ("fee_cents", models.PositiveIntegerField(default=0)),
                        ("tax_cents", models.PositiveIntegerField(default=0)),
                        ("reason", models.TextField(blank=True, max_length=4000)),
                        ("payload", models.JSONField(blank=True, default=dict)),
                        ("first_sent_at", models.DateTimeField(blank=True, null=True)),
                        ("missed_at", models.DateTimeField(blank=True, null=True)),
                        ("attempts", models.PositiveIntegerField(default=0)),
                        ("ask_first", models.BooleanField(default=False)),
                        ("confirmed_at", models.DateTimeField(blank=True, null=True)),
                        ("last_error", models.CharField(blank=True, max_length=500)),
                        ("handle", models.CharField(blank=True, max_length=64)),
                        (
                            "answer",
                            models.CharField(
                                blank=True,
                                choices=[
                                    ("", "no answer"),
                                    ("accepted", "accepted"),
                                    ("unknown", "the answer was lost"),
                                    ("refused", "refused: nothing was paid"),
                                ],
                                default="",
                                max_length=10,
                            ),
                        ),
                        ("evidence_before", models.JSONField(blank=True, null=True)),
                        ("listed_after", models.JSONField(blank=True, null=True)),
                        ("listed_unsent", models.JSONField(blank=True, null=True)),
                        ("look_at", models.DateTimeField(blank=True, null=True)),
                        ("given_up", models.JSONField(blank=True, default=list)),
                        (
                            "assignment",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="calls",
                                to="recruitment.assignment",
                            ),
                        ),
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
                        "ordering": ["pk"],
                    },
                ),
                migrations.CreateModel(
                    name="Payment",
                    fields=[],
                    options={
                        "proxy": True,
                        "indexes": [],
                        "constraints": [],
                    },
                    bases=("recruitment.call",),
                ),
                migrations.CreateModel(
                    name="Campaign",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("environment", models.CharField(max_length=12)),
                        ("entry", models.CharField(max_length=32, unique=True)),
                        (
                            "state",
                            models.CharField(
                                choices=[("live", "recruiting"), ("stopping", "being stopped"), ("stopped", "stopped")],
                                default="live",
                                max_length=10,
                            ),
                        ),
                        ("title", models.CharField(max_length=128)),
                        ("description", models.TextField(max_length=2000)),
                        ("keywords", models.CharField(blank=True, max_length=1000)),
                        ("reward_cents", models.PositiveIntegerField()),
                        ("assignments", models.PositiveIntegerField()),
                        ("assignments_per_hit", models.PositiveIntegerField()),
                        ("estimated_minutes", models.PositiveSmallIntegerField()),
                        ("assignment_duration_s", models.PositiveIntegerField()),
                        ("lifetime_s", models.PositiveIntegerField()),
                        ("auto_approval_s", models.PositiveIntegerField(default=259200)),
                        ("quoted_cents", models.PositiveIntegerField()),
                        ("cap_cents", models.PositiveIntegerField()),
                        ("shared_computers", models.BooleanField(default=False)),
                        ("contact", models.CharField(blank=True, max_length=200)),
                        ("requirements", models.JSONField(blank=True, default=dict)),
                        ("terms", models.JSONField(blank=True, default=dict)),
                        ("turned_away", models.JSONField(blank=True, default=dict)),
                        ("hit_type_id", models.CharField(blank=True, max_length=64)),
                        ("launched_at", models.DateTimeField()),
                        ("stopped_at", models.DateTimeField(blank=True, null=True)),
                        ("synced_at", models.DateTimeField(blank=True, null=True)),
                        (
                            "compared_with",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="promised_by",
                                to="participation.earliercurves",
                            ),
                        ),
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
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="campaigns",
                                to="studies.study",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["-pk"],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("assignments__gte", 1), ("assignments_per_hit__gte", 1)),
                                name="campaign_has_places",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("cap_cents__gte", models.F("quoted_cents"))),
                                name="campaign_cap_covers",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("assignment_duration_s__gte", 30),
                                    ("assignment_duration_s__lte", 31536000),
                                    ("lifetime_s__gte", 30),
                                    ("lifetime_s__lte", 31536000),
                                    ("auto_approval_s__lte", 2592000),
                                ),
                                name="campaign_durations_in_range",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="CampaignHold",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "reason",
                            models.CharField(
                                choices=[
                                    ("wage", "the median hour pays less than the minimum"),
                                    ("wage-again", "the median hour pays less than the minimum after a top-up"),
                                    ("returns", "many people give their places back"),
                                ],
                                max_length=12,
                            ),
                        ),
                        ("measured", models.PositiveIntegerField()),
                        ("limit", models.PositiveIntegerField()),
                        ("people", models.PositiveIntegerField()),
                        ("has_paused", models.BooleanField(default=False)),
                        ("began_at", models.DateTimeField(default=humanexp.core.clock.now)),
                        ("ended_at", models.DateTimeField(blank=True, null=True)),
                        ("seen_at", models.DateTimeField(blank=True, null=True)),
                        (
                            "campaign",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="holds",
                                to="recruitment.campaign",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["pk"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("campaign", "reason"), name="campaign_held_once_for_a_reason"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="CampaignTopUp",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("amount_cents", models.PositiveIntegerField()),
                        ("floor_cents", models.PositiveIntegerField()),
                        ("before_cents", models.PositiveIntegerField()),
                        ("after_cents", models.PositiveIntegerField()),
                        ("total_cents", models.PositiveIntegerField()),
                        ("created_at", models.DateTimeField(default=humanexp.core.clock.now)),
                        (
                            "campaign",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="top_up",
                                to="recruitment.campaign",
                            ),
                        ),
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
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("amount_cents__gt", 0)), name="campaign_top_up_is_money"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="DeletionCode",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("code_hash", models.CharField(max_length=64, unique=True)),
                        ("given_at", models.DateTimeField()),
                        ("used_at", models.DateTimeField(blank=True, null=True)),
                        (
                            "session",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="deletion_codes",
                                to="participation.session",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["pk"],
                    },
                ),
                migrations.CreateModel(
                    name="Exclusion",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("code", models.CharField(max_length=40)),
                        ("note", models.CharField(blank=True, max_length=200)),
                        ("added_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "added_by",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "family",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="exclusions",
                                to="studies.studyfamily",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["pk"],
                        "constraints": [models.UniqueConstraint(fields=("family", "code"), name="exclusion_once")],
                    },
                ),
                migrations.CreateModel(
                    name="Hit",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("number", models.PositiveIntegerField()),
                        ("environment", models.CharField(max_length=12)),
                        ("hit_id", models.CharField(blank=True, max_length=64)),
                        (
                            "state",
                            models.CharField(
                                choices=[
                                    ("planned", "being published"),
                                    ("open", "open"),
                                    ("closed", "closed"),
                                    ("cancelled", "cancelled"),
                                ],
                                default="planned",
                                max_length=10,
                            ),
                        ),
                        ("max_assignments", models.PositiveIntegerField()),
                        ("available", models.PositiveIntegerField(default=0)),
                        ("pending", models.PositiveIntegerField(default=0)),
                        ("completed", models.PositiveIntegerField(default=0)),
                        ("expires_at", models.DateTimeField(blank=True, null=True)),
                        ("synced_at", models.DateTimeField(blank=True, null=True)),
                        ("counts", models.JSONField(blank=True, default=dict)),
                        ("listed_at", models.DateTimeField(blank=True, null=True)),
                        ("places_kept", models.PositiveIntegerField(default=0)),
                        ("kept_until", models.DateTimeField(blank=True, null=True)),
                        ("compared_at", models.DateTimeField(blank=True, null=True)),
                        (
                            "campaign",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="hits",
                                to="recruitment.campaign",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["pk"],
                        "constraints": [
                            models.UniqueConstraint(fields=("campaign", "number"), name="hit_number_once"),
                            models.UniqueConstraint(
                                condition=models.Q(("hit_id", ""), _negated=True),
                                fields=("environment", "hit_id"),
                                name="hit_id_once",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="HookEvent",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("environment", models.CharField(max_length=12)),
                        ("digest", models.CharField(max_length=64)),
                        ("received_at", models.DateTimeField(default=humanexp.core.clock.now)),
                        ("looked_at", models.DateTimeField(blank=True, null=True)),
                        (
                            "campaign",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="recruitment.campaign",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["pk"],
                        "indexes": [
                            models.Index(
                                condition=models.Q(("looked_at", None)),
                                fields=["environment"],
                                name="hook_event_to_look_at",
                            ),
                            models.Index(fields=["received_at"], name="hook_event_by_time"),
                        ],
                        "constraints": [
                            models.UniqueConstraint(fields=("environment", "digest"), name="hook_event_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="PlaceBatch",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("number", models.PositiveIntegerField()),
                        ("places", models.PositiveIntegerField()),
                        ("opened_at", models.DateTimeField(default=humanexp.core.clock.now)),
                        (
                            "campaign",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="batches",
                                to="recruitment.campaign",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["number"],
                        "constraints": [
                            models.UniqueConstraint(fields=("campaign", "number"), name="batch_opened_once"),
                            models.CheckConstraint(
                                condition=models.Q(("number__gt", 0), ("places__gt", 0)), name="batch_has_places"
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="QualificationType",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("environment", models.CharField(max_length=12)),
                        ("name", models.CharField(max_length=120, unique=True)),
                        ("type_id", models.CharField(blank=True, max_length=64)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "family",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="studies.studyfamily"
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["pk"],
                        "constraints": [
                            models.UniqueConstraint(fields=("environment", "family"), name="qualification_type_once")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="RecruitedPerson",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("environment", models.CharField(max_length=12)),
                        ("worker_id", models.CharField(max_length=64)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "family",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="studies.studyfamily"
                            ),
                        ),
                        (
                            "participant",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="recruited_as",
                                to="participation.participant",
                            ),
                        ),
                    ],
                    options={
                        "verbose_name_plural": "recruited people",
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("environment", "worker_id", "family"), name="recruited_person_once"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("worker_id", ""), _negated=True),
                                name="recruited_person_has_worker_id",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="RecruiterAccount",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("environment", models.CharField(max_length=12, unique=True)),
                        ("kind", models.CharField(blank=True, default="", max_length=20)),
                        ("name", models.CharField(blank=True, default="", max_length=80)),
                        ("currency", models.CharField(default="USD", max_length=3)),
                        ("workspace", models.CharField(blank=True, default="", max_length=64)),
                        ("holder", models.CharField(blank=True, max_length=80)),
                        ("until", models.DateTimeField(blank=True, null=True)),
                        ("until_uptime_s", models.FloatField(blank=True, null=True)),
                        ("boot", models.CharField(blank=True, max_length=64)),
                        ("sends", models.PositiveBigIntegerField(default=0)),
                        ("to_compare_since", models.DateTimeField(blank=True, null=True)),
                        (
                            "pause",
                            models.CharField(
                                blank=True,
                                choices=[
                                    ("", "sending"),
                                    ("keys", "the access keys are refused"),
                                    ("hand", "an administrator has paused it"),
                                ],
                                default="",
                                max_length=8,
                            ),
                        ),
                        ("pause_detail", models.CharField(blank=True, max_length=500)),
                        ("month_cap_cents", models.PositiveIntegerField(blank=True, default=0, null=True)),
                        ("is_open", models.BooleanField(default=False)),
                        ("balance_cents", models.BigIntegerField(blank=True, null=True)),
                        ("balance_at", models.DateTimeField(blank=True, null=True)),
                        ("bonus_proved_at", models.DateTimeField(blank=True, null=True)),
                        ("tried_at", models.DateTimeField(blank=True, null=True)),
                        ("fault", models.CharField(blank=True, max_length=500)),
                        (
                            "launchers",
                            models.ManyToManyField(blank=True, related_name="+", to=settings.AUTH_USER_MODEL),
                        ),
                    ],
                    options={
                        "db_table": "recruitment_senderlease",
                    },
                ),
                migrations.CreateModel(
                    name="RejectionProposal",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "state",
                            models.CharField(
                                choices=[
                                    ("waiting", "waits for a second person"),
                                    ("agreed", "agreed"),
                                    ("declined", "declined"),
                                ],
                                default="waiting",
                                max_length=10,
                            ),
                        ),
                        ("reason", models.CharField(max_length=900)),
                        ("evidence", models.TextField(blank=True, max_length=4000)),
                        ("category", models.CharField(blank=True, default="", max_length=24)),
                        ("proposed_at", models.DateTimeField(auto_now_add=True)),
                        ("decided_at", models.DateTimeField(blank=True, null=True)),
                        (
                            "assignment",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="rejection_proposals",
                                to="recruitment.assignment",
                            ),
                        ),
                        (
                            "by",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "decided_by",
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
                        "ordering": ["pk"],
                        "constraints": [
                            models.UniqueConstraint(
                                condition=models.Q(("state", "waiting")),
                                fields=("assignment",),
                                name="rejection_proposed_once_at_a_time",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="ResumeConfirmation",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("request", models.CharField(max_length=32, unique=True)),
                        ("confirmed_at", models.DateTimeField()),
                        ("claimed_at", models.DateTimeField(blank=True, null=True)),
                        (
                            "session",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="participation.session",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["pk"],
                    },
                ),
                migrations.CreateModel(
                    name="ReviewPolicy",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("rejections_need_two", models.BooleanField(default=False)),
                        (
                            "study",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="review_policy",
                                to="studies.study",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="StudyBudget",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("currency", models.CharField(default="USD", max_length=3)),
                        ("cap_cents", models.PositiveIntegerField(blank=True, null=True)),
                        (
                            "study",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE, related_name="budgets", to="studies.study"
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(fields=("study", "currency"), name="budget_once_a_currency")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="WayBack",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "kind",
                            models.CharField(
                                choices=[("release", "release"), ("link", "personal link")], max_length=10
                            ),
                        ),
                        ("made_at", models.DateTimeField()),
                        ("expires_at", models.DateTimeField()),
                        ("used_at", models.DateTimeField(blank=True, null=True)),
                        ("revoked_at", models.DateTimeField(blank=True, null=True)),
                        (
                            "assignment",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="ways_back",
                                to="recruitment.assignment",
                            ),
                        ),
                        (
                            "made_by",
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
                        "verbose_name_plural": "ways back",
                        "ordering": ["-pk"],
                    },
                ),
                migrations.CreateModel(
                    name="Difference",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("environment", models.CharField(max_length=12)),
                        ("key", models.CharField(max_length=120)),
                        (
                            "kind",
                            models.CharField(
                                choices=[
                                    ("not-here", "on their side, not in the ledger"),
                                    ("not-there", "in the ledger, not on their side"),
                                    ("amount", "another amount on their side"),
                                ],
                                max_length=10,
                            ),
                        ),
                        (
                            "paid_as",
                            models.CharField(
                                choices=[("reward", "reward"), ("bonus", "bonus"), ("compensation", "compensation")],
                                max_length=12,
                            ),
                        ),
                        ("listed_as", models.CharField(max_length=64)),
                        ("ours_cents", models.PositiveIntegerField(blank=True, null=True)),
                        ("theirs_cents", models.PositiveIntegerField(blank=True, null=True)),
                        ("their_reason", models.TextField(blank=True)),
                        ("paid_at", models.DateTimeField(blank=True, null=True)),
                        (
                            "state",
                            models.CharField(
                                choices=[
                                    ("open", "open"),
                                    ("equal", "gone"),
                                    ("adopted", "adopted"),
                                    ("explained", "explained"),
                                    ("not-ours", "not ours"),
                                ],
                                default="open",
                                max_length=10,
                            ),
                        ),
                        ("first_seen_at", models.DateTimeField()),
                        ("last_seen_at", models.DateTimeField()),
                        ("resolved_at", models.DateTimeField(blank=True, null=True)),
                        ("note", models.TextField(blank=True, max_length=2000)),
                        (
                            "assignment",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="differences",
                                to="recruitment.assignment",
                            ),
                        ),
                        (
                            "resolved_by",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.SET_NULL,
                                related_name="+",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "hit",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="differences",
                                to="recruitment.hit",
                            ),
                        ),
                        (
                            "payment",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="differences",
                                to="recruitment.payment",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["pk"],
                        "indexes": [models.Index(fields=["state", "hit"], name="recruitment_state_f1028c_idx")],
                        "constraints": [
                            models.UniqueConstraint(fields=("environment", "key"), name="difference_once"),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("ours_cents__isnull", False), ("theirs_cents__isnull", False), _connector="OR"
                                ),
                                name="difference_has_a_side",
                            ),
                        ],
                    },
                ),
            ],
        ),
        migrations.AddField(
            model_name="call",
            name="campaign",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="calls",
                to="recruitment.campaign",
            ),
        ),
        migrations.AddField(
            model_name="assignment",
            name="campaign",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="assignments_taken", to="recruitment.campaign"
            ),
        ),
        migrations.AddField(
            model_name="call",
            name="hit",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="calls",
                to="recruitment.hit",
            ),
        ),
        migrations.AddField(
            model_name="assignment",
            name="hit",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="assignments_taken",
                to="recruitment.hit",
            ),
        ),
        migrations.AddField(
            model_name="call",
            name="qualification",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="calls",
                to="recruitment.qualificationtype",
            ),
        ),
        migrations.AddField(
            model_name="call",
            name="person",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="qualifications",
                to="recruitment.recruitedperson",
            ),
        ),
        migrations.AddIndex(
            model_name="call",
            index=models.Index(fields=["environment", "state"], name="recruitment_environ_45b6a9_idx"),
        ),
        migrations.AddIndex(
            model_name="call",
            index=models.Index(
                fields=[
                    "campaign",
                    "kind",
                    "state",
                    "environment",
                    "amount_cents",
                    "fee_cents",
                    "tax_cents",
                    "created_at",
                ],
                name="call_of_campaign",
            ),
        ),
        migrations.AddIndex(
            model_name="call",
            index=models.Index(fields=["environment", "kind", "created_at"], name="call_by_month"),
        ),
        migrations.AddIndex(
            model_name="call",
            index=models.Index(
                condition=models.Q(("look_at__isnull", False)), fields=["look_at"], name="call_to_look_at"
            ),
        ),
        migrations.AddConstraint(
            model_name="call",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "kind__in",
                        [
                            "reward",
                            "bonus",
                            "compensation",
                            "reject",
                            "create",
                            "expire",
                            "extend",
                            "prolong",
                            "pause",
                            "resume",
                            "grant",
                            "revoke",
                            "return",
                            "message",
                        ],
                    )
                ),
                name="call_kind_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="call",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["planned", "sending", "confirmed", "refused", "parked"])),
                name="call_state_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="call",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("assignment__isnull", False),
                        ("campaign__isnull", False),
                        ("kind__in", ["reward", "bonus", "compensation", "reject", "return", "message"]),
                    ),
                    models.Q(
                        ("campaign__isnull", False),
                        ("hit__isnull", False),
                        ("kind__in", ("create", "expire", "extend", "prolong", "pause", "resume")),
                    ),
                    models.Q(("kind__in", ("grant", "revoke")), ("qualification__isnull", False)),
                    _connector="OR",
                ),
                name="call_is_about_something",
            ),
        ),
        migrations.AddConstraint(
            model_name="call",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind__in", ("bonus", "compensation")), _negated=True),
                    ("amount_cents__gt", 0),
                    _connector="OR",
                ),
                name="bonus_is_money",
            ),
        ),
        migrations.AddConstraint(
            model_name="call",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind", "reject"), _negated=True),
                    models.Q(("reason", ""), _negated=True),
                    _connector="OR",
                ),
                name="rejection_has_a_reason",
            ),
        ),
        migrations.AddConstraint(
            model_name="call",
            constraint=models.UniqueConstraint(
                condition=models.Q(("kind__in", ["reward", "bonus", "compensation", "reject", "return"])),
                fields=("environment", "kind", "assignment", "cause"),
                name="call_once_for_a_cause",
            ),
        ),
        migrations.AddConstraint(
            model_name="call",
            constraint=models.UniqueConstraint(
                condition=models.Q(("kind__in", ["create", "expire"])),
                fields=("hit", "kind"),
                name="call_once_for_an_offer",
            ),
        ),
        migrations.AddConstraint(
            model_name="call",
            constraint=models.UniqueConstraint(
                condition=models.Q(("kind__in", ("grant", "revoke")), ("state__in", ("planned", "sending"))),
                fields=("qualification", "person", "kind"),
                name="call_once_at_a_time_for_a_mark",
            ),
        ),
        migrations.AddConstraint(
            model_name="call",
            constraint=models.UniqueConstraint(
                condition=models.Q(("look_at__isnull", False)), fields=("assignment",), name="call_unproved_once"
            ),
        ),
        migrations.AddField(
            model_name="assignment",
            name="person",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="assignments",
                to="recruitment.recruitedperson",
            ),
        ),
        migrations.AddIndex(
            model_name="assignment",
            index=models.Index(
                fields=["campaign", "state", "hit", "environment", "assignment_id"], name="assignment_standing"
            ),
        ),
        migrations.AddIndex(
            model_name="assignment",
            index=models.Index(
                condition=models.Q(("person", None), ("session", None), _connector="OR"),
                fields=["campaign", "state", "session", "person"],
                name="assignment_lacking",
            ),
        ),
        migrations.AddIndex(
            model_name="assignment",
            index=models.Index(
                fields=["campaign", "state", "evidence", "cleared_at", "environment"], name="assignment_evidence"
            ),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.UniqueConstraint(
                fields=("environment", "assignment_id", "person"), name="assignment_person_once"
            ),
        ),
    ]
