from __future__ import annotations

from collections import Counter

import pytest

from analysis.design.catalogue import Catalogue
from analysis.design.planner import plan_study
from analysis.design.sessions import without_seen
from analysis.errors import DesignRefused
from analysis.study.design import DesignConfig
from tests.analysis.design.pictures import picture_set


@pytest.fixture(scope="module")
def study():
    originals, stimuli = picture_set([30] * 16, 960)
    config = DesignConfig(sessions=25, sessions_per_participant=2)
    return Catalogue.from_rows(originals, stimuli), plan_study(originals, stimuli, config, 5)


def originals_of(session, catalogue):
    rows = catalogue.by_stimulus()
    return {rows[trial.stimulus].original for trial in session.trials}


def planned(plan):
    return {trial.stimulus for session in plan.sessions for trial in session.trials}


def test_a_second_session_shows_no_original_of_the_first(study):
    catalogue, plan = study
    seen = originals_of(plan.sessions[0], catalogue)
    adapted = without_seen(plan.sessions[1], catalogue, plan.pools, seen=seen, taken=planned(plan))
    assert originals_of(plan.sessions[1], catalogue) & seen
    assert not originals_of(adapted, catalogue) & seen
    assert [trial.position for trial in adapted.trials] == list(range(len(adapted.trials)))
    rows = catalogue.by_stimulus()
    for trial in adapted.trials:
        assert trial.correct_response == rows[trial.stimulus].category
    roles = Counter(trial.role for trial in adapted.trials)
    assert roles["gold"] == 8 and roles["main"] >= 20


def test_replacements_are_stimuli_that_nobody_else_gets(study):
    catalogue, plan = study
    seen = originals_of(plan.sessions[0], catalogue)
    adapted = without_seen(plan.sessions[1], catalogue, plan.pools, seen=seen, taken=planned(plan))
    rows = catalogue.by_stimulus()
    mine = {trial.stimulus for trial in plan.sessions[1].trials}
    new = [t.stimulus for t in adapted.trials if t.role == "main" and t.stimulus not in mine]
    assert new and not set(new) & planned(plan)
    changes = [rows[t.stimulus] for t in adapted.trials if t.role == "main"]
    assert Counter(row.original for row in changes).most_common(1)[0][1] == 1


def test_nothing_seen_nothing_changed(study):
    catalogue, plan = study
    assert without_seen(plan.sessions[1], catalogue, plan.pools, seen=set(), taken=set()) is plan.sessions[1]


def test_consistency_pictures_stay_pairs(study):
    catalogue, plan = study
    seen = originals_of(plan.sessions[0], catalogue)
    adapted = without_seen(plan.sessions[1], catalogue, plan.pools, seen=seen, taken=planned(plan))
    firsts = Counter(t.stimulus for t in adapted.trials if t.role == "consistency_first")
    seconds = Counter(t.stimulus for t in adapted.trials if t.role == "consistency_second")
    assert firsts == seconds


def test_refuses_when_too_little_is_left(study):
    catalogue, plan = study
    with pytest.raises(DesignRefused, match="has seen too many of the pictures"):
        without_seen(plan.sessions[1], catalogue, plan.pools, seen=set(catalogue.category_of), taken=set())
