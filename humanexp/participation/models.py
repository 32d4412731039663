"""Participants, sessions, and what is stored of them."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce

from humanexp.stimuli.models import Stimulus
from humanexp.studies.models import Study, StudyFamily


class Participant(models.Model):
    """A person as the science sees them: a code, per study family. Who it is stands in recruitment alone."""

    family = models.ForeignKey(StudyFamily, on_delete=models.CASCADE, related_name="participants")
    code = models.CharField(max_length=20)
    is_scripted = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "experiments_participant"
        constraints = [models.UniqueConstraint(fields=["family", "code"], name="participant_code_once")]

    def __str__(self) -> str:
        return self.code


class SessionState(models.TextChoices):
    OPEN = "open", "under way"
    COMPLETED = "completed", "all trials answered"
    SUBMITTED = "submitted", "submitted"
    WITHDRAWN = "withdrawn", "withdrawn"


#: What the participant API says of an unfinished session whose person has left for good and keeps the answers.
LEFT = "left"
#: The same where the study has ended it, because its next round did not fit before the end of the person's place.
OUT_OF_TIME = "out-of-time"
#: Every trial is answered.
FINISHED = (SessionState.COMPLETED, SessionState.SUBMITTED)
#: Which states may follow a state of a session.
SESSION_TRANSITIONS = {
    SessionState.OPEN: {SessionState.COMPLETED, SessionState.WITHDRAWN},
    SessionState.COMPLETED: {SessionState.SUBMITTED, SessionState.WITHDRAWN},
    SessionState.SUBMITTED: {SessionState.WITHDRAWN},
    # But for `undo_withdrawal`: a person makes it what it was.
    SessionState.WITHDRAWN: set(),
}


class Session(models.Model):
    """One sitting of one participant. The server owns order and cursor."""

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="sessions")
    participant = models.ForeignKey(Participant, on_delete=models.PROTECT, related_name="sessions")
    code = models.CharField(max_length=20, unique=True)
    #: which session of the study's plan this is; free again when the session is withdrawn or ends unqualified
    slot = models.PositiveIntegerField()
    #: whether the slot is this session's alone; who fell silent gives it up where it is needed, and may still go on
    holds_slot = models.BooleanField(default=True)
    #: whether the session may count: whoever recruits people by name has listed this one; else from the beginning
    is_verified = models.BooleanField(default=True)
    #: somebody has begun anew under the same id: the session that stands for it, while this one counts nowhere
    rival_of = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="rivals")
    #: who has sent the person, empty where that was not kept; whether the browser had begun the study by way of another
    recruiter = models.CharField(max_length=20, blank=True, default="")
    seen_before = models.BooleanField(default=False)
    #: when the first answer after practice and qualification came; until then the slot is held provisionally
    confirmed_at = models.DateTimeField(null=True, blank=True)
    #: the participant's first, second, ... session of the study family
    number = models.PositiveSmallIntegerField(default=1)
    state = models.CharField(max_length=12, choices=SessionState.choices, default=SessionState.OPEN)
    is_scripted = models.BooleanField(default=False)
    #: next position without an answer, and how many positions there are
    cursor = models.PositiveSmallIntegerField(default=0)
    total = models.PositiveSmallIntegerField()
    #: since when the pictures of the present block may be fetched: its answers are paced from here
    block_began_at = models.DateTimeField(null=True, blank=True)
    #: the positions whose pictures were given out, as bits of a hexadecimal number; None where nobody kept that
    pictures_fetched = models.TextField(null=True, blank=True)
    #: the position before which the page asked, once, for slower answers; None where it never did
    slow_down_at = models.PositiveSmallIntegerField(null=True, blank=True)
    #: what may be known of the blocks: index, kind, task, first, last, feedback; of practice pace, or answers to pass
    blocks = models.JSONField(default=list)
    #: the same for sessions with the same blocks: they are told apart unread; empty where nobody kept it
    blocks_digest = models.CharField(max_length=16, blank=True, default="")
    #: categories in the order of this participant's grid, row by row; empty = the published order
    grid_order = models.JSONField(default=list, blank=True)
    #: part of the bearer token: changing it revokes every token of the session
    token_nonce = models.CharField(max_length=32)
    #: part of the one hand-off code that is still good; empty once it is used
    handoff_nonce = models.CharField(max_length=32, blank=True)
    #: the browser tab that owns the session
    lease = models.CharField(max_length=64, blank=True)
    #: whether the qualification was passed; None where there is none, or it is not over yet
    qualified = models.BooleanField(null=True, blank=True)
    #: whether the criterion of every practice so far was met; False: the session ended there, and is not qualified
    practised = models.BooleanField(null=True, blank=True)
    environment = models.JSONField(default=dict)
    consent_version = models.CharField(max_length=40, blank=True)
    #: SHA-256 of exactly what was shown (recruitment.AgreedText has the words); empty where nobody kept that
    consent_digest = models.CharField(max_length=64, blank=True, default="")
    #: tag of the language in which the person read it; empty where nobody kept that
    language = models.CharField(max_length=35, blank=True, default="")
    #: SHA-256 of the catalogue with that language; empty for a language that is shipped
    catalogue = models.CharField(max_length=64, blank=True, default="")
    #: a parent or guardian agrees, too: the person is younger than those who agree for themselves
    guardian_agreed = models.BooleanField(default=False)
    consented_at = models.DateTimeField(null=True, blank=True)
    opened_at = models.DateTimeField()
    #: until when whoever recruited the person takes the work, at the latest; None where there is no such time
    due_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    last_seen_at = models.DateTimeField(null=True, blank=True)
    #: seconds of work, breaks left out, measured some time after the end (`measured` in participation/sessions.py)
    active_s = models.FloatField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    #: what it was before it was withdrawn
    withdrawn_from = models.CharField(max_length=12, choices=SessionState.choices, blank=True)
    #: the person stopped for good before the last trial, and the answers until then stay
    left_at = models.DateTimeField(null=True, blank=True)
    #: the person did not stop: the next round would not have been over before `due_at`, and they are owed the reward
    out_of_time = models.BooleanField(default=False)
    #: the person took the answers back: hidden since then, they are erased at this time
    erase_after = models.DateTimeField(null=True, blank=True)
    erased_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "experiments_session"
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "slot"],
                condition=Q(holds_slot=True) & ~Q(state="withdrawn") & (Q(qualified=None) | Q(qualified=True)),
                name="session_slot_held_once",
            ),
            # Who knows a worker id can begin in that name: only sessions that may count are numbered once.
            models.UniqueConstraint(
                fields=["participant", "number"],
                condition=Q(is_verified=True) & ~Q(state="withdrawn"),
                name="session_number_once",
            ),
            models.CheckConstraint(condition=Q(cursor__lte=F("total")), name="session_cursor_within_total"),
        ]
        # What pages count over all sessions. Nothing that an answer changes: the index would be written with each. Of
        # ended sessions an answer changes nothing; SQLite looks at their condition once more, so it is in the index.
        indexes = [
            models.Index(
                fields=["study", "state", "is_verified", "qualified", "holds_slot", "blocks_digest"],
                name="session_standing",
            ),
            models.Index(fields=["study", "opened_at", "state", "is_verified"], name="session_opened"),
            # the few that have not ended stand first
            models.Index(fields=["study", "completed_at", "state", "is_verified"], name="session_completed"),
            models.Index(
                fields=["study", "id", "state", "is_verified", "cursor", "completed_at"],
                condition=Q(completed_at__isnull=False),
                name="session_ended",
            ),
            models.Index(
                fields=["study", "is_verified", "state", "cursor", "completed_at"],
                condition=Q(completed_at__isnull=False),
                name="session_answers",
            ),
            models.Index(
                "study",
                Coalesce("last_seen_at", "opened_at").desc(),
                F("id").desc(),
                condition=Q(completed_at__isnull=False),
                name="session_ended_seen",
            ),
            models.Index(
                fields=["study", "active_s", "state"], condition=Q(completed_at__isnull=False), name="session_worked"
            ),
        ]

    def __str__(self) -> str:
        return self.code

    @property
    def told_state(self) -> str:
        """The state in the words of the participant API, which knows people who left their answers here."""
        if self.state != SessionState.OPEN or self.left_at is None:
            return self.state
        return OUT_OF_TIME if self.out_of_time else LEFT

    @property
    def fetched(self) -> frozenset[int] | None:
        """Positions whose pictures were given out before their answers; None where nobody kept that."""
        if self.pictures_fetched is None:
            return None
        bits = int(self.pictures_fetched or "0", 16)
        return frozenset(position for position in range(bits.bit_length()) if bits >> position & 1)


def counting(session: str = "") -> Q:
    """Which sessions count, in every analysis alike: nobody took it back, and nobody merely claims it.

    Of sessions, or of rows that have one under this name. Where people are recruited by name, anybody can begin under a
    made-up one. Such a session counts once whoever recruits lists it.
    """
    place = f"{session}__" if session else ""
    return Q(**{f"{place}is_verified": True}) & ~Q(**{f"{place}state": SessionState.WITHDRAWN})


class Trial(models.Model):
    """A planned trial of a session."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="trials")
    position = models.PositiveSmallIntegerField()
    block = models.PositiveSmallIntegerField()
    task = models.CharField(max_length=20)
    role = models.CharField(max_length=24)
    stimulus = models.ForeignKey(Stimulus, on_delete=models.PROTECT, related_name="+")
    #: discrimination: the other picture of the pair; ABX: B
    second_stimulus = models.ForeignKey(Stimulus, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    #: ABX: picture X
    third_stimulus = models.ForeignKey(Stimulus, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    #: empty where nobody knows the right answer: what a new picture of a validation shows is what is asked
    correct_response = models.CharField(max_length=40, blank=True)
    mask_seed = models.BigIntegerField()
    #: validation: the category that the picture is compared with
    wanted = models.CharField(max_length=40, blank=True)
    #: ids of the labels that are offered, in the order shown, and `none` where it can be answered; empty: all labels
    options = models.JSONField(default=list, blank=True)

    class Meta:
        db_table = "experiments_trial"
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["session", "position"], name="trial_position_once")]


