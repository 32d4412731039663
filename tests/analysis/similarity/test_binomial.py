"""The published binomial test: its p against fractions and scipy, its null, and when it is withheld."""

from __future__ import annotations

import csv
import os
from fractions import Fraction
from math import comb
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

from analysis.errors import InvalidInput
from analysis.similarity.binomial import binomial_p, published_test, trials_to_find

NOISE = Path(os.environ.get("REFERENCE_DATA", "/nonexistent")) / "published" / "noise-experiment"


def by_fractions(correct: int, trials: int) -> float:
    """Chance of a number of heads as far from half of the throws, or farther, counted out."""
    distance = abs(2 * correct - trials)
    ways = sum(comb(trials, k) for k in range(trials + 1) if abs(2 * k - trials) >= distance)
    return float(Fraction(ways, 2**trials))


def test_nine_of_ten_by_hand() -> None:
    # 9 or 10, 0 or 1 of 10: 22 of 1,024 ways.
    assert binomial_p(9, 10) == binomial_p(1, 10) == pytest.approx(22 / 1024, rel=1e-14)
    assert binomial_p(5, 10) == 1.0


@pytest.mark.parametrize("trials", [1, 2, 7, 24, 131, 240])
def test_every_number_right_has_the_p_of_fractions_and_of_scipy(trials: int) -> None:
    for correct in range(trials + 1):
        found = binomial_p(correct, trials)
        assert found == pytest.approx(by_fractions(correct, trials), rel=1e-10)
        assert found == pytest.approx(binomtest(correct, trials, 0.5).pvalue, rel=1e-10)


def test_whatever_is_no_share_is_refused() -> None:
    for correct, trials in ((0, 0), (-1, 4), (5, 4)):
        with pytest.raises(InvalidInput, match="cannot be right"):
            binomial_p(correct, trials)


def judged(correct, *, people=None, pictures=None, answered=None):
    n = len(correct)
    return published_test(
        correct,
        answered=np.ones(n, dtype=bool) if answered is None else answered,
        participants=np.arange(n) % 7 if people is None else people,
        pictures=np.arange(n).astype(str) if pictures is None else pictures,
    )


def test_simulated_pairs_have_the_p_of_scipy_on_the_answers_given() -> None:
    rng = np.random.default_rng(5)
    for rate in (0.5, 0.55, 0.8):
        for trials in (20, 137, 400):
            right, answered = rng.random(trials) < rate, rng.random(trials) < 0.9
            found = judged(right, answered=answered)
            number, given = int((right & answered).sum()), int(answered.sum())
            assert (found.correct, found.trials, found.share) == (number, given, number / given)
            assert found.p == pytest.approx(binomtest(number, given, 0.5).pvalue, rel=1e-10)


def test_people_who_guess_and_miss_some_are_called_significant_in_at_most_five_of_100_studies() -> None:
    rng = np.random.default_rng(6)
    studies = [judged(rng.random(200) < 0.5, answered=rng.random(200) < 0.85).p for _ in range(2000)]
    significant = np.mean(np.array(studies) < 0.05)
    # A discrete test stays below its level; with misses as wrong answers it would be far above.
    assert 0.03 < significant < 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / 2000)


def test_a_difference_is_found_as_often_as_the_binomial_distribution_says() -> None:
    rng = np.random.default_rng(7)
    found = np.mean([judged(rng.random(100) < 0.65).p < 0.05 for _ in range(1000)])
    power = sum(comb(100, k) * 0.65**k * 0.35 ** (100 - k) for k in range(101) if by_fractions(k, 100) < 0.05)
    assert abs(found - power) < 2.6 * np.sqrt(power * (1 - power) / 1000)


def test_p_is_withheld_where_several_people_saw_one_pair_of_pictures() -> None:
    right = np.ones(8, dtype=bool)
    found = judged(right, people=list("aabbccdd"), pictures=list("12344567"))
    assert found.p is None and found.share == 1.0
    assert found.withheld == "withheld: several people saw 1 of 7 pairs of pictures, so answers are not independent"
    # One person who sees a pair twice, or another who gave no answer to it, are no several people.
    assert judged(right, people=list("aabbccdd"), pictures=list("11345678")).p == binomial_p(8, 8)
    unanswered = np.array([True] * 4 + [False] + [True] * 3)
    assert judged(right, people=list("aabbccdd"), pictures=list("12344567"), answered=unanswered).p == binomial_p(7, 7)


def test_p_is_withheld_where_pictures_are_not_known_and_nothing_is_said_of_no_answers() -> None:
    found = published_test(
        np.ones(4, dtype=bool), answered=np.ones(4, dtype=bool), participants=range(4), pictures=None
    )
    assert found.p is None and found.withheld.startswith("withheld: the trials do not name their pictures")
    none = judged(np.ones(4, dtype=bool), answered=np.zeros(4, dtype=bool))
    assert (none.trials, none.share, none.p) == (0, None, None)


def test_trials_to_find_a_share_are_the_first_from_which_power_stays() -> None:
    def power(share: float, trials: int) -> float:
        told = [k for k in range(trials + 1) if binomtest(k, trials, 0.5).pvalue < 0.05]
        return sum(comb(trials, k) * share**k * (1 - share) ** (trials - k) for k in told)

    for share, wanted in ((0.8, 0.8), (0.7, 0.8), (0.9, 0.95)):
        found = trials_to_find(share, power=wanted)
        assert power(share, found - 1) < wanted
        assert all(power(share, trials) >= wanted for trials in range(found, found + 25))
    for share in (0.5, 1.0, 0.3):
        with pytest.raises(InvalidInput, match="lies between 1/2 and 1"):
            trials_to_find(share)
    with pytest.raises(InvalidInput, match="More than 100,000 trials"):
        trials_to_find(0.501)


@pytest.mark.skipif(not NOISE.is_dir(), reason="REFERENCE_DATA holds no published/noise-experiment")
def test_numbers_right_of_published_trials_have_the_p_of_scipy() -> None:
    """No same/different answers were ever published: shares of published forced choices stand in for them."""
    counts: dict[tuple[str, str], list[int]] = {}
    for path in sorted(NOISE.glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                cell = counts.setdefault((row["subj"], row["condition"]), [0, 0])
                cell[0] += row["object_response"] == row["category"]
                cell[1] += 1
    assert len(counts) > 20
    for correct, trials in counts.values():
        assert binomial_p(correct, trials) == pytest.approx(binomtest(correct, trials, 0.5).pvalue, rel=1e-9)
