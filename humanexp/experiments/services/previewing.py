"""A researcher takes a study as a participant does, through the same page and calls; nothing is stored of it.

What is kept while it lasts is one row of `Preview`: how far it is, and who may go on. The plan of a slot is read from
the study's plan file; the slot is not taken. There is no session, so that nothing that counts sessions could count it.
"""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Any

from django.db import transaction
from django.db.models import Q

from analysis.design import SessionPlan
from analysis.design.plan import PlannedTrial as Planned
from analysis.spec.protocol import ProtocolConfig
from humanexp.core import clock
from humanexp.core.errors import InvalidRequest, NotFound, OutOfOrder, SessionClosed, StudyRefused, TokenRefused
from humanexp.core.models import User
from humanexp.experiments import credentials, plans, selectors
from humanexp.experiments.course import Course, PlannedTrial
from humanexp.experiments.credentials import PreviewClaim
from humanexp.experiments.grid import grid_order_for
from humanexp.experiments.models import Preview, Protocol, Session, SessionState, Study
from humanexp.experiments.pictures import Picture, stimulus_png
from humanexp.experiments.services import qualifying
from humanexp.experiments.services.answering import StoredAnswer, check_lease
from humanexp.experiments.services.sessions import Exchanged
from humanexp.experiments.tasks import TASKS

#: How many times shorter phases are when somebody only wants to see every screen.
HURRY = 10
#: A protocol knows no shorter one.
LEAST_WINDOW_MS = 200
#: What the end page shows in place of a completion code.
CODE = "PREVIEW"
_OVER = "This preview is over: open another from the study's page."


@dataclass(frozen=True, kw_only=True)
class View:
    """A preview with the plan that it follows."""

    preview: Preview
    plan: SessionPlan
    blocks: list[dict[str, Any]]

    @property
    def study(self) -> Study:
        return self.preview.study

    def trial(self, position: int) -> Planned:
        if position >= len(self.plan.trials):
            raise NotFound
        return self.plan.trials[position]


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
    oldest = clock.now() - timedelta(seconds=credentials.PREVIEW_MAX_AGE_S)
    return Preview.objects.filter(opened_at__lt=oldest).delete()[0]


def issue_preview_handoff(*, preview: Preview) -> str:
    """A code that can be exchanged for a token once, within a minute."""
    preview.handoff_nonce = secrets.token_urlsafe(12)
    preview.save(update_fields=["handoff_nonce"])
    return credentials.sign_preview_handoff(preview_id=preview.pk, nonce=preview.handoff_nonce)


def exchange_handoff(*, code: str) -> Exchanged:
    preview = _behind(code)
    if not Preview.objects.filter(pk=preview.pk, handoff_nonce=preview.handoff_nonce).update(handoff_nonce=""):
        raise TokenRefused(reason="replayed")
    return Exchanged(token=credentials.sign_preview_token(preview_id=preview.pk, nonce=preview.token_nonce))


def look_behind(*, code: str) -> list[str]:
    preview = _behind(code)
    return list(dict.fromkeys(block["task"] for block in _view(preview).blocks))


def _behind(code: str) -> Preview:
    claim = credentials.read_preview_handoff(code)
    preview = Preview.objects.select_related("study").filter(pk=claim.preview_id, handoff_nonce=claim.nonce or None)
    found = preview.first()
    if found is None:
        raise TokenRefused(reason="replayed")
    return found


def session_of(claim: PreviewClaim) -> Session:
    """The preview in the shape of a session that is never saved; its protocol is the one that is shown."""
    return _as_session(_open(claim), SessionState.OPEN)


def take_lease(*, claim: PreviewClaim, lease: str) -> str:
    if not Preview.objects.filter(pk=claim.preview_id, token_nonce=claim.nonce).update(lease=lease):
        raise SessionClosed(_OVER)
    return lease


def picture_trial(*, claim: PreviewClaim, lease: str, position: int) -> tuple[Course, PlannedTrial]:
    course, trials = picture_trials(claim=claim, lease=lease, positions=[position])
    return course, trials[0]


def picture_trials(*, claim: PreviewClaim, lease: str, positions: Sequence[int]) -> tuple[Course, list[PlannedTrial]]:
    """Trials whose pictures may be fetched now: unanswered, and in the block of the cursor."""
    view = _open(claim)
    _check_lease(view, lease)
    planned = [view.trial(position) for position in positions]
    cursor = view.preview.cursor
    if any(trial.position < cursor or view.blocks[trial.block]["first"] > cursor for trial in planned):
        raise NotFound
    names = {name for trial in planned for name in trial.stimuli}
    pictures = selectors.stimulus_pictures(view.study, names)
    trials = [_trial(trial, pictures) for trial in planned]
    course = Course(
        session_id=0,
        is_scripted=False,
        blocks=view.blocks,
        trials=tuple(trials),
        protocol=_protocol(view.preview),
        wording=view.study.configuration.get("wanted", {}),
    )
    return course, trials


def show(*, claim: PreviewClaim, trials: Sequence[PlannedTrial]) -> list[list[bytes]]:
    """The pictures of each trial."""
    return [[stimulus_png(picture) for picture in trial.pictures] for trial in trials]


