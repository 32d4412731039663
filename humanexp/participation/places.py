"""Places in a plan, and until when they are held.

A slot is held for good by a session that may count and has answers. Others hold theirs provisionally: made-up ids fill
no plan.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import timedelta
from math import ceil

from django.db import transaction

from analysis.design.plan import SessionPlan
from analysis.design.sessions import without_seen
from analysis.errors import DesignRefused
from analysis.study.protocol import ProtocolConfig
from humanexp.core import clock
from humanexp.core.errors import NotFound, StudyRefused
from humanexp.jobs import services as jobs
from humanexp.participation import sessions
from humanexp.participation.answers import given_out, seen_originals, stimuli_of
from humanexp.participation.models import FINISHED, Participant, Session, SessionState
from humanexp.participation.sessions import counted_sessions, holding_slots
from humanexp.participation.set_ups import in_its_window
from humanexp.studies import plans
from humanexp.studies.facts import round_seconds
from humanexp.studies.models import Study

#: So long before it a round is over; the page waits for as much (static/js/participation/trial/deadline.js).
SPARE = timedelta(minutes=3)


def protocol_of(session: Session) -> ProtocolConfig:
    """The protocol as this person sees it."""
    protocol = session.study.protocol
    if protocol is None:
        raise NotFound
    return in_its_window(ProtocolConfig.from_dict(protocol.configuration), session)


def seconds_left(session: Session) -> int | None:
    """Rounded up: a page never takes a round for too long that is not; None where there is no such time."""
    return None if session.due_at is None else ceil((session.due_at - clock.now()).total_seconds())


def is_out_of_time(session: Session) -> bool:
    """Whether a round is left, and would not be over in time."""
    if session.due_at is None or session.cursor >= session.total:
        return False
    seconds = round_seconds(session.blocks, protocol_of(session), cursor=session.cursor)
    return clock.now() + timedelta(seconds=seconds) + SPARE > session.due_at


def place_for(
    study: Study, earlier: Sequence[Session], *, is_verified: bool, recruiter: str = ""
) -> tuple[int, SessionPlan]:
    """The slot that this person gets, and its plan without anything that they have seen; whoever held it gives it up.

    Somebody else may have begun in their name: where such sessions leave them no pictures, they are left aside.
    """
    candidates = list(_candidates(study, is_verified=is_verified, recruiter=recruiter))
    if not candidates:
        raise StudyRefused("The study has all the participants it needs. Thank you for your interest.")
    mine = [session for session in earlier if session.is_verified]
    try:
        slot, plan = _unseen(study, candidates, earlier)
    except StudyRefused:
        if len(mine) == len(earlier):
            raise
        slot, plan = _unseen(study, candidates, mine)
    holding_slots(study).filter(slot=slot).update(holds_slot=False)
    return slot, plan


def _candidates(study: Study, *, is_verified: bool, recruiter: str) -> Iterator[int]:
    """Slots in the order in which they are given: free ones, those of people who began a while ago and have no answer
    that counts, and, for somebody whom a recruiter may list, those of sessions that it has not listed."""
    held = holding_slots(study).filter(slot__lt=study.planned_sessions).order_by()
    columns = ("slot", "is_verified", "confirmed_at", "state", "opened_at")
    holders = {holder.slot: holder for holder in held.values_list(*columns, named=True)}
    yield from _free(study, holders, recruiter)
    since = clock.now() - sessions.SILENT_AFTER
    idle = {
        holder.slot
        for holder in holders.values()
        if holder.state == SessionState.OPEN and holder.confirmed_at is None and holder.opened_at < since
    }
    yield from sorted(idle)
    if not is_verified:
        others = [holder for slot, holder in holders.items() if not holder.is_verified and slot not in idle]
        others.sort(key=lambda holder: (holder.confirmed_at is not None, holder.opened_at, holder.slot))
        yield from (holder.slot for holder in others)


def _free(study: Study, taken: Collection[int], recruiter: str) -> list[int]:
    """Slots that nobody holds: in their order, or, of a study with several recruiters, as they balance what the people
    of this one hold. Those that drop out leave it again, and whoever comes next mends the balance."""
    free = [slot for slot in range(study.planned_sessions) if slot not in taken]
    if not free or len((study.configuration.get("recruitment") or {}).get("places") or {}) < 2:
        return free
    held = holding_slots(study).filter(recruiter=recruiter, slot__lt=study.planned_sessions)
    return plans.in_balance(study, held=list(held.order_by().values_list("slot", flat=True)), free=free)


def _unseen(study: Study, candidates: Sequence[int], earlier: Sequence[Session]) -> tuple[int, SessionPlan]:
    seen = seen_originals(earlier, study) if earlier else set()
    if not seen:
        return candidates[0], plans.session_plan(study, candidates[0])[1]
    slot = candidates[0]
    if study.is_validation:
        # Every picture has its planned number of answers: none is replaced, the person gets other pictures.
        slot = _first_unseen(study, candidates, stimuli_of(study, seen))
    return slot, _without_seen(study, slot, seen)


def _first_unseen(study: Study, candidates: Sequence[int], seen: Collection[str]) -> int:
    """The first slot whose new pictures this person has not seen."""
    for slot in candidates:
        if plans.new_pictures(study, slot).isdisjoint(seen):
            return slot
    raise StudyRefused("You have seen all pictures that are left to judge. Thank you for your help.")


def _without_seen(study: Study, slot: int, seen: set[str]) -> SessionPlan:
    pools, plan = plans.session_plan(study, slot)
    if study.stimulus_set is None:
        raise StudyRefused("The study has no stimuli.")
    try:
        return without_seen(
            plan,
            plans.catalogue_of(study.stimulus_set),
            pools,
            seen=seen,
            taken=given_out(study) | plans.planned_stimuli(study),
        )
    except DesignRefused as error:
        raise StudyRefused(str(error)) from error


def lowest_free_number(held: Collection[int]) -> int:
    """A person's first, second, ... session."""
    number = 1
    while number in held:
        number += 1
    return number


