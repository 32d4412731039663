from __future__ import annotations

from typing import Any

from humanexp.core.errors import existing
from humanexp.jobs.registry import Progress, handler
from humanexp.participation import presentation
from humanexp.participation.endings import erase_withdrawn
from humanexp.participation.openings import keep_working_times
from humanexp.participation.previews import sweep_previews
from humanexp.participation.tallies import TALLY, due_tallies, make_tally
from humanexp.studies.models import Study


@handler(
    "participation.sweep_previews",
    title="Old previews are removed",
    every_s=3600,
    former=("experiments.sweep_previews",),
)
def sweep(progress: Progress) -> dict[str, Any]:
    """Delete previews that nobody ended."""
    return {"deleted": sweep_previews()}


@handler(
    "participation.erase_withdrawn",
    title="Withdrawn answers are erased",
    every_s=3600,
    former=("experiments.erase_withdrawn",),
)
def erase(progress: Progress) -> dict[str, Any]:
    """Erase what people took back, once its time is over."""
    return dict(erase_withdrawn())


@handler(
    "participation.working_times",
    title="Working time is measured",
    every_s=60,
    former=("experiments.working_times",),
)
def working_times(progress: Progress) -> dict[str, Any]:
    """Of sessions that have ended since."""
    return {"measured": keep_working_times()}


@handler(
    "participation.look_again",
    title="Damaged pictures are looked at again",
    every_s=600,
    former=("experiments.look_again",),
)
def look_again(progress: Progress) -> dict[str, Any]:
    """End the alarm of pictures whose files were restored."""
    return dict(presentation.look_again())


@handler(TALLY, title="Answers are counted", former=("experiments.tally",))
def tally(progress: Progress, *, study_id: int, name: str) -> dict[str, Any]:
    """Somebody asked for it."""
    found = Study.objects.filter(pk=study_id).first()
    study = existing(found, "The study was deleted before its answers were counted.")
    return {"answers": make_tally(study=study, name=name, report=progress).answers}


@handler(
    "participation.tallies",
    title="Answers of large studies are counted",
    every_s=60,
    former=("experiments.tallies",),
)
def tallies(progress: Progress) -> dict[str, Any]:
    """What has changed since it was last counted."""
    counted = [make_tally(study=study, name=name, report=progress) for study, name in due_tallies()]
    return {"counted": len(counted)}
