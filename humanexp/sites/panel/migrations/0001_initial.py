import django.db.models.deletion
from django.db import migrations, models

import humanexp.sites.panel.keys
import humanexp.sites.panel.states
import humanexp.table_making


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        humanexp.table_making.MakeTables(
            operations=[
                migrations.CreateModel(
                    name="Participant",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "participant_id",
                            models.CharField(default=humanexp.sites.panel.keys.entity_id, max_length=24, unique=True),
                        ),
                        ("name", models.CharField(max_length=60)),
                        ("is_scripted", models.BooleanField(default=False)),
                        ("ip", models.GenericIPAddressField()),
                        ("born_on", models.DateField()),
                        ("sex", models.CharField(max_length=10)),
                        ("ethnicity", models.CharField(max_length=40)),
                        ("country", models.CharField(max_length=40)),
                        ("has_good_vision", models.BooleanField(default=True)),
                    ],
                ),
                migrations.CreateModel(
                    name="Project",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "project_id",
                            models.CharField(default=humanexp.sites.panel.keys.entity_id, max_length=24, unique=True),
                        ),
                        ("title", models.CharField(max_length=200)),
                        ("description", models.TextField(blank=True)),
                    ],
                ),
                migrations.CreateModel(
                    name="Researcher",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "researcher_id",
                            models.CharField(default=humanexp.sites.panel.keys.entity_id, max_length=24, unique=True),
                        ),
                        ("name", models.CharField(max_length=100, unique=True)),
                        (
                            "token",
                            models.CharField(default=humanexp.sites.panel.keys.token, max_length=100, unique=True),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="Subscription",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "subscription_id",
                            models.CharField(default=humanexp.sites.panel.keys.entity_id, max_length=24, unique=True),
                        ),
                        ("event_type", models.CharField(max_length=60)),
                        ("target_url", models.CharField(max_length=2000)),
                        ("is_enabled", models.BooleanField(default=True)),
                        ("confirmation", models.CharField(default=humanexp.sites.panel.keys.token, max_length=100)),
                        ("is_confirmed", models.BooleanField(default=False)),
                    ],
                ),
                migrations.CreateModel(
                    name="Switches",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("advance_seconds", models.FloatField(default=0)),
                        ("rejection_reopens", models.BooleanField(default=False)),
                        ("stop_awaits_review", models.BooleanField(default=False)),
                        ("timed_out_can_be_approved", models.BooleanField(default=False)),
                        ("submission_order", models.CharField(default="as asked", max_length=20)),
                        ("lists_bonuses", models.BooleanField(default=True)),
                        ("least_hourly_cents", models.PositiveIntegerField(default=0)),
                        ("publishing_s", models.FloatField(default=1)),
                        ("processing_s", models.FloatField(default=0)),
                        ("processing_word", models.CharField(default="PROCESSING", max_length=40)),
                        ("approving_s", models.FloatField(default=2)),
                        ("settling_s", models.FloatField(default=240)),
                        ("late_share", models.FloatField(default=0.01)),
                        ("lost_share", models.FloatField(default=0)),
                        ("wallet_s", models.FloatField(default=0)),
                        ("events_doubled", models.BooleanField(default=False)),
                        ("events_shuffled", models.BooleanField(default=False)),
                        ("events_delay_s", models.FloatField(default=0)),
                        ("seed", models.IntegerField(default=0)),
                    ],
                ),
                migrations.CreateModel(
                    name="Study",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "study_id",
                            models.CharField(default=humanexp.sites.panel.keys.entity_id, max_length=24, unique=True),
                        ),
                        ("terms", models.JSONField()),
                        ("reward_cents", models.PositiveIntegerField()),
                        ("places", models.PositiveIntegerField()),
                        (
                            "status",
                            models.CharField(
                                default=humanexp.sites.panel.states.StudyStatus["UNPUBLISHED"], max_length=20
                            ),
                        ),
                        ("next_status", models.CharField(blank=True, max_length=20)),
                        ("due_at", models.DateTimeField(db_index=True, null=True)),
                        ("created_at", models.DateTimeField()),
                        ("published_at", models.DateTimeField(null=True)),
                        (
                            "project",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE, related_name="studies", to="panel.project"
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="Message",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "message_id",
                            models.CharField(default=humanexp.sites.panel.keys.entity_id, max_length=24, unique=True),
                        ),
                        ("body", models.TextField()),
                        ("is_from_participant", models.BooleanField()),
                        ("sent_at", models.DateTimeField(db_index=True)),
                        (
                            "participant",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="messages",
                                to="panel.participant",
                            ),
                        ),
                        (
                            "researcher",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="messages",
                                to="panel.researcher",
                            ),
                        ),
                        (
                            "study",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE, related_name="messages", to="panel.study"
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="BonusPlan",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "plan_id",
                            models.CharField(default=humanexp.sites.panel.keys.entity_id, max_length=24, unique=True),
                        ),
                        ("lines", models.JSONField()),
                        ("times_paid", models.PositiveIntegerField(default=0)),
                        (
                            "study",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="bonus_plans",
                                to="panel.study",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="Submission",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "submission_id",
                            models.CharField(default=humanexp.sites.panel.keys.entity_id, max_length=24, unique=True),
                        ),
                        (
                            "status",
                            models.CharField(
                                default=humanexp.sites.panel.states.SubmissionStatus["RESERVED"], max_length=20
                            ),
                        ),
                        ("next_status", models.CharField(blank=True, max_length=20)),
                        ("due_at", models.DateTimeField(db_index=True, null=True)),
                        ("reserved_at", models.DateTimeField()),
                        ("started_at", models.DateTimeField(null=True)),
                        ("completed_at", models.DateTimeField(null=True)),
                        ("entered_code", models.CharField(max_length=200, null=True)),
                        ("return_requested", models.CharField(max_length=1000, null=True)),
                        ("rejection_category", models.CharField(blank=True, max_length=30)),
                        (
                            "participant",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="submissions",
                                to="panel.participant",
                            ),
                        ),
                        (
                            "study",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="submissions",
                                to="panel.study",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [models.Index(fields=["study", "status"], name="submissions_of_a_study")],
                    },
                ),
                migrations.CreateModel(
                    name="Payment",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("amount_cents", models.PositiveIntegerField()),
                        ("fee_cents", models.PositiveIntegerField()),
                        ("vat_cents", models.PositiveIntegerField()),
                        ("due_at", models.DateTimeField(db_index=True, null=True)),
                        ("paid_at", models.DateTimeField(null=True)),
                        (
                            "plan",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="payments",
                                to="panel.bonusplan",
                            ),
                        ),
                        (
                            "submission",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="payments",
                                to="panel.submission",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                condition=models.Q(("plan", None)),
                                fields=("submission",),
                                name="a_submission_is_rewarded_once",
                            )
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
                        (
                            "event_id",
                            models.CharField(default=humanexp.sites.panel.keys.entity_id, max_length=24, unique=True),
                        ),
                        ("resource_id", models.CharField(max_length=24)),
                        ("payload", models.JSONField()),
                        ("status", models.CharField(default="PENDING", max_length=10)),
                        ("attempts", models.PositiveIntegerField(default=0)),
                        ("happened_at", models.DateTimeField()),
                        ("try_at", models.DateTimeField(db_index=True)),
                        ("changed_at", models.DateTimeField()),
                        (
                            "subscription",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="events",
                                to="panel.subscription",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="Workspace",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "workspace_id",
                            models.CharField(default=humanexp.sites.panel.keys.entity_id, max_length=24, unique=True),
                        ),
                        ("title", models.CharField(max_length=100)),
                        ("currency", models.CharField(default="GBP", max_length=3)),
                        ("is_academic", models.BooleanField(default=True)),
                        ("vat_percent", models.PositiveIntegerField(default=0)),
                        (
                            "researcher",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="workspaces",
                                to="panel.researcher",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="ParticipantGroup",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "group_id",
                            models.CharField(default=humanexp.sites.panel.keys.entity_id, max_length=24, unique=True),
                        ),
                        ("name", models.CharField(max_length=200)),
                        ("description", models.TextField(blank=True)),
                        (
                            "workspace",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE, related_name="groups", to="panel.workspace"
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="HookSecret",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "secret_id",
                            models.CharField(default=humanexp.sites.panel.keys.entity_id, max_length=24, unique=True),
                        ),
                        ("value", models.CharField(default=humanexp.sites.panel.keys.token, max_length=100)),
                        (
                            "workspace",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="hook_secret",
                                to="panel.workspace",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="Deposit",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("amount_cents", models.BigIntegerField()),
                        ("made_at", models.DateTimeField()),
                        (
                            "workspace",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="deposits",
                                to="panel.workspace",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("amount_cents__gt", 0)), name="a_deposit_is_money"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Membership",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("made_at", models.DateTimeField()),
                        (
                            "participant",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="memberships",
                                to="panel.participant",
                            ),
                        ),
                        (
                            "group",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="memberships",
                                to="panel.participantgroup",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [models.UniqueConstraint(fields=("group", "participant"), name="a_member_once")],
                    },
                ),
            ],
        ),
        migrations.AddField(
            model_name="subscription",
            name="workspace",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="subscriptions", to="panel.workspace"
            ),
        ),
        migrations.AddField(
            model_name="project",
            name="workspace",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="projects", to="panel.workspace"
            ),
        ),
    ]
