from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from analysis.design.catalogue import Catalogue
from analysis.design.plan import StudyPlan
from analysis.design.planner import plan_study
from analysis.design.sessions import without_seen
from analysis.errors import DesignRefused, InvalidInput
from analysis.study.design import DesignConfig, DiscriminationDesign
from tests.analysis.design.pictures import FUNCTIONS, PLAIN, picture_set, with_plain
from tests.labels import of_the_sixteen


def plan(overlap, *, sessions=20, main_trials=40, per_category=30, per_function=960, seed=3, **config):
    originals, stimuli = picture_set([per_category] * 16, per_function)
    stimuli = with_plain(originals, stimuli)
    asked = DesignConfig(sessions=sessions, main_trials=main_trials, overlap=overlap, **config)
    return {row["stimulus"]: row for row in stimuli}, plan_study(originals, stimuli, asked, seed, plain=PLAIN)


def main_of(session):
    return {trial.stimulus for trial in session.trials if trial.role == "main"}


def check_overlap(made, rows, expected):
    """Everybody sees the common pictures, and any other main picture is answered once."""
    answers = Counter(name for session in made.sessions for name in main_of(session))
    common = {name for name, count in answers.items() if count == len(made.sessions)}
    assert len(common) == expected
    assert all(answers[name] == 1 for name in answers if name not in common)
    for one, other in zip(made.sessions, made.sessions[1:], strict=False):
        assert main_of(one) & main_of(other) == common
    shown_elsewhere = Counter(
        rows[trial.stimulus]["original"]
        for session in made.sessions
        for trial in session.trials
        if trial.stimulus not in common
    )
    assert not shown_elsewhere.keys() & {rows[name]["original"] for name in common}
    for session in made.sessions:
        shown = Counter(rows[t.stimulus]["original"] for t in session.trials if t.role != "consistency_second")
        assert max(shown.values()) == 1
    return [rows[name] for name in sorted(common)]


@pytest.mark.parametrize(("overlap", "expected"), [(0.25, 10), (0.5, 20), (0.01, 0), (1.0, 40)])
def test_every_two_people_share_exactly_their_share(overlap, expected):
    rows, made = plan(overlap)
    assert [len(main_of(session)) for session in made.sessions] == [40] * 20
    check_overlap(made, rows, expected)
    assert made.summary["overlap"] == {"trials": expected, "answers": 20 * expected}


@of_the_sixteen
def test_the_common_pictures_cover_the_same_strata_corruptions_and_categories():
    rows, made = plan(0.5)
    common = check_overlap(made, rows, 20)
    by_corruption = Counter(row["corruption"] for row in common)
    assert sorted(by_corruption.values()) == [6, 7, 7]
    for function in FUNCTIONS:
        changes = sorted(row["visual_change"] for row in common if row["corruption"] == function)
        n = len(changes)
        # One in each stratum. The stimuli lie evenly over [0, 1], those of the main pool nearly so.
        assert all(abs(change * n - (k + 0.5)) < 0.6 for k, change in enumerate(changes))
    by_category = Counter(row["category"] for row in common)
    assert len(by_category) == 16 and max(by_category.values()) == 2


@of_the_sixteen
def test_sessions_stay_balanced_with_the_common_pictures_in_them():
    rows, made = plan(0.3)
    for session in made.sessions:
        main = [rows[name] for name in main_of(session)]
        assert sorted(Counter(row["corruption"] for row in main).values()) == [13, 13, 14]
        by_category = Counter(row["category"] for row in main)
        assert len(by_category) == 16 and max(by_category.values()) - min(by_category.values()) <= 2
        for function in FUNCTIONS:
            quarters = Counter(int(row["visual_change"] * 4) for row in main if row["corruption"] == function)
            assert len(quarters) == 4 and min(quarters.values()) >= 2


