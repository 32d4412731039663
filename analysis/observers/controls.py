"""What repeats, controls and the names under which a model answered say of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analysis.arrays import FloatArray
from analysis.clusters import exact_bound

if TYPE_CHECKING:
    import pandas as pd

_TAIL = 0.025
_RESAMPLES = 1000
#: Questions that are under way at once come back in any order: two versions that overlap by fewer follow each other.
_OVERLAP = 32


@dataclass(frozen=True, kw_only=True)
class Rate:
    """How often something became of a trial, with its exact 95 % interval.

    Answers about pictures that were made from one original may move together: as many independent ones as say the
    same count, never more than there are.
    """

    count: int
    of: int
    share: float
    interval: tuple[float, float]


def rate(happened: FloatArray, originals: pd.Series[str]) -> Rate:
    """Share of trials in which something happened.

    Parameters
    ----------
    happened : ndarray of 0 and 1, shape (n,)
    originals : Series of str, shape (n,)
        Picture that each stimulus was made from.
    """
    n, count = len(happened), int(happened.sum())
    if not n:
        return Rate(count=0, of=0, share=0.0, interval=(0.0, 1.0))
    share = count / n
    _, code = np.unique(originals.to_numpy(dtype=np.str_), return_inverse=True)
    sums = np.bincount(code, weights=happened - share)
    independent = n * share * (1 - share)
    design = max(1.0, float((sums**2).sum()) / independent) if 0 < count < n else 1.0
    return Rate(count=count, of=n, share=share, interval=exact_bound(count / design, n / design, _TAIL))


@dataclass(frozen=True, kw_only=True)
class SelfConsistency:
    """How often an observer says the same to the same question.

    Attributes
    ----------
    trials, repeats : int
        Trials that were repeated, and how often each was asked in all.
    agreement : float
        Share of the pairs of answers to a trial that name the same label, or both none.
    interval : tuple of float
        95 %, from resampled originals.
    """

    trials: int
    repeats: int
    agreement: float
    interval: tuple[float, float]


def self_consistency(repeated: pd.DataFrame, seed: int) -> SelfConsistency | None:
    """Agreement of the answers to repeated questions; None where none was repeated.

    Parameters
    ----------
    repeated : DataFrame
        Columns of `analysis.tables.trials.ANSWERS`: answers in one wording and order.
    seed : int
    """
    counts = repeated.groupby("stimulus", sort=True)["response"].size()
    several = repeated[repeated["stimulus"].isin(counts.index[counts > 1])]
    if several.empty:
        return None
    each = several.groupby("stimulus", sort=True).agg(
        original=("original", "first"), n=("response", "size"), agreement=("response", _pairs_alike)
    )
    shares = each["agreement"].to_numpy(dtype=np.float64)
    _, code = np.unique(each["original"].to_numpy(dtype=np.str_), return_inverse=True)
    sums, sizes = np.bincount(code, weights=shares), np.bincount(code).astype(np.float64)
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=_RESAMPLES)
    low, high = np.quantile((drawn @ sums) / (drawn @ sizes), (_TAIL, 1 - _TAIL))
    return SelfConsistency(
        trials=len(each), repeats=int(each["n"].max()), agreement=float(shares.mean()),
        interval=(float(low), float(high)),
    )  # fmt: skip


def _pairs_alike(responses: pd.Series[str]) -> float:
    counts, n = responses.value_counts().to_numpy(), len(responses)
    return float((counts * (counts - 1)).sum() / (n * (n - 1)))


@dataclass(frozen=True, kw_only=True)
class Control:
    """Answers to trials whose picture was replaced.

    Attributes
    ----------
    asked, labels : int
        Questions, and answers with a label.
    of_trial : int
        Labels that name what the trial's own picture shows, which was not shown.
    chance : float
        Share of them that a model names that sees nothing of the trial.
    p_value : float
        Of so many or more by chance alone.
    of_shown : int or None
        Labels that name what was shown; None for a grey picture.
    most_named : str
        The label that was named most; empty where none was.
    most_share : float
        Its share of the labels.
    """

    asked: int
    labels: int
    of_trial: int
    chance: float
    p_value: float
    of_shown: int | None
    most_named: str
    most_share: float


def control(rows: pd.DataFrame, categories: dict[str, str] | None = None) -> Control | None:
    """What an observer says without the trial's picture; None where it was not asked.

    Parameters
    ----------
    rows : DataFrame
        Columns of `analysis.tables.trials.ANSWERS`.
    categories : dict, optional
        Category of each stimulus, for pictures of other stimuli; None for grey ones.
    """
    if rows.empty:
        return None
    named = rows[rows["kind"] == "label"]
    options = len(str(rows["shown"].iloc[0]).split())
    of_trial = int(named["correct"].sum())
    counts = named["response"].value_counts()
    shown = None
    if categories is not None:
        shown = sum(categories.get(str(one.pictured)) == one.response for one in named.itertuples())
    return Control(
        asked=len(rows),
        labels=len(named),
        of_trial=of_trial,
        chance=1 / options,
        p_value=_at_least(of_trial, len(named), 1 / options),
        of_shown=shown,
        most_named="" if counts.empty else str(counts.index[0]),
        most_share=0.0 if counts.empty else float(counts.iloc[0] / len(named)),
    )


def _at_least(count: int, n: int, chance: float) -> float:
    from scipy.stats import binom

    return float(binom.sf(count - 1, n, chance))


@dataclass(frozen=True, kw_only=True)
class Canaries:
    """Questions of the beginning that were put again at the end.

    Attributes
    ----------
    trials : int
    agreement_at_end, agreement_before : float
        Share of the earlier answers to a question that its last answer agrees with, and of those that they agree with
        among themselves (1 where there is one).
    p_value : float
        Of so little agreement at the end where the last answer is one like the others: places permuted within each
        question. Without repeats it cannot be told from noise, and is None.
    """

    trials: int
    agreement_at_end: float
    agreement_before: float
    p_value: float | None


def canaries_of(late: pd.DataFrame, before: pd.DataFrame, seed: int) -> Canaries | None:
    """Compare the last answers with those to the same questions before; None where none was put again.

    Parameters
    ----------
    late, before : DataFrame
        Columns of `analysis.tables.trials.ANSWERS`: one last answer a stimulus, and one or more before.
    seed : int
    """
    earlier = {str(key): list(rows) for key, rows in before.groupby("stimulus", sort=True)["response"]}
    pairs = [
        (str(last), earlier[str(key)])
        for key, last in zip(late["stimulus"], late["response"], strict=True)
        if str(key) in earlier
    ]
    if not pairs:
        return None
    # for each answer to a question: share of the others that it agrees with, the last one first
    agreement = [_agreement([last, *others]) for last, others in pairs]
    rng = np.random.default_rng(seed)
    found = sum(float(one[0]) for one in agreement)
    drawn = sum((one[rng.integers(len(one), size=_RESAMPLES - 1)] for one in agreement), np.zeros(_RESAMPLES - 1))
    has_repeats = any(len(others) > 1 for _, others in pairs)
    before_it = [_agreement(others).mean() if len(others) > 1 else 1.0 for _, others in pairs]
    return Canaries(
        trials=len(pairs),
        agreement_at_end=found / len(pairs),
        agreement_before=float(np.mean(before_it)),
        p_value=float((1 + (drawn <= found + 1e-9).sum()) / _RESAMPLES) if has_repeats else None,
    )


def _agreement(answers: list[str]) -> FloatArray:
    given = np.array(answers)
    return np.asarray(((given[:, None] == given).sum(axis=1) - 1) / (len(given) - 1), dtype=np.float64)


@dataclass(frozen=True, kw_only=True)
class Version:
    """Answers that a model gave under one name and fingerprint.

    Attributes
    ----------
    version : str
    first, last : int
        The first and the last question that it answered, counted from 1 in the order asked.
    answers : int
    trials, right : int
        Trials, whose answers are in the curves, and those that were right.
    """

    version: str
    first: int
    last: int
    answers: int
    trials: int
    right: int


def versions_of(answers: pd.DataFrame, is_trial: Callable[[pd.DataFrame], pd.Series[bool]]) -> list[Version]:
    """Names under which a model answered, in the order of their first answer; none where it does not say."""
    answers = answers.sort_values("answered_at", kind="stable")
    told = answers["fingerprint"].fillna("").astype(str)
    found = []
    for name in dict.fromkeys(told[told != ""]):
        places = np.flatnonzero((told == name).to_numpy())
        trials = answers[(told == name) & is_trial(answers)]
        found.append(
            Version(
                version=str(name), first=int(places[0]) + 1, last=int(places[-1]) + 1, answers=len(places),
                trials=len(trials), right=int(trials["correct"].sum()),
            )
        )  # fmt: skip
    return found


def said_of_versions(versions: list[Version]) -> str:
    """A sentence where a model answered under several names; empty under one."""
    if len(versions) < 2:
        return ""
    follow = all(one.last - after.first < _OVERLAP for one, after in zip(versions, versions[1:], strict=False))
    names = ", ".join(
        f"{one.version} ({one.answers:,} answers, {one.right:,} of {one.trials:,} trials right)" for one in versions
    )
    how = f"it changed after question {versions[1].first - 1:,}" if follow else "they answered by turns"
    return (
        f"The model answered under {len(versions)} names, and {how}: {names}. These may be different models; accuracy "
        "and curves mix them."
    )
