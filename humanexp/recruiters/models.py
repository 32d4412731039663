"""Tables of campaigns with their frozen terms, HITs and assignments, accounts, and who people are to a recruiter."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q

from analysis.entry import Entry
from analysis.study.terms import WorkerRequirements
from humanexp.participation.models import EarlierCurves, Participant, Session
from humanexp.recruiters.port import Capabilities
from humanexp.recruiters.presets import SiteTerms
from humanexp.recruiters.registry import capabilities_of, currency_of, kind_of
from humanexp.recruiters.states import (
    ASSIGNMENT_TRANSITIONS,
    CAMPAIGN_TRANSITIONS,
    HIT_TRANSITIONS,
    LISTED,
    AssignmentState,
    CampaignState,
    HitState,
)
from humanexp.studies.models import Study, StudyFamily

#: Ids made here, for visitors of a link that names nobody, begin so.
VISITOR = "visitor:"
#: Between the preset of a link and the id that its site gave: two sites may give the same to different people.
FROM = "/"


def id_here(preset: str, given: str) -> str:
    """Under which id a person of a site is kept here."""
    return f"{preset}{FROM}{given}"


class RecruitedPerson(models.Model):
    """Who a participant is to a recruiter: the one table with worker ids."""

    environment = models.CharField(max_length=12)
    worker_id = models.CharField(max_length=64)
    family = models.ForeignKey(StudyFamily, on_delete=models.CASCADE, related_name="+")
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="recruited_as")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        app_label = "recruitment"
        verbose_name_plural = "recruited people"
        constraints = [
            models.UniqueConstraint(fields=["environment", "worker_id", "family"], name="recruited_person_once"),
            models.CheckConstraint(condition=~models.Q(worker_id=""), name="recruited_person_has_worker_id"),
        ]

    @property
    def given_id(self) -> str:
        """The id that the person came with; empty where one was made up here."""
        return "" if self.worker_id.startswith(VISITOR) else self.worker_id.rpartition(FROM)[2]

    def __str__(self) -> str:
        # the code, so that no log line and no admin list carries a worker id
        return self.participant.code


class Exclusion(models.Model):
    """Somebody who may not take part in a family, known by a keyed hash alone: no worker id is kept for it."""

    family = models.ForeignKey(StudyFamily, on_delete=models.CASCADE, related_name="exclusions")
    #: the same for a person in every family, so that lists can be carried from one to the other
    code = models.CharField(max_length=40)
    #: which list it came from, or why
    note = models.CharField(max_length=200, blank=True)
    added_at = models.DateTimeField(auto_now_add=True)
    added_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        app_label = "recruitment"
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["family", "code"], name="exclusion_once")]

    def __str__(self) -> str:
        return self.code


class QualificationType(models.Model):
    """The mark of a family at one recruiter: granted at the last session a person may do, it hides the family's HITs.

    Ids differ between environments, so the environment is in the key.
    """

    environment = models.CharField(max_length=12)
    family = models.ForeignKey(StudyFamily, on_delete=models.PROTECT, related_name="+")
    #: fixed before it is made there, so that it is found again when the reply is lost
    name = models.CharField(max_length=120, unique=True)
    #: blank until the recruiter has named it
    type_id = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        app_label = "recruitment"
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["environment", "family"], name="qualification_type_once"),
        ]

    def __str__(self) -> str:
        return self.name


class Pause(models.TextChoices):
    """Why nothing is sent at present."""

    NO = "", "sending"
    KEYS = "keys", "the access keys are refused"
    #: until a person ends it
    HAND = "hand", "an administrator has paused it"


class RecruiterAccount(models.Model):
    """An account with a recruiter: who may spend through it and how much, its pause, its balance, and who sends now.

    Two senders never do: the conditional update of this row decides.
    """

    #: its code, which every row about it bears; the first account of a kind has the kind's
    environment = models.CharField(max_length=12, unique=True)
    #: a sort of recruiter (`recruiters.registry`)
    kind = models.CharField(max_length=20, blank=True, default="")
    #: empty: as its kind is called
    name = models.CharField(max_length=80, blank=True, default="")
    #: ISO code; every account keeps its own books, and nothing is ever converted
    currency = models.CharField(max_length=3, default="USD")
    #: the recruiter's name of what the account stands for, where it has several under one key
    workspace = models.CharField(max_length=64, blank=True, default="")
    holder = models.CharField(max_length=80, blank=True)
    #: end of the lease by the wall clock, for holders on other machines
    until = models.DateTimeField(null=True, blank=True)
    #: the same by the clock that counts from the start of the machine, which nobody sets, and which start that was
    until_uptime_s = models.FloatField(null=True, blank=True)
    boot = models.CharField(max_length=64, blank=True)
    #: writes sent ever; a file beside the database counts them, too (ledger/delivery.py)
    sends = models.PositiveBigIntegerField(default=0)
    #: since when bonuses wait for a comparison of the books: this database is older than that file
    to_compare_since = models.DateTimeField(null=True, blank=True)
    pause = models.CharField(max_length=8, choices=Pause.choices, default=Pause.NO, blank=True)
    pause_detail = models.CharField(max_length=500, blank=True)
    #: what may be promised through this account in a calendar month (UTC), fees included; None: no cap. Nothing is,
    #: before a treasurer has said so.
    month_cap_cents = models.PositiveIntegerField(null=True, blank=True, default=0)
    #: every account of the installation may launch on it; else treasurers, administrators and those who are named
    is_open = models.BooleanField(default=False)
    launchers = models.ManyToManyField(settings.AUTH_USER_MODEL, blank=True, related_name="+")
    balance_cents = models.BigIntegerField(null=True, blank=True)
    balance_at = models.DateTimeField(null=True, blank=True)
    #: when a bonus was first seen to arrive, where bonuses have no token; before that, only small ones are promised
    bonus_proved_at = models.DateTimeField(null=True, blank=True)
    #: when it was last tried out, and why that failed; empty: it did not
    tried_at = models.DateTimeField(null=True, blank=True)
    fault = models.CharField(max_length=500, blank=True)

    class Meta:
        app_label = "recruitment"
        db_table = "recruitment_senderlease"

    def __str__(self) -> str:
        return self.environment

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.kind = self.kind or self.environment
        super().save(*args, **kwargs)


DAY_S = 86_400
YEAR_S = 365 * DAY_S


class Campaign(models.Model):
    """One call for participants of a study through one recruiter, with the terms it was launched on."""

    TRANSITIONS = CAMPAIGN_TRANSITIONS

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="campaigns")
    environment = models.CharField(max_length=12)
    #: the public name of the entry page; it is no credential
    entry = models.CharField(max_length=32, unique=True)
    state = models.CharField(max_length=10, choices=CampaignState.choices, default=CampaignState.LIVE)

    title = models.CharField(max_length=128)
    description = models.TextField(max_length=2_000)
    keywords = models.CharField(max_length=1_000, blank=True)
    reward_cents = models.PositiveIntegerField()
    #: places, over all HITs
    assignments = models.PositiveIntegerField()
    assignments_per_hit = models.PositiveIntegerField()
    #: what people are told it takes
    estimated_minutes = models.PositiveSmallIntegerField()
    assignment_duration_s = models.PositiveIntegerField()
    lifetime_s = models.PositiveIntegerField()
    #: if our side dies, everyone is paid after this time
    auto_approval_s = models.PositiveIntegerField(default=3 * DAY_S)
    #: rewards and fees of every place, as shown before the launch
    quoted_cents = models.PositiveIntegerField()
    #: rewards, bonuses and fees together never exceed this
    cap_cents = models.PositiveIntegerField()
    #: a class, or a lab: many come from one address, and browsers keep nothing with which the next person could go on
    shared_computers = models.BooleanField(default=False)
    #: whom a participant can write to
    contact = models.CharField(max_length=200, blank=True)

    #: what the recruiter asks of workers by itself, as WorkerRequirements writes it
    requirements = models.JSONField(default=dict, blank=True)
    #: what else its kind of recruiter declares (`Kind.Terms`); written at the launch, never changed
    terms = models.JSONField(default=dict, blank=True)
    #: volunteers' own curves appear next to these; none: by themselves
    compared_with = models.ForeignKey(
        EarlierCurves, null=True, blank=True, on_delete=models.PROTECT, related_name="promised_by"
    )
    #: how often somebody without a session was sent back, by outcome; nothing else is kept of them
    turned_away = models.JSONField(default=dict, blank=True)
    hit_type_id = models.CharField(max_length=64, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    launched_at = models.DateTimeField()
    stopped_at = models.DateTimeField(null=True, blank=True)
    synced_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        app_label = "recruitment"
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(assignments__gte=1) & Q(assignments_per_hit__gte=1), name="campaign_has_places"
            ),
            models.CheckConstraint(condition=Q(cap_cents__gte=models.F("quoted_cents")), name="campaign_cap_covers"),
            models.CheckConstraint(
                condition=Q(assignment_duration_s__gte=30, assignment_duration_s__lte=YEAR_S)
                & Q(lifetime_s__gte=30, lifetime_s__lte=YEAR_S)
                & Q(auto_approval_s__lte=30 * DAY_S),
                name="campaign_durations_in_range",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.study.slug} on {self.environment}"

    def clean(self) -> None:
        if self.reward_cents and not self.capabilities.vouches:
            raise ValidationError({"reward_cents": "No money goes through this recruiter."})
        try:
            self.own_terms()
        except ValueError as error:
            raise ValidationError({"terms": str(error)}) from error

    @property
    def capabilities(self) -> Capabilities:
        """What its recruiter can do."""
        return capabilities_of(self.environment)

    @property
    def currency(self) -> str:
        """Of its account: every sum of the campaign is in it."""
        return currency_of(self.environment)

    @property
    def can_reopen(self) -> bool:
        """It was stopped, and can take people again at its old address."""
        return self.state == CampaignState.STOPPED and self.capabilities.reopens

    @property
    def asks_for(self) -> WorkerRequirements:
        return WorkerRequirements.from_dict(self.requirements)

    def own_terms(self) -> Entry | None:
        """As its kind of recruiter declares them; None where nothing was said. Raises ValueError."""
        return kind_of(self.environment).Terms.model_validate(self.terms) if self.terms else None

    @property
    def site(self) -> SiteTerms | None:
        """None where no site has sent its people: a link that anybody may hand out, a rehearsal, a recruiter's form."""
        found = self.own_terms()
        return found if isinstance(found, SiteTerms) else None

    @property
    def assignment_duration(self) -> timedelta:
        return timedelta(seconds=self.assignment_duration_s)


