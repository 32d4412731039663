"""Labels that are scored as replies: the rule from scores to an answer."""

from __future__ import annotations

import math

import numpy as np
import pytest

from analysis.errors import InvalidInput
from analysis.labels.files import default_labels
from analysis.labels.space import NO_ANSWER
from analysis.observers.position import place_preference
from analysis.observers.questions import AskPlan, ForcedChoice
from analysis.observers.scoring import LabelScores, decide, read_answer, replies, text_of
from tests.labels import of_the_sixteen

LABELS = ("cat", "dog", "oven")


def scores(*shares: float) -> LabelScores:
    return LabelScores(tuple(math.log(one) for one in shares))


def test_no_label_begins_with_another_one() -> None:
    """So the events whose probabilities are summed exclude each other."""
    pairs = [
        (one, other)
        for one in default_labels().ids
        for other in default_labels().ids
        if one != other and one.startswith(other)
    ]
    assert pairs == []


class TestDecision:
    def test_the_likeliest_label_is_the_answer(self) -> None:
        found = decide(scores(0.2, 0.5, 0.1), LABELS)
        assert (found.kind, found.label) == ("label", "dog")

    @pytest.mark.parametrize(
        "given",
        [(-1.0, -1.0, -2.0), (-1.0, math.nan, -2.0), (-math.inf, -1.0, -2.0), (math.inf, -1.0, -2.0)],
    )
    def test_ties_and_scores_that_are_no_numbers_are_misses(self, given: tuple[float, ...]) -> None:
        for temperature in (0.0,) if given[0] == given[1] else (0.0, 1.0):
            found = decide(LabelScores(given), LABELS, temperature=temperature, rng=np.random.default_rng(0))
            assert (found.kind, found.label) == ("miss", NO_ANSWER)

    def test_labels_that_tie_behind_the_best_one_do_no_harm(self) -> None:
        assert decide(LabelScores((-1.0, -2.0, -2.0)), LABELS).label == "cat"

    def test_as_many_scores_as_labels(self) -> None:
        with pytest.raises(InvalidInput, match="2 scores for 3 labels"):
            decide(scores(0.1, 0.2), LABELS)
        with pytest.raises(InvalidInput, match="generator"):
            decide(scores(0.1, 0.2, 0.3), LABELS, temperature=1.0)


class TestShares:
    def test_by_hand(self) -> None:
        found = scores(0.1, 0.3, 0.2)
        assert found.mass == pytest.approx(0.6)
        assert found.shares() == pytest.approx([1 / 6, 1 / 2, 1 / 3])
        # at temperature 1/2 the shares are as the squares: 1, 9, 4
        assert found.shares(0.5) == pytest.approx([1 / 14, 9 / 14, 4 / 14])

    def test_unlikely_replies_do_not_vanish(self) -> None:
        far = LabelScores((-1000.0, -1000.0 + math.log(3.0)))
        assert far.shares() == pytest.approx([0.25, 0.75])

    def test_what_is_drawn_has_the_shares(self) -> None:
        given, rng = scores(0.1, 0.3, 0.2), np.random.default_rng(1)
        drawn = [decide(given, LABELS, temperature=1.0, rng=rng).label for _ in range(6000)]
        for label, share in zip(LABELS, given.shares(), strict=True):
            assert abs(drawn.count(label) / 6000 - share) < 3.5 * math.sqrt(share * (1 - share) / 6000)


@of_the_sixteen
@pytest.mark.parametrize("ahead", [0.0, 1.5])
def test_a_planted_preference_for_the_first_place_comes_back(ahead: float) -> None:
    """The first option is e^ahead times as likely as each other one; 0 is the null."""
    plan, rng, places = AskPlan(orders=1, wordings=("describes",)), np.random.default_rng(2), []
    for number in range(8000):
        (question,) = plan.questions_for(f"stimulus-{number}")
        given = LabelScores(tuple(ahead if place == 0 else 0.0 for place in range(16)))
        places.append(question.labels.index(decide(given, question.labels, temperature=1.0, rng=rng).label))
    first = math.exp(ahead) / (math.exp(ahead) + 15)
    # a share b to one place and the others to all alike: first = b + (1 - b) / 16
    assert place_preference(places, 16) == pytest.approx((first - 1 / 16) * 16 / 15, abs=0.03)


def test_replies_are_words_or_letters_and_read_back_by_the_rule_for_texts() -> None:
    words, letters = ForcedChoice(LABELS), ForcedChoice(LABELS, style="letters")
    assert replies(words) == LABELS and replies(letters) == ("A", "B", "C")
    found = decide(scores(0.2, 0.5, 0.1), LABELS)
    for question in (words, letters):
        assert read_answer(text_of(found, question), LABELS, question.style).label == "dog"
    assert text_of(decide(scores(0.2, 0.2, 0.1), LABELS), words) == ""