class Response(models.Model):
    """What was answered, stored once, the moment it arrives."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="responses")
    trial = models.OneToOneField(Trial, on_delete=models.CASCADE, related_name="response")
    position = models.PositiveSmallIntegerField()
    response = models.CharField(max_length=40)
    #: empty where nobody knows the right answer
    correct = models.BooleanField(null=True)
    rt_ms = models.FloatField(null=True, blank=True)
    clicks = models.JSONField(default=list)
    timing = models.JSONField(default=dict)
    timing_ok = models.BooleanField(null=True)
    timing_rule = models.CharField(max_length=20, blank=True)
    #: whether nobody could see and answer the trial (analysis.timing.rules.is_set_aside); None where nothing decided it
    set_aside = models.BooleanField(null=True)
    #: pointer, touch or key; empty where no answer was given, or nobody kept it
    input_kind = models.CharField(max_length=8, blank=True, default="")
    is_scripted = models.BooleanField(default=False)
    received_at = models.DateTimeField()

    class Meta:
        db_table = "experiments_response"
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["session", "position"], name="response_position_once")]


class WentWrong(models.TextChoices):
    """Whether anything went wrong."""

    NO = "no", "nothing went wrong"
    YES = "yes", "something went wrong"


class Device(models.TextChoices):
    """Which kind of computer was used."""

    DESKTOP = "desktop", "desktop computer"
    LAPTOP = "laptop", "laptop"
    PHONE = "phone", "phone or tablet"
    OTHER = "other", "something else"


class ClosingAnswers(models.Model):
    """What a participant said after the last trial, apart from the answers; a row without a word: nothing was said.

    Texts may hold anything, names and addresses too: an export has one only after a person cleared it.
    """

    session = models.OneToOneField(Session, on_delete=models.CASCADE, related_name="closing_answers")
    went_wrong = models.CharField(max_length=8, choices=WentWrong.choices, blank=True)
    problem = models.TextField(blank=True)
    comment = models.TextField(blank=True)
    device = models.CharField(max_length=12, choices=Device.choices, blank=True)
    given_at = models.DateTimeField()
    #: since when an export may have the text
    problem_cleared_at = models.DateTimeField(null=True, blank=True)
    comment_cleared_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"closing answers of {self.session_id}"


class SetUp(models.Model):
    """What was measured and asked before practice (`analysis.tables.sessions` has the items); the latest one counts."""

    session = models.OneToOneField(Session, on_delete=models.CASCADE, related_name="set_up")
    #: by item: how it is known, "measured" or "asked", and its value
    items = models.JSONField(default=dict)
    #: the longer time for each answer that the person asked for; None where they did not
    answer_window_ms = models.PositiveIntegerField(null=True, blank=True)
    stored_at = models.DateTimeField()


class RefusalReason(models.TextChoices):
    """Why a call of the participant API was refused."""

    FORGED = "forged", "forged or damaged token"
    EXPIRED = "expired", "expired token"
    REVOKED = "revoked", "token that was revoked, or of a session that is gone"
    FOREIGN = "foreign", "token of a session of another study"
    REPLAYED = "replayed", "one-time code used again"
    ALTERED = "altered", "another answer to an answered trial"
    TOO_FAST = "too-fast", "answers faster than pictures are shown"
    TOO_MANY = "too-many", "too many calls"


class RefusedCall(models.Model):
    """Audit entry of a call that was refused, or that changed nothing; appended, never changed."""

    at = models.DateTimeField()
    reason = models.CharField(max_length=12, choices=RefusalReason.choices)
    #: name of the address that was called
    call = models.CharField(max_length=40)
    #: where the token's signature was good
    session = models.ForeignKey(Session, null=True, blank=True, on_delete=models.CASCADE, related_name="refused_calls")
    #: hash of the caller's address, with a salt of the day: tells callers of one day apart, nothing else
    caller = models.CharField(max_length=20)

    class Meta:
        db_table = "experiments_refusedcall"
        ordering = ["-at"]


class Preview(models.Model):
    """A researcher goes through a study as a participant: no session, no trials, no answers; gone when it ends."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="previews")
    #: nobody: a dry run before the launch
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+")
    #: the session of the plan that is shown; it is not taken
    slot = models.PositiveIntegerField()
    #: phases are so many times shorter than in the protocol; 1 = true timing
    hurry = models.PositiveSmallIntegerField(default=1)
    cursor = models.PositiveSmallIntegerField(default=0)
    #: right answers in the present block: qualification and practice ask
    right = models.PositiveSmallIntegerField(default=0)
    qualified = models.BooleanField(null=True, blank=True)
    practised = models.BooleanField(null=True, blank=True)
    token_nonce = models.CharField(max_length=32)
    handoff_nonce = models.CharField(max_length=32, blank=True)
    lease = models.CharField(max_length=64, blank=True)
    opened_at = models.DateTimeField()

    class Meta:
        db_table = "experiments_preview"
        constraints = [models.UniqueConstraint(fields=["study", "by"], name="preview_once")]


