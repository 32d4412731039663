"""What all answers of an observer say beside its curve: refusals, and what wording and order did to the answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from analysis.arrays import FloatArray
from analysis.errors import InvalidInput
from analysis.observers.controls import (
    Canaries,
    Control,
    Rate,
    SelfConsistency,
    Version,
    canaries_of,
    control,
    rate,
    self_consistency,
    versions_of,
)
from analysis.observers.position import (
    PlacePreference,
    accuracy_from_picture,
    preference_of,
    rotated_preference,
)
from analysis.observers.schedule import CONTROLS, EVERY

if TYPE_CHECKING:
    import pandas as pd

#: Bins of visual change.
_BINS = 10
#: Kinds of answers without a label.
WITHOUT_LABEL = ("refusal", "unreadable", "miss", "outside", "error")


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
    outside, errors : float
        Shares.
    from_picture : float or None
        Share right of the labels that follow the picture instead of a place in the list,
        `accuracy_from_picture`; None where nothing was named, or no picture was shown in all cyclic orders.
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
    outside: float = 0.0
    errors: float = 0.0
    from_picture: float | None = None


@dataclass(frozen=True, kw_only=True)
class AnswerSummary:
    """What all answers of one observer say.

    Attributes
    ----------
    asked : int
        Questions, without controls.
    kinds : dict
        Number of labels, misses, refusals and unreadable texts.
    by_change : list of AtChange
        Of questions that were asked about every stimulus. Clean pictures first, then ranges of Δv that have answers.
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
    rates : dict of str to Rate
        Trials without a label, by kind of answer.
    right : Rate or None
        Right trials; whatever is no label is wrong.
    from_picture : float or None
        Share right of the trials' labels that follow the picture, `accuracy_from_picture`.
    position : PlacePreference or None
        From pictures in all cyclic orders.
    consistency : SelfConsistency or None
    grey, wrong : Control or None
        Trials with a grey picture, and with one of another category.
    canaries : Canaries or None
    versions : list of Version
    finished : dict of str to int
        Why replies ended, as the server says; "length": at the most tokens that they may have.
    cut_empty : int
        Replies that ended so before they said anything, as where thoughts take all tokens.
    tokens_thought, tokens_picture : int or None
        Of the tokens; None where the observer does not tell.
    granted : dict of str to int
        Decoding that the server took, as JSON, and how many answers it gave under it.
    by_purpose : dict of str to int
        Questions by what they are for.
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
    rates: dict[str, Rate] = field(default_factory=dict)
    right: Rate | None = None
    from_picture: float | None = None
    position: PlacePreference | None = None
    consistency: SelfConsistency | None = None
    grey: Control | None = None
    wrong: Control | None = None
    canaries: Canaries | None = None
    versions: list[Version] = field(default_factory=list)
    finished: dict[str, int] = field(default_factory=dict)
    cut_empty: int = 0
    tokens_thought: int | None = None
    tokens_picture: int | None = None
    granted: dict[str, int] = field(default_factory=dict)
    by_purpose: dict[str, int] = field(default_factory=dict)


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
    answers = _with_columns(answers)
    asked, every = answers[~answers["purpose"].isin(CONTROLS)], answers[answers["purpose"].isin(EVERY)]
    trials = _trials(every)
    repeated = asked[asked["wording"].eq(trials["wording"].iloc[0]) & asked["order"].eq(0)]
    before = repeated[repeated["purpose"] != "canary"]
    position = rotated_preference(_rotated(asked), seed)
    preference, interval = preference_of(every, seed)
    followed = None if position is None else position.followed
    labels = trials[trials["kind"] == "label"]
    return AnswerSummary(
        asked=len(asked),
        kinds={str(kind): int(count) for kind, count in asked["kind"].value_counts().items()},
        by_change=_by_change(every, followed),
        by_wording={
            str(name): float(mean) for name, mean in every.groupby("wording", sort=False)["correct"].mean().items()
        },
        preference=preference,
        preference_interval=interval,
        changed_with_order=_changed(asked[asked["purpose"] != "canary"], "order", ["wording", "repeat"]),
        changed_with_wording=_changed(every, "wording", ["order", "repeat"]),
        changed_with_repeat=_changed(asked[asked["purpose"] != "canary"], "repeat", ["wording", "order"]),
        tokens_in=int(answers["tokens_in"].sum()),
        tokens_out=int(answers["tokens_out"].sum()),
        fingerprints=sorted(name for name in answers["fingerprint"].dropna().unique() if name),
        mass=None if answers["mass"].isna().all() else float(answers["mass"].mean()),
        rates={kind: rate(_is(trials, kind), trials["original"]) for kind in WITHOUT_LABEL},
        right=rate(trials["correct"].to_numpy(dtype=np.float64), trials["original"]),
        from_picture=_from_picture(labels, followed),
        position=position,
        consistency=self_consistency(before, seed),
        grey=control(answers[answers["purpose"] == "grey"]),
        wrong=control(
            answers[answers["purpose"] == "wrong"],
            {str(key): str(category) for key, category in zip(trials["stimulus"], trials["category"], strict=True)},
        ),
        canaries=canaries_of(repeated[repeated["purpose"] == "canary"], before, seed),
        versions=versions_of(answers, lambda rows: rows["purpose"].eq("trial")),
        finished={str(why): int(n) for why, n in answers["finish_reason"].dropna().value_counts().items() if str(why)},
        cut_empty=int((answers["finish_reason"].eq("length") & answers["kind"].eq("miss")).sum()),
        tokens_thought=_told(answers["tokens_thought"]),
        tokens_picture=_told(answers["tokens_picture"]),
        granted={str(one): int(n) for one, n in answers["granted"].dropna().value_counts().items()},
        by_purpose={str(one): int(n) for one, n in answers["purpose"].value_counts(sort=False).items()},
    )


