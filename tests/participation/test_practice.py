"""Practice with a criterion in session: the server decides, and whoever does not pass ends kindly and is paid."""

from __future__ import annotations

import pytest

from analysis.acceptance.rules import PRACTICE_NOT_PASSED
from analysis.findings.sensitivity import inclusion_flow
from analysis.labels.space import NO_ANSWER
from humanexp.core.errors import StudyRefused
from humanexp.participation import previews
from humanexp.participation.models import Response, Session, SessionState
from humanexp.participation.openings import receipt_is_valid
from humanexp.participation.pages.live import live_page
from humanexp.participation.sessions import PreviewClaim, holding_slots
from humanexp.results.tables import sessions_of
from humanexp.screening.selectors import excluded_counts
from humanexp.screening.services import judge_session
from humanexp.studies.models import Study
from tests.factories import Tab, collecting_study, make_stimulus_set, new_session

DESIGN = {
    "sessions": 3, "main_trials": 16, "practice_trials": None, "practice_slow": 2, "consistency_pairs": 1,
    "gold_trials": 2, "negative_trials": 0, "clean_trials": 2,
}  # fmt: skip


@pytest.fixture
def study(db) -> Study:
    make_stimulus_set(per_category=10)
    return collecting_study(design=DESIGN, rules="none")


@pytest.fixture
def person(client, study, monkeypatch):
    monkeypatch.setattr("humanexp.participation.presentation.SHARE", 0)
    return someone(client, study, "P-1")


def someone(client, study: Study, code: str) -> Tab:
    tab = Tab(client, new_session(study, code))
    tab.session = study.sessions.get(participant__code=code)
    assert tab.take_lease().status_code == 200
    return tab


def answer_block(tab: Tab, index: int, wrong: int = 0) -> dict:
    """Answers a block with the first `wrong` answers wrong; what the server says to the last one."""
    block = tab.session.blocks[index]
    right = dict(tab.session.trials.values_list("position", "correct_response"))
    for position in range(block["first"], block["last"] + 1):
        other = "cat" if right[position] != "cat" else "dog"
        reply = tab.answer(position, other if position - block["first"] < wrong else right[position])
        assert reply.status_code == 201, reply.json()
    return reply.json()


def fail(tab: Tab) -> dict:
    """No round is passed; what the page is told at the end."""
    answer_block(tab, 0, wrong=2)
    answer_block(tab, 1, wrong=6)
    assert answer_block(tab, 2, wrong=3)["cursor"] == tab.session.total
    end = tab.post("complete/", {"environment": {}}).json()
    tab.session.refresh_from_db()
    return end


def test_the_page_knows_what_is_slow_and_how_many_right_answers_pass(person):
    blocks = person.get("session/").json()["blocks"]
    kinds = [(block["kind"], block.get("is_slow"), block.get("needed"), block["feedback"]) for block in blocks]
    assert kinds[:4] == [
        ("practice", True, None, True),
        ("practice", None, 4, True),
        ("practice", None, 4, True),
        ("main", None, None, False),
    ]


def test_slow_motion_decides_nothing_and_four_of_six_pass(person):
    assert answer_block(person, 0, wrong=2)["cursor"] == person.session.blocks[1]["first"]
    assert answer_block(person, 1, wrong=2)["cursor"] == person.session.blocks[3]["first"]
    person.session.refresh_from_db()
    assert (person.session.practised, person.session.qualified) == (True, None)
    assert person.get(f"trials/{person.session.blocks[2]['first']}/stimulus/0/").status_code == 404
    assert person.answer(person.session.blocks[2]["first"]).status_code == 409


def test_a_missed_round_is_followed_by_another_that_decides(person):
    answer_block(person, 0)
    assert answer_block(person, 1, wrong=3)["cursor"] == person.session.blocks[2]["first"]
    person.session.refresh_from_db()
    assert person.session.practised is None
    assert answer_block(person, 2, wrong=2)["cursor"] == person.session.blocks[3]["first"]
    person.session.refresh_from_db()
    assert person.session.practised is True


