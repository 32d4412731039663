from __future__ import annotations

import pytest

from analysis.corruptions import CORRUPTIONS
from analysis.design.pairs import PLAIN_FUNCTIONS, choose_plain
from analysis.design.planner import plan_study
from analysis.errors import DesignRefused
from analysis.study.design import DesignConfig, DiscriminationDesign
from analysis.study.rules import load_rule_set
from tests.analysis.design.pictures import PLAIN, picture_set, with_plain

BY_CORRUPTION = {"same-different": ("same", "different"), "abx": ("a", "b")}


def alone(form, **changes):
    """A study of comparisons alone, as the presets ask for it."""
    return DesignConfig(
        sessions=12, main_trials=0, discrimination=DiscriminationDesign(form=form, trials=20, sentinels=16, **changes)
    )


def by_the_rule(shown):
    """What a person answers who compares the changes."""
    kinds = [row["corruption"] for row in shown]
    if len(shown) == 2:
        return "same" if kinds[0] == kinds[1] else "different"
    return "a" if kinds[2] == kinds[0] else "b"


def by_the_pictures(shown):
    """What a person answers who compares what the pictures show."""
    showing = [row["original"] for row in shown]
    if len(shown) == 2:
        return "same" if showing[0] == showing[1] else "different"
    return "b" if showing[2] == showing[1] else "a"


@pytest.mark.parametrize("form", BY_CORRUPTION)
@pytest.mark.parametrize(("answer", "passes"), [(by_the_rule, True), (by_the_pictures, False)])
def test_who_compares_pictures_fails_the_plain_trials_and_who_compares_changes_passes(form, answer, passes):
    originals, stimuli = picture_set([24] * 16, 900)
    stimuli = with_plain(originals, stimuli)
    rows = {row["stimulus"]: row for row in stimuli}
    plan = plan_study(originals, stimuli, alone(form), 3, plain=PLAIN)
    (rule,) = [
        rule
        for rule in load_rule_set("vcr").rules
        if rule.kind == "sentinels" and rule.settings.task == alone(form).discrimination.task
    ]
    needed = rule.settings.pass_of["16"]
    for session in plan.sessions:
        plain = [trial for trial in session.trials if trial.role == "negative"]
        right = sum(answer([rows[name] for name in trial.stimuli]) == trial.correct_response for trial in plain)
        assert len(plain) == 16
        assert (right >= needed) is passes
        practice = [trial for trial in session.trials if trial.role == "practice"]
        told_right = [answer([rows[name] for name in t.stimuli]) == t.correct_response for t in practice]
        assert all(told_right) is passes


@pytest.mark.parametrize("form", BY_CORRUPTION)
def test_a_set_without_such_stimuli_is_refused_with_what_to_make(form):
    originals, stimuli = picture_set([24] * 16, 900)
    with pytest.raises(DesignRefused, match=r"768 stimuli, one an original of each.*--plain.*impulse_noise"):
        plan_study(originals, stimuli, alone(form), 3)


def test_comparisons_without_practice_and_plain_pairs_need_none():
    originals, stimuli = picture_set([24] * 16, 900)
    design = DiscriminationDesign(trials=20, sentinels=0, practice=0)
    plan = plan_study(originals, stimuli, DesignConfig(sessions=5, main_trials=0, discrimination=design), 3)
    assert {trial.role for session in plan.sessions for trial in session.trials} == {"main"}


def test_functions_of_the_set_that_are_not_compared_serve_as_well():
    functions = ("gaussian_blur", "gaussian_noise", "brightness", "defocus_blur", "impulse_noise")
    originals, stimuli = picture_set([24] * 16, 3000, functions)
    rows = {row["stimulus"]: row for row in stimuli}
    config = alone("same-different", pairs=(("gaussian_blur", "gaussian_noise"),))
    plan = plan_study(originals, stimuli, config, 3)
    for session in plan.sessions:
        for trial in session.trials:
            shown = [rows[name] for name in trial.stimuli]
            changes = [row["visual_change"] for row in shown]
            assert max(changes) - min(changes) <= 0.05
            if trial.role != "main":
                assert {row["corruption"] for row in shown} <= {"impulse_noise", "brightness"}
                assert min(changes) >= 0.4 and max(changes) <= 0.8
                assert by_the_rule(shown) == trial.correct_response
                assert len({row["original"] for row in shown}) == 2


def test_few_matched_stimuli_are_refused_with_numbers():
    originals, stimuli = picture_set([24] * 16, 900)
    few = with_plain(dict(list(originals.items())[:40]), [])
    with pytest.raises(DesignRefused, match="take 56 practice originals|take 32 gold originals"):
        plan_study(originals, [*stimuli, *few], alone("same-different"), 3, plain=PLAIN)


def test_the_functions_are_known_and_the_least_like_the_compared_ones_come_first():
    assert all(name in CORRUPTIONS for pair in PLAIN_FUNCTIONS for name in pair)
    chosen = choose_plain(CORRUPTIONS, compared=["gaussian_noise", "uniform_noise"])
    assert chosen and all(CORRUPTIONS[name].family != "noise" for name in chosen)
    chosen = choose_plain(CORRUPTIONS, compared=["gaussian_blur", "box_blur"])
    assert chosen and all(CORRUPTIONS[name].family != "blur" for name in chosen)
    assert choose_plain(CORRUPTIONS, compared=list(CORRUPTIONS)) is None
