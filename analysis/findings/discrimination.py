"""Same/different and ABX trials sorted into the pairs of corruptions that they compare."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from analysis.arrays import BoolArray
from analysis.claims.claim import too_few_words
from analysis.claims.telling_apart import verdict_words
from analysis.errors import TableRefused
from analysis.findings.model.curves import Discrimination, OtherModel, PublishedTest
from analysis.observers.comparisons import TASKS
from analysis.similarity.binomial import BinomialTest, published_test
from analysis.similarity.discrimination import (
    DiscriminationTest,
    PlainPairs as PlainAnswers,
    Sensitivity,
    discrimination_test,
)
from analysis.similarity.verdicts import holm, verdict_of
from analysis.study.analysis_plan import ObserverModel
from analysis.study.design import DiscriminationForm

if TYPE_CHECKING:
    import pandas as pd


_COLUMNS = ("participant", "task", "role", "corruption", "second_corruption", "response", "correct", "accepted")


#: Roles of trials that compare what is asked about, and of plain pairs.
_ASKED, _PLAIN = "main", "negative"


class _Settings(TypedDict):
    """Settings of `discrimination_test`, one for all pairs of a form."""

    plain: PlainAnswers | None
    d_prime_margin: float
    observer_model: ObserverModel
    level: float


def discrimination_entries(
    frame: pd.DataFrame,
    *,
    d_prime_margin: Mapping[DiscriminationForm, float],
    observer_model: ObserverModel,
    level: float,
) -> list[Discrimination]:
    """Test every pair of corruptions that was compared.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns of `analysis.tables.trials.TRIALS`; other tasks than discrimination and abx are left out. Main trials of
        accepted sessions are judged; negative ones are plain pairs, and those of other sessions tell what screening
        cut off.
    d_prime_margin : mapping of form to float
    observer_model, level
        As in `discrimination_test`.

    Returns
    -------
    list of Discrimination
        One entry a form and pair, same/different first, by name; tests are corrected by Holm's rule over all.

    Raises
    ------
    TableRefused
        If a column is missing.

    Notes
    -----
    A different pair names its comparison. A same pair belongs to any comparison with its corruption: it goes to the
    one that has the fewest same pairs for its different ones, so that each trial counts once and guessing scores 1/2.
    An ABX trial names its comparison by A and B.
    """
    if "task" not in frame.columns or not frame["task"].isin(list(TASKS)).any():
        return []
    needed = (*_COLUMNS, "third_corruption") if (frame["task"] == "abx").any() else _COLUMNS
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        raise TableRefused(f"discrimination trials: column {missing[0]!r} is missing.")
    kept = frame["accepted"].astype("boolean").fillna(False).to_numpy(dtype=bool)
    rows = frame.loc[kept & (frame["role"] == _ASKED).to_numpy(dtype=bool)]
    plain = frame.assign(accepted=kept).loc[(frame["role"] == _PLAIN).to_numpy(dtype=bool)]
    order = [name for name in ("participant", "session", "position") if name in rows.columns]
    rows = rows.sort_values(order, kind="stable")
    results = [
        one
        for task, form in TASKS.items()
        if (rows["task"] == task).any()
        for one in tested(
            rows[rows["task"] == task],
            form,
            plain=_plain_answers(plain[plain["task"] == task], form),
            d_prime_margin=d_prime_margin[form],
            observer_model=observer_model,
            level=level,
        )
    ]
    adjusted = holm([one.test.p for one in results])
    published = _published([one.published for one in results])
    return [_entry(one, p, beside) for one, p, beside in zip(results, adjusted, published, strict=True)]


@dataclass(frozen=True)
class Tested:
    """One comparison: our test and the published one, missed trials and people; `chosen` are its trials."""

    pair: tuple[str, str]
    chosen: BoolArray
    test: DiscriminationTest
    published: BinomialTest
    misses: int
    people: int


def _published(tests: Sequence[BinomialTest]) -> list[PublishedTest]:
    """The published tests as entries, corrected over those that have a p."""
    adjusted = iter(holm([one.p for one in tests if one.p is not None]))
    return [PublishedTest.of(one, p_holm=None if one.p is None else next(adjusted)) for one in tests]


def tested(rows: pd.DataFrame, form: DiscriminationForm, **settings: Unpack[_Settings]) -> list[Tested]:
    """Every comparison of one form."""
    first = rows["corruption"].astype(str).tolist()
    second = rows["second_corruption"].astype(str).tolist()
    pairs = _compared(first, second)
    correct, same, answered = _read(rows, form)
    people = rows["participant"].astype(str).to_numpy()
    pictures = _pictures(rows)
    results: list[Tested] = []
    for pair in sorted({pair for pair in pairs if pair is not None}):
        chosen = np.array([other == pair for other in pairs])
        test = discrimination_test(
            correct[chosen],
            same=same[chosen],
            form=form,
            answered=answered[chosen],
            participants=people[chosen],
            pictures=None if pictures is None else pictures[chosen],
            **settings,
        )
        published = published_test(
            correct[chosen],
            answered=answered[chosen],
            participants=people[chosen],
            pictures=None if pictures is None else pictures[chosen],
        )
        misses = int(np.sum(~answered[chosen]))
        results.append(Tested(pair, chosen, test, published, misses, len(np.unique(people[chosen]))))
    return results


def _read(rows: pd.DataFrame, form: DiscriminationForm) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Right; "same" (in ABX "A") the right answer; answered in time."""
    correct = rows["correct"].astype("boolean").fillna(False).to_numpy(dtype=bool)
    other = rows["third_corruption" if form == "abx" else "second_corruption"]
    same = (rows["corruption"].astype(str) == other.astype(str)).to_numpy(dtype=bool)
    return correct, same, (rows["response"].astype(str) != "na").to_numpy(dtype=bool)


