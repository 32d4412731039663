"""Curves as plain entries of the results, with what has to be said beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import asdict, replace
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from analysis.claims.claim import guessing_words, is_guessing
from analysis.claims.curves import below_chance_sentence, category_gaps_sentence, gaps_sentence, rise_sentence
from analysis.curves.binning import Binning
from analysis.curves.curve import CurveFit, threshold
from analysis.differences.rises import rises
from analysis.differences.twin import Twins
from analysis.errors import FitError
from analysis.findings.agreement import pooled_within
from analysis.findings.fits import CurveKey, FitSettings, FittedCurve, StudyCurves, fit_outcomes, with_chance_of
from analysis.findings.model.checks import Reach
from analysis.findings.model.comparisons import Comparison
from analysis.findings.model.curves import (
    Band,
    Bin,
    CategoryGap,
    Ceiling,
    Curve,
    Measured,
    Misses,
    OwnArea,
    Rise,
    SizeAndArea,
    Threshold,
    Weighted,
)
from analysis.findings.model.entry import HUMANS, Property
from analysis.findings.observations import CLEAN
from analysis.findings.outcomes import Outcomes
from analysis.findings.pipeline import run_in_order
from analysis.findings.verdicts import twin_entry
from analysis.labels.space import NO_ANSWER, LabelSpace
from analysis.metrics import compare
from analysis.persons.sentinels import SENTINELS
from analysis.visual_change.coverage import measure_coverage, measure_paper_coverage

if TYPE_CHECKING:
    import pandas as pd

    from analysis.findings.observations import Observations


#: Bins at the top with fewer originals than this share of the median bin's hold a choice of them.
_FEW_ORIGINALS = 0.5

CONSISTENCY = (
    "Classifiers are compared with themselves, people with other people: a positive MRSI of consistency at low visual "
    "change is partly by construction."
)
PEOPLE_WITH_OTHERS = (
    "Nobody sees a picture twice: people's consistency is agreement with another person's clean answer."
)
MRSI_BY_NOISE = (
    "MRSI is above 0 by noise alone; only the ranges under `exceeds` show where a classifier exceeds people."
)


def study_caveats(curves: Iterable[CurveKey]) -> list[str]:
    """Sentences that must stand beside the numbers of a study with these curves."""
    of_people = {key.population == HUMANS for key in curves if key.property == "consistency"}
    return [CONSISTENCY] if of_people == {True, False} else []


def curve_caveats(entry: Curve, n_labels: int) -> list[str]:
    """Sentences beside a curve."""
    found = []
    if entry.withheld:
        found.append(
            f"{100 * entry.extrapolated:.0f} % of the axis is extrapolated: read the mean over the measured range "
            "instead of the area."
        )
    if entry.abscissa == "condition":
        found.append("The area is over the experiment's own condition, not over visual change.")
    if entry.property == "consistency" and entry.population == HUMANS:
        found.append(PEOPLE_WITH_OTHERS)
    if entry.anchor.kind == "none" and entry.abscissa == "visual_change":
        found.append("No answers to clean pictures hold the curve at its left end.")
    thin = sum(one.thin for one in entry.bins)
    if thin:
        found.append(f"{thin} of {len(entry.bins)} bins with answers hold fewer than 20.")
    if entry.gaps:
        found.append(gaps_sentence(entry.gaps, entry.area_bounds))
    if entry.category_gaps:
        found.append(category_gaps_sentence([(one.category, one.range) for one in entry.category_gaps]))
    if entry.below_chance:
        found.append(below_chance_sentence(entry.below_chance, entry.chance))
    if entry.empty_bins:
        found.append(f"{len(entry.empty_bins)} bins between the first and the last hold no answer.")
    top = _highest_bins_of_few(entry)
    if top is not None:
        found.append(
            f"From {top:.2f} on each bin holds fewer than half as many originals as the median bin: top bins may hold "
            "only pictures that change easily."
        )
    if not entry.same_stimuli:
        found.append("Scored on other stimuli than those that people saw.")
    if entry.label_space != n_labels:
        found.append(f"{entry.label_space}-way labels: not comparable with people's {n_labels}.")
    return found


def comparison_caveats(entry: Comparison) -> list[str]:
    """Sentences beside HMRI and MRSI."""
    found = []
    if entry.property == "consistency":
        found.append(CONSISTENCY)
    if entry.mrsi > 0.0 and not entry.exceeds:
        found.append(MRSI_BY_NOISE)
    if entry.withheld:
        found.append("A curve is extrapolated over more than a fifth of the axis: read the common measured range.")
    if entry.borrowed:
        found.append(f"The human curve is that of {entry.human_curve.replace('_', ' ')}.")
    if not entry.same_stimuli and not entry.borrowed:
        found.append("People and the classifier saw other stimuli.")
    return found


def _highest_bins_of_few(entry: Curve) -> float | None:
    """Where the bins above the middle of the axis begin that all hold few originals; None without such."""
    known = [one.originals for one in entry.bins if one.originals is not None]
    if len(known) < len(entry.bins) or not known:
        return None
    start = None
    for one, originals in zip(reversed(entry.bins), reversed(known), strict=True):
        if one.v < 0.5 or originals >= _FEW_ORIGINALS * median(known):
            break
        start = one.v
    return start


def guessing_notes(classifiers: Observations, label_spaces: Mapping[str, int], space: LabelSpace) -> list[str]:
    """A sentence for each classifier that names clean pictures no better than by chance."""
    clean = classifiers.clean
    notes = []
    for name, labels in sorted(label_spaces.items()):
        of_one = clean.select(clean.observer == name)
        right, shown = int(np.nansum(of_one.correct)), len(of_one)
        # Of 1,000 classes a network chooses as well where its answers are decided into the categories.
        is_decided = bool(space.known(of_one.response).all())
        choices = min(labels, len(space)) if is_decided else labels
        if is_guessing(right, shown, of_one.chance(choices) or 1.0 / choices):
            notes.append(guessing_words(name, right, shown))
    return notes


def reach_entries(stimuli: pd.DataFrame | None) -> list[Reach]:
    """Coverage and reach of every corruption.

    Parameters
    ----------
    stimuli : pandas.DataFrame or None
        Columns of `analysis.tables.stimuli.STIMULI`.

    Returns
    -------
    list of Reach
        ``corruption``, ``n``, ``originals``, ``targets_missed``, ``largest`` (median over originals of the largest
        visual change), ``largest_worst_original``, ``covered`` and ``bins`` in our 40 bins, ``paper_covered`` and
        ``paper_bins`` in the published 39.
    """
    if stimuli is None or stimuli.empty:
        return []
    entries = []
    # Sentinels of persons lie on no curve. Published pictures of such a name have no version here.
    is_sentinel = stimuli["corruption"].isin(SENTINELS) & stimuli["corruption_version"].notna()
    for name, own in stimuli[(stimuli["corruption"] != CLEAN) & ~is_sentinel].groupby("corruption", sort=True):
        change = own["visual_change"].to_numpy(dtype=np.float64)
        largest = own.groupby("original", sort=True)["visual_change"].max().to_numpy(dtype=np.float64)
        ours, paper = measure_coverage(change), measure_paper_coverage(change)
        entries.append(
            Reach(
                corruption=str(name),
                n=len(own),
                originals=len(largest),
                targets_missed=int((~own["reached"].astype(bool)).sum()),
                largest=float(np.median(largest)),
                largest_worst_original=float(largest.min()),
                covered=ours.covered,
                bins=len(ours.counts),
                paper_covered=paper.covered,
                paper_bins=len(paper.counts),
            )
        )
    return entries


#: Random halves of the people, for the human ceiling.
SPLITS = 10


def curve_entries(
    study: StudyCurves, settings: FitSettings, twins: Twins | None = None, *, executor: Executor | None = None
) -> list[Curve]:
    """One entry a curve, in the order of the fits.

    Parameters
    ----------
    study : StudyCurves
    settings : FitSettings
    twins : Twins, optional
        Of people, in accuracy: their indices stand beside those of halves.
    executor : Executor, optional
        Where thresholds, bands and ceilings are computed; here, without one.
    """
    entries = []
    risen = rises_of(study, settings)
    calls = (
        (key, (curve.fit, curve.outcomes if key.population == HUMANS else None, key.property, settings))
        for key, curve in study.curves.items()
    )
    for key, derived in run_in_order(executor, _derived, calls):
        if key in risen:
            derived["rise"] = risen[key]
        ceiling = derived.get("ceiling")
        if twins is not None and isinstance(ceiling, Ceiling) and key.property == "accuracy":
            derived["ceiling"] = ceiling.model_copy(update={"twin": twin_entry(twins, [key.corruption])})
        entry = _curve_entry(key, study.curves[key], study, derived, settings.space)
        entries.append(entry.model_copy(update={"caveats": tuple(curve_caveats(entry, len(settings.space)))}))
    return entries


def rises_of(study: StudyCurves, settings: FitSettings) -> dict[CurveKey, Rise]:
    """The curves whose answers surely rise, of all curves of a study together; none without refits."""
    if not settings.n_bootstrap:
        return {}
    found = rises(
        {key: curve.answers for key, curve in study.curves.items()},
        conditions=frozenset(key for key in study.curves if key.corruption in study.scales),
        seed=settings.seed,
    )
    return {key: Rise.of(one, statement=rise_sentence(**asdict(one))) for key, one in found.items()}


def _derived(fit: CurveFit, outcomes: Outcomes | None, subject: Property, settings: FitSettings) -> dict[str, object]:
    """Fields that take time to derive from a curve, in whatever process; people's answers come for the ceiling."""
    return {
        "measured": Measured(range=fit.measured, mean=fit.mean_between(*fit.measured), interval=fit.measured_interval),
        "thresholds": tuple(Threshold.of(threshold(fit, rate)) for rate in (0.75, 0.5)),
        "band": _band(fit),
        **({} if outcomes is None else {"ceiling": _ceiling(outcomes, subject, settings)}),
    }


