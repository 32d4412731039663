"""Fit every curve of a study: people and classifiers, each corruption, accuracy and consistency."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Self, TypeAlias

import numpy as np
from pydantic import ConfigDict, Field

from analysis.curves.config import CurveSettings
from analysis.curves.curve import CurveFit
from analysis.curves.fit import fit_curve
from analysis.curves.methods import DEFAULT_METHOD, curve_method
from analysis.differences.answers import AnswersToOne
from analysis.errors import TooFewResponses
from analysis.findings.model.entry import HUMANS, Property
from analysis.findings.model.settings import Settings
from analysis.findings.observations import CLEAN, Observations
from analysis.findings.outcomes import (
    PROPERTIES,
    ConditionScale,
    Outcomes,
    classifier_outcomes,
    condition_scale,
    human_outcomes,
    people_weights,
)
from analysis.findings.pipeline import run_in_order
from analysis.labels.files import default_labels
from analysis.labels.space import LabelSpace
from analysis.recruiters import Recruiters
from analysis.study.analysis_plan import Estimand

#: Called with (done, of how many, what); what it raises is let through.
Report = Callable[[int, int, str], None]


@dataclass(frozen=True)
class CurveKey:
    """Names one curve."""

    population: str
    corruption: str
    property: Property


@dataclass(frozen=True, eq=False)
class FittedCurve:
    """A curve with its trials.

    Parameters
    ----------
    fit : CurveFit
    outcomes : Outcomes
    answers : AnswersToOne
        The same by person and original, for differences.
    seen_by_people : bool
        Whether the observers answered exactly pictures that people were shown.
    full_set : CurveFit or None
        Of a classifier: the curve over all its pictures, when people saw only some of them.
    without_misses, all_sessions : CurveFit or None
        Of people: the curve when misses are dropped instead of counted as wrong, and with sessions that were not
        accepted; without bands.
    own : CurveFit or None
        The default method's curve, where ``fit`` is drawn as published.
    """

    fit: CurveFit
    outcomes: Outcomes
    answers: AnswersToOne
    seen_by_people: bool = True
    full_set: CurveFit | None = None
    without_misses: CurveFit | None = None
    all_sessions: CurveFit | None = None
    own: CurveFit | None = None

    @property
    def judged(self) -> CurveFit:
        """The default method's curve with its refits: what bands and simulated twins rest on."""
        return self.own or self.fit


class FitSettings(Settings):
    """The settings of an analysis, with what its tables say; never stored."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    estimand: Estimand = "categories"
    #: those of the study, where they are known
    categories: tuple[str, ...] = ()
    #: where people came from several, with the weights that the plan gives them
    recruiters: Recruiters | None = None
    #: labels that people chose among
    space: LabelSpace = Field(default_factory=default_labels)

    @property
    def equal_categories(self) -> tuple[str, ...] | None:
        """The study's categories where they count equally."""
        return self.categories if self.estimand == "categories" and self.categories else None

    @property
    def quiet(self) -> Self:
        """The same without refits."""
        return self.model_copy(update={"n_bootstrap": 0})

    def over(self, conditions: bool) -> Self:
        """The same for curves over an experiment's conditions, which weights over visual change do not concern."""
        return self.model_copy(update={"change_weights": ()}) if conditions and self.change_weights else self

    @property
    def draws_own(self) -> bool:
        """Whether curves are drawn by the default method."""
        return self.curve == DEFAULT_METHOD

    @property
    def own(self) -> Self:
        """The same with curves of the default method."""
        return self if self.draws_own else self.model_copy(update={"curve": DEFAULT_METHOD})


@dataclass(eq=False)
class StudyCurves:
    """All curves of a study, in a fixed order, and what had to be said on the way."""

    curves: dict[CurveKey, FittedCurve] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    scales: dict[str, ConditionScale] = field(default_factory=dict)
    #: number of labels between which people chose
    n_labels: int = field(default_factory=lambda: len(default_labels()))
    #: those of the default method alone, for which the published one has too few answers
    undrawn: dict[CurveKey, FittedCurve] = field(default_factory=dict)

    @property
    def judged(self) -> StudyCurves:
        """The same with every curve that verdicts may rest on, drawn or not."""
        if not self.undrawn:
            return self
        every = self.curves | self.undrawn
        order = sorted(every, key=lambda key: (PROPERTIES.index(key.property), key.corruption, *_place(key.population)))
        return replace(self, curves={key: every[key] for key in order}, undrawn={})


def _place(population: str) -> tuple[bool, str]:
    """People come first."""
    return population != HUMANS, population


