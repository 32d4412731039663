from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.errors import InvalidInput
from analysis.labels.files import default_labels
from analysis.observers.position import place_preference
from analysis.observers.questions import WORDINGS, AskPlan
from analysis.observers.summary import summarise
from analysis.tables.trials import ANSWERS
from tests.labels import of_the_sixteen


@of_the_sixteen
class TestQuestions:
    def test_each_stimulus_is_asked_about_in_every_wording_order_and_repeat(self) -> None:
        plan = AskPlan(("guess", "describes"), orders=3, repeats=2)
        questions = list(plan.questions_for("a"))
        assert len({(one.wording, one.order, one.repeat) for one in questions}) == len(questions) == 12
        assert plan.questions_each == 12
        assert (questions[0].wording, questions[0].order, questions[0].repeat) == ("guess", 0, 0)
        assert len({one.labels for one in questions}) == 3, "an order is the same in all wordings and repeats"
        assert questions == list(plan.questions_for("a"))

    def test_every_label_stands_at_every_place_equally_often(self) -> None:
        places = Counter(
            (label, place)
            for number in range(1600)
            for place, label in enumerate(next(AskPlan().questions_for(f"s{number}")).labels)
        )
        assert set(places) == {(label, place) for label in default_labels().ids for place in range(16)}
        # 256 cells of 100 each; chi-square with 225 degrees of freedom has mean 225 and sd 21
        assert sum((count - 100) ** 2 / 100 for count in places.values()) < 225 + 4 * 21

    def test_seeds_give_other_orders(self) -> None:
        first, second = (next(AskPlan(seed=seed).questions_for("a")).labels for seed in (0, 1))
        assert first != second and set(first) == set(second) == set(default_labels().ids)

    def test_the_text_shows_all_labels_and_no_other_category(self) -> None:
        for wording in WORDINGS:
            for style in ("words", "letters"):
                question = next(AskPlan((wording,), style=style).questions_for("a"))  # type: ignore[arg-type]
                options = question.text.splitlines()
                assert all(text in question.text for text in question.labels)
                if style == "letters":
                    assert f"A. {question.labels[0]}" in options and f"P. {question.labels[15]}" in options

    @pytest.mark.parametrize(
        "changes",
        [{"wordings": ()}, {"wordings": ("no",)}, {"wordings": ("guess",) * 2}, {"orders": 0}, {"repeats": 0}],
    )
    def test_nothing_else_is_a_plan(self, changes: dict[str, Any]) -> None:
        with pytest.raises(InvalidInput):
            AskPlan(**changes)


class TestPlacePreference:
    def test_by_hand(self) -> None:
        # 4 answers, 2 places, 3 at the first: 3 of 6 pairs agree, no more than by chance
        assert place_preference([0, 0, 0, 1], 2) == 0.0
        # 5 answers, 4 at the first: 6 of 10 pairs agree; b = sqrt((.6 - .5) * 2)
        assert place_preference([0, 0, 0, 0, 1], 2) == pytest.approx(np.sqrt(0.2))
        assert place_preference([3] * 9, 16) == 1.0
        assert np.isnan(place_preference([3], 16))

    @pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.7])
    def test_what_was_planted_comes_back(self, share: float) -> None:
        rng = np.random.default_rng(1)
        found = []
        for _ in range(200):
            places = np.where(rng.random(2000) < share, 5, rng.integers(0, 16, 2000))
            found.append(place_preference(places, 16))
        assert np.mean(found) == pytest.approx(share, abs=0.03 if not share else 0.01)

    @pytest.mark.parametrize("places", [[16], [-1], [[0, 1]]])
    def test_what_is_no_place_is_refused(self, places: list[Any]) -> None:
        with pytest.raises(InvalidInput):
            place_preference(places, 16)


def row(stimulus: str, response: str, **changes: object) -> dict[str, object]:
    return {
        "classifier": "m", "stimulus": stimulus, "original": stimulus, "category": "dog", "corruption": "none",
        "visual_change": 0.0, "wording": "describes", "order": 0, "repeat": 0, "shown": " ".join(default_labels().ids),
        "kind": "label" if response != "na" else "refusal", "response": response, "correct": response == "dog",
        "text": response, "tokens_in": 10, "tokens_out": 1, "fingerprint": "m 1", **changes,
    }  # fmt: skip


class TestSummary:
    def test_by_hand(self) -> None:
        rows = [
            row("a", "dog"),
            row("a", "cat", order=1),
            row("a", "dog", wording="shown"),
            row("a", "na", wording="shown", order=1),
            row("b", "cat", corruption="noise", visual_change=0.55),
            row("b", "cat", corruption="noise", visual_change=0.55, wording="shown", fingerprint="m 2"),
        ]
        found = summarise(ANSWERS.frame(rows))
        assert (found.asked, found.kinds) == (6, {"label": 5, "refusal": 1})
        assert found.by_wording == {"describes": pytest.approx(1 / 3), "shown": pytest.approx(1 / 3)}
        clean, noisy = found.by_change
        assert (clean.low, clean.asked, clean.accuracy, clean.refusals) == (0.0, 4, 0.5, 0.25)
        assert (clean.lowest, clean.highest) == (0.5, 0.5)
        assert (noisy.low, noisy.high, noisy.accuracy) == (0.5, 0.6, 0.0)
        assert found.changed_with_order == 1.0  # dog, cat; dog, refused
        assert found.changed_with_wording == pytest.approx(1 / 3)  # of dog, dog; cat, refused; cat, cat
        assert found.changed_with_repeat is None
        assert (found.tokens_in, found.tokens_out, found.fingerprints) == (60, 6, ["m 1", "m 2"])

    def test_noise_alone_changes_repeats_orders_and_wordings_alike(self) -> None:
        rng = np.random.default_rng(0)
        rows = [
            row(f"s{number}", str(rng.choice(["dog", "cat"])), wording=wording, order=order, repeat=repeat)
            for number in range(400)
            for wording in ("describes", "shown")
            for order in (0, 1)
            for repeat in (0, 1)
        ]
        found = summarise(ANSWERS.frame(rows))
        for share in (found.changed_with_order, found.changed_with_wording, found.changed_with_repeat):
            assert share == pytest.approx(0.5, abs=0.04)

    def test_without_a_single_label(self) -> None:
        found = summarise(ANSWERS.frame([row("a", "na"), row("b", "na")]))
        assert found.preference is None and found.preference_interval == (0.0, 1.0)

    def test_nothing_is_no_summary(self) -> None:
        with pytest.raises(InvalidInput):
            summarise(ANSWERS.frame([]))


def test_answers_survive_a_file(tmp_path: Any) -> None:
    frame = ANSWERS.frame([row("a", "dog")])
    frame.to_parquet(tmp_path / "answers.parquet")
    assert ANSWERS.validate(pd.read_parquet(tmp_path / "answers.parquet"), source="answers").equals(frame)
