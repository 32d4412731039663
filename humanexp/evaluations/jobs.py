from __future__ import annotations

from dataclasses import asdict
from typing import Any

from analysis.classifiers.networks import Precision
from analysis.classifiers.shards import Asked
from analysis.labels.mapping import Decide, Rule
from analysis.observers.protocol import AskProtocol
from analysis.observers.questions import AskPlan
from humanexp.evaluations.budget import Caps
from humanexp.evaluations.models import EvaluationRun, UploadedModel
from humanexp.evaluations.observers import Machine
from humanexp.evaluations.services import asked_comparisons, asked_observers, evaluations, uploads
from humanexp.evaluations.services.asked_observers import ask_about_set
from humanexp.evaluations.services.prediction import predict_stimulus_set, rate_originals
from humanexp.jobs.registry import Progress, handler
from humanexp.stimuli.models import SourceSet


@handler(evaluations.JOB_KIND, title="A network classifies stimuli")
def evaluate(
    progress: Progress,
    *,
    evaluation_id: int,
    spec: str,
    device: str = "cpu",
    rule: Rule = "mean",
    decide: Decide = "among",
    own_labels: bool = False,
    labels: str = "",
    allow_code: bool = False,
    allow_download: bool = False,
    precision: Precision = "float32",
) -> dict[str, Any]:
    """Classify every stimulus of the set in batches; what an earlier attempt finished is not done again."""
    run = EvaluationRun.objects.select_related("stimulus_set__source_set__labels").get(pk=evaluation_id)
    asked = Asked(
        spec, device=device, rule=rule, decide=decide, own_labels=own_labels, labels=labels, allow_code=allow_code,
        allow_download=allow_download, precision=precision,
    )  # fmt: skip
    predict_stimulus_set([(run, asked)], progress)
    return {"count": run.count, "accuracy_clean": run.accuracy_clean}


@handler(evaluations.TOGETHER_KIND, title="Networks classify stimuli")
def evaluate_together(
    progress: Progress,
    *,
    evaluations: list[dict[str, Any]],
    device: str = "cpu",
    rule: Rule = "mean",
    decide: Decide = "among",
    own_labels: bool = False,
    labels: str = "",
    allow_code: bool = False,
    allow_download: bool = False,
    precision: Precision = "float32",
) -> dict[str, Any]:
    """Classify every stimulus of the set by several networks, each picture read once."""
    runs = EvaluationRun.objects.select_related("stimulus_set__source_set__labels").in_bulk(
        [one["evaluation_id"] for one in evaluations]
    )
    wanted = [
        (
            runs[one["evaluation_id"]],
            Asked(
                one["spec"], device=device, rule=rule, decide=decide, own_labels=own_labels, labels=labels,
                allow_code=allow_code, allow_download=allow_download, precision=precision,
            ),
        )
        for one in evaluations
    ]  # fmt: skip
    predict_stimulus_set(wanted, progress)
    return {"counts": [run.count for run, _ in wanted], "accuracy_clean": [run.accuracy_clean for run, _ in wanted]}


@handler(asked_observers.ASK_KIND, title="A model is asked about stimuli")
def ask(
    progress: Progress,
    *,
    evaluation_id: int,
    spec: str,
    caps: dict[str, Any],
    protocol: dict[str, Any] | None = None,
    plan: dict[str, Any] | None = None,
    temperature: float = 0.0,
    device: str = "cpu",
    precision: Precision = "float32",
) -> dict[str, Any]:
    """Ask a model in words about every stimulus of the set; what an earlier attempt was told is not asked again.

    `plan` and `temperature` are what jobs from before there were protocols say instead.
    """
    run = EvaluationRun.objects.select_related("stimulus_set__source_set__labels").get(pk=evaluation_id)
    machine = Machine(device=device, precision=precision)
    if protocol is not None:
        how = AskProtocol.from_json(protocol)
    else:
        told = plan or {}
        how = AskProtocol(plan=AskPlan(**{**told, "wordings": tuple(told["wordings"])}), temperature=temperature)
    ask_about_set(run, spec, how, Caps(**caps), machine, progress)
    return {"count": run.count, "accuracy_clean": run.accuracy_clean}


@handler(asked_comparisons.COMPARE_KIND, title="A model compares stimuli")
def compare(
    progress: Progress,
    *,
    evaluation_id: int,
    study: str,
    spec: str,
    caps: dict[str, Any],
    protocol: dict[str, Any],
    device: str = "cpu",
    precision: Precision = "float32",
) -> dict[str, Any]:
    """Let a model answer the comparisons of a study; what an earlier attempt was told is not asked again."""
    run = EvaluationRun.objects.select_related("stimulus_set").get(pk=evaluation_id)
    machine = Machine(device=device, precision=precision)
    asked_comparisons.answer_comparisons(
        run, study, spec, AskProtocol.from_json(protocol), Caps(**caps), machine, progress
    )
    return {"count": run.count}


@handler(uploads.CHECK_KIND, title="An uploaded model is checked")
def check_model(progress: Progress, *, model_id: int) -> dict[str, Any]:
    """Try a model out in a process of its own, and put it on the shelf or refuse it."""
    row = uploads.check_and_shelve(UploadedModel.objects.select_related("created_by").get(pk=model_id), progress)
    return {"refusal": row.refusal}


@handler(evaluations.GOLD_KIND, title="Easy pictures are looked for")
def select_gold(
    progress: Progress, *, source_set_id: int, specs: list[str], device: str, allow_code: bool
) -> dict[str, Any]:
    """Let classifiers look at every clean original of a set of pictures."""
    source_set = SourceSet.objects.get(pk=source_set_id)
    return asdict(rate_originals(source_set, specs, progress, allow_code=allow_code, device=device))