def fit_study(
    people: Observations,
    classifiers: Observations,
    label_spaces: dict[str, int],
    settings: FitSettings,
    *,
    everyone: Observations | None = None,
    executor: Executor | None = None,
    report: Report | None = None,
) -> StudyCurves:
    """Fit the curves of people and of every classifier.

    Parameters
    ----------
    people, classifiers : Observations
    label_spaces : dict of classifier to int
    settings : FitSettings
    everyone : Observations, optional
        People's answers from all sessions, accepted or not.
    executor : Executor, optional
        Where the curves are fitted (`analysis.compute.executor`); here, without one. The curves are the same.
    report : callable, optional
        Called with (curves done, curves in all, which) as they are fitted; what it raises is let through.

    Returns
    -------
    StudyCurves
        Ordered by property, corruption, and population (people first).
    """
    study = StudyCurves(n_labels=len(settings.space))
    corruptions = _corruptions(study, people, classifiers)
    if len(people) and not people.imported.all() and not len(people.clean):
        study.notes.append("Nobody answered clean pictures: curves have no left anchor, and consistency is not known.")
    predictions = [
        _Predictions.of(classifiers.select(classifiers.observer == name), people, name, label_spaces[name])
        for name in sorted(label_spaces)
    ]
    total = len(PROPERTIES) * len(corruptions) * (1 + len(predictions))
    every = _reported(_all_wanted(study, people, everyone, predictions, corruptions), total, report)
    calls = (
        (one, (one.main, one.others, settings.over(one.key.corruption in study.scales), one.label_space))
        for one in every
    )
    for wanted, fitted in run_in_order(executor, _fit, calls):
        _collect(study, wanted, fitted, settings)
    return study


def _reported(every: Iterable[_Wanted | None], total: int, report: Report | None) -> Iterator[_Wanted]:
    """Pass on the curves that are there, telling how many of all are through."""
    for done, wanted in enumerate(every, 1):
        if report is not None:
            report(done, total, "" if wanted is None else f"{wanted.key.population}, {wanted.key.corruption}")
        if wanted is not None:
            yield wanted


def _corruptions(study: StudyCurves, people: Observations, classifiers: Observations) -> list[str]:
    """Corruptions in order, and the scales of those that are published experiments."""
    names = np.concatenate([people.corruption, classifiers.corruption])
    imported = np.concatenate([people.imported, classifiers.imported])
    corruptions = sorted(set(names[imported | (names != CLEAN)].tolist()))
    for corruption in corruptions:
        theirs, networks = people.of(corruption), classifiers.of(corruption)
        if (theirs.imported.any() or networks.imported.any()) and corruption not in study.scales:
            scale = condition_scale(corruption, theirs.select(theirs.imported), networks.select(networks.imported))
            if scale is None:
                study.notes.append(f"{corruption}: conditions are no numbers; accuracies are given, but no curve.")
            else:
                study.scales[corruption] = scale
                study.notes.extend(scale.notes)
    return corruptions


@dataclass(frozen=True, eq=False)
class _Predictions:
    """One classifier's predictions: all, and those for stimuli that people saw."""

    name: str
    label_space: int
    every: Observations
    common: Observations

    @classmethod
    def of(cls, own: Observations, people: Observations, name: str, label_space: int) -> _Predictions:
        shown = set(people.stimulus.tolist())
        rows = np.array([stimulus in shown for stimulus in own.stimulus.tolist()], dtype=np.bool_)
        return cls(name, label_space, own, own if rows.all() else own.select(rows))


@dataclass(frozen=True, eq=False)
class _Wanted:
    """A curve to fit with bands, and further choices of its trials to fit without."""

    key: CurveKey
    main: Outcomes
    others: tuple[Outcomes | None, ...]
    label_space: int
    seen_by_people: bool = True

    @property
    def of_people(self) -> bool:
        return self.key.population == HUMANS


#: What came out: the curve, or why there is none; the curves without bands; and the default method's curve, where the
#: first is drawn as published.
_Fitted: TypeAlias = tuple[CurveFit | str, tuple[CurveFit | None, ...], CurveFit | None]


def _all_wanted(
    study: StudyCurves,
    people: Observations,
    everyone: Observations | None,
    predictions: list[_Predictions],
    corruptions: list[str],
) -> Iterator[_Wanted | None]:
    """Yield every curve in order; None for one that nobody gave answers to."""
    for subject in PROPERTIES:
        for corruption in corruptions:
            yield _wanted_of_people(study, people, everyone, corruption, subject)
            for own in predictions:
                yield _wanted_of_classifier(study, own, corruption, subject)


def _wanted_of_people(
    study: StudyCurves,
    people: Observations,
    everyone: Observations | None,
    corruption: str,
    subject: Property,
) -> _Wanted | None:
    scale = study.scales.get(corruption)
    outcomes = human_outcomes(people, corruption, subject, scale)
    if outcomes is None:
        return None
    without_misses = human_outcomes(people.answered, corruption, subject, scale)
    all_sessions = None if everyone is None else human_outcomes(everyone, corruption, subject, scale)
    return _Wanted(CurveKey(HUMANS, corruption, subject), outcomes, (without_misses, all_sessions), study.n_labels)


def _wanted_of_classifier(study: StudyCurves, own: _Predictions, corruption: str, subject: Property) -> _Wanted | None:
    every = classifier_outcomes(own.every, own.every, corruption, subject, study.scales.get(corruption))
    if every is None:
        return None
    seen, used = False, every
    if corruption not in study.scales:
        restricted = classifier_outcomes(own.common, own.every, corruption, subject, None)
        if restricted is not None:
            seen, used = True, restricted
    full = every if seen and len(every.answers) > len(used.answers) else None
    return _Wanted(CurveKey(own.name, corruption, subject), used, (full,), own.label_space, seen)


