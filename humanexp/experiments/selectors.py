"""Every question that is asked of studies, sessions, trials and responses."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet

from analysis.spec.study import StudyConfiguration
from analysis.tables import TIMING_COLUMNS
from humanexp.core import clock
from humanexp.core.errors import NotFound, TokenRefused
from humanexp.core.models import User
from humanexp.experiments import credentials
from humanexp.experiments.counting import counting
from humanexp.experiments.credentials import SessionClaim
from humanexp.experiments.models import RefusalReason, RefusedCall, Response, Session, SessionState, Study, Trial
from humanexp.experiments.pictures import Picture
from humanexp.stimuli.models import Stimulus, StimulusSet


def study_by_slug(slug: str) -> Study:
    """The study with this name, for commands and jobs; pages start from `visible_to`."""
    study = Study.objects.select_related("family", "protocol", "stimulus_set").filter(slug=slug).first()
    if study is None:
        raise NotFound(f"There is no study {slug!r}.")
    return study


def visible_to(user: User | AnonymousUser) -> QuerySet[Study]:
    """Studies that this researcher may see: staff see all, others those in which they have a role."""
    studies = Study.objects.select_related("family", "protocol", "stimulus_set")
    if not user.is_authenticated:
        return studies.none()
    return studies if user.is_staff or user.is_superuser else studies.filter(memberships__user=user)


def study_for(user: User | AnonymousUser, slug: str) -> Study:
    """The study with this name, for a page of this researcher."""
    study = visible_to(user).filter(slug=slug).first()
    if study is None:
        raise NotFound(f"There is no study {slug!r}, or it belongs to somebody else.")
    return study


def session_for_token(token: str) -> Session:
    """The session that a bearer token stands for; refuses forged, expired and revoked ones."""
    return session_of(credentials.TOKEN.read(token))


def session_of(claim: SessionClaim) -> Session:
    return _claimed(Session.objects.select_related("study__protocol"), claim)


def standing_of(claim: SessionClaim) -> Session:
    """What changes about a session, of one row by its key: the call that everybody makes all the time."""
    return _claimed(Session.objects.only("state", "cursor", "lease", "block_began_at"), claim)


def _claimed(sessions: QuerySet[Session], claim: SessionClaim) -> Session:
    session = sessions.filter(pk=claim.session_id, token_nonce=claim.nonce).first()
    if session is None:
        raise TokenRefused(reason="revoked")
    return session


#: Without an answer that counts, who was not heard of for longer gives their slot up to somebody who needs it.
SILENT_AFTER = timedelta(minutes=10)


def holding_slots(study: Study) -> QuerySet[Session]:
    """Sessions whose slots are taken: those that were withdrawn, ended unqualified, or gave theirs up hold none."""
    held = Session.objects.filter(study=study, holds_slot=True)
    return held.exclude(state=SessionState.WITHDRAWN).exclude(qualified=False)


def is_at_work(session: str = "") -> Q:
    """Of sessions, or of rows that have one under this name: it has answers that count, or was heard of just now."""
    place = f"{session}__" if session else ""
    has_answers = ~Q(**{f"{place}state": SessionState.OPEN}) | Q(**{f"{place}confirmed_at__isnull": False})
    return has_answers | Q(**{f"{place}last_seen_at__gte": clock.now() - SILENT_AFTER})


def kept_slots(study: Study) -> int:
    """Slots that nobody gives up any more, or not now: of sessions that may count and are at work."""
    kept = holding_slots(study).filter(is_verified=True)
    # Who is under way first: whoever ends in between is counted twice, and never left out.
    under_way = kept.filter(is_at_work(), state=SessionState.OPEN, completed_at=None).count()
    # The same of those who have ended, in words for which the beginning of an index stands.
    ended = Session.objects.filter(
        study=study,
        state__in=(SessionState.COMPLETED, SessionState.SUBMITTED),
        is_verified__in=[True],
        holds_slot__in=[True],
    )
    return under_way + sum(ended.filter(part).count() for part in (Q(qualified=None), Q(qualified__in=[True])))


def under_way(sessions: Collection[int]) -> QuerySet[Session]:
    """Of these sessions, by primary key, those that hold a slot and are not finished: with answers that count, or heard
    of just now."""
    return Session.objects.filter(is_at_work(), pk__in=sessions, state=SessionState.OPEN, holds_slot=True)


def counted_sessions(participant: int) -> QuerySet[Session]:
    """The participant's sessions that count, of every study of the family."""
    return Session.objects.filter(counting(), participant_id=participant)


