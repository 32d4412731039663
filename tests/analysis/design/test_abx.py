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
from tests.analysis.design.pictures import PLAIN, picture_set, with_plain


def abx(**changes):
    return DiscriminationDesign(form="abx", **changes)


@pytest.fixture(scope="module")
def study():
    originals, stimuli = picture_set([30] * 16, 960)
    stimuli = with_plain(originals, stimuli)
    config = DesignConfig(sessions=24, main_trials=30, discrimination=abx(trials=12))
    return {row["stimulus"]: row for row in stimuli}, plan_study(originals, stimuli, config, 5, plain=PLAIN)


def triplets(plan, rows, role="main"):
    for session in plan.sessions:
        for trial in session.trials:
            if trial.task == "abx" and trial.role == role:
                yield session, trial, [rows[name] for name in trial.stimuli]


def check_triplet(trial, shown):
    a, b, x = shown
    assert a["corruption"] != b["corruption"]
    assert x["corruption"] == {"a": a, "b": b}[trial.correct_response]["corruption"]
    assert len({row["original"] for row in shown}) == 3
    bins = [int(row["visual_change"] * 40) for row in shown]
    assert max(bins) - min(bins) <= 1


def test_x_is_of_the_corruption_of_a_or_b_at_the_same_visual_change(study):
    rows, plan = study
    for _, trial, shown in triplets(plan, rows):
        check_triplet(trial, shown)


def test_either_answer_is_right_in_half_of_the_trials_of_every_session(study):
    rows, plan = study
    for session in plan.sessions:
        answers = Counter(trial.correct_response for s, trial, _ in triplets(plan, rows) if s is session)
        assert answers == {"a": 6, "b": 6}


def test_neither_order_nor_corruption_nor_original_tells_the_answer(study):
    rows, plan = study
    counts, balance = Counter(), Counter()
    for _, trial, (a, b, x) in triplets(plan, rows):
        sign = 1 if trial.correct_response == "a" else -1
        counts["order", a["corruption"], b["corruption"]] += sign
        counts["x", x["corruption"]] += sign
        for row in (a, b, x):
            balance[row["original"]] += sign
    assert {count for key, count in counts.items() if key[0] == "order"} == {0}
    assert max(abs(count) for count in counts.values()) <= 2
    assert max(abs(count) for count in balance.values()) <= 3


def test_every_comparison_and_each_of_its_orders_comes_up_equally_often(study):
    rows, plan = study
    orders = Counter((a["corruption"], b["corruption"]) for _, _, (a, b, _) in triplets(plan, rows))
    assert len(orders) == 6 and max(orders.values()) - min(orders.values()) <= 2
    assert plan.summary["comparisons"] and sum(plan.summary["comparisons"].values()) == 24 * 12


def test_a_stimulus_is_shown_once_over_the_study_and_an_original_once_a_session(study):
    rows, plan = study
    uses = Counter()
    for session in plan.sessions:
        shown = Counter()
        for trial in session.trials:
            for name in trial.stimuli:
                uses[name] += trial.role == "main"
                shown[rows[name]["original"]] += trial.role in ("main", "clean")
        assert max(shown.values()) == 1
    assert max(uses.values()) == 1


@pytest.mark.parametrize("role", ["negative", "practice"])
def test_plain_trials_follow_the_measured_rule_with_functions_that_nobody_compares(study, role):
    rows, plan = study
    answers = Counter()
    for _, trial, shown in triplets(plan, rows, role):
        answers[trial.correct_response] += 1
        check_triplet(trial, shown)
        assert {row["corruption"] for row in shown} == set(PLAIN)
    assert answers["a"] == answers["b"] == (336 if role == "practice" else 48)


def test_counts_and_blocks(study):
    _, plan = study
    for session in plan.sessions:
        roles = Counter(trial.role for trial in session.trials if trial.task == "abx")
        assert roles == {"main": 12, "negative": 4, "practice": 28}
        kinds = [(block.kind, block.task) for block in session.blocks()]
        assert kinds[-2:] == [("practice-round", "abx"), ("main", "abx")]
    assert plan.summary["trials_by_role"]["abx main"] == 12


def test_the_plan_reads_back_with_its_third_pictures(study):
    _, plan = study
    assert StudyPlan.from_lines(plan.to_lines()) == plan


def test_who_comes_again_sees_no_original_of_the_first_session():
    originals, stimuli = picture_set([30] * 16, 960)
    stimuli = with_plain(originals, stimuli)
    config = DesignConfig(sessions=8, sessions_per_participant=2, main_trials=16, discrimination=abx(trials=8))
    plan = plan_study(originals, stimuli, config, 5, plain=PLAIN)
    catalogue = Catalogue.from_rows(originals, stimuli, plain=PLAIN)
    rows = {row["stimulus"]: row for row in stimuli}
    seen = {rows[name]["original"] for trial in plan.sessions[0].trials for name in trial.stimuli}
    planned = {name for session in plan.sessions for trial in session.trials for name in trial.stimuli}
    changed = without_seen(plan.sessions[1], catalogue, plan.pools, seen=seen, taken=planned)
    trials = [trial for trial in changed.trials if trial.task == "abx"]
    assert len(trials) >= 14
    for trial in trials:
        shown = [rows[name] for name in trial.stimuli]
        assert len(shown) == 3 and not {row["original"] for row in shown} & seen
        a, b, x = shown
        right = {"a": a, "b": b}[trial.correct_response]
        assert x["corruption"] == right["corruption"]


def test_a_study_of_abx_alone_and_one_of_too_few_stimuli():
    originals, stimuli = picture_set([20] * 16, 600)
    stimuli = with_plain(originals, stimuli)
    config = DesignConfig(sessions=15, main_trials=0, discrimination=abx(trials=20, sentinels=16, practice=2))
    plan = plan_study(originals, stimuli, config, 0, plain=PLAIN)
    assert Counter(trial.role for trial in plan.sessions[0].trials) == {"main": 20, "negative": 16, "practice": 2}
    originals, stimuli = picture_set([20] * 16, 200)
    stimuli = with_plain(originals, stimuli)
    fewer = plan_study(originals, stimuli, config, 0, plain=PLAIN)
    assert len(fewer.sessions) < 15 and any("sessions instead of 15" in note for note in fewer.notes)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
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
        sessions=10, main_trials=main_trials, discrimination=abx(trials=trials, sentinels=2, practice=1)
    )
    try:
        plan = plan_study(originals, stimuli, config, seed, plain=PLAIN)
    except DesignRefused:
        return
    rows = {row["stimulus"]: row for row in stimuli}
    for _, trial, shown in triplets(plan, rows):
        check_triplet(trial, shown)
    for session in plan.sessions:
        answers = Counter(t.correct_response for t in session.trials if t.task == "abx" and t.role == "main")
        assert answers["a"] == answers["b"] == trials // 2


def test_a_form_that_there_is_not_is_refused():
    with pytest.raises(InvalidInput, match="discrimination.form must be one of same-different, abx, not '2afc'"):
        DesignConfig.from_dict({"discrimination": {"form": "2afc"}})
