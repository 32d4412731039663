"""A draft on its way to a study: read, checked, planned, and nothing written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.design.plan import SessionPlan
from analysis.errors import AnalysisError, InvalidInput
from analysis.study.study import StudyConfiguration
from analysis.study.toml import in_file, read_toml, to_toml
from humanexp.core.errors import ApplicationError, InputRefused
from humanexp.stimuli.models import Stimulus, StimulusSet
from humanexp.studies.models import Study
from humanexp.studies.pages.design import DesignPage, Strip, page_of, strip_of
from humanexp.studies.pages.fields import field_of, to_values
from humanexp.studies.plans import make_plan, rule_set_of
from humanexp.studies.services.studies import check_free, stimulus_set_for

#: Plans of more trials take seconds: they are drawn when somebody asks, not while a number is typed.
AT_ONCE = 12_000
SAMPLES = 8


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What the study will contain, for people to look at."""

    page: DesignPage
    strip: Strip
    #: some of the pictures that the first session measures, from lightly to heavily changed
    samples: list[Stimulus]


@dataclass(frozen=True)
class Refusal:
    """Why a draft is no study yet."""

    message: str
    #: of the setting in the study file: ``design.sessions``; empty where the whole does not fit together
    place: str = ""
    #: the field of the form; `more` for settings without one, empty for the whole
    field: str = ""

    @property
    def is_group(self) -> bool:
        """Whether the field has a box or a button for each choice, of which the first is linked to."""
        return self.field in ("task", "population", "person_families")

    @property
    def rest(self) -> str:
        """What follows the name of the setting, which pages show as a link."""
        return self.message.removeprefix(self.place) if self.message.startswith(self.place) else f": {self.message}"


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What the form makes: a file, and either a configuration or the reasons why it is none yet."""

    toml: str
    configuration: StudyConfiguration | None = None
    refusals: tuple[Refusal, ...] = ()
    plan: Plan | None = None
    #: the plan is large: it is drawn on request
    is_large: bool = False


def draft_of(given: Mapping[str, Any], *, draws_large: bool = False, keeps: Study | None = None) -> Draft:
    """What the fields of the form make. Nothing is written, whatever they hold.

    `keeps` is the study that is changed, if one is: its name is taken by itself, and its rules stay known.
    """
    try:
        values = to_values(given)
    except InputRefused as error:
        return Draft(toml="", refusals=(Refusal(error.message, field="more"),))
    toml = to_toml(values)
    try:
        configuration = StudyConfiguration.from_file_values(values)
        if keeps is None or configuration.slug != keeps.slug:
            check_free(configuration)
        return _planned(configuration, toml, draws_large, keeps)
    except (ApplicationError, AnalysisError) as error:
        return Draft(toml=toml, refusals=refusals_of(error))


def refusals_of(error: ApplicationError | AnalysisError) -> tuple[Refusal, ...]:
    """A refusal for each setting that is at fault, or one for the whole."""
    if not error.fields:
        return (Refusal(str(error)),)
    return tuple(Refusal(sentence, place, field_of(place)) for place, sentence in error.fields.items())


def _planned(configuration: StudyConfiguration, toml: str, draws_large: bool, keeps: Study | None) -> Draft:
    stimulus_set = stimulus_set_for(configuration)
    rules = rule_set_of(configuration, keeps=keeps)
    if configuration.design.sessions * _trials(configuration) > AT_ONCE and not draws_large:
        return Draft(toml=toml, configuration=configuration, is_large=True)
    plan = make_plan(configuration=configuration, stimulus_set=stimulus_set, rules=rules)
    page = page_of(configuration=configuration, summary=plan.summary, notes=plan.notes, rules=rules)
    first = plan.sessions[0]
    drawn = Plan(page=page, strip=strip_of(first), samples=_samples(first, stimulus_set))
    return Draft(toml=toml, configuration=configuration, plan=drawn)


def _samples(session: SessionPlan, stimulus_set: StimulusSet) -> list[Stimulus]:
    keys = [trial.stimulus for trial in session.trials if trial.role == "main" and trial.kind == "main"]
    shown = stimulus_set.stimuli.filter(key__in=keys).select_related("source_image").order_by("visual_change")
    found = list(shown)
    step = max(1, len(found) // SAMPLES)
    return found[step // 2 :: step][:SAMPLES]


def _trials(configuration: StudyConfiguration) -> int:
    design = configuration.design
    if design.validation is not None:
        return design.validation.screens
    return design.main_trials + (design.discrimination.trials if design.discrimination else 0)


def values_of_file(text: str) -> dict[str, Any]:
    """A pasted or uploaded study file as values, checked as far as the form needs it.

    Raises InputRefused naming the line.
    """
    try:
        values = read_toml(text, source="This")
        for name in ("design", "ethics", "recruitment", "analysis", "wanted"):
            if name in values and not isinstance(values[name], dict):
                sentence = f"[{name}] must be a table."
                raise InvalidInput(sentence, fields={name: sentence})
    except InvalidInput as error:
        raise InputRefused(in_file(error, text)) from error
    return values
