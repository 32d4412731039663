from __future__ import annotations

from typing import Any

from analysis.errors import AnalysisError
from humanexp.core.errors import JobError
from humanexp.jobs.registry import Progress, handler
from humanexp.stimuli import services
from humanexp.stimuli.generation import make_stimuli
from humanexp.stimuli.selectors import stimulus_set_by_pk


@handler(services.JOB_KIND)
def generate(progress: Progress, *, stimulus_set_id: int) -> dict[str, Any]:
    """Make the stimuli of a set; a picture that cannot be used ends the job with its name."""
    try:
        return {"count": make_stimuli(stimulus_set_by_pk(stimulus_set_id), progress)}
    except AnalysisError as error:
        raise JobError(str(error)) from error
