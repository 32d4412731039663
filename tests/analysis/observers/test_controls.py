"""Rates, repeats, controls, canaries and versions: by hand, planted, and where nothing is there."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from analysis.observers.controls import (
    canaries_of,
    control,
    rate,
    said_of_versions,
    self_consistency,
    versions_of,
)
from tests.analysis.observers.pictures import row, table


class TestRate:
    @pytest.mark.parametrize("count", [0, 5, 40])
    def test_of_pictures_with_nothing_in_common_it_is_the_exact_interval(self, count: int) -> None:
        happened = np.array([1.0] * count + [0.0] * (40 - count))
        found = rate(happened, pd.Series([f"o{number}" for number in range(40)]))
        oracle = binomtest(count, 40).proportion_ci(0.95, "exact")
        assert (found.count, found.of, found.share) == (count, 40, count / 40)
        assert found.interval == pytest.approx((oracle.low, oracle.high))

    def test_pictures_that_always_agree_count_once(self) -> None:
        happened = np.array([1.0, 1.0] * 5 + [0.0, 0.0] * 15)
        found = rate(happened, pd.Series([f"o{number // 2}" for number in range(40)]))
        oracle = binomtest(5, 20).proportion_ci(0.95, "exact")
        assert found.interval == pytest.approx((oracle.low, oracle.high))

    def test_nothing_asked(self) -> None:
        assert rate(np.array([]), pd.Series([], dtype=str)).interval == (0.0, 1.0)

    def test_the_interval_holds_what_was_planted(self) -> None:
        rng = np.random.default_rng(0)
        held = 0
        for _ in range(300):
            shared = rng.random(60) < 0.5
            chance = np.repeat(np.where(shared, 0.09, 0.01), 3)
            found = rate((rng.random(180) < chance).astype(float), pd.Series(np.repeat(np.arange(60), 3).astype(str)))
            held += found.interval[0] <= 0.05 <= found.interval[1]
        assert held >= 279  # 285 at 95 %; an exact interval holds more


class TestSelfConsistency:
    def test_by_hand(self) -> None:
        rows = [row("a", "dog"), row("a", "dog", repeat=1), row("a", "cat", repeat=2)]
        rows += [row("b", "na"), row("b", "na", repeat=1), row("c", "dog")]
        found = self_consistency(table(rows), 0)
        assert found is not None
        # a: one pair of three; b: both refused alike; c was asked once
        assert (found.trials, found.repeats, found.agreement) == (2, 3, pytest.approx((1 / 3 + 1) / 2))
        assert self_consistency(table([row("a", "dog")]), 0) is None

    @pytest.mark.verify
    def test_what_was_planted_comes_back(self) -> None:
        rng, held = np.random.default_rng(0), 0
        for seed in range(100):
            rows = [
                row(f"s{number}", str(rng.choice(["dog", "cat"], p=[0.8, 0.2])), repeat=repeat)
                for number in range(60)
                for repeat in range(5)
            ]
            found = self_consistency(table(rows), seed)
            assert found is not None
            held += found.interval[0] <= 0.8**2 + 0.2**2 <= found.interval[1]
        assert held >= 87  # 95 expected


class TestControls:
    def test_by_hand(self) -> None:
        rows = [
            row("a", "dog", pictured="b", purpose="wrong"),
            row("b", "cat", pictured="c", purpose="wrong"),
            row("c", "na", pictured="a", purpose="wrong"),
        ]
        found = control(table(rows), {"a": "dog", "b": "cat", "c": "cat"})
        assert found is not None
        assert (found.asked, found.labels, found.of_trial, found.of_shown) == (3, 2, 1, 1)
        assert found.p_value == pytest.approx(1 - (15 / 16) ** 2)
        assert found.chance == 1 / 16 and found.most_share == 0.5
        assert control(table(rows[:0]), {}) is None

    def test_whoever_sees_nothing_of_the_trial_is_hardly_ever_said_to(self) -> None:
        rng, labels = np.random.default_rng(0), ["dog", "cat", "bear", "bird"]
        said = 0
        for _ in range(200):
            rows = [row(f"s{n}", str(rng.choice(labels)), purpose="grey", shown=" ".join(labels)) for n in range(50)]
            found = control(table(rows))
            assert found is not None
            said += found.p_value < 0.01
        assert said <= 7  # 2 at most expected

    def test_whoever_knows_the_trial_without_its_picture_is_found_out(self) -> None:
        rng = np.random.default_rng(0)
        rows = [row(f"s{n}", "dog" if rng.random() < 0.4 else "cat", purpose="grey") for n in range(50)]
        found = control(table(rows))
        assert found is not None and found.p_value < 1e-6


def questions(rng: np.random.Generator, share: float, share_at_end: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    def said(chance: float) -> str:
        return "dog" if rng.random() < chance else str(rng.choice(["cat", "bear", "bird"]))

    before = [row(f"s{n}", said(share), repeat=k) for n in range(50) for k in range(5)]
    late = [row(f"s{n}", said(share_at_end), repeat=5, purpose="canary") for n in range(50)]
    return table(late), table(before)


class TestCanaries:
    def test_by_hand(self) -> None:
        before = [row("a", "dog"), row("a", "dog", repeat=1), row("a", "cat", repeat=2)]
        found = canaries_of(table([row("a", "dog", repeat=3)]), table(before), 0)
        assert found is not None
        assert found.agreement_at_end == pytest.approx(2 / 3)
        assert found.agreement_before == pytest.approx(1 / 3)
        assert found.p_value == 1.0, "no other place of the last answer agrees more"

    @pytest.mark.verify
    def test_noise_alone_is_hardly_ever_called_a_change(self) -> None:
        rng = np.random.default_rng(0)
        said = []
        for seed in range(200):
            found = canaries_of(*questions(rng, 0.6, 0.6), seed)
            assert found is not None and found.p_value is not None
            said.append(found.p_value)
        assert sum(one < 0.01 for one in said) <= 7  # 2 expected
        assert 0.35 < np.mean(said) < 0.65

    def test_a_change_is_found(self) -> None:
        rng = np.random.default_rng(0)
        found = [canaries_of(*questions(rng, 0.9, 0.5), seed) for seed in range(20)]
        assert sum(one is not None and (one.p_value or 1) < 0.01 for one in found) >= 18

    def test_without_repeats_nothing_is_called_a_change(self) -> None:
        late, before = questions(np.random.default_rng(0), 1.0, 0.0)
        found = canaries_of(late, before[before["repeat"] == 0], 0)
        assert found is not None and found.p_value is None and found.agreement_at_end == 0.0
        assert canaries_of(late[:0], before, 0) is None


class TestVersions:
    def said(self, names: list[str]) -> str:
        rows = [row(f"s{n}", "dog" if n % 2 else "cat", fingerprint=name) for n, name in enumerate(names)]
        return said_of_versions(versions_of(table(rows), lambda found: found["purpose"].eq("trial")))

    def test_one_name_is_no_news(self) -> None:
        assert self.said(["m 1"] * 50) == "" and self.said([""] * 50) == ""

    def test_a_model_that_was_exchanged_half_way(self) -> None:
        said = self.said(["m 1"] * 60 + ["m 2"] * 40)
        assert "2 names, and it changed after question 60" in said
        assert "m 1 (60 answers, 30 of 60 trials right), m 2 (40 answers, 20 of 40 trials right)" in said

    def test_models_that_answer_by_turns(self) -> None:
        assert "they answered by turns" in self.said(["m 1", "m 2"] * 50)
