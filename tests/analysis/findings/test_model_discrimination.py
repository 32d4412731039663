"""d' of models in words: planted sensitivities come back, bias and order are told apart from it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from analysis.findings.model_discrimination import comparison_summary, model_discrimination_entries
from analysis.observers.comparisons import ANSWERS
from analysis.similarity.sensitivity import share_right
from analysis.tables.comparisons import COMPARISONS

SETTINGS: dict[str, Any] = {
    "d_prime_margin": {"same-different": 1.0, "abx": 1.0}, "observer_model": "differencing", "level": 0.95,
}  # fmt: skip


def answered(
    say: Callable[[bool, str, np.random.Generator], str], *, task: str = "discrimination", count: int = 200,
    seed: int = 0, refused: float = 0.0,
) -> pd.DataFrame:  # fmt: skip
    """Comparisons of blur and noise; `say` gets whether it is the signal and the word offered first."""
    rng, form = np.random.default_rng(seed), "same-different" if task == "discrimination" else "abx"
    words = list(ANSWERS[form])
    rows = []
    for number in range(count):
        is_signal, shown = number % 2 == 1, words if number // 2 % 2 else words[::-1]
        is_refused = rng.random() < refused
        word = say(is_signal, shown[0], rng)
        response = "na" if is_refused else ANSWERS[form][word]
        right = ANSWERS[form][words[is_signal]]
        kinds = (
            ("blur", "noise", "noise" if is_signal else "blur")
            if form == "abx"
            else ("blur", "noise" if is_signal else "blur", None)
        )  # noqa: E501
        rows.append(
            {
                "classifier": "m",
                "position": number,
                "task": task,
                "role": "main",
                "visual_change": 0.5,
                "shown": " ".join(shown),
                "response": response,
                "correct": response == right,
                "kind": "refusal" if is_refused else "label",
                "text": word,
                "tokens_in": 10,
                "tokens_out": 1,
                "fingerprint": "",
                "original": f"o{number}",
                "stimulus": f"s{number}",
                "corruption": kinds[0],
                "second_original": f"p{number}",
                "second_stimulus": f"t{number}",
                "second_corruption": kinds[1],
                "third_original": f"q{number}" if kinds[2] else None,
                "third_stimulus": f"u{number}" if kinds[2] else None,
                "third_corruption": kinds[2],
            }  # fmt: skip
        )
    return COMPARISONS.frame(rows)


def observer(
    d_prime: float, form: str = "same-different", *, bias: float = 0.0, task: str = "discrimination"
) -> Callable:  # noqa: E501
    """Rates that an observer of the differencing model with this d' and bias has, `z(H) - z(F)` as without bias."""
    apart = 2 * norm.ppf(share_right(d_prime, form, "differencing"))
    rates = {True: norm.cdf(apart / 2 - bias), False: norm.cdf(-apart / 2 - bias)}
    words = list(ANSWERS[form])
    return lambda is_signal, first, rng: words[int(rng.random() < rates[is_signal])]


def entry(rows: pd.DataFrame) -> Any:
    (found,) = model_discrimination_entries(rows, **SETTINGS)
    return found


@pytest.mark.parametrize(("task", "form"), [("discrimination", "same-different"), ("abx", "abx")])
def test_a_planted_d_prime_comes_back(task: str, form: str) -> None:
    """ABX in its closed form; same/different, whose rates no symmetric form has, near the middle of its curve."""
    found = [entry(answered(observer(2.0, form), task=task, count=400, seed=seed)) for seed in range(12)]
    shares = np.array([one.accuracy for one in found])
    planted = share_right(2.0, form, "differencing")
    assert abs(shares.mean() - planted) < 2.6 * math.sqrt(planted * (1 - planted) / (400 * 12))
    d_primes = np.array([one.d_prime for one in found])
    assert abs(d_primes.mean() - 2.0) < 2.6 * d_primes.std(ddof=1) / math.sqrt(12) + 0.05
    covered = sum(one.d_prime_interval[0] <= 2.0 <= one.d_prime_interval[1] for one in found)
    assert covered >= 9 and all(one.different for one in found)


def test_whoever_always_says_same_tells_nothing_apart_and_is_biased() -> None:
    found = entry(answered(lambda is_signal, first, rng: "same"))
    assert (found.accuracy, found.d_prime, found.different) == (0.5, pytest.approx(0.0, abs=1e-6), False)
    assert found.criterion > 2 and (found.hit_rate, found.false_alarm_rate) == (0.0, 0.0)
    assert found.first_option == pytest.approx(0.5)


def test_whoever_names_the_first_word_tells_nothing_apart_and_it_is_said() -> None:
    found = entry(answered(lambda is_signal, first, rng: first))
    assert (found.accuracy, found.d_prime, found.different) == (0.5, pytest.approx(0.0, abs=1e-6), False)
    assert abs(found.criterion) < 0.01 and found.first_option == 1.0 and found.first_option_interval[0] > 0.98


def test_guessing_is_called_different_no_more_often_than_the_level_says() -> None:
    said = [
        entry(
            answered(lambda is_signal, first, rng: ("same", "different")[int(rng.random() < 0.5)], count=80, seed=seed)
        ).different
        for seed in range(80)
    ]  # noqa: E501
    assert sum(said) <= 9, "of 80 at level .05: more than 9 has a chance below .01"


def test_refusals_are_wrong_and_enter_no_d_prime() -> None:
    whole, part = (answered(observer(2.0), seed=1, count=600, refused=share) for share in (0.0, 0.3))
    found = entry(part)
    given = part[part["kind"] == "label"]
    assert found.kinds["refusal"] == 600 - len(given) > 130
    assert found.accuracy == part["correct"].mean() < given["correct"].mean()
    assert (
        found.hit_rate
        == (given["response"].eq("different") & given["second_corruption"].eq("noise")).sum()
        / given["second_corruption"].eq("noise").sum()
    )  # noqa: E501
    assert abs(found.d_prime - entry(whole).d_prime) < 0.5


def test_plain_pairs_are_counted_apart() -> None:
    rows = answered(observer(2.0), count=40)
    rows.loc[rows["position"] < 10, "role"] = "negative"
    about = comparison_summary(rows)
    assert (about.trials, about.plain) == (30, 10) and sum(about.kinds.values()) == 40
    found = entry(rows)
    assert (found.trials, found.plain, found.plain_correct) == (30, 10, int(rows["correct"][:10].sum()))


def test_models_stand_apart() -> None:
    rows = answered(observer(2.0), count=60)
    both = pd.concat([rows, rows.assign(classifier="n", response="same", correct=rows["second_corruption"] == "blur")])
    found = model_discrimination_entries(both, **SETTINGS)
    assert [one.observer for one in found] == ["m", "n"] and found[0] == entry(rows)
