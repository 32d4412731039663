"""What all answers of an observer say beside its curve: refusals, and what wording and order did to the answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.errors import InvalidInput

if TYPE_CHECKING:
    import pandas as pd

#: Bins of visual change.
_BINS = 10
_RESAMPLES = 1000


@dataclass(frozen=True, kw_only=True)
class AtChange:
    """Answers about stimuli of a range of visual change.

    Attributes
    ----------
    low, high : float
        The range of Δv; both 0 for clean pictures.
    asked : int
        Questions.
    accuracy : float
        Share of right answers over all wordings and orders; whatever is no label is wrong.
    lowest, highest : float
        The lowest and highest accuracy of one wording: a band that no interval for new pictures covers.
    misses, refusals, unreadable : float
        Shares.
    """

    low: float
    high: float
    asked: int
    accuracy: float
    lowest: float
    highest: float
    misses: float
    refusals: float
    unreadable: float


@dataclass(frozen=True, kw_only=True)
class AnswerSummary:
    """What all answers of one observer say.

    Attributes
    ----------
    asked : int
        Questions.
    kinds : dict
        Number of labels, misses, refusals and unreadable texts.
    by_change : list of AtChange
        Clean pictures first, then ranges of Δv that have answers.
    by_wording : dict of str to float
        Accuracy of each wording.
    preference : float or None
        Share of the answers that follow a preferred place instead of the picture, `place_preference`; None
        with fewer than two labels.
    preference_interval : tuple of float
        95 %, from resampled originals.
    changed_with_order, changed_with_wording, changed_with_repeat : float or None
        Share of pairs of answers to a stimulus that name different labels and differ in nothing else; None without
        such pairs. Repeats measure noise, which orders and wordings have, too.
    tokens_in, tokens_out : int
    fingerprints : list of str
        Versions under which the observer answered; more than one, and it changed meanwhile.
    mass : float or None
        Of a model that scores labels: mean probability that its reply begins with a label at all.
    """

    asked: int
    kinds: dict[str, int]
    by_change: list[AtChange]
    by_wording: dict[str, float]
    preference: float | None
    preference_interval: tuple[float, float]
    changed_with_order: float | None
    changed_with_wording: float | None
    changed_with_repeat: float | None
    tokens_in: int
    tokens_out: int
    fingerprints: list[str]
    mass: float | None = None


def place_preference(places: ArrayLike, options: int) -> float:
    """Share of answers that follow a preferred place in the list of options, whatever the picture shows.

    Parameters
    ----------
    places : array-like of int, shape (n,)
        Place of the named label in the order shown, 0 to ``options - 1``. Orders are drawn anew for each stimulus, so
        that an observer without a preference names every place equally often.
    options : int

    Returns
    -------
    float
        In [0, 1]; NaN with fewer than two answers.

    Raises
    ------
    InvalidInput
        If a place is none.

    Notes
    -----
    Where a share b of the answers goes to one place and the others to all alike, the chance that two answers name the
    same place is ``1/k + b^2 (k - 1)/k`` with k options. That chance is estimated without bias by the share of pairs of
    answers that agree, and solved for b. A preference for several places gives the b of one place that is as uneven.
    """
    given = np.asarray(places, dtype=np.int64)
    if given.ndim != 1 or ((given < 0) | (given >= options)).any():
        raise InvalidInput(f"A place is a whole number from 0 to {options - 1}.")
    return _preference(np.bincount(given, minlength=options).astype(np.float64))


def _preference(counts: NDArray[np.float64]) -> float:
    n, k = counts.sum(), len(counts)
    if n < 2:
        return float("nan")
    same = (counts * (counts - 1.0)).sum() / (n * (n - 1.0))
    return float(np.sqrt(max(0.0, (same - 1.0 / k) * k / (k - 1.0))))


def summarise(answers: pd.DataFrame, *, seed: int = 0) -> AnswerSummary:
    """Summarise the answers of one observer.

    Parameters
    ----------
    answers : DataFrame
        Columns of `analysis.tables.trials.ANSWERS`.
    seed : int
        Of the resampled originals.

    Raises
    ------
    InvalidInput
        If there are no answers.
    """
    if answers.empty:
        raise InvalidInput("There are no answers to summarise.")
    preference, interval = _preference_of(answers, seed)
    return AnswerSummary(
        asked=len(answers),
        kinds={str(kind): int(count) for kind, count in answers["kind"].value_counts().items()},
        by_change=_by_change(answers),
        by_wording={
            str(name): float(mean) for name, mean in answers.groupby("wording", sort=False)["correct"].mean().items()
        },
        preference=preference,
        preference_interval=interval,
        changed_with_order=_changed(answers, "order", ["wording", "repeat"]),
        changed_with_wording=_changed(answers, "wording", ["order", "repeat"]),
        changed_with_repeat=_changed(answers, "repeat", ["wording", "order"]),
        tokens_in=int(answers["tokens_in"].sum()),
        tokens_out=int(answers["tokens_out"].sum()),
        fingerprints=sorted(name for name in answers["fingerprint"].dropna().unique() if name),
        mass=None if answers["mass"].isna().all() else float(answers["mass"].mean()),
    )


def _by_change(answers: pd.DataFrame) -> list[AtChange]:
    change = answers["visual_change"].fillna(0.0).to_numpy(dtype=np.float64)
    bins = np.clip((change * _BINS).astype(np.int64), 0, _BINS - 1)
    bins[(answers["corruption"] == "none").to_numpy(dtype=np.bool_)] = -1
    found = []
    for number in np.unique(bins):
        rows = answers[bins == number]
        wordings = rows.groupby("wording")["correct"].mean()
        shares = rows["kind"].value_counts(normalize=True)
        found.append(
            AtChange(
                low=max(0.0, number / _BINS),
                high=float(number + 1) / _BINS,
                asked=len(rows),
                accuracy=float(rows["correct"].mean()),
                lowest=float(wordings.min()),
                highest=float(wordings.max()),
                misses=float(shares.get("miss", 0.0)),
                refusals=float(shares.get("refusal", 0.0)),
                unreadable=float(shares.get("unreadable", 0.0)),
            )
        )
    return found


def _preference_of(answers: pd.DataFrame, seed: int) -> tuple[float | None, tuple[float, float]]:
    named = answers[answers["kind"] == "label"]
    if len(named) < 2:
        return None, (0.0, 1.0)
    orders = [shown.split() for shown in named["shown"]]
    options = max(map(len, orders))
    places = np.array([order.index(label) for order, label in zip(orders, named["response"], strict=True)])
    originals, code = np.unique(named["original"].to_numpy(dtype=np.str_), return_inverse=True)
    counts = np.zeros((len(originals), options))
    np.add.at(counts, (code, places), 1.0)
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(len(originals), np.full(len(originals), 1 / len(originals)), size=_RESAMPLES)
    # A sample of one answer alone says nothing: it can be anything.
    resampled = np.nan_to_num([_preference(weights @ counts) for weights in drawn], nan=1.0)
    low, high = np.quantile(resampled, (0.025, 0.975))
    return _preference(counts.sum(axis=0)), (float(low), float(high))


def _changed(answers: pd.DataFrame, by: str, others: list[str]) -> float | None:
    """Share of pairs that differ in `by` alone and name different labels; a refusal beside a label is a change."""
    same = answers.groupby(["stimulus", *others], sort=False)
    pairs = changed = 0
    for _, rows in same["response"]:
        counts = rows.value_counts().to_numpy()
        n = int(counts.sum())
        pairs += n * (n - 1) // 2
        changed += (n * n - int((counts * counts).sum())) // 2
    return changed / pairs if pairs else None