def test_whoever_misses_both_finishes_with_a_receipt_and_leaves_the_place_to_another(client, study, person):
    end = fail(person)
    assert (end["practised"], end["qualified"]) == (False, False) and end["receipt"] and end["completion_code"]
    assert (person.session.state, person.session.practised) == (SessionState.COMPLETED, False)
    assert receipt_is_valid(session=person.session, receipt=end["receipt"])
    assert Response.objects.filter(session=person.session).count() == 2 + 6 + 6
    other = someone(client, study, "P-2")
    assert other.session.slot == person.session.slot and holding_slots(study).get() == other.session
    with pytest.raises(StudyRefused, match="taken part"):
        new_session(study, "P-1")


def test_the_browser_cannot_decide_that_practice_was_passed(person):
    answer_block(person, 0)
    first = person.session.blocks[1]["first"]
    assert person.answer(person.session.blocks[3]["first"]).status_code == 409
    person.answer(first, "dog", practised=True, correct=True, needed=0)
    person.session.refresh_from_db()
    assert person.session.practised is None and person.session.cursor <= first + 1


def test_it_never_counts_under_any_rules_and_is_a_line_of_its_own_in_the_flow(client, study, person):
    fail(person)
    verdict = judge_session(person.session)
    assert (verdict.accepted, verdict.reasons, verdict.evidence) == (False, [PRACTICE_NOT_PASSED], [])
    assert excluded_counts(study) == {PRACTICE_NOT_PASSED: 1}
    passed = someone(client, study, "P-2")
    for index in (0, 1, *range(3, len(passed.session.blocks))):
        answer_block(passed, index)
    passed.post("complete/", {"environment": {}})
    judge_session(Session.objects.get(pk=passed.session.pk))
    flow = inclusion_flow(sessions_of(study))
    assert (flow.opened, flow.finished, flow.practice_not_passed, flow.accepted) == (2, 1, 1, 1)
    assert flow.excluded == ()


def test_the_export_says_that_practice_was_not_passed_and_nothing_of_a_qualification(person, study):
    fail(person)
    row = sessions_of(study).iloc[0]
    assert row["practised"] == False and row.isna()["qualified"]  # noqa: E712 (a missing value is none of them)


def test_the_live_page_shows_where_it_ended(person, study):
    fail(person)
    page = live_page(study)
    steps = {str(step.label): (step.reached, step.unpractised, step.unqualified) for step in page.steps}
    assert steps["Read the instructions, answered once"] == (1, 1, 0) and steps["Practice done"] == (0, 0, 0)
    assert (page.begun, page.finished, page.unpractised, page.unqualified) == (1, 0, 1, 0)
    (row,) = page.rows
    assert (row.ended, row.answered, row.total, row.tone) == ("practice", 14, person.session.total, "plain")


def test_no_page_blames_a_qualification_that_the_study_has_not(person, study, admin_client):
    fail(person)
    judge_session(person.session)
    live = admin_client.get(f"/studies/{study.slug}/sessions/").content.decode()
    assert "1 did not pass the practice" in live and "qualif" not in live
    one = admin_client.get(f"/studies/{study.slug}/review/{person.session.code}/").content.decode()
    assert "Ended with the practice" in one and "No rule was asked" in one and "None came before" in one
    assert "qualification" not in one and "This task has none" not in one and "These rules check nothing" not in one


def test_a_preview_at_true_timing_ends_like_a_session(study):
    preview = previews.open_preview(study=study, by=None)
    claim = PreviewClaim(preview_id=preview.pk, nonce=preview.token_nonce)
    previews.take_lease(claim=claim, lease="tab-tab-tab")
    state = previews.session_of(claim)
    position = 0
    while position < state.total:
        stored = previews.store_response(claim=claim, lease="tab-tab-tab", position=position, response=NO_ANSWER)
        position = stored.cursor
    assert position == state.total
    end = previews.complete(claim=claim, lease="tab-tab-tab", environment={})
    assert (end.practised, end.qualified) == (False, False)


def test_earlier_studies_have_the_blocks_they_had(client, db):
    make_stimulus_set(per_category=10)
    study = collecting_study(spec=3, design={"sessions": 3, "main_trials": 16}, rules="none")
    blocks = new_session(study, "P-9").blocks
    assert (blocks[0]["first"], blocks[0]["last"], blocks[0]["kind"]) == (0, 9, "practice")
    assert all(set(block) == {"index", "kind", "task", "first", "last", "feedback"} for block in blocks)
