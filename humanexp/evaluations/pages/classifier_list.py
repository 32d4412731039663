"""What the pages of classifiers show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from analysis.claims.robustness import THESE_WEIGHTS
from analysis.classifiers import onnx_network
from analysis.classifiers.onnx_network import is_installed
from humanexp.evaluations import selectors
from humanexp.evaluations.models import EvaluationRun, Retraining, UploadedModel
from humanexp.evaluations.services.retraining import expected_warnings
from humanexp.evaluations.specs import shelf_specs, shown
from humanexp.jobs.models import Job
from humanexp.jobs.selectors import latest_for, newest_by_subject, partial_context

#: Quantities of the table before and after, in the order of its columns.
QUANTITIES = ("area", "hmri", "mrsi")


@dataclass(frozen=True)
class Row:
    """A run or a retraining with the newest job about it."""

    one: Any
    job: Job | None
    #: what is said of a run that guesses
    guessing: str = ""

    @property
    def is_under_way(self) -> bool:
        return self.job is not None and not self.job.is_finished

    @property
    def has_failed(self) -> bool:
        return self.job is not None and self.job.is_finished and self.job.state != "done"


def rows_of(found: Sequence[EvaluationRun] | Sequence[Retraining] | Sequence[UploadedModel]) -> list[Row]:
    newest = newest_by_subject([one.job_subject for one in found])
    guessing = selectors.guessing([one for one in found if isinstance(one, EvaluationRun)])
    return [
        Row(one, newest.get(one.job_subject), guessing.get(one.pk, "") if isinstance(one, EvaluationRun) else "")
        for one in found
    ]


def packaged() -> list[tuple[str, bool]]:
    """Networks that know photographs and come as packages, each with whether they are installed here."""
    return [(spec, is_installed(spec)) for spec in onnx_network.SPECS]


def run_context(run: EvaluationRun) -> dict[str, Any]:
    job = latest_for(run.job_subject)
    return {"run": run, "guessing": selectors.guessing([run]).get(run.pk), **partial_context(job)}


def retraining_context(retraining: Retraining) -> dict[str, Any]:
    """The report as rows of a table: one a curve and quantity."""
    entries = [
        {
            "corruption": row["corruption"],
            "property": row["property"],
            "trained_on": row["trained_on"],
            "quantity": name,
            "before": row["before"][name],
            "after": row["after"][name],
            "difference": row["difference"][name],
            "low": row["interval"][name][0],
            "high": row["interval"][name][1],
            "stimuli": row["stimuli"],
        }
        for row in retraining.report.get("rows", [])
        for name in QUANTITIES
        if name in row["difference"]
    ]
    job, spec = latest_for(retraining.job_subject), f"export:{retraining.out}"
    return {
        "retraining": retraining,
        "report": retraining.report,
        "entries": entries,
        "these_weights": THESE_WEIGHTS,
        "warnings": retraining.report.get("warnings", []) if retraining.report else expected_warnings(retraining),
        # to be evaluated on other stimuli, where the console may read it
        "new_spec": shown(spec) if spec in shelf_specs() else "",
        **partial_context(job),
    }
