"""Trials with options of their own: foils, places, none of these; and what pictures and labels cannot give."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from analysis.design.catalogue import Catalogue
from analysis.design.options import exchanged
from analysis.design.originals_needed import demand_of
from analysis.design.plan import PlannedTrial, StudyPlan
from analysis.design.planner import plan_study
from analysis.design.sessions import without_seen
from analysis.errors import DesignRefused, InvalidInput
from analysis.labels.files import shipped
from analysis.labels.lists import fault_of
from analysis.labels.space import LabelSpace
from analysis.study.design import DesignConfig
from analysis.study.study import StudyConfiguration
from tests.analysis.design.test_labels import material

TEN = shipped("cifar10")
USUAL: dict[str, Any] = {"sessions": 6, "main_trials": 20, "clean_trials": 6, "gold_trials": 6}


def planned(space: LabelSpace = TEN, beside: dict[str, dict[str, Any]] | None = None, **asked: Any) -> StudyPlan:
    originals, rows = material(space)
    rows = [row | (beside or {}).get(row["original"], {}) for row in rows]
    return plan_study(originals, rows, DesignConfig(**{**USUAL, **asked}), 3, space=space)


def trials_of(plan: StudyPlan) -> Iterator[PlannedTrial]:
    return (trial for session in plan.sessions for trial in session.trials)


@pytest.mark.parametrize("alternatives", [2, 3, 7])
def test_a_label_is_right_with_one_chance_wherever_it_is_offered(alternatives: int) -> None:
    plan = planned(alternatives=alternatives)
    right = Counter(trial.correct_response for trial in trials_of(plan))
    foils = Counter(one for trial in trials_of(plan) for one in trial.options if one != trial.correct_response)
    assert right.keys() == foils.keys() == set(TEN.ids)
    for one, times in right.items():
        assert abs(foils[one] - (alternatives - 1) * times) <= 3
    for trial in trials_of(plan):
        assert len(set(trial.options)) == len(trial.options) == alternatives
        cells = {"options": " ".join(trial.options), "category": trial.correct_response, "response": "na"}
        assert trial.correct_response in trial.options and fault_of(cells, TEN) is None


def test_the_right_label_has_all_places_equally_often_in_every_block() -> None:
    for session in planned(alternatives=2).sessions:
        by_block: dict[int, list[int]] = {}
        for trial in session.trials:
            by_block.setdefault(trial.block, []).append(trial.options.index(trial.correct_response))
        for places in by_block.values():
            assert abs(2 * sum(places) - len(places)) <= 1


def test_no_role_is_told_by_its_options() -> None:
    """Of foils and places alike: chi-square of role against both, over many sessions, is what chance gives."""
    from scipy.stats import chi2_contingency

    plan = planned(alternatives=2, sessions=12, main_trials=16)
    for told in (lambda t: t.options.index(t.correct_response), lambda t: TEN.group(t.options[0])):
        counts = Counter((trial.role, told(trial)) for trial in trials_of(plan))
        roles, values = sorted({role for role, _ in counts}), sorted({value for _, value in counts})
        table = [[counts[role, value] for value in values] for role in roles]
        assert {"practice", "gold", "main", "clean", "consistency_second"} <= set(roles)
        assert chi2_contingency(table).pvalue > 0.01


def test_a_second_showing_has_the_foils_of_the_first_and_places_of_its_own() -> None:
    plan, moved = planned(alternatives=4, consistency_pairs=4), 0
    for session in plan.sessions:
        first = {t.stimulus: t.options for t in session.trials if t.role == "consistency_first"}
        for trial in session.trials:
            if trial.role == "consistency_second":
                assert set(trial.options) == set(first[trial.stimulus])
                moved += trial.options != first[trial.stimulus]
    assert moved


def test_none_of_these_comes_last_beside_some_labels_and_beside_all() -> None:
    assert all(
        t.options[-1] == "none" and len(t.options) == 3 for t in trials_of(planned(alternatives=2, none_of_these=True))
    )
    whole = planned(none_of_these=True)
    assert {trial.options for trial in trials_of(whole)} == {(*TEN.in_grid, "none")}
    assert any("never right" in note for note in whole.notes)


def test_what_competes_comes_first_and_what_is_accepted_is_no_foil() -> None:
    originals, _ = material(TEN)
    beside = {
        original: {
            "competing": "truck" if category != "truck" else "",
            "accepted": [category, "cat"] if category == "dog" else [],
        }
        for original, category in originals.items()
    }
    plan = planned(beside=beside, alternatives=2, foils="competing")
    for trial in trials_of(plan):
        other = next(one for one in trial.options if one != trial.correct_response)
        assert other == "truck" or trial.correct_response == "truck"
    for trial in trials_of(planned(beside=beside, alternatives=3)):
        assert trial.correct_response != "dog" or "cat" not in trial.options


@pytest.mark.parametrize(("foils", "same"), [("group", True), ("other-group", False)])
def test_foils_of_the_group_or_of_the_others(foils: str, same: bool) -> None:
    for trial in trials_of(planned(alternatives=3, foils=foils)):
        groups = {
            TEN.group(one) == TEN.group(trial.correct_response)
            for one in trial.options
            if one != trial.correct_response
        }
        assert groups == {same}


def test_negatives_are_left_out_where_few_trials_offer_another_group() -> None:
    roles = lambda plan: Counter(trial.role for trial in trials_of(plan))  # noqa: E731
    assert roles(planned(main_trials=30))["negative"]
    assert not roles(planned(main_trials=30, alternatives=2))["negative"]
    assert roles(planned(main_trials=30, alternatives=2, foils="other-group"))["negative"]
    assert roles(planned(main_trials=30, alternatives=2, negative_trials=4))["negative"]


def test_of_two_a_guess_is_right_in_half_so_that_practice_and_golds_ask_for_more() -> None:
    two = DesignConfig(alternatives=2)
    assert (two.practice_round, two.practice_pass) == (12, 10)
    assert demand_of(two, originals=2000)[0].gold == 16
    assert (DesignConfig(alternatives=2, practice_round=8, practice_pass=7).practice_round) == 8
    assert (
        DesignConfig(alternatives=3).practice_round,
        demand_of(DesignConfig(alternatives=3), originals=2000)[0].gold,
    ) == (6, 8)


def test_as_many_alternatives_as_labels_are_all_labels() -> None:
    assert planned(alternatives=10).sessions == planned().sessions


def test_plans_with_options_survive_their_file_and_plans_without_say_nothing_of_them() -> None:
    plan = planned(alternatives=2)
    assert StudyPlan.from_lines(plan.to_lines()) == plan
    lines = planned().to_lines()
    assert StudyPlan.from_lines(lines) == planned()
    # The plan of this design before trials had options.
    assert hashlib.sha256("".join(f"{line}\n" for line in _plain()).encode()).hexdigest()[:16] == "1e68eb242a2e0b0b"


def _plain() -> list[str]:
    return plan_study(*material(TEN), DesignConfig(sessions=6), 3, space=TEN).to_lines()


def test_a_study_that_asks_for_nothing_of_it_is_stored_as_before() -> None:
    plain = StudyConfiguration(title="T", stimuli="s")
    assert plain.digest()[:16] == "bfccddc43a21bd12"
    asked = StudyConfiguration.from_file_values(
        {"title": "T", "stimuli": "s", "design": {"alternatives": 2, "foils": "group", "none_of_these": True}}
    )
    assert StudyConfiguration.from_dict(asked.to_dict()) == StudyConfiguration.from_toml(asked.to_toml()) == asked


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"alternatives": 1}, "design.alternatives is 1, which leaves nothing to choose"),
        ({"alternatives": 31}, "a whole number from 0 to 30"),
        ({"foils": "group"}, "design.foils says which labels are offered beside the right one, and all are"),
        ({"foils": "likely", "alternatives": 2}, "one of any, competing, group, other-group"),
        ({"alternatives": 2, "persons": {}}, "cannot be had with sentinels of persons"),
        ({"alternatives": 2, "main_trials": 0, "discrimination": {}}, "which nobody does with main_trials = 0"),
        ({"none_of_these": True, "validation": {}}, "which nobody does with main_trials = 0"),
    ],
)
def test_what_says_nothing_is_refused(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        StudyConfiguration.from_file_values({"title": "T", "stimuli": "s", "design": asked})


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"alternatives": 11}, "the labels cifar10 are only 10: set it to 10 or fewer"),
        ({"alternatives": 2, "foils": "competing"}, "no picture says what competes"),
    ],
)
def test_what_labels_and_pictures_cannot_give_is_refused(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(DesignRefused, match=said):
        planned(**asked)


def test_a_foil_that_is_never_right_is_refused() -> None:
    originals, rows = material(TEN)
    few = {original: category for original, category in originals.items() if category in ("cat", "dog", "ship")}
    rows = [row for row in rows if row["original"] in few]
    with pytest.raises(DesignRefused, match="pictures show only 3 of the labels cifar10: a foil that is never right"):
        plan_study(few, rows, DesignConfig(sessions=1, alternatives=4), 3, space=TEN)


def test_pictures_with_too_many_right_labels_and_labels_without_groups_are_refused() -> None:
    with pytest.raises(DesignRefused, match="9 of 10 labels are right: there are not 2 foils"):
        planned(beside={"airplane-000": {"accepted": [one for one in TEN.ids if one != "truck"]}}, alternatives=3)
    with pytest.raises(DesignRefused, match="the labels mnist have no groups"):
        planned(shipped("mnist"), alternatives=2, foils="group")


def test_a_replaced_picture_takes_its_label_along() -> None:
    originals, rows = material(TEN, each=40)
    plan = plan_study(originals, rows, DesignConfig(**{**USUAL, "sessions": 2, "alternatives": 3}), 3, space=TEN)
    catalogue = Catalogue.from_rows(originals, rows, space=TEN)
    by_stimulus = catalogue.by_stimulus()
    session = plan.sessions[0]
    seen = {by_stimulus[trial.stimulus].original for trial in session.trials[::2]}
    changed = without_seen(session, catalogue, plan.pools, seen=seen, taken=())
    assert changed != session
    for trial in changed.trials:
        assert trial.correct_response in trial.options and len(set(trial.options)) == 3
    options = ("cat", "dog", "ship")
    taking = dict.fromkeys(("a", "b", "c"), "cat") | {"b": "ship", "c": "frog"}
    other = Catalogue(category_of=taking, clean={}, corrupted=(), space=TEN, accepted_of={"c": ("frog", "dog")})
    assert exchanged(options, other, before="a", after="b") == ("ship", "dog", "cat")
    assert exchanged(options, other, before="a", after="c") == ("frog", "airplane", "ship")
    assert exchanged((), other, before="a", after="b") == ()
    assert exchanged((*TEN.in_grid, "none"), other, before="a", after="b") == (*TEN.in_grid, "none")
