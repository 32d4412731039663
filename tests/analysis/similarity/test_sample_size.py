from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from analysis.errors import InvalidInput
from analysis.proportions import exact_bound
from analysis.similarity import trials_for_equivalence, trials_to_detect


@pytest.mark.parametrize(("accuracy", "trials"), [(0.55, 891), (0.60, 224), (0.65, 102), (0.70, 58), (0.75, 35)])
def test_trials_to_detect_an_accuracy(accuracy: float, trials: int) -> None:
    assert trials_to_detect(accuracy) == trials

    def power(n: int) -> float:
        critical = next(
            k for k in range(n // 2, n + 1) if stats.binomtest(k, n, 0.5, alternative="greater").pvalue <= 0.05
        )
        return float(stats.binom(n, accuracy).sf(critical - 1))

    assert power(trials) >= 0.9 > power(trials - 1)


@pytest.mark.parametrize(
    ("margin", "one_sided", "two_sided"),
    [(0.05, 889, 1106), (0.075, 397, 496), (0.10, 227, 281), (0.15, 100, 126), (0.20, 57, 69)],
)
def test_trials_to_show_equivalence(margin: float, one_sided: int, two_sided: int) -> None:
    """Within two trials of a published table: exact tests have ties of power there."""
    assert trials_for_equivalence(margin) == pytest.approx(one_sided, abs=2)
    assert trials_for_equivalence(margin, two_sided=True) == pytest.approx(two_sided, abs=2)


def test_the_calculator_has_the_power_of_the_exact_bound() -> None:
    """Summed over all counts, bounds of the share right below the margin have the power that it promises."""
    n = trials_for_equivalence(0.10)

    def power(trials: int) -> float:
        counts = np.arange(trials // 2, int(0.62 * trials))
        shown = [k for k in counts if exact_bound(k, trials, 0.05)[1] < 0.60]
        return float(stats.binom(trials, 0.5).cdf(max(shown)))

    assert power(n) >= 0.9
    assert power(n - 1) < 0.9
    assert trials_for_equivalence(0.10, accuracy=0.5 + 0.1 / 3) == pytest.approx(496, abs=2)


def test_answers_of_one_person_count_less() -> None:
    """20 trials each with a correlation of 0.05 multiply the trials by 1.95."""
    assert trials_to_detect(0.6, trials_each=20, icc=0.05) == pytest.approx(224 * 1.95, abs=1)
    assert trials_for_equivalence(0.1, trials_each=20, icc=0.05) == pytest.approx(227 * 1.95, abs=1)


def test_what_has_no_answer_is_refused() -> None:
    for call in (
        lambda: trials_to_detect(0.5),
        lambda: trials_to_detect(0.5001),
        lambda: trials_to_detect(0.6, power=1.0),
        lambda: trials_to_detect(0.6, icc=1.0),
        lambda: trials_for_equivalence(0.6),
        lambda: trials_for_equivalence(0.1, accuracy=0.61),
    ):
        with pytest.raises(InvalidInput):
            call()
