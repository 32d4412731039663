from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from analysis.design.planner import plan_study
from analysis.errors import DesignRefused
from analysis.study.design import DesignConfig, DiscriminationDesign
from tests.analysis.design.pictures import PLAIN, picture_set, with_plain


@pytest.fixture(scope="module")
def study():
    originals, stimuli = picture_set([30] * 16, 960)
    stimuli = with_plain(originals, stimuli)
    config = DesignConfig(sessions=30, main_trials=30, discrimination=DiscriminationDesign(trials=12))
    return {row["stimulus"]: row for row in stimuli}, plan_study(originals, stimuli, config, 5, plain=PLAIN)


def pairs(plan, rows, role="main"):
    for session in plan.sessions:
        for trial in session.trials:
            if trial.task == "discrimination" and trial.role == role:
                yield session, trial, rows[trial.stimulus], rows[trial.second_stimulus]


def test_half_of_the_pairs_share_their_corruption(study):
    rows, plan = study
    for session in plan.sessions:
        answers = Counter(trial.correct_response for s, trial, *_ in pairs(plan, rows) if s is session)
        assert answers == {"same": 6, "different": 6}
    for _, trial, first, second in pairs(plan, rows):
        assert (first["corruption"] == second["corruption"]) == (trial.correct_response == "same")


def test_pairs_are_matched_in_visual_change_and_show_two_originals(study):
    rows, plan = study
    for _, _, first, second in pairs(plan, rows):
        assert abs(int(first["visual_change"] * 40) - int(second["visual_change"] * 40)) <= 1
        assert first["original"] != second["original"]


def test_originals_stand_equally_often_in_same_and_different_pairs(study):
    rows, plan = study
    balance = Counter()
    for _, trial, first, second in pairs(plan, rows):
        for row in (first, second):
            balance[row["original"]] += 1 if trial.correct_response == "same" else -1
    assert sum(balance.values()) == 0
    assert max(abs(count) for count in balance.values()) <= 2
    assert sum(abs(count) <= 1 for count in balance.values()) >= 0.95 * len(balance)


def test_every_comparison_comes_up_equally_often_and_in_both_orders(study):
    rows, plan = study
    compared = Counter(
        tuple(sorted((first["corruption"], second["corruption"])))
        for _, trial, first, second in pairs(plan, rows)
        if trial.correct_response == "different"
    )
    assert len(compared) == 3 and max(compared.values()) - min(compared.values()) <= 1
    first_shown = Counter(
        first["corruption"]
        for _, trial, first, second in pairs(plan, rows)
        if {first["corruption"], second["corruption"]} == {"gaussian_blur", "gaussian_noise"}
    )
    assert min(first_shown.values()) > 0.25 * first_shown.total()


def test_a_stimulus_is_shown_once_over_the_study_and_an_original_once_a_session(study):
    rows, plan = study
    uses = Counter()
    for session in plan.sessions:
        shown = Counter()
        for trial in session.trials:
            for name in {trial.stimulus, trial.second_stimulus} - {None}:
                if trial.role == "main":
                    uses[name] += 1
                if trial.role in ("main", "clean"):
                    shown[rows[name]["original"]] += 1
        assert max(shown.values()) == 1
    assert max(uses.values()) == 1


@pytest.mark.parametrize("role", ["negative", "practice"])
def test_plain_pairs_follow_the_measured_rule_with_functions_that_nobody_compares(study, role):
    rows, plan = study
    answers = Counter()
    for _, trial, first, second in pairs(plan, rows, role):
        answers[trial.correct_response] += 1
        assert {first["corruption"], second["corruption"]} <= set(PLAIN)
        assert (first["corruption"] == second["corruption"]) == (trial.correct_response == "same")
        assert first["original"] != second["original"]
        assert abs(first["visual_change"] - second["visual_change"]) <= 1 / 40
    assert answers["same"] == answers["different"] == (420 if role == "practice" else 60)


def test_the_block_follows_its_own_practice(study):
    _, plan = study
    kinds = [(block.kind, block.task) for block in plan.sessions[0].blocks()]
    rounds = ["slow-practice", "practice-round", "practice-round"]
    assert kinds[:3] == [(kind, "categorisation") for kind in rounds]
    assert kinds[-4:] == [(kind, "discrimination") for kind in (*rounds, "main")]


def test_a_study_of_discrimination_alone():
    originals, stimuli = picture_set([20] * 16, 600)
    stimuli = with_plain(originals, stimuli)
    config = DesignConfig(
        sessions=20, main_trials=0, discrimination=DiscriminationDesign(trials=20, sentinels=16, practice=2)
    )
    plan = plan_study(originals, stimuli, config, 0, plain=PLAIN)
    assert {trial.task for session in plan.sessions for trial in session.trials} == {"discrimination"}
    assert Counter(trial.role for trial in plan.sessions[0].trials) == {"main": 20, "negative": 16, "practice": 2}


def test_refuses_comparisons_that_the_stimuli_do_not_have():
    originals, stimuli = picture_set([20] * 16, 600)
    stimuli = with_plain(originals, stimuli)
    config = DesignConfig(discrimination=DiscriminationDesign(pairs=(("gaussian_blur", "fog"),)))
    with pytest.raises(DesignRefused, match="names 'fog'"):
        plan_study(originals, stimuli, config, 0, plain=PLAIN)
    originals, stimuli = picture_set([20] * 16, 600, ("gaussian_blur",))
    stimuli = with_plain(originals, stimuli)
    with pytest.raises(DesignRefused, match="at least two corruptions"):
        plan_study(originals, stimuli, DesignConfig(discrimination=DiscriminationDesign()), 0, plain=PLAIN)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    per_category=st.integers(8, 20),
    per_function=st.integers(100, 500),
    main_trials=st.sampled_from([0, 16, 24]),
    trials=st.sampled_from([2, 10, 20]),
    seed=st.integers(0, 2**40),
)
def test_any_set_keeps_the_promises_or_is_refused(per_category, per_function, main_trials, trials, seed):
    originals, stimuli = picture_set([per_category] * 16, per_function, seed=seed % 1000)
    stimuli = with_plain(originals, stimuli)
    config = DesignConfig(
        sessions=15,
        main_trials=main_trials,
        discrimination=DiscriminationDesign(trials=trials, sentinels=2, practice=1),
    )
    try:
        plan = plan_study(originals, stimuli, config, seed, plain=PLAIN)
    except DesignRefused:
        return
    rows = {row["stimulus"]: row for row in stimuli}
    uses = Counter()
    for session in plan.sessions:
        shown = Counter()
        for trial in session.trials:
            for name in {trial.stimulus, trial.second_stimulus} - {None}:
                shown[rows[name]["original"]] += trial.role != "consistency_second"
                uses[name] += trial.role == "main"
        assert max(shown.values()) == 1
    assert max(uses.values()) == 1
    for _, trial, first, second in pairs(plan, rows):
        assert abs(int(first["visual_change"] * 40) - int(second["visual_change"] * 40)) <= 1
        assert (first["corruption"] == second["corruption"]) == (trial.correct_response == "same")
