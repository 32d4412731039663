from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from analysis.compute import ProcessExecutor, executor
from analysis.curves.fit import fit_curves
from analysis.power.crowd import Crowd, LogisticDrop, simulate_answers
from analysis.power.study import PlannedStudy, estimate_power
from analysis.similarity.family import reuse_saving


@pytest.fixture(scope="module")
def two_processes() -> Iterator[ProcessExecutor]:
    with executor("processes:2") as pool:
        assert isinstance(pool, ProcessExecutor)
        yield pool


@pytest.mark.process
def test_one_process_and_two_give_the_same_curves_and_verdicts(two_processes: ProcessExecutor) -> None:
    truths = [LogisticDrop(bend=bend) for bend in (0.8, 0.8, 0.7)]
    samples = dict(zip("abc", simulate_answers(list(truths), Crowd(60, 10), np.random.default_rng(1)), strict=True))
    columns = {name: answers.columns() for name, answers in samples.items()}
    here = fit_curves(columns, n_bootstrap=30, rng=4)
    there = fit_curves(columns, n_bootstrap=30, rng=4, executor=two_processes)
    assert here == there and list(there) == list("abc")
    study = PlannedStudy(Crowd(20, 10))
    assert estimate_power(study, 0.05, runs=3) == estimate_power(study, 0.05, runs=3, executor=two_processes)


def test_what_reuse_would_save() -> None:
    """Two classes of two and one of its own: the larger of each pair is kept."""
    found = reuse_saving([["a", "b"], ["c"], ["d", "e"]], {"a": 400, "b": 500, "c": 300, "d": 200, "e": 100})
    assert found.kept == {"b": ["a"], "c": [], "d": ["e"]}
    assert (found.answers, found.saved) == (1500, 500)
    assert found.share == pytest.approx(1 / 3)
    assert reuse_saving([], {}).share == 0.0
