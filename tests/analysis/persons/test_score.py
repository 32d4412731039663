"""The score: by hand, what silence and guesses say, and that more trials do not make honest people worse."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.errors import InvalidInput
from analysis.labels.files import default_labels
from analysis.persons.score import (
    MACHINES,
    PEOPLE,
    AnswerTable,
    Effects,
    Pictures,
    SentinelAnswers,
    log_likelihood,
    scores,
    simulated,
)
from tests.labels import label_at, of_the_sixteen

PLAIN = Effects(0.0, ((0.0, 1.0),))
PICTURES = 60
LABELS = default_labels().ids


def answers(observer: str, given: list[str], names: list[str] | None = None) -> SentinelAnswers:
    n = len(given)
    pictures = names or [f"p{number:03d}" for number in range(n)]
    shape = [label_at(int(name[1:])) for name in pictures]
    texture = [label_at(int(name[1:]) + 5) for name in pictures]
    columns = ([observer] * n, pictures, ["cue_conflict"] * n, shape, texture, given)
    return SentinelAnswers(*(np.array(column, dtype=np.str_) for column in columns))


def table(pictures: Pictures, right: float, lure: float) -> AnswerTable:
    shares = np.full((len(pictures), len(LABELS)), (1.0 - right - lure) / (len(LABELS) - 2))
    rows = np.arange(len(pictures))
    shares[rows, pictures.right], shares[rows, pictures.lure] = right, lure
    return AnswerTable(pictures, shares)


@pytest.fixture
def pictures() -> Pictures:
    return Pictures.of(answers("x", ["cat"] * PICTURES), options=default_labels().ids)


def test_without_effects_it_is_the_product_of_the_shares(pictures: Pictures) -> None:
    people, shown = table(pictures, 0.8, 0.05), np.array([[0, 1, 2, 3]])
    given = np.array([[pictures.right[0], pictures.lure[1], (pictures.right[2] + 1) % len(LABELS), -1]])
    expected = np.log(0.8) + np.log(0.05) + np.log(0.15 / (len(LABELS) - 2))
    assert log_likelihood(people, PLAIN, shown, given)[0] == pytest.approx(expected)


@pytest.mark.parametrize("effects", [PEOPLE, MACHINES])
def test_chances_of_all_answers_sum_to_one(pictures: Pictures, effects: Effects) -> None:
    every = np.arange(len(LABELS))[:, np.newaxis]
    found = log_likelihood(table(pictures, 0.6, 0.2), effects, np.zeros_like(every), every)
    assert np.exp(found).sum() == pytest.approx(1.0)


def test_many_trials_lose_no_precision(pictures: Pictures) -> None:
    shown = np.tile(np.arange(PICTURES), 10)[np.newaxis]
    given = np.full_like(shown, 0)
    found = log_likelihood(table(pictures, 0.6, 0.2), PLAIN, shown, given)
    shares = table(pictures, 0.6, 0.2).shares[shown, given]
    assert found[0] == pytest.approx(np.log(shares).sum())


def test_silence_says_nothing(pictures: Pictures) -> None:
    silent = np.full((1, 24), -1)
    assert scores(table(pictures, 0.8, 0.03), table(pictures, 0.4, 0.4), np.arange(24)[np.newaxis], silent)[0] == (
        pytest.approx(0.0)
    )


def test_texture_answers_lower_the_score_and_guesses_do_not(pictures: Pictures) -> None:
    people, machines, shown = table(pictures, 0.78, 0.03), table(pictures, 0.4, 0.4), np.arange(24)[np.newaxis]
    rng = np.random.default_rng(1)
    by_texture = np.where(np.arange(24) % 3 == 0, pictures.lure[:24], pictures.right[:24])[np.newaxis]
    assert scores(people, machines, shown, pictures.right[:24][np.newaxis])[0] > 2.0
    assert scores(people, machines, shown, by_texture)[0] < -2.0
    guesses = rng.integers(0, len(LABELS), (200, 24))
    assert np.mean(scores(people, machines, np.repeat(shown, 200, axis=0), guesses) > 0.0) > 0.95


def test_more_trials_do_not_condemn_an_honest_person_with_rare_habits(pictures: Pictures) -> None:
    """Three times as many texture answers as others: without an effect of the person they look worse and worse."""
    people, machines = table(pictures, 0.78, 0.03), table(pictures, 0.4, 0.4)
    rng = np.random.default_rng(2)
    own = {}
    for trials in (12, 48):
        shown = rng.integers(0, PICTURES, (300, trials))
        lured = rng.random(shown.shape) < 0.12
        given = np.where(lured, pictures.lure[shown], pictures.right[shown])
        own[trials] = np.mean(scores(people, machines, shown, given) < -np.log(10.0))
        plain = log_likelihood(people, PLAIN, shown, given) - log_likelihood(machines, MACHINES, shown, given)
        without = np.mean(plain < -np.log(10.0))
    assert own[48] < 0.5 * without


def test_simulated_people_answer_by_their_table(pictures: Pictures) -> None:
    shown = np.zeros((20_000, 1), dtype=np.int64)
    given = simulated(table(pictures, 0.7, 0.1), PLAIN, shown, np.random.default_rng(3))
    shares = np.bincount(given[:, 0], minlength=len(LABELS)) / len(given)
    assert shares == pytest.approx(table(pictures, 0.7, 0.1).shares[0], abs=0.015)
    turned = simulated(
        table(pictures, 0.5, 0.4), Effects(0.0, ((0.0, 1.0),), ((0.5, 1.0),)), shown, np.random.default_rng(3)
    )
    assert np.mean(turned == pictures.lure[0]) == pytest.approx(0.2, abs=0.015)
    assert np.mean(turned == pictures.right[0]) == pytest.approx(0.7, abs=0.015)


@of_the_sixteen
def test_small_tables_lean_on_their_family() -> None:
    given = [label_at(number) for number in range(PICTURES)]
    part = answers("a", given)
    known = Pictures.of(part, options=default_labels().ids)
    coded = known.coded(part)
    found = AnswerTable.fitted(known, coded, {"a": 1.0}, smoothing=(6.0,))
    assert found.shares.sum(axis=1) == pytest.approx(1.0) and (found.shares > 0.0).all()
    base = (PICTURES + 1) / (PICTURES + 3)
    assert found.shares[0, known.right[0]] == pytest.approx((1.0 + 6.0 * base) / 7.0)
    # All alike: the more smoothing the likelier. One picture unlike all others: little of it.
    assert AnswerTable.fitted(known, coded, {"a": 1.0}).shares[0, known.right[0]] == pytest.approx(base, abs=0.01)
    odd = {f"o{number}": (np.zeros(1, dtype=np.int64), np.array([9])) for number in range(30)}
    own = AnswerTable.fitted(known, {**coded, **odd}, dict.fromkeys(["a", *odd], 1.0))
    assert own.shares[0, 9] > 0.7
    none = AnswerTable.fitted(known, coded, {})
    assert none.shares[0, known.right[0]] == pytest.approx(1.0 / 3.0)


def test_a_picture_that_shows_no_option_is_refused() -> None:
    wrong = answers("a", ["cat"])
    with pytest.raises(InvalidInput, match="is not an option"):
        Pictures.of(SentinelAnswers(**{**vars(wrong), "right": np.array(["zebra"])}), options=default_labels().ids)
