"""Several imported studies in one table of observers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from humanexp.core.errors import InvalidRequest
from humanexp.results import tables
from humanexp.studies.models import Origin, Study

if TYPE_CHECKING:
    from analysis.findings.model.agreement import AverageObserver
    from analysis.findings.observations import Observations


def imported_studies() -> list[Study]:
    """All studies of imported trials, by name."""
    return list(Study.objects.filter(origin=Origin.IMPORTED).select_related("stimulus_set").order_by("slug"))


def pooled_standings(studies: Sequence[Study], *, seed: int = 0) -> tuple[AverageObserver, ...]:
    """People and models on average over the published conditions of these studies."""
    from analysis.findings.benchmark import benchmark_table

    if not studies:
        raise InvalidRequest("There are no imported trials: import some with import_trials.")
    collected = [study.slug for study in studies if study.origin != Origin.IMPORTED]
    if collected:
        raise InvalidRequest(
            f"{', '.join(collected)}: the trials were collected here and have no published conditions."
        )
    return benchmark_table({study.slug: _answers(study) for study in studies}, seed=seed)


def _answers(study: Study) -> tuple[Observations, Observations]:
    """By published condition, also where visual change was measured."""
    from analysis.findings.observations import read_predictions, read_trials

    trials, predictions = tables.trials_of(study), tables.predictions_of(study)
    for frame in (trials, predictions):
        frame["visual_change"] = frame["visual_change"].where(frame["condition"].isna())
    return read_trials(trials), read_predictions(predictions)[0]
