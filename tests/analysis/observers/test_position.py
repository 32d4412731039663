"""Preference for a place in the list: by hand, planted, and where there is none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.observers.position import accuracy_from_picture, accuracy_with_preference, rotated_preference
from tests.analysis.observers.pictures import row, table

LABELS = tuple("abcdefgh")


def turned(preference: float, right: float, *, pictures: int = 60, place: int = 2, seed: int = 0) -> pd.DataFrame:
    """Answers in all cyclic orders of eight labels: some follow a place, the others the picture, or anything."""
    rng, rows = np.random.default_rng(seed), []
    for number in range(pictures):
        base = list(rng.permutation(LABELS))
        truth = str(rng.choice(LABELS))
        for step in range(8):
            order = base[step:] + base[:step]
            if rng.random() < preference:
                said = order[place]
            elif rng.random() < right:
                said = truth
            else:
                said = str(rng.choice([one for one in LABELS if one != truth]))
            rows.append(row(f"p{number}", said, shown=" ".join(order), order=step, correct=said == truth))
    return table(rows)


class TestClosedForm:
    def test_by_hand(self) -> None:
        # of 100 questions 7 get no label; of 93, 27.9 follow the place, a sixteenth of them right, and half of the rest
        found = accuracy_with_preference(0.5, preference=0.3, options=16, without_label=0.07)
        assert float(found) == pytest.approx(0.93 * (0.3 / 16 + 0.7 * 0.5))
        assert float(accuracy_with_preference(0.5, preference=0.0, options=16)) == 0.5
        assert float(accuracy_with_preference(0.9, preference=1.0, options=4)) == 0.25

    def test_it_is_what_simulated_answers_give(self) -> None:
        rows = turned(0.4, 0.7, pictures=4000)
        expected = float(accuracy_with_preference(0.7, preference=0.4, options=8))
        assert rows["correct"].mean() == pytest.approx(expected, abs=3 * np.sqrt(0.25 / 32000))

    @pytest.mark.parametrize("right", [0.0, 0.3, 1.0])
    def test_solved_for_what_the_picture_gives(self, right: float) -> None:
        seen = float(accuracy_with_preference(right, preference=0.3, options=16))
        assert accuracy_from_picture(seen, preference=0.3, options=16) == pytest.approx(right)

    def test_where_nothing_can_be_said(self) -> None:
        assert accuracy_from_picture(0.5, preference=1.0, options=16) is None
        assert accuracy_from_picture(float("nan"), preference=0.1, options=16) is None
        assert accuracy_from_picture(0.0, preference=0.3, options=16) == 0.0


class TestRotated:
    def test_by_hand(self) -> None:
        # "a" sees the picture in both orders, "b" names the first label in both: three of four answers are at place 1
        rows = [
            row("a", "x", shown="x y"), row("a", "x", shown="y x", order=1),
            row("b", "x", shown="x y"), row("b", "y", shown="y x", order=1),
        ]  # fmt: skip
        found = rotated_preference(table(rows), 0)
        assert found is not None
        assert (found.pictures, found.answers, found.by_place, found.place) == (2, 4, [0.75, 0.25], 1)
        assert found.share == pytest.approx(0.5)  # (2 x .75 - 1) / (2 - 1)
        # of b's two labels, permuted over its orders, half the draws are at one place both times: 1 or 2
        assert found.p_value == pytest.approx(0.5, abs=0.05) or found.p_value == 1.0

    @pytest.mark.verify
    @pytest.mark.parametrize("share", [0.1, 0.3, 0.6])
    def test_what_was_planted_comes_back_within_its_interval(self, share: float) -> None:
        found = [rotated_preference(turned(share, 0.6, seed=seed), seed) for seed in range(60)]
        shares = [one.share for one in found if one is not None]
        assert np.mean(shares) == pytest.approx(share, abs=3 * np.std(shares) / np.sqrt(60) + 0.005)
        covered = sum(one is not None and one.interval[0] <= share <= one.interval[1] for one in found)
        assert covered >= 51  # 57 expected; 50 or fewer in 1 of 200 such tests
        assert all(one is not None and one.place == 3 for one in found)
        if share > 0.1:
            assert all(one is not None and one.p_value < 0.01 for one in found)

    @pytest.mark.verify
    @pytest.mark.parametrize("right", [0.1, 0.6, 1.0])
    def test_without_a_preference_hardly_any_is_claimed(self, right: float) -> None:
        p_values = []
        for seed in range(150):
            found = rotated_preference(turned(0.0, right, pictures=30, seed=seed), seed)
            assert found is not None
            p_values.append(found.p_value)
        assert sum(one < 0.01 for one in p_values) <= 6  # 1.5 expected; 7 in 1 of 1,000 such tests
        if right == 1.0:
            assert set(p_values) == {1.0}, "whoever sees all names every place as often"

    def test_refusals_say_nothing_of_places(self) -> None:
        rows = turned(0.3, 0.6, pictures=200)
        some = rows.copy()
        refused = np.random.default_rng(1).random(len(rows)) < 0.3
        some.loc[refused, ["kind", "response", "correct"]] = ["refusal", "na", False]
        whole, part = rotated_preference(rows, 0), rotated_preference(some, 0)
        assert whole is not None and part is not None
        assert part.share == pytest.approx(whole.share, abs=0.06)
        assert part.answers == len(rows) - refused.sum()

    def test_one_picture_says_nothing(self) -> None:
        assert rotated_preference(turned(0.3, 0.6, pictures=1), 0) is None