def _curve_entry(
    key: CurveKey, curve: FittedCurve, study: StudyCurves, derived: dict[str, object], space: LabelSpace
) -> Curve:
    fit = curve.fit
    if key.population == HUMANS:
        derived |= {"misses": _misses(curve), "all_sessions": _size_and_area(curve.all_sessions)}
    else:
        derived["full_set"] = _size_and_area(curve.full_set)
    missing = tuple(CategoryGap(category=one.category, range=(one.start, one.end)) for one in fit.category_gaps)
    return Curve.of(
        fit,
        **asdict(key),
        interval=fit.area_interval,
        level=fit.config.level,
        standard_error=fit.area_standard_error,
        withheld=fit.is_withheld,
        abscissa="condition" if key.corruption in study.scales else "visual_change",
        label_space=fit.config.label_space,
        own_chance=fit.config.own_chance or ...,
        same_stimuli=curve.seen_by_people,
        n=fit.n_trials,
        originals=fit.n_originals,
        participants=fit.n_participants,
        scheme=fit.config.scheme,
        category_gaps=missing or ...,
        weighted=... if fit.weighted is None else Weighted.of(fit.weighted),
        own=... if curve.own is None else _own(curve.own, is_of_people=key.population == HUMANS),
        bins=_bins(key, curve, space),
        **derived,
    )


