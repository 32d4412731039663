"""A researcher takes a study as a participant does, through the same page and calls; nothing is stored of it.

What is kept while it lasts is one row of `Preview`: how far it is, and who may go on. The plan of a slot is read from
the study's plan file; the slot is not taken. There is no session, so that nothing that counts sessions could count it.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import lru_cache
from typing import Any

from django.db import transaction
from django.db.models import Q

from analysis.design.plan import PlannedTrial as Planned
from analysis.study.protocol import ProtocolConfig
from humanexp.core import clock
from humanexp.core.errors import NotFound, OutOfOrder, SessionClosed, StudyRefused, TokenRefused
from humanexp.core.models import User
from humanexp.participation import answering, sessions
from humanexp.participation.answering import NextRound, StoredAnswer, answer_of, check_answer, check_lease
from humanexp.participation.answers import Picture, stimulus_pictures, stimulus_png
from humanexp.participation.endings import questions_of
from humanexp.participation.models import Preview, Session, SessionState
from humanexp.participation.openings import Exchanged
from humanexp.participation.presentation import Course, PlannedTrial
from humanexp.participation.sessions import PreviewClaim
from humanexp.studies import plans
from humanexp.studies.models import Protocol, Study
from humanexp.studies.plans import grid_order_for
from humanexp.studies.tasks import TASKS

#: How many times shorter phases are when somebody only wants to see every screen.
HURRY = 10
#: A protocol knows no shorter one.
LEAST_WINDOW_MS = 200
#: What the end page shows in place of a completion code.
CODE = "PREVIEW"
_OVER = "This preview is over: open another from the study's page."


@transaction.atomic
def open_preview(*, study: Study, by: User | None, slot: int = 0, is_hurried: bool = False) -> Preview:
    """Begin anew with the plan's session `slot`; the one that this researcher had open, and old ones, are deleted.

    Without `by` it is a dry run, which disturbs nobody's preview.
    """
    if not study.plan_file:
        raise StudyRefused("This study has no plan: the trials were imported.")
    if not 0 <= slot < study.planned_sessions:
        raise StudyRefused(f"The plan holds sessions 1 to {study.planned_sessions}.")
    sweep_previews()
    if by is not None:
        Preview.objects.filter(study=study, by=by).delete()
    return Preview.objects.create(
        study=study,
        by=by,
        slot=slot,
        hurry=HURRY if is_hurried else 1,
        token_nonce=secrets.token_urlsafe(12),
        opened_at=clock.now(),
    )


def preview_of(*, study: Study, by: User) -> Preview | None:
    """The preview that this researcher has open."""
    return Preview.objects.filter(study=study, by=by).first()


def sweep_previews() -> int:
    """Delete previews that nobody ended; how many there were."""
    oldest = clock.now() - timedelta(seconds=sessions.PREVIEW_MAX_AGE_S)
    return Preview.objects.filter(opened_at__lt=oldest).delete()[0]


def issue_preview_handoff(*, preview: Preview) -> str:
    """A code that can be exchanged for a token once, within a minute."""
    preview.handoff_nonce = secrets.token_urlsafe(12)
    preview.save(update_fields=["handoff_nonce"])
    return sessions.PREVIEW_HANDOFF.sign(preview.pk, preview.handoff_nonce)


def exchange_handoff(*, code: str) -> Exchanged:
    preview = _behind(code)
    if not Preview.objects.filter(pk=preview.pk, handoff_nonce=preview.handoff_nonce).update(handoff_nonce=""):
        raise TokenRefused(reason="replayed")
    return Exchanged(token=sessions.PREVIEW_TOKEN.sign(preview.pk, preview.token_nonce))


def look_behind(*, code: str) -> list[str]:
    return list(dict.fromkeys(block["task"] for block in _course_of(_behind(code)).blocks))


def _behind(code: str) -> Preview:
    claim = sessions.PREVIEW_HANDOFF.read(code)
    preview = Preview.objects.select_related("study").filter(pk=claim.preview_id, handoff_nonce=claim.nonce or None)
    found = preview.first()
    if found is None:
        raise TokenRefused(reason="replayed")
    return found


def session_of(claim: PreviewClaim) -> Session:
    """The preview in the shape of a session that is never saved; its protocol is the one that is shown."""
    return _as_session(*_open(claim), SessionState.OPEN)


def take_lease(*, claim: PreviewClaim, lease: str) -> str:
    if not Preview.objects.filter(pk=claim.preview_id, token_nonce=claim.nonce).update(lease=lease):
        raise SessionClosed(_OVER)
    return lease


def picture_trials(*, claim: PreviewClaim, lease: str, positions: Sequence[int]) -> tuple[Course, list[PlannedTrial]]:
    """Trials whose pictures may be fetched now."""
    preview, course = _open(claim)
    check_lease(preview, lease)
    return course, course.fetchable(positions, preview.cursor)


def show(*, claim: PreviewClaim, trials: Sequence[PlannedTrial]) -> list[list[bytes]]:
    """The pictures of each trial."""
    return [[stimulus_png(picture) for picture in trial.pictures] for trial in trials]


def store_response(
    *, claim: PreviewClaim, lease: str, position: int, response: str, simulated: bool = False, **_measured: Any
) -> StoredAnswer:
    """Judge an answer and go on to the next trial. The answer itself is kept nowhere."""
    preview, course = _open(claim)
    check_lease(preview, lease)
    trial, cursor = course.trial(position), preview.cursor
    check_answer(course, trial, response, simulated)
    if position > cursor:
        raise OutOfOrder(fields={"cursor": str(cursor)})
    correct, is_new = trial.judge(response), cursor == position
    if is_new:
        cursor = _go_on(preview, course, trial, correct)
    return answer_of(course, trial, response, correct, cursor=cursor, is_new=is_new)


def _go_on(preview: Preview, course: Course, trial: PlannedTrial, correct: bool | None) -> int:
    block, standing = course.blocks[trial.block], NextRound(trial.position + 1)
    right = (0 if trial.position == block["first"] else preview.right) + bool(correct)
    if answering.ends_round(course.blocks, trial.block, standing.cursor):
        # Who only wants to see the screens answers at random, and passes.
        counted = right if preview.hurry == 1 else standing.cursor - block["first"]
        rules = preview.study.rule_set
        standing = answering.after_round(course.blocks, trial.block, rule_set=rules, right=counted)
    here = Preview.objects.filter(pk=preview.pk, cursor=trial.position)
    here.update(cursor=standing.cursor, right=right, **standing.known)
    return standing.cursor


def skip(*, claim: PreviewClaim, lease: str, to: str) -> int:
    """Go on at the next block, or (`to` = "main") past practice and qualification; the new cursor."""
    preview, course = _open(claim)
    check_lease(preview, lease)
    here = preview.cursor
    if to == "main":
        ahead = [block for block in course.blocks if block["kind"] == "main" and block["last"] >= here]
    else:
        ahead = [block for block in course.blocks if block["first"] > here]
    cursor = max(here, ahead[0]["first"]) if ahead else len(course.trials)
    Preview.objects.filter(pk=preview.pk).update(cursor=cursor, right=0)
    return int(cursor)


def complete(*, claim: PreviewClaim, lease: str, environment: Mapping[str, Any]) -> Session:
    """The end: what was kept of the preview is deleted. What the page measured of the browser is not looked at."""
    preview, course = _open(claim)
    check_lease(preview, lease)
    if left := len(course.trials) - preview.cursor:
        raise OutOfOrder(f"{left} trials are not answered yet.", fields={"cursor": str(preview.cursor)})
    return _ended(preview, course, SessionState.COMPLETED)


def open_questions(session: Session) -> tuple[str, ...]:
    """What the page asks at the end; nothing that is said there is stored."""
    return questions_of(session.study) if session.state == SessionState.COMPLETED else ()


def leave_session(*, claim: PreviewClaim, keeps_answers: bool = False, for_time: bool = False) -> Session:
    return _ended(*_open(claim), SessionState.WITHDRAWN)


def proofs(session: Session) -> dict[str, str]:
    """No receipt: nobody can submit a preview."""
    return {"receipt": "", "completion_code": CODE} if session.state == SessionState.COMPLETED else {}


def _open(claim: PreviewClaim) -> tuple[Preview, Course]:
    known = Preview.objects.select_related("study__protocol").filter(pk=claim.preview_id, token_nonce=claim.nonce)
    found = known.filter(Q(by__is_active=True) | Q(by=None)).first()
    if found is None:
        raise SessionClosed(_OVER)
    return found, _course_of(found)


def _course_of(preview: Preview) -> Course:
    return _read(preview.study_id, preview.study.plan_digest, preview.slot, preview.hurry)


@lru_cache(maxsize=16)
def _read(study_pk: int, digest: str, slot: int, hurry: int) -> Course:
    """Kept by the digest of the plan: a large study's file takes a while to be parsed, and every call asks for it."""
    study = Study.objects.select_related("protocol").get(pk=study_pk, plan_digest=digest)
    plan = plans.session_plan(study, slot)[1]
    pictures = stimulus_pictures(study, {name for trial in plan.trials for name in trial.stimuli})
    return Course(
        session_id=0,
        is_scripted=False,
        blocks=plans.blocks_of(study, plan),
        trials=tuple(_trial(trial, pictures) for trial in plan.trials),
        protocol=_protocol(study, hurry),
        configuration=study.configuration,
        space=study.space,
    )