def _with_columns(answers: pd.DataFrame) -> pd.DataFrame:
    """Answers of earlier versions, which asked about every stimulus alike, say no purpose."""
    known = answers.assign(**{name: None for name in _LATER if name not in answers.columns})
    first = ~known.duplicated("stimulus")
    default = np.where(
        first, "trial", np.where(known["repeat"] > 0, "repeat", np.where(known["order"] > 0, "order", "wording"))
    )
    return known.assign(purpose=known["purpose"].astype(object).where(known["purpose"].notna(), default))


_LATER = ("purpose", "pictured", "finish_reason", "tokens_thought", "tokens_picture", "granted", "answered_at")


def _trials(every: pd.DataFrame) -> pd.DataFrame:
    return every[every["purpose"] == "trial"]


def _rotated(asked: pd.DataFrame) -> pd.DataFrame:
    """Answers to all cyclic orders of the pictures that were shown with them."""
    turned = asked[asked["purpose"] == "rotation"]
    first = asked[asked["purpose"].eq("trial") & asked["stimulus"].isin(turned["stimulus"])]
    return asked.loc[first.index.union(turned.index)]


def _is(rows: pd.DataFrame, kind: str) -> FloatArray:
    return rows["kind"].eq(kind).to_numpy().astype(np.float64)


def _told(tokens: pd.Series[int]) -> int | None:
    return None if tokens.isna().all() else int(tokens.sum())


def _from_picture(labels: pd.DataFrame, preference: float | None) -> float | None:
    if labels.empty or preference is None:
        return None
    options = len(str(labels["shown"].iloc[0]).split())
    return accuracy_from_picture(float(labels["correct"].mean()), preference=preference, options=options)


def _by_change(answers: pd.DataFrame, preference: float | None) -> list[AtChange]:
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
                outside=float(shares.get("outside", 0.0)),
                errors=float(shares.get("error", 0.0)),
                from_picture=_from_picture(rows[rows["kind"] == "label"], preference),
            )
        )
    return found


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
