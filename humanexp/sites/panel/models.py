"""The panel's tables: researchers, participants, studies, money, webhooks, and how the panel behaves."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import models

from humanexp.sites.panel import keys
from humanexp.sites.panel.states import StudyStatus, SubmissionStatus
from humanexp.sites.rows import Advanced


class Researcher(models.Model):
    """An account of the API. The token is kept as it is, so that /control/ can show it: nothing real depends on it."""

    researcher_id = models.CharField(max_length=24, unique=True, default=keys.entity_id)
    name = models.CharField(max_length=100, unique=True)
    token = models.CharField(max_length=100, unique=True, default=keys.token)

    def __str__(self) -> str:
        return self.name


class Workspace(models.Model):
    """A wallet. Fees are a third of what people get for academic users, 42.8 % for others."""

    workspace_id = models.CharField(max_length=24, unique=True, default=keys.entity_id)
    researcher = models.ForeignKey(Researcher, on_delete=models.CASCADE, related_name="workspaces")
    title = models.CharField(max_length=100)
    currency = models.CharField(max_length=3, default="GBP")
    is_academic = models.BooleanField(default=True)
    #: on the fee
    vat_percent = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return self.title


class Deposit(models.Model):
    """Practice money."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="deposits")
    amount_cents = models.BigIntegerField()
    made_at = models.DateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(amount_cents__gt=0), name="a_deposit_is_money")]

    def __str__(self) -> str:
        return f"{self.amount_cents} to {self.workspace}"


class Project(models.Model):
    project_id = models.CharField(max_length=24, unique=True, default=keys.entity_id)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="projects")
    title = models.CharField(max_length=200)
    description = models.TextField(blank=True)

    def __str__(self) -> str:
        return self.title


class Participant(models.Model):
    """A practice person: played by whoever opens the participant pages, or scripted."""

    participant_id = models.CharField(max_length=24, unique=True, default=keys.entity_id)
    name = models.CharField(max_length=60)
    is_scripted = models.BooleanField(default=False)
    #: shown to researchers by one list of the API, though nobody should store it
    ip = models.GenericIPAddressField()
    born_on = models.DateField()
    sex = models.CharField(max_length=10)
    ethnicity = models.CharField(max_length=40)
    country = models.CharField(max_length=40)
    has_good_vision = models.BooleanField(default=True)

    def __str__(self) -> str:
        return self.name


class ParticipantGroup(models.Model):
    group_id = models.CharField(max_length=24, unique=True, default=keys.entity_id)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="groups")
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A participant in a group, once."""

    group = models.ForeignKey(ParticipantGroup, on_delete=models.CASCADE, related_name="memberships")
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="memberships")
    made_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["group", "participant"], name="a_member_once")]

    def __str__(self) -> str:
        return f"{self.participant} in {self.group}"


class Message(models.Model):
    """Between a researcher and a participant, about a study."""

    message_id = models.CharField(max_length=24, unique=True, default=keys.entity_id)
    researcher = models.ForeignKey(Researcher, on_delete=models.CASCADE, related_name="messages")
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="messages")
    study = models.ForeignKey("panel.Study", on_delete=models.CASCADE, related_name="messages")
    body = models.TextField()
    is_from_participant = models.BooleanField()
    sent_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.message_id

    @property
    def sender_id(self) -> str:
        return self.participant.participant_id if self.is_from_participant else self.researcher.researcher_id


class Study(models.Model):
    study_id = models.CharField(max_length=24, unique=True, default=keys.entity_id)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="studies")
    #: everything that was sent, as `api.bodies.StudyTerms` has read it
    terms = models.JSONField()
    reward_cents = models.PositiveIntegerField()
    places = models.PositiveIntegerField()
    status = models.CharField(max_length=20, default=StudyStatus.UNPUBLISHED)
    #: where PUBLISHING, SCHEDULED and PROCESSING lead, and when
    next_status = models.CharField(max_length=20, blank=True)
    due_at = models.DateTimeField(null=True, db_index=True)
    created_at = models.DateTimeField()
    published_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.study_id

    @property
    def name(self) -> str:
        return str(self.terms["name"])

    @property
    def completion_codes(self) -> list[dict[str, Any]]:
        codes: list[dict[str, Any]] = self.terms["completion_codes"]
        return codes

    def has_code(self, code: str) -> bool:
        return any(one["code"] == code for one in self.completion_codes)


class Submission(models.Model):
    """One person's attempt at a study."""

    submission_id = models.CharField(max_length=24, unique=True, default=keys.entity_id)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="submissions")
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="submissions")
    status = models.CharField(max_length=20, default=SubmissionStatus.RESERVED)
    next_status = models.CharField(max_length=20, blank=True)
    due_at = models.DateTimeField(null=True, db_index=True)
    reserved_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    completed_at = models.DateTimeField(null=True)
    entered_code = models.CharField(max_length=200, null=True)  # noqa: DJ001  (null where no code was entered)
    return_requested = models.CharField(max_length=1000, null=True)  # noqa: DJ001
    rejection_category = models.CharField(max_length=30, blank=True)

    class Meta:
        indexes = [models.Index(fields=["study", "status"], name="submissions_of_a_study")]

    def __str__(self) -> str:
        return self.submission_id


