"""Every number of the dashboard, from tables of trials and predictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

import analysis
from analysis.errors import InvalidInput
from analysis.findings.curve_entries import curve_entries
from analysis.findings.discrimination import discrimination_entries
from analysis.findings.fits import HUMANS, FitSettings, StudyCurves, fit_study
from analysis.findings.observations import digest_of, read_predictions, read_trials, sentinel_originals
from analysis.findings.observers import accuracy_entries, error_consistency_entries, human_accuracy_entries
from analysis.findings.pair_entries import comparison_entries, similarity_entries
from analysis.similarity import BAND_MARGIN, DISCRIMINATION_MARGIN, MARGIN

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FINDINGS_VERSION", "analyse", "fit_study"]

#: Changes when the same tables would give other numbers.
FINDINGS_VERSION = "findings-1"

CONSISTENCY_CAVEAT = (
    "Classifiers are compared with themselves, people with other people: a positive MRSI of consistency at low visual "
    "change is partly by construction."
)


def analyse(
    trials: pd.DataFrame,
    predictions: pd.DataFrame | None = None,
    *,
    study: str,
    seed: int,
    n_bootstrap: int = 1000,
    discrimination: pd.DataFrame | None = None,
    sessions: Mapping[str, Any] | None = None,
    borrow: Mapping[str, str] | None = None,
    level: float = 0.95,
    margin: float = MARGIN,
    band_margin: float = BAND_MARGIN,
    discrimination_margin: float = DISCRIMINATION_MARGIN,
) -> dict[str, Any]:
    """Compute all findings of a study.

    Parameters
    ----------
    trials : pandas.DataFrame
        Columns of `analysis.tables.TRIALS`. Accepted sessions count; of their trials those with role main, clean or
        consistency_first. People are pooled as the population "humans".
    predictions : pandas.DataFrame, optional
        Columns of `analysis.tables.PREDICTIONS`. Classifiers are scored on the stimuli that people saw, and beside
        that on all.
    study : str
        Name that is written into the result.
    seed : int
        Seed of every resampling; the same tables and seed give the same result.
    n_bootstrap : int
        Refits per resampled unit; 0 leaves intervals, bands and similarity out.
    discrimination : pandas.DataFrame, optional
        Same/different trials; by default those among ``trials``.
    sessions : mapping, optional
        Counts of sessions and exclusions, copied into the result.
    borrow : mapping of corruption to corruption, optional
        Compare classifiers on the first also with the human curve of the second, labelled borrowed.
    level : float
        Level of intervals.
    margin, band_margin, discrimination_margin : float
        Margins of equivalence, set before looking at results.

    Returns
    -------
    dict
        Plain values in a fixed order, floats unrounded, ready for JSON: study, version, data_digest, observers,
        accuracy, human_accuracy, curves, comparisons, similarity, discrimination, error_consistency, and more.

    Raises
    ------
    TableRefused
        If a table lacks a column or a value.
    InvalidInput
        If the seed is negative.
    """
    if seed < 0:
        raise InvalidInput(f"A seed is not negative, but {seed} was given.")
    people, everyone = read_trials(trials), read_trials(trials, accepted_only=False)
    classifiers, label_spaces = read_predictions(predictions)
    # Golds and practice pictures enter no curve, human or classifier.
    classifiers = classifiers.select(~np.isin(classifiers.original, sentinel_originals(trials)))
    settings = FitSettings(seed=seed, n_bootstrap=n_bootstrap, level=level)
    curves = fit_study(people, classifiers, label_spaces, settings, everyone=everyone)
    margins = {"margin": margin, "band_margin": band_margin}
    similarity, classes = similarity_entries(curves, HUMANS, settings, **margins)
    classifier_similarity: list[dict[str, Any]] = []
    for name in sorted(label_spaces):
        pairs, groups = similarity_entries(curves, name, settings, **margins)
        classifier_similarity.extend(pairs)
        classes.extend(groups)
    consistency, consistency_notes = error_consistency_entries(people, classifiers)
    comparisons = comparison_entries(curves, dict(borrow or {}))
    told_apart = discrimination_entries(
        trials if discrimination is None else discrimination, margin=discrimination_margin, level=level
    )
    result: dict[str, Any] = {
        "study": study,
        "version": f"{analysis.__version__}+{FINDINGS_VERSION}",
        "data_digest": digest_of(trials, predictions, discrimination),
        "seed": seed,
        "n_bootstrap": n_bootstrap,
        "observers": [
            *({"name": name, "kind": "human"} for name in sorted(set(people.observer.tolist()))),
            *({"name": name, "kind": "classifier"} for name in sorted(label_spaces)),
        ],
        "accuracy": accuracy_entries(people, classifiers),
        "human_accuracy": human_accuracy_entries(people),
        "curves": curve_entries(curves, settings),
        "comparisons": comparisons,
        "similarity": similarity,
        "classifier_similarity": classifier_similarity,
        "classes": classes,
        "discrimination": told_apart,
        "error_consistency": consistency,
        "trials": {
            "rows": len(trials),
            "in_all_sessions": len(everyone),
            "in_accepted_sessions": len(people),
            "predictions": len(classifiers),
        },
        "notes": [*curves.notes, *consistency_notes, *_caveats(curves)],
    }
    if sessions is not None:
        result["sessions"] = dict(sessions)
    return result


def _caveats(curves: StudyCurves) -> list[str]:
    """Sentences that must stand beside the numbers."""
    consistency = [key for key in curves.curves if key.property == "consistency"]
    both = any(key.population == HUMANS for key in consistency) and any(key.population != HUMANS for key in consistency)
    return [CONSISTENCY_CAVEAT] if both else []