def stimulus_pks(study: Study, keys: Collection[str]) -> dict[str, int]:
    found = Stimulus.objects.filter(stimulus_set_id=study.stimulus_set_id, key__in=list(keys))
    return dict(found.values_list("key", "pk"))


def stimulus_pictures(study: Study, keys: Collection[str]) -> dict[str, Picture]:
    found = Stimulus.objects.filter(stimulus_set_id=study.stimulus_set_id, key__in=list(keys))
    return {key: Picture(*picture) for key, *picture in found.values_list("key", *Picture._fields)}


#: Fields of a trial that name its pictures, in the order of their showings.
PICTURES = ("stimulus", "second_stimulus", "third_stimulus")


def seen_originals(sessions: Iterable[Session], study: Study) -> set[str]:
    """Originals of the study's set that may have been shown in these sessions, told by their content."""
    shown = Trial.objects.filter(session__in=list(sessions), position__lte=F("session__cursor"))
    contents = {
        content
        for pictures in shown.values_list(*(f"{name}__source_image__sha256" for name in PICTURES))
        for content in pictures
        if content
    }
    mine = Stimulus.objects.filter(stimulus_set_id=study.stimulus_set_id, source_image__sha256__in=contents)
    return set(mine.values_list("source_image__key", flat=True))


def stimuli_of(study: Study, originals: Collection[str]) -> set[str]:
    """Names of the study's stimuli that were made from these originals."""
    mine = Stimulus.objects.filter(stimulus_set_id=study.stimulus_set_id, source_image__key__in=originals)
    return set(mine.values_list("key", flat=True))


def given_out(study: Study) -> set[str]:
    """Names of the stimuli that stand in any session of the study, planned or as a replacement."""
    trials = Trial.objects.filter(session__study=study)
    names = trials.values_list(*(f"{name}__key" for name in PICTURES)).distinct()
    return {name for pictures in names for name in pictures if name}


_TRIAL_COLUMNS = (
    "session__participant__code",
    "session__code",
    "position",
    "trial__block",
    "trial__task",
    "trial__role",
    "trial__stimulus__source_image__key",
    "trial__stimulus__key",
    "trial__stimulus__source_image__category",
    "trial__stimulus__corruption",
    "trial__stimulus__visual_change",
    "trial__second_stimulus__source_image__key",
    "trial__second_stimulus__key",
    "trial__second_stimulus__corruption",
    "trial__third_stimulus__source_image__key",
    "trial__third_stimulus__key",
    "trial__third_stimulus__corruption",
    "trial__wanted",
    "response",
    "correct",
    "rt_ms",
    "timing_ok",
    "is_scripted",
    "timing",
    "timing_rule",
    "clicks",
    "trial__stimulus__sha256",
    "trial__mask_seed",
    "received_at",
    "session__grid_order",
)


#: Rows that are fetched at once.
_ROWS_AT_ONCE = 2000


def iter_trial_rows(study: Study) -> Iterator[dict[str, Any]]:
    """Every stored answer with the columns of `analysis.tables.TRIALS`; `accepted` is left to whoever knows verdicts.

    Answers of sessions that cannot count are left out: of people who took them back, or whom no recruiter lists. They
    come one after the other: a study of any size is never held as a whole.
    """
    return _iter_rows(Response.objects.filter(counting("session"), session__study=study), study.slug)


