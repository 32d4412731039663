from __future__ import annotations

from typing import Any

from humanexp.jobs.registry import Progress, handler
from humanexp.participation.models import Session
from humanexp.screening import services
from humanexp.screening.selectors import JUDGED_STATES
from humanexp.studies.models import Study


@handler("screening.judge", title="A session is judged", is_prompt=True)
def judge_one(progress: Progress, *, session_id: int) -> dict[str, Any]:
    """Judge one session as soon as it is complete."""
    session = Session.objects.select_related("study").filter(pk=session_id, state__in=JUDGED_STATES).first()
    if session is None:  # withdrawn or deleted meanwhile
        return {}
    verdict = services.judge_session(session)
    progress(1, 1)
    return {"accepted": verdict.accepted, "reasons": verdict.reasons}


@handler("screening.forget_erased", title="Verdicts on erased answers are removed", every_s=3600)
def forget_erased(progress: Progress) -> dict[str, Any]:
    """Remove what was measured of answers that are no more."""
    return {"verdicts": services.forget_erased()}


@handler(services.JUDGE_STUDY, title="All sessions are judged")
def judge_all(progress: Progress, *, study_id: int) -> dict[str, Any]:
    """Judge a study anew: golds were withdrawn, or somebody asks for it."""
    study = Study.objects.filter(pk=study_id).first()
    if study is None:
        return {}
    verdicts = services.judge_study(study, report=progress)
    return {"accepted": sum(verdict.accepted for verdict in verdicts), "judged": len(verdicts)}
