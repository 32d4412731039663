"""Comparisons and similarities as plain entries of the results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from analysis.curves.bootstrap import pair_spread
from analysis.curves.curve import CurveFit
from analysis.differences.answers import AnswersToOne
from analysis.differences.beside import Beside
from analysis.differences.windows import WINDOW
from analysis.errors import LabelSpaceMismatch
from analysis.findings.curve_entries import comparison_caveats
from analysis.findings.fits import CurveKey, FitSettings, FittedCurve, StudyCurves
from analysis.findings.model.comparisons import CommonRange, Comparison, CorruptionError, FullSet, HmriAndMrsi
from analysis.findings.model.curves import AlikeClasses, Reuse, Similarity
from analysis.findings.model.entry import HUMANS, Interval, Property
from analysis.findings.observations import Observations
from analysis.findings.outcomes import PROPERTIES
from analysis.findings.pipeline import run_in_order
from analysis.findings.verdicts import Verdicts, attentive_shares
from analysis.metrics import Indices, compare
from analysis.similarity.curves import CurveSimilarity, compare_all
from analysis.similarity.family import alike_classes, reuse_saving
from analysis.similarity.verdicts import bands_overlap


def comparison_entries(
    study: StudyCurves, borrow: Mapping[str, str], verdicts: Verdicts | None, *, executor: Executor | None = None
) -> list[Comparison]:
    """Every classifier beside people, corruption by corruption; borrowed human curves are labelled.

    Parameters
    ----------
    study : StudyCurves
    borrow : mapping of corruption to corruption
        Also compare the first with the human curve of the second.
    verdicts : Verdicts or None
        On accuracy beside people's own curves.
    executor : Executor, optional
        Where the intervals are computed; here, without one.
    """
    entries = []
    calls = (
        (
            (human_key, key, beside),
            (
                study.curves[human_key].fit,
                curve.fit,
                study.curves[human_key].without_misses,
                None if beside is None else (bool(beside.above), bool(beside.below)),
            ),
        )
        for human_key, key, curve in _pairs(study, borrow)
        for beside in (_beside(verdicts, human_key, key),)
    )
    for (human_key, key, beside), found in run_in_order(executor, _compared, calls):
        if isinstance(found, str):
            study.notes.append(f"{key.population}, {key.corruption}, {key.property}: no comparison. {found}")
            continue
        human, curve = study.curves[human_key].fit, study.curves[key]
        told = _no_verdict(verdicts, human_key, key)
        indices, further = found
        entry = Comparison.of(
            indices,
            classifier=key.population,
            corruption=key.corruption,
            property=key.property,
            **_shown_of(beside),
            verdict=None if verdicts is None or beside is None else verdicts.entry(key.population, key.corruption),
            **further,
            withheld=human.is_withheld or curve.fit.is_withheld,
            same_stimuli=curve.seen_by_people and human_key.corruption == key.corruption,
            borrowed=human_key.corruption != key.corruption,
            human_curve=human_key.corruption,
            full_set=_full_set(human, curve),
        )
        entries.append(entry.model_copy(update={"caveats": tuple(comparison_caveats(entry)), **told}))
    return entries


def _beside(verdicts: Verdicts | None, human_key: CurveKey, key: CurveKey) -> Beside | None:
    """What was found of accuracy, beside people's own curve."""
    if verdicts is None or key.property != "accuracy" or human_key.corruption != key.corruption:
        return None
    return verdicts.of(key.population, key.corruption)


def _no_verdict(verdicts: Verdicts | None, human_key: CurveKey, key: CurveKey) -> dict[str, str]:
    """Why there is none, as a field; nothing where there is one, or none was asked for."""
    if verdicts is None or key.property != "accuracy" or human_key.corruption != key.corruption:
        return {}
    said = verdicts.withheld.get((key.population, key.corruption))
    return {} if said is None else {"no_verdict": said}


def _shown_of(beside: Beside | None) -> dict[str, tuple[Interval, ...]]:
    """Where the model was shown to be above people, and below."""
    return {} if beside is None else {"exceeds": beside.above, "falls_short": beside.below}


def _pairs(study: StudyCurves, borrow: Mapping[str, str]) -> Iterator[tuple[CurveKey, CurveKey, FittedCurve]]:
    """Human curve and classifier's curve of each comparison, in order."""
    for key, curve in study.curves.items():
        if key.population == HUMANS:
            continue
        for source in dict.fromkeys((key.corruption, borrow.get(key.corruption, key.corruption))):
            human_key = CurveKey(HUMANS, source, key.property)
            if human_key in study.curves:
                yield human_key, key, curve


def _compared(
    human: CurveFit, classifier: CurveFit, without_misses: CurveFit | None, shown: tuple[bool, bool] | None
) -> tuple[Indices, dict[str, object]] | str:
    """Indices and further fields of one comparison, in whatever process; the reason where there is none."""
    try:
        found = compare(human, classifier, shown=shown)
    except LabelSpaceMismatch as error:
        return str(error)
    dropped = None
    if without_misses is not None:
        other = compare(without_misses, classifier)
        dropped = HmriAndMrsi.of(other)
    span = human.common_range(classifier)
    common = None
    if span is not None:
        inside = found if span == (0.0, 1.0) else compare(human, classifier, span=span, shown=shown)
        common = CommonRange.of(inside, range=span)
    ratio = _corruption_error(human, classifier)
    further: dict[str, object] = {"common_range": common, "misses_dropped": dropped, "corruption_error": ratio}
    weights = human.config.change_weights
    if weights is not None and classifier.config.change_weights == weights:
        further["weighted"] = compare(human, classifier, shown=shown, weights=weights)
    return found, further


