"""Fit every curve of a study: people and classifiers, each corruption, accuracy and consistency."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from analysis.curves import CurveFit, fit_curve
from analysis.errors import TooFewResponses
from analysis.findings.abscissa import ConditionScale, condition_scale
from analysis.findings.observations import CLEAN, Observations
from analysis.findings.outcomes import PROPERTIES, Outcomes, Property, classifier_outcomes, human_outcomes

HUMANS = "humans"
#: A headline whose curve is extrapolated over more than this share of the axis is withheld.
WITHHOLD_ABOVE = 0.20


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
    seen_by_people : bool
        Whether the observers answered exactly pictures that people were shown.
    full_set : CurveFit or None
        Of a classifier: the curve over all its pictures, when people saw only some of them.
    without_misses, all_sessions : CurveFit or None
        Of people: the curve when misses are dropped instead of counted as wrong, and with sessions that were not
        accepted; without bands.
    """

    fit: CurveFit
    outcomes: Outcomes
    seen_by_people: bool = True
    full_set: CurveFit | None = None
    without_misses: CurveFit | None = None
    all_sessions: CurveFit | None = None


@dataclass(frozen=True, eq=False)
class FitSettings:
    """What all fits of one analysis share."""

    seed: int
    n_bootstrap: int
    level: float = 0.95


@dataclass(eq=False)
class StudyCurves:
    """All curves of a study, in a fixed order, and what had to be said on the way."""

    curves: dict[CurveKey, FittedCurve] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    scales: dict[str, ConditionScale] = field(default_factory=dict)


def fit_study(
    people: Observations,
    classifiers: Observations,
    label_spaces: dict[str, int],
    settings: FitSettings,
    *,
    everyone: Observations | None = None,
) -> StudyCurves:
    """Fit the curves of people and of every classifier.

    Parameters
    ----------
    people, classifiers : Observations
    label_spaces : dict of classifier to int
    settings : FitSettings
    everyone : Observations, optional
        People's answers from all sessions, accepted or not.

    Returns
    -------
    StudyCurves
        Ordered by property, corruption, and population (people first).
    """
    study = StudyCurves()
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
    if len(people) and not people.imported.all() and not len(people.clean):
        study.notes.append("Nobody answered clean pictures: curves have no left anchor, and consistency is not known.")
    predictions = [
        _Predictions.of(classifiers.select(classifiers.observer == name), people, name, label_spaces[name])
        for name in sorted(label_spaces)
    ]
    for subject in PROPERTIES:
        for corruption in corruptions:
            _fit_people(study, people, everyone, corruption, subject, settings)
            for own in predictions:
                _fit_classifier(study, own, corruption, subject, settings)
    return study


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
        return cls(name, label_space, own, own.select(rows))


def _fit_people(
    study: StudyCurves,
    people: Observations,
    everyone: Observations | None,
    corruption: str,
    subject: Property,
    settings: FitSettings,
) -> None:
    scale = study.scales.get(corruption)
    outcomes = human_outcomes(people, corruption, subject, scale)
    if outcomes is None:
        return
    key = CurveKey(HUMANS, corruption, subject)
    try:
        fit = fit_outcomes(outcomes, settings)
    except TooFewResponses as error:
        study.notes.append(f"{HUMANS}, {corruption}, {subject}: {error}")
        return
    if outcomes.left_out:
        study.notes.append(
            f"{HUMANS}, {corruption}, {subject}: {outcomes.left_out} answers are left out, because nobody else "
            "answered the clean original."
        )
    study.curves[key] = FittedCurve(
        fit,
        outcomes,
        without_misses=_quiet_fit(human_outcomes(people.answered, corruption, subject, scale), settings),
        all_sessions=None
        if everyone is None
        else _quiet_fit(human_outcomes(everyone, corruption, subject, scale), settings),
    )


def _fit_classifier(
    study: StudyCurves, own: _Predictions, corruption: str, subject: Property, settings: FitSettings
) -> None:
    every = classifier_outcomes(own.every, own.every, corruption, subject, study.scales.get(corruption))
    if every is None:
        return
    name, seen, used = own.name, False, every
    if corruption not in study.scales:
        restricted = classifier_outcomes(own.common, own.every, corruption, subject, None)
        if restricted is not None:
            seen, used = True, restricted
    key = CurveKey(name, corruption, subject)
    try:
        fit = fit_outcomes(used, settings, label_space=own.label_space, people=False)
        full = None
        if seen and len(every.answers) > len(used.answers):
            quiet = replace(settings, n_bootstrap=0)
            full = fit_outcomes(every, quiet, label_space=own.label_space, people=False)
    except TooFewResponses as error:
        study.notes.append(f"{name}, {corruption}, {subject}: {error}")
        return
    if used.left_out:
        study.notes.append(
            f"{name}, {corruption}, {subject}: {used.left_out} predictions are left out, because their clean "
            "original was not classified."
        )
    study.curves[key] = FittedCurve(fit, used, seen_by_people=seen, full_set=full)


def fit_outcomes(outcomes: Outcomes, settings: FitSettings, *, label_space: int = 16, people: bool = True) -> CurveFit:
    """Fit one curve; all curves of an analysis share the seed, so they are resampled jointly."""
    return fit_curve(
        outcomes.place,
        outcomes.outcome,
        participants=outcomes.answers.observer if people else None,
        images=outcomes.answers.original,
        anchor="soft" if outcomes.clean is not None else outcomes.fixed,
        clean=outcomes.clean,
        n_bootstrap=settings.n_bootstrap,
        rng=settings.seed,
        label_space=label_space,
        level=settings.level,
    )


def _quiet_fit(outcomes: Outcomes | None, settings: FitSettings) -> CurveFit | None:
    """Curve of another choice of people's trials, without bands; None where there is none."""
    if outcomes is None:
        return None
    try:
        return fit_outcomes(outcomes, replace(settings, n_bootstrap=0))
    except TooFewResponses:
        return None
