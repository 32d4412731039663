"""What a study asked, in a few words."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from analysis.findings.model import Findings
from humanexp.results.charts import observers_of
from humanexp.results.charts.observer_styles import corruptions_of
from humanexp.studies.models import Origin, Study


@dataclass(frozen=True)
class Question:
    task: str
    #: e.g. "200 ms"; empty where pictures stay
    exposure: str
    corruptions: int
    models: int


def question_of(study: Study, findings: Findings) -> Question:
    configuration = study.configuration or {}
    design = configuration.get("design") or {}
    if design.get("validation"):
        task = _("Does the picture show it, and could it be used as one?")
    elif design.get("discrimination") and not design.get("main_trials"):
        task = _("Same corruption or another?")
    else:
        task = _("Which of 16 categories?")
    shown_ms = (configuration.get("protocol") or {}).get("stimulus_ms")
    timed = shown_ms is not None and not design.get("validation") and study.origin == Origin.COLLECTED
    return Question(
        task=task,
        exposure=f"{shown_ms:g} ms" if timed else "",
        corruptions=len(corruptions_of(findings)),
        models=len(observers_of(findings)) - 1,
    )