def _own(fit: CurveFit, *, is_of_people: bool) -> OwnArea:
    """The default curve: its area, and the bands of people's, by which their curves are said to overlap."""
    has_band = is_of_people and fit.bands is not None
    return OwnArea.of(fit, interval=fit.area_interval, band=_band(fit) if has_band else ...)


def _band(fit: CurveFit) -> Band:
    """The curve and its bands at every hundredth."""
    if fit.bands is None:
        v = np.linspace(0.0, 1.0, 101)
        return Band(v=tuple(v.tolist()), estimate=tuple(fit.predict(v).tolist()))
    return Band.of(fit.bands, **{name: getattr(fit.bands, name)[::2].tolist() for name in _ON_GRID})


#: Fields of a band that are numbers on its grid.
_ON_GRID = ("v", "estimate", "lower", "upper", "simultaneous_lower", "simultaneous_upper")


def _misses(curve: FittedCurve) -> Misses:
    """Answers that did not come in time, wrong in the headline, and the area without them."""
    missed = int(np.sum(curve.outcomes.answers.response == NO_ANSWER))
    return Misses(n=missed, share=missed / len(curve.outcomes.answers), dropped=_size_and_area(curve.without_misses))


def _size_and_area(fit: CurveFit | None) -> SizeAndArea | None:
    return None if fit is None else SizeAndArea.of(fit, n=fit.n_trials)


def _bins(key: CurveKey, curve: FittedCurve, space: LabelSpace) -> tuple[Bin, ...]:
    """Answers in every bin; of people's accuracy also by category, in the order of their ids."""
    bins = {one.index: Bin.of(one, thin=one.is_thin) for one in curve.fit.bins}
    answers, place = curve.outcomes.answers, curve.outcomes.place
    if (key.population, key.property) != (HUMANS, "accuracy") or not space.holds(answers.category):
        return tuple(bins.values())
    binning = Binning(curve.fit.config.n_bins, curve.fit.config.bin_rule)
    counts, index = np.zeros((binning.n_bins, len(space)), dtype=np.int64), binning.index(place)
    within = index >= 0
    np.add.at(counts, (index[within], space.places_of(answers.category)[within]), 1)
    return tuple(one.model_copy(update={"categories": tuple(counts[index].tolist())}) for index, one in bins.items())


def _ceiling(outcomes: Outcomes, subject: Property, settings: FitSettings) -> Ceiling | None:
    """HMRI and MRSI of random halves of the people, kappa of two of them: what an observer like people would score."""
    names = np.unique(outcomes.answers.observer)
    if len(names) < 2:
        return None
    rng = np.random.default_rng(settings.seed)
    quiet = settings.own.quiet
    indices = []
    for _ in range(SPLITS):
        chosen = rng.permutation(names)[: len(names) // 2]
        rows = np.isin(outcomes.answers.observer, chosen)
        try:
            halves = [
                fit_outcomes(
                    replace(
                        outcomes,
                        place=outcomes.place[part],
                        outcome=outcomes.outcome[part],
                        answers=outcomes.answers.select(part),
                    ),
                    quiet,
                )
                for part in (rows, ~rows)
            ]
        except FitError:
            continue
        found = compare(halves[0], with_chance_of(halves[1], halves[0]))
        indices.append((found.hmri, found.mrsi))
    if not indices:
        return None
    hmri, mrsi = np.mean(indices, axis=0)
    entry = partial(Ceiling, splits=len(indices), hmri=float(hmri), mrsi=float(mrsi))
    if subject != "accuracy":
        return entry()
    pooled = pooled_within(outcomes.answers, settings)
    if pooled is None or not pooled.is_stratified:
        # With shared difficulty in it kappa is no ceiling.
        return entry(kappa=None, kappa_interval=None, kappa_n=0)
    return entry(kappa=pooled.kappa, kappa_interval=pooled.interval, kappa_n=pooled.pictures)
