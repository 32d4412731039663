"""A session from its opening to its submission: its participant, its trials, its tokens and hand-offs, its receipt."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import F, Q

from analysis.design.plan import SessionPlan
from humanexp.core import clock
from humanexp.core.errors import Conflict, SessionClosed, StudyRefused, TokenRefused
from humanexp.core.models import record
from humanexp.core.names import pseudonym, random_code
from humanexp.participation import places, sessions
from humanexp.participation.answers import stimulus_pks
from humanexp.participation.models import FINISHED, SESSION_TRANSITIONS, Participant, Session, SessionState, Trial
from humanexp.participation.sessions import measured, unmeasured
from humanexp.studies import plans
from humanexp.studies.models import Population, Study, StudyFamily, StudyState
from humanexp.studies.plans import grid_order_for

#: Two people who start at the same moment may reach for one slot; the constraint lets one have it.
ATTEMPTS = 20
#: Sessions whose answers are read together to measure how long people worked.
MEASURED_AT_ONCE = 200
_USED = "This link has been used already: go back to the page where you agreed and open it again."


def participant_for(*, family: StudyFamily, code: str, scripted: bool = False) -> Participant:
    """The participant with this code; made when it is new."""
    participant, _ = Participant.objects.get_or_create(family=family, code=code, defaults={"is_scripted": scripted})
    if participant.is_scripted != scripted:
        raise StudyRefused("People and scripted participants never share a code.")
    return participant


def scripted_participant(*, family: StudyFamily) -> Participant:
    """A new scripted participant, named by order of entry: the same simulation gives the same names again."""
    for _ in range(ATTEMPTS):
        entered = family.participants.filter(is_scripted=True).count()
        try:
            with transaction.atomic():
                return Participant.objects.create(family=family, code=f"S-{entered + 1:04d}", is_scripted=True)
        except IntegrityError:
            continue
    raise StudyRefused("Scripted participants enter one after the other: start fewer simulations at once.")


def note_deadline(*, session: Session, due_at: datetime) -> None:
    """Keep until when the recruiter takes the work, at the latest: a page that waits for the person shows it."""
    if session.due_at != due_at:
        session.due_at = due_at
        session.save(update_fields=["due_at"])


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """What a person has agreed to before their session begins."""

    #: name of the text; empty where nobody was asked
    version: str = ""
    #: SHA-256 of exactly what was shown
    digest: str = ""
    #: tag of the language in which it was read
    language: str = ""
    #: SHA-256 of the catalogue with that language; empty for a language that is shipped
    catalogue: str = ""
    #: the person is young, and says that a parent or guardian agrees, too
    by_guardian: bool = False


NOT_ASKED = Agreement()


@dataclass(frozen=True, kw_only=True)
class SentBy:
    """How a person came to the study."""

    #: a kind of recruiter, or the site of a link; empty where nobody knows
    recruiter: str = ""
    #: the browser keeps a note that the study was begun in it by way of another recruiter
    seen_before: bool = False


FROM_NOWHERE = SentBy()


def open_session(
    *,
    study: Study,
    participant: Participant,
    scripted: bool = False,
    agreement: Agreement = NOT_ASKED,
    is_verified: bool = True,
    sent_by: SentBy = FROM_NOWHERE,
) -> Session:
    """Give the participant a free slot of the plan; a session of theirs that is under way is given back.

    Where the study has planned places with several recruiters, each is dealt a balanced share of the plan; otherwise
    it is the lowest free slot.

    Not `is_verified`: somebody says that they are this participant, and whoever recruits will list who was. They get a
    session of their own, which counts once it is listed.

    Raises StudyRefused when the study is not collecting, is full, or this person has had all their sessions.
    """
    _check_population(study, participant, scripted)
    for _ in range(ATTEMPTS):
        try:
            with transaction.atomic():
                return _open(study.pk, participant, agreement, is_verified, sent_by)
        except IntegrityError:
            continue
    raise StudyRefused("Many people are starting at this moment: try again in a few seconds.")


def _check_population(study: Study, participant: Participant, scripted: bool) -> None:
    if participant.family_id != study.family_id:
        raise StudyRefused("This participant belongs to another family of studies.")
    if scripted != participant.is_scripted:
        raise StudyRefused("People and scripted participants never share a code.")
    if scripted != (study.population == Population.SCRIPTED):
        raise StudyRefused(
            "This study is for people: scripted participants would mix with them."
            if scripted
            else "This study is for scripted participants: people cannot take part in it."
        )


def _open(study_pk: int, participant: Participant, agreement: Agreement, is_verified: bool, sent_by: SentBy) -> Session:
    # On PostgreSQL this queues those who start at once; on SQLite the transaction itself does.
    study = Study.objects.select_for_update(of=("self",)).select_related("stimulus_set").get(pk=study_pk)
    earlier = list(Session.objects.filter(participant=participant))
    mine = [session for session in earlier if session.is_verified]
    under_way = [session for session in mine if session.study_id == study.pk and session.state == SessionState.OPEN]
    if under_way and is_verified:
        return under_way[0]
    if study.state != StudyState.COLLECTING:
        raise StudyRefused("The study takes no participants at the moment.")
    held = {session.number for session in mine if session.state != SessionState.WITHDRAWN}
    if len(held) >= places.sessions_allowed(study):
        raise StudyRefused("You have already taken part in this study. Thank you; you cannot take part again.")
    slot, plan = places.place_for(study, earlier, is_verified=is_verified, recruiter=sent_by.recruiter)
    now, blocks = clock.now(), plans.blocks_of(study, plan)
    session = Session.objects.create(
        study=study,
        participant=participant,
        code=_session_code(study, participant, len(earlier)),
        slot=slot,
        number=places.lowest_free_number(held),
        is_verified=is_verified,
        recruiter=sent_by.recruiter,
        seen_before=sent_by.seen_before,
        total=len(plan.trials),
        blocks=blocks,
        blocks_digest=plans.blocks_digest(blocks),
        grid_order=grid_order_for(study, person=participant.code),
        is_scripted=participant.is_scripted,
        pictures_fetched="0",
        token_nonce=secrets.token_urlsafe(12),
        consent_version=agreement.version,
        consent_digest=agreement.digest,
        language=agreement.language,
        catalogue=agreement.catalogue,
        guardian_agreed=agreement.by_guardian,
        consented_at=now if agreement.version else None,
        opened_at=now,
        block_began_at=now,
        last_seen_at=now,
    )
    _create_trials(session, plan)
    if study.frozen_at is None and Study.objects.filter(pk=study.pk, frozen_at=None).update(frozen_at=now):
        subject = f"study:{study.slug}"
        record(action="freeze-plan", subject=subject, study=study.slug, digest=study.digest, plan=study.plan_digest)
    return session


def _session_code(study: Study, participant: Participant, earlier: int) -> str:
    """A code that tells nothing; for scripted participants the same simulation gives the same codes again."""
    if not participant.is_scripted:
        return random_code("S")
    return pseudonym("scripted", study.slug, participant.code, str(earlier), prefix="S")


def _create_trials(session: Session, plan: SessionPlan) -> None:
    keys = {name for trial in plan.trials for name in trial.stimuli}
    pk_of = stimulus_pks(session.study, keys)
    Trial.objects.bulk_create(
        Trial(
            session=session,
            position=trial.position,
            block=trial.block,
            task=trial.task,
            role=trial.role,
            stimulus_id=pk_of[trial.stimulus],
            second_stimulus_id=pk_of[trial.second_stimulus] if trial.second_stimulus else None,
            third_stimulus_id=pk_of[trial.third_stimulus] if trial.third_stimulus else None,
            correct_response=trial.correct_response,
            mask_seed=trial.mask_seed,
            wanted=trial.wanted,
            options=list(trial.options),
        )
        for trial in plan.trials
    )


def issue_token(*, session: Session) -> str:
    """A bearer token for the session; tokens given out before stay good."""
    return sessions.TOKEN.sign(session.pk, session.token_nonce)


def revoke_tokens(*, session: Session) -> Session:
    """Every token, code and resume secret given out for the session before is void from now on."""
    Session.objects.filter(pk=session.pk).update(token_nonce=secrets.token_urlsafe(12), handoff_nonce="", lease="")
    session.refresh_from_db()
    return session


def issue_handoff(*, session: Session, keep_as: str = "") -> str:
    """A code that can be exchanged for a token once, within a minute; codes given out before are void.

    `keep_as`: the name under which the study's window keeps the resume secret in its browser; empty: not at all.
    """
    nonce = secrets.token_urlsafe(12)
    opened = Session.objects.filter(pk=session.pk).exclude(state=SessionState.WITHDRAWN).update(handoff_nonce=nonce)
    if not opened:
        raise SessionClosed
    return sessions.HANDOFF.sign(session.pk, f"{nonce} {keep_as}")


@dataclass(frozen=True, kw_only=True)
class Exchanged:
    """What a hand-off code is exchanged for."""

    token: str
    #: gets a token again when this window is gone, and the name to keep it under; both empty: it is not kept
    resume_secret: str = ""
    keep_as: str = ""


def exchange_handoff(*, code: str) -> Exchanged:
    """The token for a hand-off code. The conditional update decides: a code works once."""
    claim = sessions.HANDOFF.read(code)
    if not claim.nonce:
        raise TokenRefused
    unused = Session.objects.filter(pk=claim.session_id, handoff_nonce=claim.nonce)
    if not unused.update(handoff_nonce=""):
        raise TokenRefused(_USED, reason="replayed", session_id=claim.session_id)
    session = Session.objects.only("pk", "token_nonce").get(pk=claim.session_id)
    return Exchanged(
        token=issue_token(session=session),
        resume_secret=sessions.RESUME_SECRET.sign(session.pk, session.token_nonce) if claim.keep_as else "",
        keep_as=claim.keep_as,
    )


def look_behind(*, code: str) -> list[str]:
    """Tasks of the session that a hand-off code opens; the code stays good."""
    claim = sessions.HANDOFF.read(code)
    session = Session.objects.filter(pk=claim.session_id, handoff_nonce=claim.nonce or None).first()
    if session is None:
        raise TokenRefused(reason="replayed", session_id=claim.session_id)
    return list(dict.fromkeys(block["task"] for block in session.blocks))


def withdraw_session(*, session: Session) -> Session:
    """End a session: its answers stop counting, its tokens open nothing, its slot is free again."""
    marks = {"handoff_nonce": "", "withdrawn_at": clock.now(), "withdrawn_from": F("state")}
    _advance(session, SessionState.WITHDRAWN, marks)
    return session


def mark_submitted(*, session: Session, at: datetime) -> Session:
    """The recruiter has the participant's form; asked again, nothing changes."""
    if session.state == SessionState.SUBMITTED:
        return session
    _advance(session, SessionState.SUBMITTED, {"submitted_at": at})
    return session


