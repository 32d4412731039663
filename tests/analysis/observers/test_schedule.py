"""Which questions a protocol asks about a set."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from analysis.errors import InvalidInput
from analysis.labels.files import default_labels
from analysis.observers.protocol import VLM_2026
from analysis.observers.questions import AskPlan
from analysis.observers.schedule import EVERY, Schedule
from tests.analysis.observers.pictures import stimuli
from tests.labels import of_the_sixteen

pytestmark = of_the_sixteen


def of_vlm_2026(count: int = 320) -> Schedule:
    return Schedule(VLM_2026.plan, stimuli(count), None, len(default_labels()))


def test_questions_of_the_protocol_by_what_they_are_for() -> None:
    found = of_vlm_2026()
    assert found.counts == {
        "trial": 320, "wording": 640, "consistency": 800, "rotation": 1500, "grey": 50, "wrong": 50, "canary": 50,
    }  # fmt: skip
    assert found.total == 3410
    asked = list(found.everything())
    names = {
        (one.trial.stimulus, one.question.wording, one.question.order, one.question.repeat, one.purpose)
        for one in asked
    }
    assert len(names) == len(asked), "each question is named once"


def test_the_right_label_stands_once_at_every_place_among_neighbours_in_visual_change() -> None:
    found = of_vlm_2026()
    places = [next(iter(found.about(one))).question.labels.index(one.category) for one in found.stimuli]
    for start in range(0, 320, 16):
        assert sorted(places[start : start + 16]) == list(range(16))
    assert len({tuple(places[start : start + 16]) for start in range(0, 320, 16)}) > 1
    assert next(iter(found.about(found.stimuli[0]))).question.labels != default_labels().ids


def test_a_picture_in_all_cyclic_orders_shows_every_label_at_every_place_once() -> None:
    found = of_vlm_2026()
    turned = [
        one.question.labels
        for trial in found.stimuli
        for one in found.about(trial)
        if trial.stimulus == "s0001" and one.purpose in ("trial", "rotation") and one.question.repeat == 0
    ]
    assert len(turned) == 16
    pairs = Counter((label, place) for order in turned for place, label in enumerate(order))
    assert set(pairs.values()) == {1} and len(pairs) == 256
    first = turned[0]
    assert all(order in {(*first[step:], *first[:step]) for step in range(16)} for order in turned)


def test_chosen_trials_are_spread_over_visual_change() -> None:
    found = of_vlm_2026()
    asked = list(found.everything())
    for purpose, count in (("consistency", 200), ("rotation", 100), ("grey", 50), ("canary", 50)):
        changes = sorted({one.trial.visual_change for one in asked if one.purpose == purpose})
        assert len(changes) == count
        quarters = [sum(low <= one < low + 0.25 for one in changes) for low in (0, 0.25, 0.5, 0.75)]
        assert max(quarters) - min(quarters) <= 1


def test_wrong_pictures_are_of_another_category() -> None:
    wrong = [one for one in of_vlm_2026().late() if one.purpose == "wrong"]
    assert len(wrong) == 50
    for one in wrong:
        assert one.shown is not None and one.shown.category != one.trial.category
        assert not one.shown.is_right(one.trial.category)
        assert one.question.labels == next(iter(of_vlm_2026().about(one.trial))).question.labels
    alike = Schedule(VLM_2026.plan, stimuli(30, ["dog"]), None, 16)
    assert "wrong" not in alike.counts
    both = [replace(one, accepted=("dog", "cat")) for one in stimuli(30, ["dog", "cat"])]
    assert "wrong" not in Schedule(VLM_2026.plan, both, None, 16).counts, "either is right for every picture"


def test_questions_of_the_beginning_come_again_at_the_very_end() -> None:
    found = of_vlm_2026()
    early, late = list(found.early()), list(found.late())
    assert Counter(one.purpose for one in early) == {"trial": 50, "consistency": 200}
    asked = {(one.trial.stimulus, one.question) for trial in found.stimuli for one in found.about(trial)}
    assert {(one.trial.stimulus, one.question) for one in early} <= asked, "their answers are those of their stimuli"
    assert [one.purpose for one in late[-50:]] == ["canary"] * 50
    texts = {one.trial.stimulus: one.question.text for one in early if one.purpose == "trial"}
    for one in late[-50:]:
        assert one.question.text == texts[one.trial.stimulus] and one.question.repeat == 5


def test_few_stimuli_are_all_asked_about_more_often() -> None:
    found = of_vlm_2026(20)
    assert found.counts == {
        "trial": 20, "wording": 40, "consistency": 80, "rotation": 300, "grey": 20, "wrong": 20, "canary": 20,
    }  # fmt: skip
    assert not Schedule(VLM_2026.plan, [], None, 16).counts


def test_a_plan_of_ones_own_asks_about_all_alike() -> None:
    plan = AskPlan(orders=2, repeats=2)
    found = Schedule(plan, stimuli(8), None, 16)
    assert set(found.counts) == set(EVERY) and found.total == 8 * 8
    for trial in found.stimuli:
        assert [one.question for one in found.about(trial)] == list(plan.questions_for(trial.stimulus))
    assert not list(found.early()) and not list(found.late())


@pytest.mark.parametrize("changes", [{"rotated": -1}, {"grey": -1}, {"consistency": (-1, 5)}])
def test_numbers_of_trials_are_not_negative(changes: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match="not negative"):
        AskPlan(**changes)  # type: ignore[arg-type]