def _protocol(study: Study, hurry: int) -> ProtocolConfig:
    """The study's, or one of which every phase is shorter; a window that waits for the answer stays as it is."""
    if study.protocol is None:
        raise NotFound
    whole = ProtocolConfig.from_dict(study.protocol.configuration)
    if hurry == 1:
        return whole
    phases = ("fixation_ms", "stimulus_ms", "mask_ms", "feedback_ms", "feedback_wrong_ms")
    # A phase that is there stays there.
    shorter = {phase: -(-value // hurry) for phase in phases if (value := getattr(whole, phase)) is not None}
    if whole.fixed_response_window:
        shorter["response_ms"] = max(LEAST_WINDOW_MS, whole.response_ms // hurry)
    return whole.but(**shorter)


def stated_times(study: Study) -> dict[str, int]:
    """What participants are told of time, whatever the pace of a preview; nothing of a study without a protocol."""
    if study.protocol is None:
        return {}
    whole = ProtocolConfig.from_dict(study.protocol.configuration)
    return {"stimulus_ms": whole.stimulus_ms, "response_ms": whole.response_ms}


def _ended(preview: Preview, course: Course, state: SessionState) -> Session:
    session = _as_session(preview, course, state)
    Preview.objects.filter(pk=preview.pk).delete()
    return session


def _as_session(preview: Preview, course: Course, state: SessionState) -> Session:
    study, protocol = preview.study, course.protocol
    if protocol is not None:
        study.protocol = Protocol(name=protocol.name, configuration=protocol.to_dict())
    return Session(
        study=study,
        state=state,
        slot=preview.slot,
        cursor=preview.cursor,
        total=len(course.trials),
        blocks=course.blocks,
        grid_order=grid_order_for(study, person=f"preview {preview.pk}"),
        lease=preview.lease,
        qualified=preview.qualified,
        practised=preview.practised,
    )


def _trial(planned: Planned, pictures: Mapping[str, Picture]) -> PlannedTrial:
    task = TASKS[planned.task]
    return PlannedTrial(
        pk=0,
        position=planned.position,
        block=planned.block,
        task=task,
        correct_response=planned.correct_response,
        mask_seed=planned.mask_seed,
        wanted=planned.wanted,
        pictures=tuple(pictures[name] for name in planned.stimuli)[: task.showings],
        not_before_s=0.0,
        options=planned.options,
    )