class Hit(models.Model):
    """A HIT as the recruiter last described it. How it came to be there stands in Call."""

    TRANSITIONS = HIT_TRANSITIONS

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="hits")
    number = models.PositiveIntegerField()
    environment = models.CharField(max_length=12)
    #: blank until the recruiter has named it
    hit_id = models.CharField(max_length=64, blank=True)
    state = models.CharField(max_length=10, choices=HitState.choices, default=HitState.PLANNED)
    max_assignments = models.PositiveIntegerField()
    available = models.PositiveIntegerField(default=0)
    #: previewed or accepted, in the recruiter's count
    pending = models.PositiveIntegerField(default=0)
    completed = models.PositiveIntegerField(default=0)
    expires_at = models.DateTimeField(null=True, blank=True)
    synced_at = models.DateTimeField(null=True, blank=True)
    #: submissions by the recruiter's own words for their states at the last look, and when all lists were read
    counts = models.JSONField(default=dict, blank=True)
    listed_at = models.DateTimeField(null=True, blank=True)
    #: people who did not take part and whose places nobody else gets, when all lists were read, and when the recruiter
    #: begins to pay them by itself; who they are is not kept
    places_kept = models.PositiveIntegerField(default=0)
    kept_until = models.DateTimeField(null=True, blank=True)
    #: when both sides were last found to say the same of every payment, with nothing on its way
    compared_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        app_label = "recruitment"
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "number"], name="hit_number_once"),
            models.UniqueConstraint(fields=["environment", "hit_id"], condition=~Q(hit_id=""), name="hit_id_once"),
        ]

    def __str__(self) -> str:
        return f"Offer {self.number} of campaign {self.campaign_id}"


