from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from analysis.compute import ProcessExecutor, executor
from analysis.curves import CurveFit, fit_curve, fit_curves
from analysis.power import Crowd, LogisticDrop, PlannedStudy, estimate_power, simulate_answers
from analysis.similarity import CurveTrials, alike_classes, compare_all, reuse_saving


@pytest.fixture(scope="module")
def two_processes() -> Iterator[ProcessExecutor]:
    with executor("processes:2") as pool:
        assert isinstance(pool, ProcessExecutor)
        yield pool


def test_one_process_and_two_give_the_same_curves_and_verdicts(two_processes: ProcessExecutor) -> None:
    truths = [LogisticDrop(bend=bend) for bend in (0.8, 0.8, 0.7)]
    samples = dict(zip("abc", simulate_answers(list(truths), Crowd(60, 10), np.random.default_rng(1)), strict=True))
    trials = {name: CurveTrials(**answers.columns()) for name, answers in samples.items()}
    columns = {name: answers.columns() for name, answers in samples.items()}
    here = fit_curves(columns, n_bootstrap=30, rng=4)
    there = fit_curves(columns, n_bootstrap=30, rng=4, executor=two_processes)
    assert here == there and list(there) == list("abc")
    alone = compare_all(here, trials=trials, rng=4)
    shared = compare_all(there, trials=trials, rng=4, executor=two_processes)
    assert alone == shared
    assert {one.test for one in alone.values()} == {"permutation"}
    assert compare_all(here, trials=trials, rng=np.random.default_rng(4)) != alone
    study = PlannedStudy(Crowd(20, 10), n_bootstrap=20)
    assert estimate_power(study, 0.05, runs=3) == estimate_power(study, 0.05, runs=3, executor=two_processes)


def test_what_reuse_would_save() -> None:
    """Two classes of two and one of its own: the larger of each pair is kept."""
    found = reuse_saving([["a", "b"], ["c"], ["d", "e"]], {"a": 400, "b": 500, "c": 300, "d": 200, "e": 100})
    assert found.kept == {"b": ["a"], "c": [], "d": ["e"]}
    assert (found.answers, found.saved) == (1500, 500)
    assert found.share == pytest.approx(1 / 3)
    assert reuse_saving([], {}).share == 0.0


def test_pairs_without_a_common_range_split_classes() -> None:
    """Nothing was measured on both, so nothing can be alike: no pair, and no class of the two."""
    rng = np.random.default_rng(3)

    def fitted(low: float, high: float) -> CurveFit:
        v = rng.uniform(low, high, 600)
        return fit_curve(v, rng.random(600) < 0.8, images=np.arange(600), n_bootstrap=30, rng=1)

    curves = {"light": fitted(0.02, 0.3), "whole": fitted(0.02, 0.98), "heavy": fitted(0.6, 0.98)}
    found = compare_all(curves, rng=1, margin=0.5, band_margin=0.9)
    assert set(found) == {("light", "whole"), ("whole", "heavy")}
    assert all(one.equivalent for one in found.values())
    classes = alike_classes(list(curves), found)
    assert len(classes) == 2 and not any({"light", "heavy"} <= set(group) for group in classes)


def test_every_pair_is_compared_with_a_stream_of_its_own() -> None:
    """Two pairs of the very same answers differ in their chance of permutations alone."""
    answers = simulate_answers([LogisticDrop(bend=0.8)] * 2, Crowd(60, 10), np.random.default_rng(1))
    fits = fit_curves({name: one.columns() for name, one in zip("ab", answers, strict=True)}, n_bootstrap=30, rng=4)
    curves = {"a": fits["a"], "b": fits["b"], "again": fits["b"]}
    columns = {name: one.columns() for name, one in zip("ab", answers, strict=True)}
    trials = {"a": CurveTrials(**columns["a"]), "b": CurveTrials(**columns["b"]), "again": CurveTrials(**columns["b"])}
    found = compare_all(curves, trials=trials, rng=4)
    first, second = found["a", "b"], found["a", "again"]
    assert first.difference == second.difference
    assert first.test == second.test == "permutation" and first.p != second.p
