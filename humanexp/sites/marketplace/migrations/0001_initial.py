import django.contrib.auth.validators
import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import humanexp.sites.marketplace.keys
import humanexp.table_making


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        humanexp.table_making.MakeTables(
            operations=[
                migrations.CreateModel(
                    name="Account",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("password", models.CharField(max_length=128, verbose_name="password")),
                        ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                        (
                            "username",
                            models.CharField(
                                error_messages={"unique": "This user name is taken."},
                                max_length=150,
                                unique=True,
                                validators=[django.contrib.auth.validators.UnicodeUsernameValidator()],
                            ),
                        ),
                        ("is_active", models.BooleanField(default=True)),
                        ("is_clerk", models.BooleanField(default=False)),
                        ("joined_at", models.DateTimeField()),
                    ],
                    options={
                        "abstract": False,
                    },
                ),
                migrations.CreateModel(
                    name="ClockOffset",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("advance_seconds", models.FloatField(default=0)),
                    ],
                ),
                migrations.CreateModel(
                    name="HIT",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "hit_id",
                            models.CharField(
                                default=humanexp.sites.marketplace.keys.entity_id,
                                editable=False,
                                max_length=64,
                                unique=True,
                            ),
                        ),
                        ("question", models.TextField()),
                        ("external_url", models.TextField(blank=True)),
                        ("frame_height_px", models.PositiveIntegerField()),
                        ("max_assignments", models.PositiveIntegerField()),
                        ("annotation", models.CharField(blank=True, max_length=255)),
                        ("fee_cents", models.BigIntegerField()),
                        ("is_reviewing", models.BooleanField(default=False)),
                        ("created_at", models.DateTimeField()),
                        ("expires_at", models.DateTimeField(db_index=True)),
                        ("disposed_at", models.DateTimeField(null=True)),
                        ("extended_at", models.DateTimeField(null=True)),
                    ],
                ),
                migrations.CreateModel(
                    name="HITType",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "hit_type_id",
                            models.CharField(
                                default=humanexp.sites.marketplace.keys.entity_id,
                                editable=False,
                                max_length=64,
                                unique=True,
                            ),
                        ),
                        (
                            "group_id",
                            models.CharField(
                                default=humanexp.sites.marketplace.keys.entity_id,
                                editable=False,
                                max_length=64,
                                unique=True,
                            ),
                        ),
                        ("title", models.CharField(max_length=128)),
                        ("description", models.TextField()),
                        ("keywords", models.TextField(blank=True)),
                        ("reward_cents", models.BigIntegerField()),
                        ("assignment_duration_seconds", models.BigIntegerField()),
                        ("auto_approval_delay_seconds", models.BigIntegerField()),
                        ("requirements", models.JSONField(default=list)),
                        ("digest", models.CharField(max_length=64)),
                        ("created_at", models.DateTimeField()),
                    ],
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
                        (
                            "assignment_id",
                            models.CharField(
                                default=humanexp.sites.marketplace.keys.entity_id,
                                editable=False,
                                max_length=64,
                                unique=True,
                            ),
                        ),
                        ("reward_cents", models.BigIntegerField()),
                        ("fee_cents", models.BigIntegerField()),
                        ("accepted_at", models.DateTimeField()),
                        ("deadline_at", models.DateTimeField()),
                        ("returned_at", models.DateTimeField(null=True)),
                        ("abandoned_at", models.DateTimeField(null=True)),
                        ("submitted_at", models.DateTimeField(null=True)),
                        ("auto_approves_at", models.DateTimeField(null=True)),
                        ("approved_at", models.DateTimeField(null=True)),
                        ("rejected_at", models.DateTimeField(null=True)),
                        ("answer", models.TextField(blank=True)),
                        ("requester_feedback", models.TextField(blank=True)),
                        (
                            "hit",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="assignments",
                                to="marketplace.hit",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="NotificationSpecification",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("destination", models.TextField()),
                        ("transport", models.CharField(choices=[("SQS", "Sqs"), ("SNS", "Sns")], max_length=3)),
                        ("version", models.CharField(max_length=10)),
                        ("event_types", models.JSONField(default=list)),
                        ("is_active", models.BooleanField(default=True)),
                        ("watched_until", models.DateTimeField()),
                        (
                            "hit_type",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="notification",
                                to="marketplace.hittype",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="Requester",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("name", models.CharField(max_length=100, unique=True)),
                        (
                            "account",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="requester",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
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
                        (
                            "qualification_type_id",
                            models.CharField(
                                default=humanexp.sites.marketplace.keys.entity_id,
                                editable=False,
                                max_length=64,
                                unique=True,
                            ),
                        ),
                        ("name", models.CharField(max_length=200)),
                        ("description", models.TextField()),
                        ("keywords", models.TextField(blank=True)),
                        (
                            "status",
                            models.CharField(choices=[("Active", "Active"), ("Inactive", "Inactive")], max_length=8),
                        ),
                        ("retry_delay_seconds", models.BigIntegerField(null=True)),
                        ("is_auto_granted", models.BooleanField(default=False)),
                        ("auto_granted_value", models.IntegerField(null=True)),
                        ("test", models.TextField(blank=True)),
                        ("answer_key", models.TextField(blank=True)),
                        ("test_duration_seconds", models.BigIntegerField(null=True)),
                        ("created_at", models.DateTimeField()),
                        ("disposed_at", models.DateTimeField(null=True)),
                        (
                            "requester",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="qualification_types",
                                to="marketplace.requester",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                condition=models.Q(("disposed_at", None)),
                                fields=("requester", "name"),
                                name="qualification_type_name_is_unique",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(
                                    ("test", ""),
                                    models.Q(("is_auto_granted", False), ("test_duration_seconds__isnull", False)),
                                    _connector="OR",
                                ),
                                name="a_test_has_a_duration_and_is_taken",
                            ),
                        ],
                    },
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
                            "requester",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="deposits",
                                to="marketplace.requester",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("amount_cents__gte", 0)), name="deposit_is_not_negative"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="RequesterKey",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "access_key_id",
                            models.CharField(
                                default=humanexp.sites.marketplace.keys.access_key_id,
                                editable=False,
                                max_length=32,
                                unique=True,
                            ),
                        ),
                        (
                            "secret_access_key",
                            models.CharField(
                                default=humanexp.sites.marketplace.keys.secret_access_key, editable=False, max_length=64
                            ),
                        ),
                        ("is_active", models.BooleanField(default=True)),
                        ("created_at", models.DateTimeField()),
                        (
                            "requester",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="keys",
                                to="marketplace.requester",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="RequestToken",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("operation", models.CharField(max_length=64)),
                        ("token", models.CharField(max_length=128)),
                        ("used_at", models.DateTimeField()),
                        ("made", models.CharField(blank=True, max_length=64)),
                        (
                            "requester",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="request_tokens",
                                to="marketplace.requester",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("requester", "operation", "token"), name="a_token_is_used_once"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="UploadedFile",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("question_identifier", models.CharField(max_length=255)),
                        (
                            "key",
                            models.CharField(
                                default=humanexp.sites.marketplace.keys.entity_id,
                                editable=False,
                                max_length=64,
                                unique=True,
                            ),
                        ),
                        ("name", models.CharField(max_length=255)),
                        ("content", models.BinaryField()),
                        (
                            "assignment",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="files",
                                to="marketplace.assignment",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("assignment", "question_identifier"), name="one_file_per_question"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Worker",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "worker_id",
                            models.CharField(
                                default=humanexp.sites.marketplace.keys.worker_id,
                                editable=False,
                                max_length=64,
                                unique=True,
                            ),
                        ),
                        (
                            "country",
                            models.CharField(
                                blank=True,
                                max_length=2,
                                validators=[
                                    django.core.validators.RegexValidator(
                                        "^[A-Z]{2}$", "Two capital letters, for example DE."
                                    )
                                ],
                            ),
                        ),
                        (
                            "subdivision",
                            models.CharField(
                                blank=True,
                                max_length=2,
                                validators=[
                                    django.core.validators.RegexValidator(
                                        "^[A-Z0-9]{2}$", "Two characters, for example BE."
                                    )
                                ],
                            ),
                        ),
                        ("is_adult", models.BooleanField(default=False)),
                        ("is_master", models.BooleanField(default=False)),
                        (
                            "account",
                            models.OneToOneField(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="worker",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="QualificationRequest",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "request_id",
                            models.CharField(
                                default=humanexp.sites.marketplace.keys.entity_id,
                                editable=False,
                                max_length=64,
                                unique=True,
                            ),
                        ),
                        ("test", models.TextField(blank=True)),
                        ("answer", models.TextField(blank=True)),
                        ("began_at", models.DateTimeField()),
                        ("deadline_at", models.DateTimeField(null=True)),
                        ("submitted_at", models.DateTimeField(null=True)),
                        ("decided_at", models.DateTimeField(null=True)),
                        (
                            "outcome",
                            models.CharField(
                                blank=True,
                                choices=[("", "Pending"), ("Granted", "Granted"), ("Rejected", "Rejected")],
                                max_length=8,
                            ),
                        ),
                        ("reason", models.TextField(blank=True)),
                        (
                            "qualification_type",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="requests",
                                to="marketplace.qualificationtype",
                            ),
                        ),
                        (
                            "worker",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="qualification_requests",
                                to="marketplace.worker",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                condition=models.Q(("decided_at", None), ("submitted_at__isnull", False)),
                                fields=("qualification_type", "worker"),
                                name="one_pending_request_per_worker_and_type",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Qualification",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("value", models.IntegerField()),
                        (
                            "status",
                            models.CharField(choices=[("Granted", "Granted"), ("Revoked", "Revoked")], max_length=8),
                        ),
                        ("granted_at", models.DateTimeField()),
                        (
                            "qualification_type",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="qualifications",
                                to="marketplace.qualificationtype",
                            ),
                        ),
                        (
                            "worker",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="qualifications",
                                to="marketplace.worker",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("qualification_type", "worker"), name="one_value_per_worker_and_type"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Payout",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("amount_cents", models.BigIntegerField()),
                        ("way", models.CharField(blank=True, max_length=60)),
                        ("note", models.CharField(blank=True, max_length=200)),
                        ("paid_at", models.DateTimeField()),
                        (
                            "worker",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="payouts",
                                to="marketplace.worker",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("amount_cents__gt", 0)), name="a_payout_is_money"
                            )
                        ],
                    },
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
                        ("subject", models.CharField(max_length=250)),
                        ("text", models.TextField()),
                        ("sent_at", models.DateTimeField()),
                        (
                            "sender",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="messages",
                                to="marketplace.requester",
                            ),
                        ),
                        (
                            "worker",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="messages",
                                to="marketplace.worker",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="Invitation",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        (
                            "code",
                            models.CharField(
                                default=humanexp.sites.marketplace.keys.invitation_code,
                                editable=False,
                                max_length=32,
                                unique=True,
                            ),
                        ),
                        ("note", models.CharField(blank=True, max_length=200)),
                        ("made_at", models.DateTimeField()),
                        ("used_at", models.DateTimeField(null=True)),
                        (
                            "used_by",
                            models.OneToOneField(
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="invitation",
                                to="marketplace.worker",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(
                                    models.Q(("used_at", None), ("used_by", None)),
                                    models.Q(("used_at__isnull", False), ("used_by__isnull", False)),
                                    _connector="OR",
                                ),
                                name="a_used_invitation_names_its_worker",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="Inquiry",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("subject", models.CharField(max_length=200)),
                        ("text", models.TextField()),
                        ("sent_at", models.DateTimeField()),
                        ("answered_at", models.DateTimeField(null=True)),
                        (
                            "hit_type",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="inquiries",
                                to="marketplace.hittype",
                            ),
                        ),
                        (
                            "requester",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="inquiries",
                                to="marketplace.requester",
                            ),
                        ),
                        (
                            "worker",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="inquiries",
                                to="marketplace.worker",
                            ),
                        ),
                    ],
                    options={
                        "verbose_name_plural": "inquiries",
                    },
                ),
                migrations.CreateModel(
                    name="BonusPayment",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("amount_cents", models.BigIntegerField()),
                        ("fee_cents", models.BigIntegerField()),
                        ("reason", models.TextField()),
                        ("granted_at", models.DateTimeField()),
                        (
                            "assignment",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="bonus_payments",
                                to="marketplace.assignment",
                            ),
                        ),
                        (
                            "requester",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="bonus_payments",
                                to="marketplace.requester",
                            ),
                        ),
                        (
                            "worker",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="bonus_payments",
                                to="marketplace.worker",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.CheckConstraint(condition=models.Q(("amount_cents__gt", 0)), name="a_bonus_is_money")
                        ],
                    },
                ),
                migrations.CreateModel(
                    name="WorkerBlock",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("reason", models.TextField()),
                        ("blocked_at", models.DateTimeField()),
                        (
                            "requester",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="worker_blocks",
                                to="marketplace.requester",
                            ),
                        ),
                        (
                            "worker",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="blocks",
                                to="marketplace.worker",
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(fields=("requester", "worker"), name="a_worker_is_blocked_once")
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
                        ("event_type", models.CharField(max_length=32)),
                        ("hit_id", models.CharField(max_length=64)),
                        ("assignment_id", models.CharField(blank=True, max_length=64)),
                        ("happened_at", models.DateTimeField()),
                        ("try_at", models.DateTimeField()),
                        ("attempts", models.PositiveIntegerField(default=0)),
                        ("sent_at", models.DateTimeField(null=True)),
                        (
                            "specification",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="events",
                                to="marketplace.notificationspecification",
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                condition=models.Q(("sent_at", None)), fields=["try_at"], name="event_to_be_sent"
                            )
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("specification", "event_type", "hit_id", "assignment_id", "happened_at"),
                                name="an_event_is_told_once",
                            )
                        ],
                    },
                ),
            ],
        ),
        migrations.AddField(
            model_name="hit",
            name="hit_type",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="hits", to="marketplace.hittype"
            ),
        ),
        migrations.AddField(
            model_name="hittype",
            name="requester",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="hit_types", to="marketplace.requester"
            ),
        ),
        migrations.AddConstraint(
            model_name="hittype",
            constraint=models.UniqueConstraint(fields=("requester", "digest"), name="one_hit_type_per_values"),
        ),
        migrations.AddConstraint(
            model_name="hittype",
            constraint=models.CheckConstraint(
                condition=models.Q(("reward_cents__gte", 0)), name="reward_is_not_negative"
            ),
        ),
        migrations.AddField(
            model_name="hit",
            name="requester",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="hits", to="marketplace.requester"
            ),
        ),
        migrations.AddConstraint(
            model_name="hit",
            constraint=models.CheckConstraint(
                condition=models.Q(("max_assignments__gte", 1)), name="a_hit_has_a_place"
            ),
        ),
        migrations.AddField(
            model_name="assignment",
            name="worker",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="assignments", to="marketplace.worker"
            ),
        ),
        migrations.AddIndex(
            model_name="assignment",
            index=models.Index(fields=["hit", "submitted_at"], name="assignment_by_hit"),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.UniqueConstraint(
                condition=models.Q(("abandoned_at", None), ("returned_at", None)),
                fields=("hit", "worker"),
                name="one_assignment_per_worker_and_hit",
            ),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("approved_at", None), ("auto_approves_at", None), ("rejected_at", None), ("submitted_at", None)
                    ),
                    models.Q(
                        ("abandoned_at", None),
                        ("auto_approves_at__isnull", False),
                        ("returned_at", None),
                        ("submitted_at__isnull", False),
                    ),
                    _connector="OR",
                ),
                name="only_submitted_work_is_judged",
            ),
        ),
    ]
