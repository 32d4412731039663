"""Curves as plain entries of the results."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import asdict, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from analysis.categories import CATEGORIES, NO_ANSWER
from analysis.claims.curves import rise_sentence
from analysis.curves import CurveFit, bin_index, threshold
from analysis.differences import rises
from analysis.differences.twin import Twins
from analysis.errors import FitError
from analysis.findings.agreement import pooled_within
from analysis.findings.caveats import curve_caveats
from analysis.findings.fits import CurveKey, FitSettings, FittedCurve, StudyCurves, fit_outcomes
from analysis.findings.model import (
    HUMANS,
    Anchor,
    Band,
    Bin,
    CategoryGap,
    Ceiling,
    Curve,
    Measured,
    Misses,
    Property,
    Rise,
    SizeAndArea,
    Threshold,
)
from analysis.findings.outcomes import Outcomes
from analysis.findings.pipeline import run_in_order
from analysis.findings.twins import twin_entry
from analysis.metrics import compare

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
        entry = _curve_entry(key, study.curves[key], study, derived)
        if key in risen:
            entry = entry.model_copy(update={"rise": risen[key]})
        if twins is not None and entry.ceiling is not None and key.property == "accuracy":
            twin = twin_entry(twins, [key.corruption])
            entry = entry.model_copy(update={"ceiling": entry.ceiling.model_copy(update={"twin": twin})})
        entries.append(entry.model_copy(update={"caveats": tuple(curve_caveats(entry))}))
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
    return {key: Rise(**asdict(one), statement=rise_sentence(**asdict(one))) for key, one in found.items()}


class _Derived(NamedTuple):
    """What takes time to derive from a curve."""

    measured: Measured
    thresholds: tuple[Threshold, ...]
    band: Band
    ceiling: Ceiling | None


def _derived(fit: CurveFit, outcomes: Outcomes | None, subject: Property, settings: FitSettings) -> _Derived:
    """Derive it, in whatever process; people's answers come for the ceiling."""
    return _Derived(
        _measured_entry(fit),
        tuple(_threshold_entry(fit, rate) for rate in (0.75, 0.5)),
        _band_entry(fit),
        None if outcomes is None else _ceiling(outcomes, subject, settings),
    )


def _curve_entry(key: CurveKey, curve: FittedCurve, study: StudyCurves, derived: _Derived) -> Curve:
    fit = curve.fit
    entry = partial(
        Curve,
        population=key.population,
        corruption=key.corruption,
        property=key.property,
        area=fit.area,
        interval=fit.area_interval,
        level=fit.config.level,
        standard_error=fit.area_standard_error,
        extrapolated=fit.extrapolated,
        area_bounds=fit.area_bounds,
        gaps=fit.gaps,
        withheld=fit.is_withheld,
        abscissa="condition" if key.corruption in study.scales else "visual_change",
        label_space=fit.config.label_space,
        same_stimuli=curve.seen_by_people,
        anchor=Anchor(kind=fit.anchor.kind, value=fit.anchor.value, n=fit.anchor.n),
        n=fit.n_trials,
        originals=fit.n_originals,
        participants=fit.n_participants,
        scheme=fit.config.scheme,
        scheme_reason=fit.scheme_reason,
        dispersion=fit.dispersion,
        smoothness=fit.smoothness,
        bins=_bins(key, curve),
        empty_bins=fit.empty_bins,
        data_digest=fit.data_digest,
        measured=derived.measured,
        thresholds=derived.thresholds,
        band=derived.band,
    )
    if fit.category_gaps:
        missing = (CategoryGap(category=one.category, range=(one.start, one.end)) for one in fit.category_gaps)
        entry = partial(entry, category_gaps=tuple(missing))
    if key.population != HUMANS:
        return entry(full_set=_size_and_area(curve.full_set))
    return entry(ceiling=derived.ceiling, misses=_misses(curve), all_sessions=_size_and_area(curve.all_sessions))


def _measured_entry(fit: CurveFit) -> Measured:
    """Mean height on the measured range, with its interval: the headline where the area is withheld."""
    return Measured(range=fit.measured, mean=fit.mean_between(*fit.measured), interval=fit.measured_interval)


def _threshold_entry(fit: CurveFit, rate: float) -> Threshold:
    found = threshold(fit, rate)
    return Threshold(rate=rate, v=found.v, interval=found.interval, extrapolated=found.extrapolated)


def _band_entry(fit: CurveFit) -> Band:
    """The curve and its bands at every hundredth."""
    if fit.bands is None:
        v = np.linspace(0.0, 1.0, 101)
        return Band(v=tuple(v.tolist()), estimate=tuple(fit.predict(v).tolist()))
    return Band(
        v=tuple(fit.bands.v[::2].tolist()),
        estimate=tuple(fit.bands.estimate[::2].tolist()),
        lower=tuple(fit.bands.lower[::2].tolist()),
        upper=tuple(fit.bands.upper[::2].tolist()),
        simultaneous_lower=tuple(fit.bands.simultaneous_lower[::2].tolist()),
        simultaneous_upper=tuple(fit.bands.simultaneous_upper[::2].tolist()),
        level=fit.bands.level,
        simultaneous_level=fit.bands.simultaneous_level,
    )


def _misses(curve: FittedCurve) -> Misses:
    """Answers that did not come in time, wrong in the headline, and the area without them."""
    missed = int(np.sum(curve.outcomes.answers.response == NO_ANSWER))
    return Misses(n=missed, share=missed / len(curve.outcomes.answers), dropped=_size_and_area(curve.without_misses))


def _size_and_area(fit: CurveFit | None) -> SizeAndArea | None:
    return None if fit is None else SizeAndArea(n=fit.n_trials, area=fit.area)


def _bins(key: CurveKey, curve: FittedCurve) -> tuple[Bin, ...]:
    """Answers in every bin; of people's accuracy also by category, in the order of `CATEGORIES`."""
    bins = {
        one.index: Bin(v=one.v, n=one.n, rate=one.rate, originals=one.originals, thin=one.is_thin)
        for one in curve.fit.bins
    }
    answers, place = curve.outcomes.answers, curve.outcomes.place
    if (key.population, key.property) != (HUMANS, "accuracy") or not set(answers.category.tolist()) <= set(CATEGORIES):
        return tuple(bins.values())
    n_bins = curve.fit.config.n_bins
    counts = np.zeros((n_bins, len(CATEGORIES)), dtype=np.int64)
    np.add.at(counts, (bin_index(place, n_bins), np.searchsorted(CATEGORIES, answers.category)), 1)
    return tuple(one.model_copy(update={"categories": tuple(counts[index].tolist())}) for index, one in bins.items())


def _ceiling(outcomes: Outcomes, subject: Property, settings: FitSettings) -> Ceiling | None:
    """HMRI and MRSI of random halves of the people, kappa of two of them: what an observer like people would score."""
    names = np.unique(outcomes.answers.observer)
    if len(names) < 2:
        return None
    rng = np.random.default_rng(settings.seed)
    quiet = replace(settings, n_bootstrap=0)
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
        found = compare(halves[0], halves[1])
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