class BonusPlan(models.Model):
    """The first step of a bonus payment, which pays nobody. Each call of the second step pays all its lines again."""

    plan_id = models.CharField(max_length=24, unique=True, default=keys.entity_id)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="bonus_plans")
    #: [[submission id, cents], ...]
    lines = models.JSONField()
    times_paid = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return self.plan_id


class Payment(models.Model):
    """A reward or a bonus. Without `paid_at` it is accepted only; without `due_at`, too, it will never be paid."""

    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="payments")
    #: none: the reward
    plan = models.ForeignKey(BonusPlan, on_delete=models.PROTECT, null=True, related_name="payments")
    amount_cents = models.PositiveIntegerField()
    fee_cents = models.PositiveIntegerField()
    vat_cents = models.PositiveIntegerField()
    due_at = models.DateTimeField(null=True, db_index=True)
    paid_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["submission"], condition=models.Q(plan=None), name="a_submission_is_rewarded_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.amount_cents} for {self.submission}"


class HookSecret(models.Model):
    """The one secret of a workspace; a new one replaces it."""

    secret_id = models.CharField(max_length=24, unique=True, default=keys.entity_id)
    workspace = models.OneToOneField(Workspace, on_delete=models.CASCADE, related_name="hook_secret")
    value = models.CharField(max_length=100, default=keys.token)

    def __str__(self) -> str:
        return self.secret_id


class Subscription(models.Model):
    """An address that gets events of one type once it has confirmed with the secret of the header."""

    subscription_id = models.CharField(max_length=24, unique=True, default=keys.entity_id)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="subscriptions")
    event_type = models.CharField(max_length=60)
    target_url = models.CharField(max_length=2000)
    is_enabled = models.BooleanField(default=True)
    confirmation = models.CharField(max_length=100, default=keys.token)
    is_confirmed = models.BooleanField(default=False)

    def __str__(self) -> str:
        return self.subscription_id


class Event(models.Model):
    """An event for one subscription, until it is delivered or given up."""

    event_id = models.CharField(max_length=24, unique=True, default=keys.entity_id)
    subscription = models.ForeignKey(Subscription, on_delete=models.CASCADE, related_name="events")
    resource_id = models.CharField(max_length=24)
    payload = models.JSONField()
    status = models.CharField(max_length=10, default="PENDING")
    attempts = models.PositiveIntegerField(default=0)
    happened_at = models.DateTimeField()
    try_at = models.DateTimeField(db_index=True)
    changed_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.event_id


class Switches(Advanced):
    """/control/ changes it; every field but the advance may be set there."""

    #: a rejection in AWAITING REVIEW opens the study by itself; the guide now says that START is needed
    rejection_reopens = models.BooleanField(default=False)
    #: STOP ends in AWAITING REVIEW instead of COMPLETED
    stop_awaits_review = models.BooleanField(default=False)
    #: APPROVE is accepted for TIMED-OUT, which no source says
    timed_out_can_be_approved = models.BooleanField(default=False)
    #: lists of submissions come in this order, a `states.SubmissionOrder`
    submission_order = models.CharField(max_length=20, default="as asked")
    #: the list of a study's submissions names their bonuses, as the service's own client reads it
    lists_bonuses = models.BooleanField(default=True)
    #: least pay of an hour, in whole sub-units; 0: the usual one of each currency
    least_hourly_cents = models.PositiveIntegerField(default=0)
    #: how long a study is PUBLISHING
    publishing_s = models.FloatField(default=1)
    #: how long a finished submission or a stopped study is PROCESSING, and the word that is shown for it
    processing_s = models.FloatField(default=0)
    processing_word = models.CharField(max_length=40, default="PROCESSING")
    #: how long an accepted bulk approval takes
    approving_s = models.FloatField(default=2)
    #: bonuses settle after an exponential time with this mean; a few take from 30 minutes to 3 hours
    settling_s = models.FloatField(default=240)
    late_share = models.FloatField(default=0.01)
    #: accepted bonuses that are never paid
    lost_share = models.FloatField(default=0)
    #: a call that moves money keeps the wallet busy for so long
    wallet_s = models.FloatField(default=0)
    #: events come twice, in wrong order, or late
    events_doubled = models.BooleanField(default=False)
    events_shuffled = models.BooleanField(default=False)
    events_delay_s = models.FloatField(default=0)
    seed = models.IntegerField(default=0)


def now() -> datetime:
    return Switches.now()