def store_response(
    *, claim: PreviewClaim, lease: str, position: int, response: str, simulated: bool = False, **_measured: Any
) -> StoredAnswer:
    """Judge an answer and go on to the next trial. The answer itself is kept nowhere."""
    view = _open(claim)
    _check_lease(view, lease)
    trial = view.trial(position)
    task = TASKS[trial.task]
    if simulated or not task.accepts(response):
        raise InvalidRequest(
            "This is not one of the possible answers.", fields={"response": f"{response!r} is not a choice"}
        )
    cursor, correct = view.preview.cursor, task.judge(response, trial.correct_response)
    is_new = cursor == position
    if position > cursor:
        raise OutOfOrder(fields={"cursor": str(cursor)})
    if is_new:
        cursor = _go_on(view, trial, correct)
    return StoredAnswer(
        position=position,
        cursor=cursor,
        response=response,
        correct=correct,
        correct_response=trial.correct_response,
        has_feedback=view.blocks[trial.block]["feedback"],
        is_new=is_new,
    )


def _go_on(view: View, trial: Planned, correct: bool | None) -> int:
    preview, block, cursor = view.preview, view.blocks[trial.block], trial.position + 1
    right = (0 if trial.position == block["first"] else preview.right) + bool(correct)
    qualified = preview.qualified
    if qualifying.ends_try(view.blocks, trial.block, cursor):
        # Who only wants to see the screens answers at random, and passes.
        counted = right if preview.hurry == 1 else cursor - block["first"]
        rules = view.study.rule_set
        cursor, qualified = qualifying.after_try(view.blocks, trial.block, rule_set=rules, right=counted)
    here = Preview.objects.filter(pk=preview.pk, cursor=trial.position)
    here.update(cursor=cursor, right=right, qualified=qualified)
    return cursor


def skip(*, claim: PreviewClaim, lease: str, to: str) -> int:
    """Go on at the next block, or (`to` = "main") past practice and qualification; the new cursor."""
    view = _open(claim)
    _check_lease(view, lease)
    here = view.preview.cursor
    if to == "main":
        ahead = [block for block in view.blocks if block["kind"] == "main" and block["last"] >= here]
    else:
        ahead = [block for block in view.blocks if block["first"] > here]
    cursor = max(here, ahead[0]["first"]) if ahead else len(view.plan.trials)
    Preview.objects.filter(pk=view.preview.pk).update(cursor=cursor, right=0)
    return int(cursor)


def complete(*, claim: PreviewClaim, lease: str, environment: Mapping[str, Any]) -> Session:
    """The end: what was kept of the preview is deleted. What the page measured of the browser is not looked at."""
    view = _open(claim)
    _check_lease(view, lease)
    left = len(view.plan.trials) - view.preview.cursor
    if left:
        raise OutOfOrder(f"{left} trials are not answered yet.", fields={"cursor": str(view.preview.cursor)})
    session = _as_session(view, SessionState.COMPLETED)
    Preview.objects.filter(pk=view.preview.pk).delete()
    return session


def leave_session(*, claim: PreviewClaim) -> Session:
    view = _open(claim)
    Preview.objects.filter(pk=view.preview.pk).delete()
    return _as_session(view, SessionState.WITHDRAWN)


def proofs(session: Session) -> dict[str, str]:
    """No receipt: nobody can submit a preview."""
    return {"receipt": "", "completion_code": CODE} if session.state == SessionState.COMPLETED else {}


def _open(claim: PreviewClaim) -> View:
    known = Preview.objects.select_related("study__protocol").filter(pk=claim.preview_id, token_nonce=claim.nonce)
    found = known.filter(Q(by__is_active=True) | Q(by=None)).first()
    if found is None:
        raise SessionClosed(_OVER)
    return _view(found)


def _view(preview: Preview) -> View:
    plan = _plan(preview.study_id, preview.study.plan_digest, preview.slot)
    return View(preview=preview, plan=plan, blocks=[dataclasses.asdict(block) for block in plan.blocks()])


@lru_cache(maxsize=16)
def _plan(study_pk: int, digest: str, slot: int) -> SessionPlan:
    """Kept by the digest of the plan: a large study's file takes a while to be parsed, and every call asks for it."""
    study = Study.objects.get(pk=study_pk, plan_digest=digest)
    return plans.session_plan(study, slot)[1]


def _check_lease(view: View, lease: str) -> None:
    check_lease(_as_session(view, SessionState.OPEN), lease)


def _protocol(preview: Preview) -> ProtocolConfig:
    """The study's, or one of which every phase is shorter; a window that waits for the answer stays as it is."""
    if preview.study.protocol is None:
        raise NotFound
    whole = ProtocolConfig.from_dict(preview.study.protocol.configuration)
    if preview.hurry == 1:
        return whole
    phases = ("fixation_ms", "stimulus_ms", "mask_ms", "feedback_ms")
    # A phase that is there stays there.
    shorter = {phase: -(-getattr(whole, phase) // preview.hurry) for phase in phases}
    if whole.fixed_response_window:
        shorter["response_ms"] = max(LEAST_WINDOW_MS, whole.response_ms // preview.hurry)
    return whole.but(**shorter)


def _as_session(view: View, state: SessionState) -> Session:
    preview, study = view.preview, view.study
    protocol = _protocol(preview)
    study.protocol = Protocol(name=protocol.name, configuration=protocol.to_dict())
    return Session(
        study=study,
        state=state,
        slot=preview.slot,
        cursor=preview.cursor,
        total=len(view.plan.trials),
        blocks=view.blocks,
        grid_order=grid_order_for(study, person=f"preview {preview.pk}"),
        lease=preview.lease,
        qualified=preview.qualified,
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
    )
