from __future__ import annotations

from dataclasses import asdict
from typing import Any, Literal

from django.utils.translation import gettext_noop

from analysis.classifiers.shards import Asked
from humanexp.evaluations import services
from humanexp.evaluations.models import EvaluationRun
from humanexp.evaluations.services.gold import rate_originals
from humanexp.evaluations.services.prediction import predict_stimulus_set
from humanexp.jobs.registry import Progress, handler
from humanexp.stimuli.models import SourceSet


@handler(services.JOB_KIND, title=gettext_noop("A network classifies stimuli"))
def evaluate(
    progress: Progress,
    *,
    evaluation_id: int,
    spec: str,
    device: str = "cpu",
    rule: Literal["mean", "sum", "max"] = "mean",
    own_labels: bool = False,
    labels: str = "",
    allow_code: bool = False,
    allow_download: bool = False,
) -> dict[str, Any]:
    """Classify every stimulus of the set in batches; what an earlier attempt finished is not done again."""
    run = EvaluationRun.objects.select_related("stimulus_set").get(pk=evaluation_id)
    asked = Asked(
        spec, device=device, rule=rule, own_labels=own_labels, labels=labels, allow_code=allow_code,
        allow_download=allow_download,
    )  # fmt: skip
    predict_stimulus_set(run, asked, progress)
    return {"count": run.count, "accuracy_clean": run.accuracy_clean}


@handler(services.GOLD_KIND, title=gettext_noop("Easy pictures are looked for"))
def select_gold(
    progress: Progress, *, source_set_id: int, specs: list[str], device: str, allow_code: bool
) -> dict[str, Any]:
    """Let classifiers look at every clean original of a set of pictures."""
    source_set = SourceSet.objects.get(pk=source_set_id)
    return asdict(rate_originals(source_set, specs, progress, allow_code=allow_code, device=device))
