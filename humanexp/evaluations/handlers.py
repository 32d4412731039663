from __future__ import annotations

from typing import Any

from humanexp.evaluations import services
from humanexp.evaluations.models import EvaluationRun
from humanexp.jobs.registry import Progress, handler


@handler(services.JOB_KIND)
def evaluate(progress: Progress, *, evaluation_id: int) -> dict[str, Any]:
    """Classify every stimulus of the set in batches; what an earlier attempt finished is not done again."""
    from humanexp.evaluations.prediction import predict_stimulus_set

    run = EvaluationRun.objects.select_related("stimulus_set").get(pk=evaluation_id)
    predict_stimulus_set(run, progress)
    return {"count": run.count, "accuracy_clean": run.accuracy_clean}