@transaction.atomic
def verify_session(*, session: Session) -> bool:
    """Whoever recruits has listed this session's person: from now on it counts, unless the person has had all theirs.

    False for the session of somebody who has had all theirs, or that was taken back: it never counts.
    """
    # In the order of `open_session`: the study first, so that slots change hands one at a time.
    study = Study.objects.select_for_update(of=("self",)).get(pk=session.study_id)
    Participant.objects.select_for_update().get(pk=session.participant_id)
    session.refresh_from_db()
    if session.is_verified or session.state == SessionState.WITHDRAWN:
        return session.is_verified
    others = counted_sessions(session.participant_id)
    held = set(others.values_list("number", flat=True))
    if len(held) >= sessions_allowed(study):
        return False
    holder = holding_slots(study).filter(slot=session.slot).exclude(pk=session.pk).first()
    if holder is not None and not holder.is_verified:
        Session.objects.filter(pk=holder.pk).update(holds_slot=False)
        holder = None
    session.is_verified, session.holds_slot = True, holder is None and session.left_at is None
    session.number = lowest_free_number(held)
    session.save(update_fields=["is_verified", "holds_slot", "number"])
    if session.state in FINISHED:
        jobs.submit("screening.judge", subject=f"session:{session.code}", session_id=session.pk)
    return True


def release_slot(*, session: Session) -> None:
    """Nobody will list this session any more: its slot is free, and what it has stays."""
    Session.objects.filter(pk=session.pk, is_verified=False).update(holds_slot=False)


def set_aside(*, session: Session) -> None:
    """Another session stands for the same id: this one gives up its slot, counts nowhere, and may go on."""
    Session.objects.filter(pk=session.pk).update(is_verified=False, holds_slot=False)


def tie_rivals(*, session: Session, rivals: Collection[int]) -> None:
    """The session stands for an id under which these others, by primary key, were begun, too."""
    Session.objects.filter(pk=session.pk).update(rival_of=None)
    Session.objects.filter(pk__in=rivals).exclude(pk=session.pk).update(rival_of=session)


def sessions_allowed(study: Study) -> int:
    return int(study.configuration.get("max_sessions_per_worker", 1))
