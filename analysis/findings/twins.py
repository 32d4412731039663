"""What a simulated twin of people would score: the ceiling of HMRI and MRSI in a study of this size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from analysis.claims.models import twin_words
from analysis.differences import Clusters
from analysis.differences.twin import TWINS, CurveAnswers, Twins, simulated_twins
from analysis.findings.fits import FitSettings, FittedCurve, StudyCurves
from analysis.findings.model import HUMANS, Twin
from analysis.findings.outcomes import counted_weights


def twins_of(study: StudyCurves, settings: FitSettings) -> Twins | None:
    """Twins of people on every corruption, in accuracy; None without refits or without a classifier.

    Parameters
    ----------
    study : StudyCurves
    settings : FitSettings
    """
    if not settings.n_bootstrap or all(key.population == HUMANS for key in study.curves):
        return None
    curves = {
        key.corruption: _answers(curve, settings)
        for key, curve in study.curves.items()
        if key.population == HUMANS and key.property == "accuracy"
    }
    return simulated_twins(curves, seed=settings.seed) if curves else None


def twin_entry(twins: Twins, corruptions: Sequence[str]) -> Twin:
    """Median and range of the twins' indices, and of their means over several corruptions."""
    low, middle, high = np.quantile(twins.mean(list(corruptions)), [0.05, 0.5, 0.95], axis=0).tolist()
    (hmri, mrsi), (hmri_range, mrsi_range) = middle, zip(low, high, strict=True)
    return Twin(
        draws=TWINS,
        hmri=hmri,
        hmri_range=hmri_range,
        mrsi=mrsi,
        mrsi_range=mrsi_range,
        shared=twins.shared.pictures,
        shared_by=twins.shared.by,
        statement=twin_words(
            hmri=hmri, hmri_range=hmri_range, mrsi=mrsi, mrsi_range=mrsi_range, shared_by=twins.shared.by
        ),
    )


def _answers(curve: FittedCurve, settings: FitSettings) -> CurveAnswers:
    """People's answers behind a curve, and those that hold its left end."""
    outcomes, answers = curve.outcomes, curve.outcomes.answers
    weights = counted_weights(outcomes, settings.estimand, settings.equal_categories, settings.recruiters)
    clean = outcomes.clean
    count = 0 if clean is None else len(np.asarray(clean.correct))
    held = np.empty(0, dtype=np.str_) if clean is None else np.asarray(clean.images, dtype=np.str_)
    people = np.empty(0, dtype=np.str_) if clean is None else np.asarray(clean.participants, dtype=np.str_)
    none: NDArray[np.float64] = np.empty(0)
    return CurveAnswers(
        fit=curve.fit,
        place=np.concatenate([outcomes.place, np.zeros(count)]),
        correct=np.concatenate([outcomes.outcome, none if clean is None else np.asarray(clean.correct, dtype=float)]),
        people=Clusters.of(np.concatenate([answers.observer, people])),
        stimuli=Clusters.of(np.concatenate([answers.stimulus, np.char.add("clean ", held)])),
        originals=Clusters.of(np.concatenate([answers.original, held])),
        is_clean=np.arange(len(answers) + count) >= len(answers),
        weights=None if weights is None else np.concatenate(weights),
    )