def _pictures(rows: pd.DataFrame) -> NDArray[np.object_] | None:
    """Names of what was shown in a trial, in any order; None where the table does not tell."""
    shown = [name for name in ("stimulus", "second_stimulus", "third_stimulus") if name in rows.columns]
    if len(shown) < 2:
        return None
    names = rows[shown].astype("string").fillna("").to_numpy(dtype=object)
    return np.array(["\n".join(sorted(row)) for row in names], dtype=object)


def _plain_answers(rows: pd.DataFrame, form: DiscriminationForm) -> PlainAnswers | None:
    if not len(rows):
        return None
    correct, same, answered = _read(rows, form)
    return PlainAnswers(
        correct=correct,
        same=same,
        answered=answered,
        counts=rows["accepted"].to_numpy(dtype=bool),
        participants=rows["participant"].astype(str).to_numpy(),
        sessions=rows["session" if "session" in rows.columns else "participant"].astype(str).to_numpy(),
    )


def _compared(first: list[str], second: list[str]) -> list[tuple[str, str] | None]:
    """Return the comparison of each trial; None for a same pair whose corruption was compared with nothing."""
    pairs: list[tuple[str, str] | None] = []
    owing: dict[tuple[str, str], int] = {}
    for one, two in zip(first, second, strict=True):
        pair = (min(one, two), max(one, two))
        pairs.append(pair if one != two else None)
        if one != two:
            owing[pair] = owing.get(pair, 0) + 1
    for position, (one, two) in enumerate(zip(first, second, strict=True)):
        if one != two:
            continue
        candidates = sorted(pair for pair in owing if one in pair)
        if candidates:
            chosen = max(candidates, key=lambda pair: owing[pair])
            owing[chosen] -= 1
            pairs[position] = chosen
    return pairs


def _entry(one: Tested, p_adjusted: float, published: PublishedTest) -> Discrimination:
    test, too_few = one.test, too_few_words(one.people)
    equivalent, different = test.equivalent and not too_few, p_adjusted < 0.05 and not too_few
    verdict = verdict_of(equivalent=equivalent, different=different)
    return Discrimination.of(
        test,
        pair=one.pair,
        p_adjusted=p_adjusted,
        equivalent=equivalent,
        different=different,
        verdict=verdict,
        verdict_words=verdict_words(
            verdict,
            d_prime_margin=test.margin_d_prime,
            as_answered=test.d_prime_interval[1] if test.d_prime_interval else None,
            has_plain_pairs=test.assay is not None,
            plain_pairs_told_apart=test.assay is not None and test.assay.shown,
            too_few=too_few,
        ),
        d_prime=finite(test.d_prime),
        d_prime_interval=finite_ends(test.d_prime_interval) if test.d_prime_interval else None,
        d_prime_upper=finite(test.d_prime_upper),
        other_model=_other(test.other_model) if test.other_model else None,
        misses=one.misses,
        people=one.people,
        published=published,
    )


def _other(found: Sensitivity) -> OtherModel:
    return OtherModel.of(
        found, d_prime=finite(found.d_prime), interval=finite_ends(found.interval), upper=finite(found.upper)
    )


def finite_ends(interval: tuple[float, float]) -> tuple[float | None, float | None]:
    return finite(interval[0]), finite(interval[1])


def finite(d_prime: float | None) -> float | None:
    """None where no answer was wrong: the sensitivity has no upper bound then, and JSON no infinity."""
    return d_prime if d_prime is not None and math.isfinite(d_prime) else None
