"""Energy and CO2 of a stimulus set: its generation, the predictions on it, and networks that were trained on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from analysis.energy import FORMULA, GRAMS, summed
from humanexp.evaluations.models import EvaluationRun, Retraining
from humanexp.stimuli.models import StimulusSet


@dataclass(frozen=True)
class Emission:
    """What one computation took; `energy` as `analysis.energy` stores it, empty where nothing was recorded."""

    #: generation, prediction or retraining
    stage: str
    #: of the stimulus set, the classifier or the network
    name: str
    #: corruption functions among which it is divided
    n_functions: int
    energy: Mapping[str, Any]

    @property
    def is_recorded(self) -> bool:
        return bool(self.energy)

    @property
    def is_estimate(self) -> bool:
        return not self.energy.get("measured_by")

    @property
    def g_co2(self) -> float | None:
        return GRAMS * self.energy["kg_co2"] if self.energy else None

    @property
    def g_co2_per_function(self) -> float | None:
        """As published: for one function."""
        return None if self.g_co2 is None else self.g_co2 / max(1, self.n_functions)

    def to_json(self) -> dict[str, Any]:
        return {
            "stage": self.stage,
            "name": self.name,
            "functions": self.n_functions,
            "is_estimate": self.is_estimate if self.energy else None,
            "g_co2": self.g_co2,
            "g_co2_per_function": self.g_co2_per_function,
            "energy": dict(self.energy) or None,
        }


def emissions_of(stimulus_set: StimulusSet) -> list[Emission]:
    """Every computation about a set: generation, predictions by name, retrainings on it or tested on it."""
    n = len(stimulus_set.corruptions)
    runs = EvaluationRun.objects.filter(stimulus_set=stimulus_set, completed_at__isnull=False)
    trained = Retraining.objects.filter(
        Q(stimulus_set=stimulus_set) | Q(evaluation_set=stimulus_set), completed_at__isnull=False
    )
    return [
        Emission("generation", stimulus_set.name, n, stimulus_set.energy),
        *(Emission("prediction", run.name, n, run.energy) for run in runs.order_by("name")),
        *(
            Emission("retraining", one.new_name, len(one.corruptions) or n, one.report.get("energy", {}))
            for one in trained.order_by("pk")
        ),
    ]


def account_of(emissions: list[Emission]) -> dict[str, Any]:
    """Plain values: every computation, their sum, and how they were computed."""
    total = summed([one.energy for one in emissions])
    per_function = [one.g_co2_per_function for one in emissions if one.g_co2_per_function is not None]
    return {
        "formula": FORMULA,
        "is_estimate": any(one.is_estimate for one in emissions if one.is_recorded),
        "computations": [one.to_json() for one in emissions],
        "total": {**total, "g_co2": GRAMS * total["kg_co2"]} if total else None,
        "g_co2_per_function": sum(per_function) if per_function else None,
    }
