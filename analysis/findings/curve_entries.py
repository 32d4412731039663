"""Curves as plain entries of the results."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

import numpy as np

from analysis.categories import CATEGORIES, NO_ANSWER
from analysis.curves import CurveFit, bin_index, threshold
from analysis.curves.bands import normal_quantile
from analysis.errors import FitError
from analysis.findings.agreement import pooled_within
from analysis.findings.caveats import curve_caveats
from analysis.findings.fits import HUMANS, CurveKey, FitSettings, FittedCurve, StudyCurves, fit_outcomes
from analysis.findings.outcomes import Outcomes, Property
from analysis.findings.pipeline import run_in_order
from analysis.metrics import compare

#: Random halves of the people, for the human ceiling.
SPLITS = 10


def curve_entries(
    study: StudyCurves, settings: FitSettings, *, executor: Executor | None = None
) -> list[dict[str, Any]]:
    """One entry a curve, in the order of the fits.

    Parameters
    ----------
    study : StudyCurves
    settings : FitSettings
    executor : Executor, optional
        Where thresholds, bands and ceilings are computed; here, without one.
    """
    entries = []
    calls = (
        (key, (curve.fit, curve.outcomes if key.population == HUMANS else None, key.property, settings))
        for key, curve in study.curves.items()
    )
    for key, derived in run_in_order(executor, _derived, calls):
        curve = study.curves[key]
        entry = {**_curve_entry(key, curve, study), **derived}
        if key.population == HUMANS:
            entry["misses"] = _misses(curve)
            entry["all_sessions"] = _size_and_area(curve.all_sessions)
            if key.property == "accuracy":
                _add_categories(entry["bins"], curve)
        else:
            entry["full_set"] = _size_and_area(curve.full_set)
        entry["caveats"] = curve_caveats(entry)
        entries.append(entry)
    return entries


def _derived(fit: CurveFit, outcomes: Outcomes | None, subject: Property, settings: FitSettings) -> dict[str, Any]:
    """What takes time to derive from a curve, in whatever process; people's answers come for the ceiling."""
    derived: dict[str, Any] = {
        "measured": _measured_entry(fit),
        "thresholds": [_threshold_entry(fit, rate) for rate in (0.75, 0.5)],
        "band": _band_entry(fit),
    }
    if outcomes is not None:
        derived["ceiling"] = _ceiling(outcomes, subject, settings)
    return derived


def _curve_entry(key: CurveKey, curve: FittedCurve, study: StudyCurves) -> dict[str, Any]:
    fit = curve.fit
    return {
        "population": key.population,
        "corruption": key.corruption,
        "property": key.property,
        "area": fit.area,
        "interval": None if fit.area_interval is None else list(fit.area_interval),
        "level": fit.config.level,
        "standard_error": fit.area_standard_error,
        "extrapolated": fit.extrapolated,
        "area_bounds": list(fit.area_bounds),
        "withheld": fit.is_withheld,
        "abscissa": "condition" if key.corruption in study.scales else "visual_change",
        "label_space": fit.config.label_space,
        "same_stimuli": curve.seen_by_people,
        "anchor": {"kind": fit.anchor.kind, "value": fit.anchor.value, "n": fit.anchor.n},
        "n": fit.n_trials,
        "originals": fit.n_originals,
        "participants": fit.n_participants,
        "scheme": fit.config.scheme,
        "scheme_reason": fit.scheme_reason,
        "dispersion": fit.dispersion,
        "smoothness": fit.smoothness,
        "bins": [
            {"v": one.v, "n": one.n, "rate": one.rate, "originals": one.originals, "thin": one.is_thin}
            for one in fit.bins
        ],
        "empty_bins": list(fit.empty_bins),
        "data_digest": fit.data_digest,
    }


def _measured_entry(fit: CurveFit) -> dict[str, Any]:
    """Mean height on the measured range, with its interval: the headline where the area is withheld."""
    lower, upper = fit.measured
    spread = fit.spread(fit.basis.integral_design(lower, upper)[None, :] / (upper - lower))
    interval = None
    if spread is not None:
        reach = normal_quantile(fit.config.level) * float(spread.standard_error[0])
        middle = float(spread.estimate[0])
        interval = [max(middle - reach, 0.0), min(middle + reach, 1.0)]
    return {"range": [lower, upper], "mean": fit.mean_between(lower, upper), "interval": interval}


def _threshold_entry(fit: CurveFit, rate: float) -> dict[str, Any]:
    found = threshold(fit, rate)
    return {
        "rate": rate,
        "v": found.v,
        "interval": None if found.interval is None else list(found.interval),
        "extrapolated": found.extrapolated,
    }


def _band_entry(fit: CurveFit) -> dict[str, Any]:
    """The curve and its bands at every hundredth."""
    if fit.bands is None:
        v = np.linspace(0.0, 1.0, 101)
        return {"v": v.tolist(), "estimate": fit.predict(v).tolist()}
    names = ("v", "estimate", "lower", "upper", "simultaneous_lower", "simultaneous_upper")
    entry: dict[str, Any] = {name: getattr(fit.bands, name)[::2].tolist() for name in names}
    return {**entry, "level": fit.bands.level, "simultaneous_level": fit.bands.simultaneous_level}


def _misses(curve: FittedCurve) -> dict[str, Any]:
    """Answers that did not come in time, wrong in the headline, and the area without them."""
    missed = int(np.sum(curve.outcomes.answers.response == NO_ANSWER))
    return {
        "n": missed,
        "share": missed / len(curve.outcomes.answers),
        "dropped": _size_and_area(curve.without_misses),
    }


def _size_and_area(fit: CurveFit | None) -> dict[str, Any] | None:
    return None if fit is None else {"n": fit.n_trials, "area": fit.area}


def _add_categories(bins: list[dict[str, Any]], curve: FittedCurve) -> None:
    """Answers of each category in every bin, in the order of `CATEGORIES`."""
    answers, place = curve.outcomes.answers, curve.outcomes.place
    if not set(answers.category.tolist()) <= set(CATEGORIES):
        return
    n_bins = curve.fit.config.n_bins
    counts = np.zeros((n_bins, len(CATEGORIES)), dtype=np.int64)
    np.add.at(counts, (bin_index(place, n_bins), np.searchsorted(CATEGORIES, answers.category)), 1)
    for entry, one in zip(bins, curve.fit.bins, strict=True):
        entry["categories"] = counts[one.index].tolist()


def _ceiling(outcomes: Outcomes, subject: Property, settings: FitSettings) -> dict[str, Any] | None:
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
    entry: dict[str, Any] = {"splits": len(indices), "hmri": float(hmri), "mrsi": float(mrsi)}
    if subject == "accuracy":
        pooled = pooled_within(outcomes.answers, settings)
        entry["kappa"] = None if pooled is None else pooled.kappa
        entry["kappa_interval"] = None if pooled is None or pooled.interval is None else list(pooled.interval)
        entry["kappa_n"] = 0 if pooled is None else pooled.pictures
    return entry