def _fit(main: Outcomes, others: tuple[Outcomes | None, ...], settings: FitSettings, label_space: int) -> _Fitted:
    """Fit one curve with bands and others without, in whatever process."""
    own = None
    try:
        if not settings.draws_own:
            own = fit_outcomes(main, settings.own, label_space=label_space)
        curve = fit_outcomes(main, settings, label_space=label_space)
    except TooFewResponses as error:
        return str(error), (None, None), own
    fits = (quiet_fit(outcomes, settings, label_space=label_space) for outcomes in others)
    return curve, tuple(None if fit is None else with_chance_of(fit, curve) for fit in fits), own


def with_chance_of(fit: CurveFit, other: CurveFit) -> CurveFit:
    """A curve of a part of the same trials: by luck alone the options of a part differ from those of the whole."""
    if fit.config.own_chance == other.config.own_chance:
        return fit
    return replace(fit, config=replace(fit.config, own_chance=other.config.own_chance))


def _collect(study: StudyCurves, wanted: _Wanted, fitted: _Fitted, settings: FitSettings) -> None:
    """Put a fitted curve in its place, and say what was left out."""
    key, (curve, others, own) = wanted.key, fitted
    place = f"{key.population}, {key.corruption}, {key.property}"
    into = study.curves
    if isinstance(curve, str):
        study.notes.append(f"{place}: {curve}")
        if own is None:
            return
        curve, into = own, study.undrawn
    if wanted.main.left_out:
        what = (
            "answers are left out, because nobody else answered the clean original."
            if wanted.of_people
            else "predictions are left out, because their clean original was not classified."
        )
        study.notes.append(f"{place}: {wanted.main.left_out} {what}")
    answers = wanted.main.to_one(settings.equal_categories, settings.recruiters, n_labels=wanted.label_space)
    if wanted.of_people:
        without_misses, all_sessions = others
        into[key] = FittedCurve(
            curve, wanted.main, answers, without_misses=without_misses, all_sessions=all_sessions, own=own
        )
    else:
        outcomes = replace(wanted.main, answers=wanted.main.answers.without_names())
        into[key] = FittedCurve(
            curve, outcomes, answers, seen_by_people=wanted.seen_by_people, full_set=others[0], own=own
        )


def fit_outcomes(outcomes: Outcomes, settings: FitSettings, *, label_space: int | None = None) -> CurveFit:
    """Fit one curve; all curves of an analysis share the seed, so they are resampled jointly.

    `label_space`: number of labels that were chosen among; by default those of the settings. A published curve has no
    refits: no interval around one is calibrated.
    """
    n_labels = label_space or len(settings.space)
    is_held = curve_method(settings.curve).anchors != "none"
    weights = None if settings.estimand == "answers" else people_weights(outcomes, settings.recruiters)
    clean = outcomes.clean if is_held else None
    categories = None if settings.equal_categories is None else outcomes.known_categories
    if clean is not None:
        clean = replace(
            clean,
            weights=None if weights is None else weights[1],
            categories=None if categories is None else clean.categories,
        )
    return fit_curve(
        outcomes.place,
        outcomes.outcome,
        CurveSettings(
            anchor="soft" if clean is not None else outcomes.fixed if is_held else None,
            study_categories=settings.equal_categories or (),
            n_bootstrap=settings.n_bootstrap if settings.draws_own else 0,
            rng=settings.seed,
            method=settings.curve,
            label_space=n_labels,
            own_chance=outcomes.answers.chance(n_labels),
            level=settings.level,
            change_weights=settings.weighting,
        ),
        weights=None if weights is None else weights[0],
        categories=categories,
        participants=outcomes.answers.observer if outcomes.of_people else None,
        images=outcomes.answers.original,
        clean=clean,
    )


def quiet_fit(outcomes: Outcomes | None, settings: FitSettings, *, label_space: int | None = None) -> CurveFit | None:
    """Curve of another choice of trials, without bands; None where there is none."""
    if outcomes is None:
        return None
    try:
        return fit_outcomes(outcomes, settings.quiet, label_space=label_space)
    except TooFewResponses:
        return None


class Steps:
    """Tells how far an analysis is: curves, then the parts that follow."""

    #: parts after the curves
    later = 4

    def __init__(self, report: Report | None) -> None:
        self._report = report
        self._done = 0
        self._total = self.later
        self._what = ""

    def fitted(self, done: int, total: int, what: str) -> None:
        self._done, self._total = done, total + self.later
        if self._report is not None:
            self._report(self._done, self._total, what)

    def still(self) -> None:
        """Tell that a part goes on, so that it can be stopped."""
        if self._report is not None:
            self._report(self._done, self._total, self._what)

    def then(self, what: str) -> None:
        self._done += 1
        self._what = what
        if self._report is not None:
            self._report(self._done, self._total, what)