def iter_timing_rows(study: Study, tasks: Collection[str]) -> Iterator[dict[str, Any]]:
    """Of every stored answer to a task of these: whose it is, and what the browser measured; nothing else is read."""
    measured = Response.objects.filter(counting("session"), session__study=study, trial__task__in=tasks).order_by()
    rows = measured.values_list("session__participant__code", "timing")
    for participant, timing in rows.iterator(chunk_size=_ROWS_AT_ONCE):
        yield {**timing, "participant": participant}


def session_rows(session: Session) -> list[dict[str, Any]]:
    """The stored answers of one session, with the columns of `iter_trial_rows`; none of a withdrawn one."""
    return list(_iter_rows(answers_of([session]), session.study.slug))


def rows_of(sessions: Collection[Session], study: Study) -> dict[str, list[dict[str, Any]]]:
    """The stored answers of some sessions of a study, by the session's code."""
    found: dict[str, list[dict[str, Any]]] = {session.code: [] for session in sessions}
    for row in _iter_rows(answers_of(sessions), study.slug):
        found[row["session"]].append(row)
    return found


#: Columns of `analysis.tables.TRIALS` that rules read (`analysis.acceptance.SessionRecord`), and where they are stored.
_RULE_COLUMNS = {
    "position": "position",
    "block": "trial__block",
    "task": "trial__task",
    "role": "trial__role",
    "original": "trial__stimulus__source_image__key",
    "stimulus": "trial__stimulus__key",
    "category": "trial__stimulus__source_image__category",
    "corruption": "trial__stimulus__corruption",
    "visual_change": "trial__stimulus__visual_change",
    "response": "response",
    "correct": "correct",
    "rt_ms": "rt_ms",
    "timing_ok": "timing_ok",
}


def rule_rows_of(sessions: Collection[Session]) -> dict[int, list[dict[str, Any]]]:
    """The stored answers of some sessions, by primary key, with no more than rules read: for lists of many sessions."""
    found: dict[int, list[dict[str, Any]]] = {session.pk: [] for session in sessions}
    stored = answers_of(sessions).order_by("session_id", "position")
    for session_pk, *values in stored.values_list("session_id", *_RULE_COLUMNS.values()):
        found[session_pk].append(dict(zip(_RULE_COLUMNS, values, strict=True)))
    return found


def answers_of(sessions: Iterable[Session | int]) -> QuerySet[Response]:
    """Those that nobody took back."""
    return Response.objects.filter(session__in=list(sessions)).exclude(session__state=SessionState.WITHDRAWN)


def _iter_rows(stored: QuerySet[Response], slug: str) -> Iterator[dict[str, Any]]:
    ordered = stored.order_by("session_id", "position").values_list(*_TRIAL_COLUMNS)
    for values in ordered.iterator(chunk_size=_ROWS_AT_ONCE):
        (
            participant, session, position, block, task, role, original, stimulus, category, corruption, change,
            second_original, second_stimulus, second_corruption, third_original, third_stimulus, third_corruption,
            wanted, response, correct, rt_ms, timing_ok, simulated,
            timing, timing_rule, clicks, sha256, mask_seed, received_at, grid_order,
        ) = values  # fmt: skip
        yield {
            "study": slug,
            "participant": participant,
            "session": session,
            "position": position,
            "block": block,
            "task": task,
            "role": role,
            "original": original,
            "stimulus": stimulus,
            "category": category,
            "corruption": corruption,
            "visual_change": change,
            "condition": None,
            "second_original": second_original,
            "second_stimulus": second_stimulus,
            "second_corruption": second_corruption,
            "third_original": third_original,
            "third_stimulus": third_stimulus,
            "third_corruption": third_corruption,
            "wanted": wanted or None,
            "response": response,
            "correct": correct,
            "rt_ms": rt_ms,
            "timing_ok": timing_ok,
            "timing_rule": timing_rule or None,
            "accepted": None,
            "simulated": simulated,
            **{column: timing.get(column) for column in TIMING_COLUMNS},
            "clicks_json": json.dumps(clicks),
            "stim_sha256": sha256,
            "mask_seed": mask_seed,
            "server_received_at": received_at.isoformat(),
            "grid_order": " ".join(grid_order) or None,
        }