class Evidence(models.TextChoices):
    """What a submission proves about the session behind it."""

    NONE = "", "not submitted"
    RECEIPT = "receipt", "finished here, and the submission proves it"
    SESSION = "session", "finished here"
    #: answered without having seen anything: by a script, or in a browser that shows no pictures
    NO_PICTURES = "no-pictures", "finished here, and not one picture was fetched"
    UNFINISHED = "unfinished", "submitted before the last trial"
    #: the study ended it, and not the person: as good as finished, once half of it was done
    OUT_OF_TIME = "out-of-time", "time ran out before the last round"
    HALF_UNDONE = "half-undone", "time ran out before half of the trials were answered"
    OTHER_WORKER = "other-worker", "the session was opened under another id"
    UNKNOWN = "unknown", "no session of ours"
    #: the person did it in several HITs at once; the first that was listed counts
    EXTRA = "extra", "more sessions than one person may do"


#: Days from submission in which a rejection can be taken back.
OVERRIDE_DAYS = 30
#: A person looks at these before anything is paid; time approves them if nobody does.
UNMATCHED = (
    Evidence.NO_PICTURES,
    Evidence.UNFINISHED,
    Evidence.HALF_UNDONE,
    Evidence.OTHER_WORKER,
    Evidence.UNKNOWN,
    Evidence.EXTRA,
)