def test_planned_answers_are_counted_and_said():
    rows, made = plan(0.25)
    assert sum(map(sum, made.summary["strata"].values())) == 20 * 40 + sum(
        rows[trial.stimulus]["corruption"] != "none"
        for session in made.sessions
        for trial in session.trials
        if trial.role == "consistency_first"
    )
    assert any("10 corrupted pictures are the same for everybody" in note for note in made.notes)
    assert StudyPlan.from_lines(made.to_lines()) == made


def test_no_overlap_is_the_plan_without_it():
    assert plan(0.0)[1].sessions == plan(0)[1].sessions
    assert plan(0.0)[1].summary["overlap"]["trials"] == 0


def test_fewer_stimuli_are_needed_for_as_many_sessions():
    _, without = plan(0.0, sessions=30, per_function=300)
    rows, made = plan(0.5, sessions=30, per_function=300)
    assert len(made.sessions) == 30 > len(without.sessions)
    check_overlap(made, rows, 20)


def test_pairs_leave_the_common_pictures_alone():
    rows, made = plan(0.25, main_trials=24, discrimination=DiscriminationDesign(trials=8))
    common = {rows[name]["original"] for name in set.intersection(*map(main_of, made.sessions))} - {""}
    in_pairs = {
        rows[name]["original"]
        for session in made.sessions
        for trial in session.trials
        if trial.task == "discrimination" and trial.role == "main"
        for name in trial.stimuli
    }
    assert in_pairs and len(common) >= 6 and not common & in_pairs


def test_who_comes_again_sees_no_original_again_not_even_a_common_one():
    originals, stimuli = picture_set([30] * 16, 960)
    config = DesignConfig(sessions=12, sessions_per_participant=2, main_trials=24, overlap=0.5)
    made = plan_study(originals, stimuli, config, 1)
    rows = {row["stimulus"]: row for row in stimuli}
    first, second = made.sessions[0], made.sessions[1]
    assert main_of(first) & main_of(second)
    seen = {rows[trial.stimulus]["original"] for trial in first.trials}
    planned = {name for session in made.sessions for trial in session.trials for name in trial.stimuli}
    catalogue = Catalogue.from_rows(originals, stimuli)
    changed = without_seen(second, catalogue, made.pools, seen=seen, taken=planned)
    assert not {rows[trial.stimulus]["original"] for trial in changed.trials} & seen
    assert len(main_of(changed)) == 24


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    per_category=st.integers(4, 20),
    per_function=st.integers(60, 400),
    functions=st.integers(1, 3),
    sessions=st.integers(2, 20),
    main_trials=st.integers(16, 40),
    overlap=st.floats(0.05, 1.0),
    seed=st.integers(0, 2**40),
)
def test_any_set_shares_exactly_what_it_says_or_is_refused(
    per_category, per_function, functions, sessions, main_trials, overlap, seed
):
    originals, stimuli = picture_set([per_category] * 16, per_function, FUNCTIONS[:functions], seed % 1000)
    config = DesignConfig(sessions=sessions, main_trials=main_trials, overlap=overlap)
    try:
        made = plan_study(originals, stimuli, config, seed)
    except DesignRefused as refusal:
        assert str(refusal).endswith(".")
        return
    main = {len(main_of(session)) for session in made.sessions}
    assert len(main) == 1
    expected = int(overlap * main.pop() + 0.5)
    if len(made.sessions) > 1:
        check_overlap(made, {row["stimulus"]: row for row in stimuli}, expected)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"overlap": 1.5}, "overlap must be a number from 0 to 1, not 1.5"),
        ({"overlap": "half"}, "overlap must be a number from 0 to 1, not 'half'"),
        ({"overlap": True}, "overlap must be a number"),
        ({"light_visual_change": "little"}, "light_visual_change must be a number"),
        ({"overlap": 0.5, "main_trials": 0, "discrimination": {}}, "there are none: leave it out"),
    ],
)
def test_shares_that_cannot_be_are_refused(values, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        DesignConfig.from_dict(values)