def _corruption_error(human: CurveFit, classifier: CurveFit) -> CorruptionError | None:
    """Mean error of the classifier over that of people, over the whole axis; None where people never err.

    Notes
    -----
    Differs from ImageNet-C (Hendrycks and Dietterich 2019): people are the baseline instead of AlexNet, and errors are
    averaged over visual change instead of five levels. Not 1 - HMRI, and without an upper bound.
    """
    if human.area >= 1.0:
        return None
    interval = None
    if human.bootstrap is not None and classifier.bootstrap is not None:

        def ratio(people: NDArray[np.float64], network: NDArray[np.float64]) -> NDArray[np.float64]:
            weights = human.basis.integral_design(0.0, 1.0)
            return np.asarray((1.0 - network @ weights) / np.maximum(1.0 - people @ weights, 1e-9))[:, None]

        spread = pair_spread(human.bootstrap, classifier.bootstrap, human.coefficients, classifier.coefficients, ratio)
        lower, upper = spread.percentile_interval(human.config.level)
        interval = (max(float(lower[0]), 0.0), float(upper[0]))
    return CorruptionError(value=(1.0 - classifier.area) / (1.0 - human.area), interval=interval)


def _full_set(human: CurveFit, curve: FittedCurve) -> FullSet | None:
    """The classifier on all its pictures beside people; None where people saw all of them."""
    if curve.full_set is None:
        return None
    found = compare(replace(human, bootstrap=None), curve.full_set)
    return FullSet.of(found, n=curve.full_set.n_trials)


def similarity_entries(
    study: StudyCurves,
    populations: Sequence[str],
    people: Observations,
    settings: FitSettings,
    *,
    executor: Executor | None = None,
) -> tuple[dict[str, list[Similarity]], list[AlikeClasses]]:
    """Similarity of every pair of corruptions for each population, and the classes of alike ones, per property.

    Parameters
    ----------
    study : StudyCurves
    populations : sequence of str
    people : Observations
        Answers of people that count, clean ones among them: they tell how many came from looking.
    settings : FitSettings
    executor : Executor, optional
        Where the families are compared; here, without one.
    """
    pairs: dict[str, list[Similarity]] = {population: [] for population in populations}
    classes: list[AlikeClasses] = []
    if not settings.n_bootstrap:
        return pairs, classes
    compared = partial(_alike, margin=settings.margin, band_margin=settings.band_margin, seed=settings.seed)
    for population, (found, alike) in run_in_order(executor, compared, _families(study, populations, people)):
        pairs[population] += found
        classes.append(alike)
    return pairs, classes


OTHER_OPTIONS = "corruptions are not compared with each other, because trials offered other options on some of them."

#: What `_alike` is given of one family.
_Family = tuple[str, Property, dict[str, FittedCurve], dict[str, float] | None]


def _families(study: StudyCurves, populations: Iterable[str], people: Observations) -> Iterator[tuple[str, _Family]]:
    """Curves that are compared with each other, by population: those of one property, where there are two."""
    for population in populations:
        for subject in PROPERTIES:
            chosen = {
                key.corruption: curve
                for key, curve in study.curves.items()
                if key.population == population and key.property == subject and key.corruption not in study.scales
            }
            configs = [curve.fit.config for curve in chosen.values()]
            if population == HUMANS and not all(one.chooses_alike(configs[0]) for one in configs):
                study.notes.append(f"{population}, {subject}: {OTHER_OPTIONS}")
                continue
            if len(chosen) > 1:
                attentive = (
                    attentive_shares(_accurate(study, chosen), people, study.n_labels) if population == HUMANS else None
                )
                yield population, (population, subject, chosen, attentive)


def _alike(
    population: str,
    subject: Property,
    curves: dict[str, FittedCurve],
    attentive: dict[str, float] | None,
    *,
    margin: float,
    band_margin: float,
    seed: int,
) -> tuple[list[Similarity], AlikeClasses]:
    """Similarity of every pair of one family, and its classes, in whatever process."""
    found = compare_all(
        {name: curve.answers for name, curve in curves.items()},
        attentive=attentive,
        margin=margin,
        band_margin=band_margin,
        seed=seed,
    )
    pairs = [
        _similarity_entry(population, subject, (one, two), outcome, curves[one].judged, curves[two].judged)
        for (one, two), outcome in found.items()
    ]
    groups = alike_classes(list(curves), found)
    saving = reuse_saving(groups, {name: curve.judged.n_trials for name, curve in curves.items()})
    return pairs, AlikeClasses(
        population=population,
        property=subject,
        classes=tuple(map(tuple, groups)),
        reuse=Reuse.of(saving),
    )


def _accurate(study: StudyCurves, names: Iterable[str]) -> dict[str, AnswersToOne]:
    """Whether people's answers to these corruptions were right."""
    keys = {name: CurveKey(HUMANS, name, "accuracy") for name in names}
    return {name: study.curves[key].answers for name, key in keys.items() if key in study.curves}


def _similarity_entry(
    population: str,
    subject: Property,
    pair: tuple[str, str],
    outcome: CurveSimilarity,
    first: CurveFit,
    second: CurveFit,
) -> Similarity:
    grid = np.linspace(*outcome.span, 201)
    return Similarity.of(
        outcome,
        population=population,
        pair=pair,
        property=subject,
        range=outcome.span,
        test="windows",
        overlap_83=bands_overlap(first, second, grid, simultaneous=True),
        overlap_83_pointwise=bands_overlap(first, second, grid, simultaneous=False),
        window=WINDOW,
    )
