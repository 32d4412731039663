"""Does the answer to a corrupted picture equal the answer to the clean one?"""

from __future__ import annotations

import numpy as np

from analysis.arrays import FloatArray
from analysis.categories import NO_ANSWER
from analysis.findings.observations import Observations


def human_agreement(answers: Observations, clean: Observations) -> FloatArray:
    """Agreement of each answer with a random other person's clean answer to the same original.

    Parameters
    ----------
    answers : Observations
        Answers to judge (corrupted pictures, or the clean answers themselves).
    clean : Observations
        Clean answers.

    Returns
    -------
    ndarray, shape (n,)
        In [0, 1]; NaN where nobody else answered that original clean.

    Notes
    -----
    A U-statistic: the mean over all clean answers of other people, so it does not depend on how many there are.
    Differs from VCR section 3.1, where one observer answers both: here nobody sees an original twice. A miss agrees
    with nothing.
    """
    given = _counts(clean, ("original", "response"))
    total = _counts(clean, ("original",))
    own_given = _counts(clean, ("original", "observer", "response"))
    own_total = _counts(clean, ("original", "observer"))
    agreement = np.full(len(answers), np.nan)
    for row, (original, observer, response) in enumerate(
        zip(answers.original.tolist(), answers.observer.tolist(), answers.response.tolist(), strict=True)
    ):
        others = total.get((original,), 0) - own_total.get((original, observer), 0)
        if others:
            same = given.get((original, response), 0) - own_given.get((original, observer, response), 0)
            agreement[row] = same / others if response != NO_ANSWER else 0.0
    return agreement


def classifier_agreement(predictions: Observations, clean: Observations) -> FloatArray:
    """Whether a classifier predicts for each picture what it predicts for its clean original.

    Parameters
    ----------
    predictions : Observations
    clean : Observations
        Its predictions for clean pictures.

    Returns
    -------
    ndarray, shape (n,)
        1 or 0; NaN where the clean original was not classified.
    """
    expected = dict(
        zip(zip(clean.observer.tolist(), clean.original.tolist(), strict=True), clean.response.tolist(), strict=True)
    )
    keys = zip(predictions.observer.tolist(), predictions.original.tolist(), strict=True)
    wanted = [expected.get(key) for key in keys]
    return np.array(
        [
            np.nan if clean_response is None else float(clean_response == response)
            for clean_response, response in zip(wanted, predictions.response.tolist(), strict=True)
        ],
        dtype=np.float64,
    )


def _counts(rows: Observations, names: tuple[str, ...]) -> dict[tuple[str, ...], int]:
    """Number of rows for every combination of the named columns."""
    counted: dict[tuple[str, ...], int] = {}
    for key in zip(*(getattr(rows, name).tolist() for name in names), strict=True):
        counted[key] = counted.get(key, 0) + 1
    return counted
