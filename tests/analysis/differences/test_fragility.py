"""What a verdict hangs on: studies in which one session decides, and in which none does; people as models."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.differences.answers import AnswersToOne, Clusters
from analysis.differences.beside import beside_people
from analysis.differences.compared import Compared, Sources
from analysis.differences.fragility import Removal, fragility
from analysis.differences.individuals import individuals

CELLS = 20


def answered(rates: list[float], seed: int, *, is_model: bool = False, per_cell: int = 2) -> Sources:
    """So many people, each with some answers in every cell, right in this share; pictures of their own."""
    rng = np.random.default_rng(seed)
    each = per_cell * CELLS
    place = np.tile(np.repeat((np.arange(CELLS) + 0.5) / CELLS, per_cell), len(rates))
    right = (rng.random(len(place)) < np.repeat(rates, each)).astype(float)
    who = np.repeat([f"s{number:02}" for number in range(len(rates))], each)
    pictures = np.array([f"{seed}-{number:05}" for number in range(len(place))])
    answers = AnswersToOne.of(place, right, pictures, None if is_model else who)
    return Sources(answers, Clusters(np.array(["c"]), np.zeros(len(place), dtype=np.int64)), answers.people)


def study(people: list[float], model: float, per_cell: int = 2) -> Compared:
    return Compared(
        {"blur": answered(people, 1, per_cell=per_cell)},
        {"m": {"blur": answered([model] * 12, 2, is_model=True)}},
        answered([0.98] * 9, 3),
    )


def sought(made: Compared, unit: str = "sessions") -> Removal:
    found = fragility(made, margin=0.03, window_margin=0.10, seed=5, units=(unit,))  # type: ignore[arg-type]
    assert found["m", "blur"] == found["m", None], "with one corruption it is the verdict over all of them"
    (one,) = found["m", "blur"]
    return one


def word(made: Compared) -> str:
    people, models = made.answers()
    (one,) = beside_people(people, models, attentive=made.attentive(), margin=0.03, window_margin=0.10, seed=5).values()
    return "matches" if one.matches else "differs" if one.differs_on else "undecided"


def test_one_session_decides() -> None:
    """Eleven people are right in 70 %, as the model is not: one who is never right hides it."""
    made = study([0.7] * 11 + [0.02], 0.6)
    assert word(made) == "undecided"
    one = sought(made)
    assert (one.names, one.word, one.exact, one.count) == (("s11",), "differs", 1, 12)
    assert word(made.without("sessions", one.names)) == "differs"


def test_no_session_decides_where_the_gap_is_wide() -> None:
    made = study([0.8] * 12, 0.4)
    assert word(made) == "differs"
    one = sought(made)
    assert (one.names, one.word, one.tried) == ((), None, 3)
    assert sought(made, "pictures").names == ()


def test_the_same_study_gives_the_same_set() -> None:
    made = study([0.7] * 11 + [0.02], 0.6)
    assert sought(made) == sought(made)


def test_every_single_one_is_tried_where_there_are_few() -> None:
    """As one would by hand: leave out each, judge again; the words that differ are the ones that are named."""
    made = study([0.7] * 11 + [0.02], 0.6)
    now = word(made)
    by_hand = [name for name in made.units("sessions") if word(made.without("sessions", (name,))) != now]
    assert sought(made).names[0] in by_hand


def test_a_study_that_is_too_large_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analysis.differences.fragility._WORK", 10)
    one = sought(study([0.8] * 12, 0.4))
    assert (one.tried, one.names) == (0, ())


def test_what_is_told_on_the_way_can_stop_it() -> None:
    class Stopped(Exception):
        pass

    def stop() -> None:
        raise Stopped

    with pytest.raises(Stopped):
        fragility(study([0.8] * 12, 0.4), margin=0.03, window_margin=0.10, tick=stop)


def test_people_with_few_answers_are_undecided_and_said_to_be() -> None:
    enough = individuals(study([0.7] * 6, 0.6, per_cell=6), margin=0.03, window_margin=0.10)["blur"]
    assert (enough.people, enough.answers, enough.too_few, enough.matches) == (6, 120, 0, 0)
    few = individuals(study([0.7] * 6, 0.6), margin=0.03, window_margin=0.10)["blur"]
    assert few.too_few == few.undecided == few.people == 6


def test_a_person_unlike_all_others_differs() -> None:
    called = individuals(study([0.8] * 5 + [0.1], 0.6, per_cell=6), margin=0.03, window_margin=0.10)
    assert called["blur"].differs == 1 and called[None] == called["blur"]