def override_until(submitted_at: datetime | None) -> datetime | None:
    """Until when a rejection of work that was submitted then can be taken back."""
    return submitted_at + timedelta(days=OVERRIDE_DAYS) if submitted_at else None


class Assignment(models.Model):
    """One person's go at one place. What the frame says opens it; only what the recruiter lists is ever paid."""

    TRANSITIONS = ASSIGNMENT_TRANSITIONS

    environment = models.CharField(max_length=12)
    assignment_id = models.CharField(max_length=64)
    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="assignments_taken")
    hit = models.ForeignKey(Hit, null=True, blank=True, on_delete=models.PROTECT, related_name="assignments_taken")
    #: null once the person has been deleted
    person = models.ForeignKey(
        RecruitedPerson, null=True, blank=True, on_delete=models.SET_NULL, related_name="assignments"
    )
    session = models.OneToOneField(Session, null=True, blank=True, on_delete=models.SET_NULL, related_name="assignment")
    state = models.CharField(max_length=10, choices=AssignmentState.choices, default=AssignmentState.OPENED)
    #: under which name the browser keeps what it goes on with; empty where other people use the computer
    resume_name = models.CharField(max_length=64, blank=True)
    #: hash of the key of the page that opened it last: that page may repeat its call
    opening_hash = models.CharField(max_length=64, blank=True)
    evidence = models.CharField(max_length=14, choices=Evidence.choices, default=Evidence.NONE, blank=True)
    #: a person has looked at an unmatched submission and wants it paid
    cleared_at = models.DateTimeField(null=True, blank=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    auto_approves_at = models.DateTimeField(null=True, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    rejection_reason = models.TextField(blank=True)
    #: never submitted, and paid past the recruiter
    paid_by_hand_at = models.DateTimeField(null=True, blank=True)
    #: the person was asked to give the place back; until then nobody needs to decide
    return_due_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        app_label = "recruitment"
        ordering = ["pk"]
        constraints = [
            # A returned assignment may go to somebody else under the same id: the pair is the key.
            models.UniqueConstraint(fields=["environment", "assignment_id", "person"], name="assignment_person_once"),
        ]
        # with all that is counted of everybody: what a page says of a large study reads no row
        indexes = [
            models.Index(
                fields=["campaign", "state", "hit", "environment", "assignment_id"], name="assignment_standing"
            ),
            # the few of nobody who is known, or without a session
            models.Index(
                fields=["campaign", "state", "session", "person"],
                condition=Q(person=None) | Q(session=None),
                name="assignment_lacking",
            ),
            # submissions that a person has to look at
            models.Index(
                fields=["campaign", "state", "evidence", "cleared_at", "environment"], name="assignment_evidence"
            ),
        ]

    def __str__(self) -> str:
        return f"assignment {self.pk}"

    @property
    def is_listed(self) -> bool:
        return self.state in LISTED

    @property
    def override_until(self) -> datetime | None:
        """Until when a rejection can be taken back."""
        return override_until(self.submitted_at)

    @property
    def is_unmatched(self) -> bool:
        return self.evidence in UNMATCHED and self.cleared_at is None
