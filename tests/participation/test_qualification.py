"""Qualification in session: 16 clean trials, a second try with fresh pictures, and an end that is no failure."""

from __future__ import annotations

import pytest

from analysis.errors import InvalidInput
from humanexp.core.errors import StudyRefused
from humanexp.participation.models import Response, SessionState
from humanexp.participation.openings import receipt_is_valid
from humanexp.participation.sessions import holding_slots
from humanexp.studies import services
from tests.factories import SIZE_PX, Tab, collecting_study, configuration, draft_study, make_stimulus_set, new_session
from tests.labels import of_the_sixteen

DESIGN = {"sessions": 3, "main_trials": 16, "practice_trials": 2, "consistency_pairs": 1, "qualification_trials": 16}


@pytest.fixture
def study(db):
    make_stimulus_set(per_category=10)
    return collecting_study(design=DESIGN)


@pytest.fixture
def person(client, study, monkeypatch):
    monkeypatch.setattr("humanexp.participation.presentation.SHARE", 0)
    return someone(client, study, "P-1")


def someone(client, study, code):
    tab = Tab(client, new_session(study, code))
    tab.session = study.sessions.get(participant__code=code)
    assert tab.take_lease().status_code == 200
    return tab


def answer_block(tab, index, wrong=0):
    """Answers a block with the first `wrong` answers wrong; the cursor that the server gives back."""
    block = tab.session.blocks[index]
    trials = {trial.position: trial for trial in tab.session.trials.all()}
    for position in range(block["first"], block["last"] + 1):
        right = trials[position].correct_response
        other = "cat" if right != "cat" else "dog"
        reply = tab.answer(position, other if position - block["first"] < wrong else right)
        assert reply.status_code == 201, reply.json()
    return reply.json()["cursor"]


@of_the_sixteen
def test_the_plan_holds_two_tries_of_all_categories_with_fresh_pictures(study, person):
    kinds = [block["kind"] for block in person.session.blocks]
    assert kinds[:3] == ["practice", "qualification", "qualification"] and "qualification" not in kinds[3:]
    shown = list(person.session.trials.values_list("role", "block", "stimulus__source_image__key", "correct_response"))
    tries = [[key for _, block, key, _ in shown if block == index] for index in (1, 2)]
    assert [len(keys) for keys in tries] == [16, 16] and not set(tries[0]) & set(tries[1])
    for index in (1, 2):
        assert len({answer for _, block, _, answer in shown if block == index}) == 16


def test_who_passes_goes_on_past_the_second_try(person):
    answer_block(person, 0)
    assert answer_block(person, 1, wrong=3) == person.session.blocks[3]["first"]
    person.session.refresh_from_db()
    assert person.session.qualified is True
    assert person.get(f"trials/{person.session.blocks[2]['first']}/stimulus/0/").status_code == 404
    assert person.answer(person.session.blocks[2]["first"]).status_code == 409


def test_a_missed_first_try_is_followed_by_a_second_that_decides(person):
    answer_block(person, 0)
    assert answer_block(person, 1, wrong=4) == person.session.blocks[2]["first"]
    person.session.refresh_from_db()
    assert person.session.qualified is None
    assert answer_block(person, 2, wrong=3) == person.session.blocks[3]["first"]
    person.session.refresh_from_db()
    assert person.session.qualified is True


def test_who_misses_both_finishes_with_a_receipt_and_leaves_the_slot_to_another(client, study, person):
    answer_block(person, 0)
    answer_block(person, 1, wrong=4)
    assert answer_block(person, 2, wrong=16) == person.session.total
    end = person.post("complete/", {"environment": {}}).json()
    assert end["qualified"] is False and end["receipt"] and end["completion_code"]
    person.session.refresh_from_db()
    assert (person.session.state, person.session.qualified) == (SessionState.COMPLETED, False)
    assert receipt_is_valid(session=person.session, receipt=end["receipt"])
    assert Response.objects.filter(session=person.session).count() == 2 + 32, "both tries are stored"
    other = someone(client, study, "P-2")
    assert other.session.slot == person.session.slot
    assert holding_slots(study).get() == other.session
    with pytest.raises(StudyRefused, match="taken part"):
        new_session(study, "P-1")


def test_an_answer_sent_twice_at_the_end_of_a_try_changes_nothing(person):
    answer_block(person, 0)
    cursor = answer_block(person, 1)
    again = person.answer(person.session.blocks[1]["last"], "dog")
    assert (again.status_code, again.json()["cursor"]) == (200, cursor)


def test_the_verdict_reads_the_better_try(person):
    from humanexp.screening.services import judge_session

    answer_block(person, 0)
    answer_block(person, 1, wrong=4)
    answer_block(person, 2, wrong=5)
    person.post("complete/", {"environment": {}})
    person.session.refresh_from_db()
    verdict = judge_session(person.session)
    assert not verdict.accepted and verdict.reasons == ["qualification failed"]
    evidence = next(rule for rule in verdict.evidence if rule["kind"] == "qualification")
    assert (evidence["value"], evidence["threshold"], evidence["trials"]) == (12, 13, 16)


def test_a_study_without_the_rule_has_one_round_that_ends_nobodys_session(client, db, monkeypatch):
    monkeypatch.setattr("humanexp.participation.presentation.SHARE", 0)
    make_stimulus_set(per_category=10)
    study = draft_study(design=DESIGN, rules="none", protocol={"name": "vcr", "size_px": SIZE_PX})
    tab = someone(client, services.start_collecting(study=study), "P-1")
    assert [block["kind"] for block in tab.session.blocks].count("qualification") == 1
    answer_block(tab, 0)
    assert answer_block(tab, 1, wrong=16) == tab.session.blocks[2]["first"]


def test_the_number_of_tries_is_the_rule_sets():
    with pytest.raises(InvalidInput, match="rule set"):
        configuration(design={**DESIGN, "qualification_tries": 3})