class DamagedPicture(models.Model):
    """A picture that a participant was not shown, because its file was missing or not the one that was made."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="damaged_pictures")
    trial = models.OneToOneField(Trial, on_delete=models.CASCADE, related_name="+")
    stimulus = models.ForeignKey(Stimulus, on_delete=models.CASCADE, related_name="+")
    #: no file, or none that can be read; otherwise its bytes are others
    is_missing = models.BooleanField()
    found_at = models.DateTimeField()
    #: since when the file is what was made again; until then the trial takes no answer
    mended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "experiments_damagedpicture"
        ordering = ["pk"]


class StudyTally(models.Model):
    """What was counted over every answer of a study, kept until there are more: pages read this and no answers."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="tallies")
    #: name of a registered tally, e.g. "timing"
    kind = models.CharField(max_length=20)
    #: what the page shows
    content = models.JSONField()
    #: everything, where that is too much for a page: relative to MEDIA_ROOT
    file = models.CharField(max_length=300, blank=True)
    #: answers that were there
    answers = models.PositiveBigIntegerField()
    #: what the answers, and whatever else was counted, looked like; another one: count again
    marker = models.CharField(max_length=120)
    #: that counting took
    seconds = models.FloatField()
    made_at = models.DateTimeField()

    class Meta:
        db_table = "experiments_studytally"
        constraints = [models.UniqueConstraint(fields=["study", "kind"], name="study_tally_once")]

    def __str__(self) -> str:
        return f"{self.kind} of {self.study_id}"

    @property
    def began_at(self) -> datetime:
        return self.made_at - timedelta(seconds=self.seconds)


class EarlierCurves(models.Model):
    """Curves of a study that is over, as they were when a campaign was launched; never changed."""

    digest = models.CharField(max_length=64, unique=True)
    #: as `participation.own_curves.Earlier` writes them
    content = models.JSONField()
    frozen_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.digest[:12]


class OwnCurve(models.Model):
    """The promise of a curve to the person of a session, and the card that they share. No number of it is stored."""

    session = models.OneToOneField(Session, on_delete=models.CASCADE, related_name="own_curve")
    compared_with = models.ForeignKey(
        EarlierCurves, null=True, blank=True, on_delete=models.PROTECT, related_name="own_curves"
    )
    #: made at random: whoever has it sees the card; none while there is no card
    card_key = models.CharField(max_length=43, unique=True, null=True, blank=True)
    card_made_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"own curve of {self.session_id}"
