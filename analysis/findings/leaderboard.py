"""One row a classifier: how it compares with people over corruptions, and over people's own accuracy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from analysis.agreement.difficulty import at_difficulties, ease_for_others
from analysis.arrays import FloatArray
from analysis.curves.bootstrap import Bootstrap, pair_spread
from analysis.curves.curve import CurveFit
from analysis.differences.twin import Twins
from analysis.findings.agreement import conditions_of, pictures_of, places_among
from analysis.findings.fits import CurveKey, StudyCurves
from analysis.findings.model.agreement import Difficulty
from analysis.findings.model.comparisons import Comparison, Leader, RankSet, VerdictOnAll, WeightedMeans
from analysis.findings.model.entry import HUMANS, Interval, Property, Twin
from analysis.findings.observations import CLEAN, Observations
from analysis.findings.outcomes import PROPERTIES
from analysis.findings.pipeline import run_in_order
from analysis.findings.verdicts import Verdicts, twin_entry
from analysis.metrics import compare
from analysis.study.change_weights import ChangeWeights


def difficulty_entries(people: Observations, classifiers: Observations, *, level: float) -> list[Difficulty]:
    """One entry for every classifier and range of people's accuracy, the hardest range first.

    Parameters
    ----------
    people, classifiers : Observations
    level : float
        Of the intervals.

    Returns
    -------
    list of Difficulty
        Sorted by classifier; on the answers to pictures that the classifier answered, too.

    Notes
    -----
    A collection is a published condition, or a tenth of visual change within a corruption (`conditions_of`); clean
    pictures are left out.
    """
    theirs = people.select(people.corruption != CLEAN)
    if not len(theirs) or not len(classifiers):
        return []
    ease = ease_for_others(theirs.correct, theirs.observer, theirs.original, conditions_of(theirs))
    pictures = pictures_of(theirs)
    entries = []
    for name in np.unique(classifiers.observer).tolist():
        own = classifiers.select(classifiers.observer == name)
        seen, place = np.unique(pictures_of(own), return_inverse=True)
        accuracy = np.bincount(place, weights=own.correct) / np.bincount(place)
        at, common = places_among(seen, pictures)
        entries += [
            Difficulty.of(one, classifier=name, accuracy=one.classifier)
            for one in at_difficulties(
                ease[common],
                theirs.correct[common],
                accuracy[at[common]],
                theirs.observer[common],
                theirs.original[common],
                level=level,
            )
        ]
    return entries


#: Cells of the sums over visual change behind the intervals; exact to about 1e-5.
_CELLS = 200


def leaderboard_entries(
    study: StudyCurves,
    comparisons: Sequence[Comparison],
    verdicts: Verdicts | None,
    twins: Twins | None = None,
    *,
    executor: Executor | None = None,
) -> list[Leader]:
    """Means over corruptions with their intervals, resampled jointly over all of them.

    Parameters
    ----------
    study : StudyCurves
    comparisons : sequence of Comparison
        Of the same curves: their intervals tell which leads were shown.
    verdicts : Verdicts or None
        On accuracy.
    twins : Twins, optional
        Of people, in accuracy.
    executor : Executor, optional
        Where the intervals are computed; here, without one.

    Returns
    -------
    list of Leader
        ``classifier``, ``property``, ``corruptions`` (number, those with own human curves in one label space),
        ``withheld`` (how many of them are extrapolated too far), and ``hmri``, ``mrsi``, ``human_area``,
        ``classifier_area``, ``corruption_error`` (mean error over that of people), each with its ``_interval`` (None
        without refits); of accuracy also ``verdict`` and ``ranks``. Ordered by property, then the highest first: by the
        mean accuracy that is ranked, and without verdicts by HMRI.
    """
    shown = {
        CurveKey(one.classifier, one.corruption, one.property): Shown.by(one) for one in comparisons if not one.borrowed
    }
    entries = []
    for beside, leader in run_in_order(executor, _leader, _calls(study, shown, verdicts, twins)):
        entries.append(leader.model_copy(update=beside))
    return sorted(entries, key=lambda one: (PROPERTIES.index(one.property), *_place(one)))


def _place(one: Leader) -> tuple[bool, float, str]:
    if one.verdict is None:
        return True, -one.hmri, one.classifier
    return False, -one.verdict.difference, one.classifier


class Shown(NamedTuple):
    """Whether a model was shown to be above people somewhere on a corruption, and below."""

    above: bool
    below: bool

    @classmethod
    def by(cls, one: Comparison) -> Shown:
        """By its intervals: that of a lead which was not shown reaches to 0."""
        mrsi, hmri = one.mrsi_interval, one.hmri_interval
        return cls(mrsi is not None and mrsi[0] > 0.0, hmri is not None and hmri[1] < 1.0)


#: What is known of a classifier beside its indices: ``verdict``, ``ranks`` and ``twin``.
Judged = dict[str, VerdictOnAll | RankSet | Twin]
Call = tuple[Judged, tuple[str, Property, list[CurveFit], list[CurveFit], list[Shown]]]


def _calls(
    study: StudyCurves, shown: Mapping[CurveKey, Shown], verdicts: Verdicts | None, twins: Twins | None
) -> Iterator[Call]:
    """Human curves and classifier's curves, corruption by corruption, for each classifier and property.

    First comes what stands beside them: verdict and twin, of accuracy.
    """
    names = sorted({key.population for key in study.curves} - {HUMANS})
    for subject in PROPERTIES:
        for name in names:
            people, network, leads, corruptions = [], [], [], []
            for key, curve in study.curves.items():
                human = study.curves.get(CurveKey(HUMANS, key.corruption, subject))
                if (key.population, key.property) != (name, subject) or human is None:
                    continue
                if human.fit.config.chooses_alike(curve.fit.config):
                    people.append(human.fit)
                    network.append(curve.fit)
                    leads.append(shown[key])
                    corruptions.append(key.corruption)
            if people:
                beside: Judged = {}
                if verdicts is not None and subject == "accuracy":
                    beside.update(verdicts.on_leader(name))
                if twins is not None and subject == "accuracy":
                    beside["twin"] = twin_entry(twins, corruptions)
                yield beside, (name, subject, people, network, leads)


def _leader(
    name: str, subject: Property, people: Sequence[CurveFit], network: Sequence[CurveFit], shown: Sequence[Shown]
) -> Leader:
    """Means and intervals of one classifier, in whatever process."""
    found = [compare(replace(human, bootstrap=None), other) for human, other in zip(people, network, strict=True)]
    human_area = float(np.mean([one.human_area for one in found]))
    classifier_area = float(np.mean([one.classifier_area for one in found]))
    hmri, mrsi, human, classifier, error = mean_intervals(people, network, shown) or (None,) * 5
    leader = Leader(
        classifier=name,
        property=subject,
        corruptions=len(found),
        withheld=sum(one.is_withheld or other.is_withheld for one, other in zip(people, network, strict=True)),
        hmri=float(np.mean([one.hmri for one in found])),
        hmri_interval=hmri,
        mrsi=float(np.mean([one.mrsi for one in found])),
        mrsi_interval=mrsi,
        human_area=human_area,
        human_area_interval=human,
        classifier_area=classifier_area,
        classifier_area_interval=classifier,
        corruption_error=(1.0 - classifier_area) / (1.0 - human_area) if human_area < 1.0 else None,
        corruption_error_interval=error if human_area < 1.0 else None,
    )
    weights = people[0].config.change_weights
    if weights is None:
        return leader
    return leader.model_copy(update={"weighted": _weighted(people, network, shown, weights)})


def _weighted(
    people: Sequence[CurveFit], network: Sequence[CurveFit], shown: Sequence[Shown], weights: ChangeWeights
) -> WeightedMeans:
    """The same means under weights over visual change."""
    pairs = zip(people, network, strict=True)
    found = [compare(replace(human, bootstrap=None), other, weights=weights) for human, other in pairs]
    hmri, mrsi, human, classifier, _ = mean_intervals(people, network, shown, weights) or (None,) * 5
    return WeightedMeans(
        hmri=float(np.mean([one.hmri for one in found])),
        hmri_interval=hmri,
        mrsi=float(np.mean([one.mrsi for one in found])),
        mrsi_interval=mrsi,
        human_area=float(np.mean([one.human_area for one in found])),
        human_area_interval=human,
        classifier_area=float(np.mean([one.classifier_area for one in found])),
        classifier_area_interval=classifier,
    )


def mean_intervals(
    people: Sequence[CurveFit],
    network: Sequence[CurveFit],
    shown: Sequence[Shown],
    weights: ChangeWeights | None = None,
) -> list[Interval] | None:
    """Percentile intervals of a model's means over corruptions: HMRI, MRSI, both areas and the error.

    Parameters
    ----------
    people, network : sequence of CurveFit
        Corruption by corruption; the curves of an analysis share their draws.
    shown : sequence of Shown
        Which leads were shown on each corruption.
    weights : ChangeWeights, optional
        Over visual change.

    Returns
    -------
    list of (float, float) or None
        None without refits.

    Notes
    -----
    A lead is never negative, so noise makes that of every refit positive. Towards the edge (HMRI 1, MRSI 0) only the
    corruptions count on which the lead was shown: the mean is at least what they alone give. There, too, noise adds to
    the lead where the curves touch, and twice in refits; the end towards the edge is the farther one of the percentile
    and its reflection about the estimate, which takes that off.
    """
    first, second = _joined(people), _joined(network)
    if first is None or second is None:
        return None
    count = len(people)
    is_above, is_below = (np.array(column, dtype=np.float64) for column in zip(*shown, strict=True))
    basis = people[0].basis
    edges = np.linspace(0.0, 1.0, _CELLS + 1)
    design = basis.design((edges[1:] + edges[:-1]) / 2.0)
    cells = None
    if weights is not None:
        cells = np.array([weights.mass(*ends) for ends in zip(edges[:-1], edges[1:], strict=True)])

    def over_change(values: FloatArray) -> FloatArray:
        return np.asarray(values.mean(axis=2) if cells is None else values @ cells)

    def means(human: FloatArray, classifier: FloatArray) -> FloatArray:
        heights = human.reshape(len(human), count, -1) @ design.T
        others = classifier.reshape(len(classifier), count, -1) @ design.T
        gap = heights - others
        areas, other_areas = over_change(heights), over_change(others)
        human_lead, classifier_lead = over_change(np.maximum(gap, 0.0)), over_change(np.maximum(-gap, 0.0))
        missed = np.divide(human_lead, areas, out=np.zeros_like(areas), where=areas > 0.0)
        mrsi = np.divide(classifier_lead, other_areas, out=np.zeros_like(areas), where=other_areas > 0.0)
        area, other_area = areas.mean(axis=1), other_areas.mean(axis=1)
        error = (1.0 - other_area) / np.maximum(1.0 - area, 1e-9)
        every = [1.0 - missed.mean(axis=1), mrsi.mean(axis=1), area, other_area, error]
        return np.stack([*every, 1.0 - (missed * is_below).mean(axis=1), (mrsi * is_above).mean(axis=1)], axis=1)

    estimates = [np.concatenate([curve.coefficients for curve in curves]) for curves in (people, network)]
    spread = pair_spread(first, second, estimates[0], estimates[1], means)
    lower, upper = spread.percentile_interval(people[0].config.level)
    reflected = 2.0 * spread.estimate - lower, 2.0 * spread.estimate - upper
    upper[0], lower[1] = max(upper[5], reflected[0][5]), min(lower[6], reflected[1][6])
    highest = (1.0, 1.0, 1.0, 1.0, np.inf)
    ends = zip(lower[:5], upper[:5], highest, strict=True)
    return [(max(float(low), 0.0), min(float(high), most)) for low, high, most in ends]


def _joined(curves: Sequence[CurveFit]) -> Bootstrap | None:
    """Draws of all curves side by side; None where they were not resampled alike."""
    draws = [curve.bootstrap for curve in curves]
    known = [one for one in draws if one is not None]
    if len(known) < len(draws) or len({(one.scheme, one.key, one.n_replicates) for one in known}) > 1:
        return None
    return Bootstrap(
        known[0].scheme,
        known[0].key,
        {unit: np.concatenate([one.draws[unit] for one in known], axis=1) for unit in known[0].draws},
    )
