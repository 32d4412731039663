"""Practice with a criterion: what is planned, what it takes, and whom it lets pass."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from scipy.stats import binom

from analysis.design.originals_needed import demand_of
from analysis.design.planner import plan_study
from analysis.errors import DesignRefused, InvalidInput
from analysis.study.design import DesignConfig, DiscriminationDesign, PracticeDesign
from analysis.study.study import StudyConfiguration
from tests.analysis.design.pictures import picture_set, with_plain

PLAIN = ("impulse_noise", "brightness")
NEW = {"title": "A", "stimuli": "b"}
#: Lapse rate of careful people on clean pictures, and how often careful scripted people are right about plain pairs.
LAPSE = 0.02
RIGHT_ABOUT_PLAIN = {"same-different": (0.9, 0.97), "abx": (0.95, 0.95)}


def at_least(needed: int, shares: np.ndarray) -> float:
    """Exact probability of so many right answers, each with a share of its own."""
    outcomes = np.ones(1)
    for share in shares:
        outcomes = np.convolve(outcomes, [1 - share, share])
    return float(outcomes[needed:].sum())


def passing(design: PracticeDesign, *shares: float) -> float:
    """Probability of passing one of the rounds at speed; right answers take turns where they have two shares."""
    once = at_least(design.practice_pass, np.resize(shares, design.practice_round))
    return 1 - (1 - once) ** design.practice_rounds


def test_careful_people_pass_and_guessing_people_do_not():
    naming, pairs = DesignConfig(), DiscriminationDesign()
    assert passing(naming, 1 - LAPSE) >= 0.99
    assert passing(naming, 1 / 16) <= 0.05
    assert passing(pairs, 0.5) <= 0.05
    for shares in RIGHT_ABOUT_PLAIN.values():
        assert passing(pairs, *shares) >= 0.99


def test_three_rounds_that_count_would_let_too_many_guessing_people_pass():
    once = binom.sf(DiscriminationDesign().practice_pass - 1, DiscriminationDesign().practice_round, 0.5)
    assert 1 - (1 - once) ** 3 == pytest.approx(0.0568, abs=5e-5)
    assert 1 - (1 - once) ** 2 == pytest.approx(0.0382, abs=5e-5)


@pytest.fixture(scope="module")
def planned():
    originals, stimuli = picture_set([24] * 16, 900)
    stimuli = with_plain(originals, stimuli)
    config = DesignConfig(sessions=6, discrimination=DiscriminationDesign(trials=12, sentinels=4))
    return plan_study(originals, stimuli, config, 7, plain=PLAIN), {row["stimulus"]: row for row in stimuli}


def test_slow_motion_comes_first_and_every_round_that_decides_is_at_speed(planned):
    plan, _ = planned
    for session in plan.sessions:
        blocks = [(block.kind, block.task, block.trials, block.feedback) for block in session.blocks()]
        assert blocks[:3] == [
            ("slow-practice", "categorisation", 4, True),
            ("practice-round", "categorisation", 6, True),
            ("practice-round", "categorisation", 6, True),
        ]
        first = next(at for at, (_, task, *_rest) in enumerate(blocks) if task == "discrimination")
        assert [(kind, trials) for kind, _, trials, _ in blocks[first : first + 3]] == [
            ("slow-practice", 4), ("practice-round", 12), ("practice-round", 12),
        ]  # fmt: skip


def test_practice_originals_come_from_their_pool_and_nowhere_else_in_the_study(planned):
    plan, rows = planned
    practised, others = set(), set()
    for session in plan.sessions:
        shown = [rows[name]["original"] for t in session.trials if t.role == "practice" for name in t.stimuli]
        assert len(shown) == len(set(shown)) == 16 + 2 * 28
        practised |= set(shown)
        others |= {rows[name]["original"] for t in session.trials if t.role != "practice" for name in t.stimuli}
    assert practised <= set(plan.pools["practice"]) and not practised & others


def test_practice_pictures_are_clean_and_pairs_show_functions_that_nobody_compares(planned):
    plan, rows = planned
    for trial in (trial for session in plan.sessions for trial in session.trials if trial.role == "practice"):
        shown = {rows[name]["corruption"] for name in trial.stimuli}
        assert shown == {"none"} if trial.task == "categorisation" else shown <= set(PLAIN)


def test_either_answer_is_right_in_half_of_every_round(planned):
    plan, _ = planned
    for session in plan.sessions:
        pairs = [trial for trial in session.trials if trial.role == "practice" and trial.task == "discrimination"]
        for _, block in itertools.groupby(pairs, key=lambda trial: trial.block):
            answers = [trial.correct_response for trial in block]
            assert answers.count("same") == answers.count("different")


def test_few_originals_shorten_the_practice_and_never_a_round_that_decides():
    asked = DesignConfig(sessions=4, main_trials=16, minimum_main_trials=16)
    needed = demand_of(asked, originals=10_000)[0].originals
    demand, notes = demand_of(asked, originals=needed - 1)
    assert [tuple(part) for part in demand.practice_parts] == [("slow-practice", 2), ("practice-round", 6)]
    assert f"{needed - 1} originals are few: 8 practice trials a session instead of 16." in notes
    with pytest.raises(DesignRefused, match=r"originals are too few: .* \(8 practice,"):
        demand_of(asked, originals=demand.originals - 1)


def test_a_single_round_without_a_criterion_can_be_asked_for():
    originals, stimuli = picture_set([12] * 16, 400)
    plan = plan_study(originals, stimuli, DesignConfig(sessions=2, practice_trials=3), 0)
    assert [(block.kind, block.trials) for block in plan.sessions[0].blocks()][0] == ("practice", 3)


def test_published_protocols_keep_their_practice_and_its_mark():
    values = {**NEW, "protocol": "geirhos2018-batch2", "design": {"discrimination": {}}}
    study = StudyConfiguration.from_file_values(values)
    assert (study.design.practice_trials, study.design.discrimination.practice) == (10, 4)
    assert (study.protocol.feedback_ms, study.protocol.feedback_wrong_ms) == (300, None)
    assert StudyConfiguration.from_toml(study.to_toml()) == study == StudyConfiguration.from_dict(study.to_dict())


@pytest.mark.parametrize("version", [1, 2, 3])
def test_earlier_studies_keep_their_practice_their_marks_and_their_plans(version: int):
    study = StudyConfiguration.from_file_values({**NEW, "spec": version, "design": {"discrimination": {}}})
    assert (study.design.practice_trials, study.design.discrimination.practice) == (10, 4)
    assert (study.protocol.feedback_ms, study.protocol.feedback_wrong_ms) == (300, None)
    assert "practice_round" not in json.dumps(study.to_dict()) and "wrong" not in json.dumps(study.to_dict())


def test_a_new_study_has_a_criterion_and_writes_it_down():
    study = StudyConfiguration.from_file_values(NEW)
    assert (study.design.practice_trials, study.protocol.feedback_wrong_ms) == (None, 2500)
    assert "practice_pass = 4" in study.to_toml() and StudyConfiguration.from_toml(study.to_toml()) == study


def test_a_round_that_nobody_could_pass_is_refused():
    with pytest.raises(InvalidInput, match="practice_pass is 7, more than a round has trials"):
        DesignConfig(practice_pass=7)
