"""What figures are of: a study's analysis, a stimulus set, a search, a study of steps, a retraining, by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from analysis.findings.model.findings import Findings
from humanexp.console.figures.figure import Subject
from humanexp.core.errors import NotFound, StudyRefused, existing
from humanexp.counterfactuals.selectors import search_by_name
from humanexp.counterfactuals.step_studies import step_study_named
from humanexp.evaluations.models import Retraining
from humanexp.results.models import AnalysisRun
from humanexp.results.selectors import findings, latest_run
from humanexp.stimuli.selectors.sets import stimulus_set_by_name
from humanexp.studies.models import Study
from humanexp.studies.selectors import study_by_slug


@dataclass(frozen=True)
class Analysed:
    """A study with an analysis of it."""

    study: Study
    run: AnalysisRun

    @property
    def found(self) -> Findings:
        return findings(self.run)


def analysed(study: Study, run: AnalysisRun | None = None) -> Analysed:
    """The study with this analysis, or with its newest one as planned; refused without any."""
    run = run or latest_run(study)
    if run is None:
        raise StudyRefused(
            f"The study {study.slug} has not been analysed: run “humanexp analyse {study.slug}”, or the analysis on "
            "its results page."
        )
    return Analysed(study, run)


def subject_of(kind: Subject, name: str) -> Any:
    """What a figure of this kind is drawn of; refused where there is nothing of this name."""
    match kind:
        case "study":
            return analysed(study_by_slug(name))
        case "stimulus set":
            return stimulus_set_by_name(name)
        case "search":
            return search_by_name(name)
        case "step study":
            return step_study_named(name)
        case "retraining":
            return retraining_by_pk(name)
        case "nothing":
            return None


def retraining_by_pk(pk: str | int) -> Retraining:
    number = int(pk) if str(pk).isdecimal() else 0
    found = Retraining.objects.filter(pk=number).first()
    known = ", ".join(str(one) for one in Retraining.objects.values_list("pk", flat=True)[:20])
    if found is None and known:
        raise NotFound(f"There is no retraining {pk!r}; there are: {known}.")
    return existing(found, "There is no retraining yet: run “humanexp retrain” first.")
