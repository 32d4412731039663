"""Whole studies: machines are found, honest people are left in peace, also where machines are among the accepted."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.arrays import IntArray
from analysis.labels.files import default_labels
from analysis.persons.calibration import Judged, is_flagged, judge_people, machine_share
from analysis.persons.score import PEOPLE, AnswerTable, Effects, Pictures, simulated
from tests.analysis.persons.test_score import answers, table
from tests.labels import of_the_sixteen

#: Machines as they are: no imitators, no guessers.
NAIVE = Effects(0.4, ((0.0, 1.0),))
FAMILIES = {"net-a": "a", "net-b": "a", "other": "b"}


def study(people: int, machines: int, trials: int = 24, seed: int = 0) -> tuple[Judged, Pictures]:
    """People by their table; machines among them of a family that the registry lacks."""
    rng = np.random.default_rng(seed)
    pictures = Pictures.of(answers("x", ["cat"] * 48), options=default_labels().ids)
    honest, models = table(pictures, 0.77, 0.035), table(pictures, 0.4, 0.4)
    coded: dict[str, tuple[IntArray, IntArray]] = {}
    for number in range(people + machines):
        shown = rng.choice(48, trials, replace=False)[np.newaxis]
        kind, effects = (honest, PEOPLE) if number < people else (models, NAIVE)
        name = f"person-{number}" if number < people else f"machine-{number}"
        coded[name] = (shown[0], simulated(kind, effects, shown, rng)[0])
    every = np.arange(48)
    registry = {name: (every, simulated(models, NAIVE, every[np.newaxis], rng)[0]) for name in FAMILIES}
    return judge_people(
        pictures, coded, registry, FAMILIES, seed=1, n_simulated=199, with_catches=machines == 0
    ), pictures


def test_honest_people_are_seldom_flagged_and_no_machines_are_estimated() -> None:
    found, _ = study(40, 0)
    assert len(found.flagged) <= 2
    assert found.share.lower == 0.0 and found.share.estimate < 0.05
    assert set(found.caught) == set(FAMILIES)


@of_the_sixteen
@pytest.mark.parametrize(("machines", "people"), [(4, 36), (12, 28)])
def test_machines_among_the_accepted_do_not_hide_themselves(machines: int, people: int) -> None:
    found, _ = study(people, machines)
    caught = [name for name in found.flagged if name.startswith("machine")]
    assert len(caught) >= 0.7 * machines
    assert len(found.flagged) - len(caught) <= 2
    assert found.share.lower <= machines / (machines + people) <= found.share.upper


@of_the_sixteen
def test_models_of_a_single_family_say_nothing_of_what_is_caught() -> None:
    pictures = Pictures.of(answers("x", ["cat"] * 16), options=default_labels().ids)
    every, rng = np.arange(16), np.random.default_rng(0)
    coded = {f"p{number}": (every, rng.integers(0, 16, 16)) for number in range(6)}
    found = judge_people(pictures, coded, {"one": (every, every)}, {"one": "one"}, seed=1, n_simulated=19)
    assert found.catch == {} and found.catches(0.01) == {}


def test_nobody_counts_in_the_table_by_which_they_are_scored() -> None:
    """A person whose answers nobody else gives is not excused by having given them."""
    pictures = Pictures.of(answers("x", ["cat"] * 24), options=default_labels().ids)
    every = np.arange(24)
    coded = {f"p{number}": (every, pictures.right) for number in range(9)} | {"odd": (every, pictures.lure)}
    registry = dict.fromkeys(FAMILIES, (every, pictures.lure))
    found = judge_people(pictures, coded, registry, FAMILIES, seed=1, n_simulated=199)
    assert found.flagged == ("odd",)


def test_a_flag_needs_a_rare_score_and_ten_times_the_evidence() -> None:
    flags = is_flagged(np.array([-5.0, -1.0, -5.0, 3.0]), np.array([0.005, 0.005, 0.2, 0.005]))
    assert flags.tolist() == [True, False, False, False]


def test_the_share_of_machines_by_the_likelihood() -> None:
    apart = np.array([8.0] * 30 + [-8.0] * 10)
    found = machine_share(apart)
    assert found.estimate == pytest.approx(0.25, abs=0.01)
    assert found.lower < 0.15 and found.upper > 0.38
    nothing = machine_share(np.zeros(10))
    assert (nothing.lower, nothing.upper) == (0.0, 1.0)


def test_people_without_answers_are_not_judged() -> None:
    pictures = Pictures.of(answers("x", ["cat"] * 8), options=default_labels().ids)
    silent = {f"p{number}": (np.arange(8), np.full(8, -1)) for number in range(5)}
    registry = {name: (np.arange(8), pictures.lure) for name in FAMILIES}
    found = judge_people(pictures, silent, registry, FAMILIES, seed=1, n_simulated=19)
    assert found.flagged == () and found.chances.tolist() == [1.0] * 5 and found.answers.tolist() == [0] * 5
    assert isinstance(AnswerTable.fitted(pictures, silent, dict.fromkeys(silent, 1.0)), AnswerTable)
