from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_noop

from humanexp.core.errors import NotFound
from humanexp.experiments.models import PowerEstimate, Study
from humanexp.experiments.power.reading import POWER
from humanexp.experiments.services import erase_withdrawn, keep_working_times, showing, simulate_power
from humanexp.experiments.services.previewing import sweep_previews
from humanexp.experiments.tallies import TALLY, due_tallies, make_tally
from humanexp.jobs.registry import Progress, handler


@handler("experiments.sweep_previews", title=gettext_noop("Old previews are removed"), every_s=3600)
def sweep(progress: Progress) -> dict[str, Any]:
    """Delete previews that nobody ended."""
    return {"deleted": sweep_previews()}


@handler("experiments.erase_withdrawn", title=gettext_noop("Withdrawn answers are erased"), every_s=3600)
def erase(progress: Progress) -> dict[str, Any]:
    """Erase what people took back, once its time is over."""
    return dict(erase_withdrawn())


@handler("experiments.working_times", title=gettext_noop("Working time is measured"), every_s=60)
def working_times(progress: Progress) -> dict[str, Any]:
    """Of sessions that have ended since."""
    return {"measured": keep_working_times()}


@handler("experiments.look_again", title=gettext_noop("Damaged pictures are looked at again"), every_s=600)
def look_again(progress: Progress) -> dict[str, Any]:
    """End the alarm of pictures whose files were restored."""
    return dict(showing.look_again())


@handler(POWER, title=gettext_noop("Power is simulated"))
def power(progress: Progress, *, estimate_id: int) -> dict[str, Any]:
    """Simulate a planned study and say how often it finds what it looks for."""
    estimate = PowerEstimate.objects.filter(pk=estimate_id).first()
    if estimate is None:
        raise NotFound("The study was deleted before its power was simulated.")
    simulate_power(estimate=estimate, report=progress)
    return {"power": estimate.report["planned"]["different"]}


@handler(TALLY, title=gettext_noop("Answers are counted"))
def tally(progress: Progress, *, study_id: int, name: str) -> dict[str, Any]:
    """Somebody asked for it."""
    study = Study.objects.filter(pk=study_id).first()
    if study is None:
        raise NotFound("The study was deleted before its answers were counted.")
    return {"answers": make_tally(study=study, name=name, report=progress).answers}


@handler("experiments.tallies", title=gettext_noop("Answers of large studies are counted"), every_s=60)
def tallies(progress: Progress) -> dict[str, Any]:
    """What has changed since it was last counted."""
    counted = [make_tally(study=study, name=name, report=progress) for study, name in due_tallies()]
    return {"counted": len(counted)}