def session_counts(study: Study) -> dict[str, int]:
    """How many sessions were ever opened, how many are in which state, and how many slots the plan has.

    Completed and submitted are those that may count; what is finished and listed by no recruiter stands apart.
    """
    groups = Session.objects.filter(study=study).order_by().values_list("state", "is_verified")
    by_state = {(state, verified): count for state, verified, count in groups.annotate(count=Count("*"))}
    in_all = {state: by_state.get((state, True), 0) + by_state.get((state, False), 0) for state in SessionState.values}
    finished = (SessionState.COMPLETED, SessionState.SUBMITTED)
    return {
        "opened": sum(in_all.values()),
        "under_way": in_all[SessionState.OPEN],
        "completed": sum(by_state.get((state, True), 0) for state in finished),
        "submitted": by_state.get((SessionState.SUBMITTED, True), 0),
        "unverified": sum(by_state.get((state, False), 0) for state in finished),
        "withdrawn": in_all[SessionState.WITHDRAWN],
        "planned": study.planned_sessions,
    }


def unfetched_answers(sessions: QuerySet[Session]) -> dict[int, int]:
    """Answers whose pictures were never given out, by the session's primary key; without those for which nobody kept
    that. Hardly any session has one, and the answers of the others are not read."""
    kept = sessions.exclude(pictures_fetched=None).order_by().only("pk", "cursor", "pictures_fetched")
    fetched = {one.pk: (one.fetched or frozenset(), one.cursor) for one in kept.iterator()}
    counts = dict.fromkeys(fetched, 0)
    # A qualification that was passed leaves out the tries that would have followed: no answers are there.
    open_to_doubt = [pk for pk, (known, cursor) in fetched.items() if not known.issuperset(range(cursor))]
    answered = Response.objects.filter(session__in=open_to_doubt).order_by()
    for pk, position in answered.values_list("session_id", "position").iterator():
        counts[pk] += position not in fetched[pk][0]
    return counts


def configuration_of(study: Study) -> StudyConfiguration:
    """The validated snapshot as a value."""
    if not study.configuration:
        raise NotFound("The trials of this study were imported: it has no configuration.")
    return StudyConfiguration.from_dict(study.configuration)


def stimulus_sets() -> list[StimulusSet]:
    """Complete sets of stimuli, from which studies can be made; the newest first."""
    return list(StimulusSet.objects.exclude(completed_at=None).order_by("-completed_at"))


def has_stimuli() -> bool:
    """Whether a study could be made."""
    return StimulusSet.objects.exclude(completed_at=None).exists()


def gold_answers(study: Study) -> list[tuple[int, str, str, bool]]:
    """(session, original, category, right?) of every answered gold trial."""
    answered = Response.objects.filter(counting("session"), session__study=study, trial__role="gold")
    columns = ("session_id", "trial__stimulus__source_image__key", "trial__stimulus__source_image__category", "correct")
    return [
        (session, original, category, bool(right))
        for session, original, category, right in answered.values_list(*columns)
    ]


@dataclass(frozen=True, kw_only=True)
class RefusedCalls:
    """Refusals of one kind, as far as they are kept."""

    reason: RefusalReason
    count: int
    sessions: int
    latest: datetime


def refused_calls(study: Study | None) -> list[RefusedCalls]:
    """What the participant API refused to the study's sessions; without a study, calls that belong to no session."""
    # looked up call by call: they are few, and sessions are many
    of_study = Exists(Session.objects.filter(pk=OuterRef("session"), study=study))
    kept = RefusedCall.objects.filter(of_study if study else Q(session=None))
    counted = kept.order_by().values_list("reason").annotate(Count("pk"), Count("session", distinct=True), Max("at"))
    return sorted(
        (
            RefusedCalls(reason=RefusalReason(reason), count=count, sessions=sessions, latest=latest)
            for reason, count, sessions, latest in counted
        ),
        key=lambda refused: (-refused.count, refused.reason),
    )