def receipt_for(*, session: Session) -> str:
    """Proof that every answer is stored; there is none before."""
    if session.state not in FINISHED:
        raise Conflict("The session is not complete: there is no receipt yet.")
    return sessions.receipt(session.code)


def receipt_is_valid(*, session: Session, receipt: str) -> bool:
    return sessions.receipt_is_valid(session.code, receipt)


def keep_working_times() -> int:
    """Measure how long people worked in sessions that have ended meanwhile, and keep it; how many there were."""
    kept = 0
    due = list(unmeasured().order_by().values_list("pk", flat=True))
    for first in range(0, len(due), MEASURED_AT_ONCE):
        seconds = measured(due[first : first + MEASURED_AT_ONCE])
        rows = [Session(pk=pk, active_s=active_s) for pk, active_s in seconds.items()]
        kept += Session.objects.bulk_update(rows, ["active_s"])
    return kept


def _advance(session: Session, state: SessionState, fields: dict[str, object]) -> None:
    """One conditional update: it fails if the session is in no state from which the new one may follow."""
    before = [known for known, following in SESSION_TRANSITIONS.items() if state in following]
    moved = Session.objects.filter(Q(pk=session.pk) & Q(state__in=before)).update(state=state, **fields)
    session.refresh_from_db()
    if not moved and session.state != state:
        raise Conflict(f"A session that is {session.get_state_display()} cannot become {SessionState(state).label}.")
