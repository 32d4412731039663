"""No session is faster than its pictures, however clocks are set."""

from __future__ import annotations

import pytest

from humanexp.participation import answering, presentation
from humanexp.participation.models import Response
from humanexp.studies import services
from tests.factories import Tab, draft_study, new_session
from tests.participation.limits import audited


@pytest.fixture
def paced(monkeypatch, unhurried, hand_clock):
    monkeypatch.setattr(presentation, "SHARE", 0.9)
    return hand_clock


def test_a_session_is_no_faster_than_its_phases(paced, client, study):
    """Fixation 300 + stimulus 200 + mask 200 ms a trial, less the tenth that is allowed for whole frames."""
    session = new_session(study)
    tab = Tab(client, session)
    tab.take_lease()
    paced.go(seconds=0.62)
    refused = tab.answer(0)
    assert refused.status_code == 429 and refused.json()["type"] == "too-fast"
    assert refused["Retry-After"] == "1" and audited() == ["too-fast"]
    session.refresh_from_db()
    assert session.cursor == 0 and not Response.objects.exists()
    paced.go(seconds=0.02)
    assert tab.answer(0).status_code == 201
    assert tab.answer(1).status_code == 429
    paced.go(seconds=0.63)
    assert tab.answer(1).status_code == 201


def test_answers_that_waited_for_the_network_arrive_in_a_burst(paced, client, study):
    session = new_session(study)
    tab = Tab(client, session)
    tab.take_lease()
    first = session.blocks[0]
    paced.go(seconds=0.7 * (first["last"] + 1))
    for position in range(first["last"] + 1):
        assert tab.answer(position).status_code == 201
    # The next block's pictures could not be fetched before this moment.
    assert tab.answer(first["last"] + 1).status_code == 429
    paced.go(seconds=0.7)
    assert tab.answer(first["last"] + 1).status_code == 201


@pytest.mark.verify
def test_a_whole_session_takes_at_least_its_phases(paced, client, study):
    session = new_session(study)
    tab = Tab(client, session)
    tab.take_lease()
    begun, position = paced.now(), 0
    while position < session.total:  # as fast as the server lets anybody
        if tab.answer(position).status_code == 201:
            position += 1
        else:
            paced.go(seconds=0.05)
            answering.REFUSALS.clear()
    assert (paced.now() - begun).total_seconds() >= 0.9 * 0.7 * session.total


def test_a_pair_takes_two_pictures_and_an_untimed_task_no_time():
    from analysis.study.protocol import load_protocol
    from humanexp.studies.tasks import TASKS

    vcr = load_protocol("vcr")
    assert presentation.least_s(TASKS["categorisation"], vcr) == pytest.approx(0.7)
    assert presentation.least_s(TASKS["discrimination"], vcr) == pytest.approx(1.4)
    assert presentation.least_s(TASKS["abx"], vcr) == pytest.approx(2.1)
    assert presentation.least_s(TASKS["validation"], vcr) == 0
    fixed = load_protocol("geirhos2018-batch2")
    assert fixed.fixed_response_window
    phases = fixed.fixation_ms + fixed.stimulus_ms + fixed.mask_ms + fixed.response_ms
    assert presentation.least_s(TASKS["categorisation"], fixed) == pytest.approx(phases / 1000)


def test_scripted_sessions_are_as_fast_as_they_like(paced, client, stimulus_set):
    made = draft_study(population="scripted")
    session = new_session(services.start_collecting(study=made), "S-0001", scripted=True)
    tab = Tab(client, session)
    tab.take_lease()
    for position in range(session.total):
        assert tab.answer(position, simulated=True).status_code == 201


def answer_whole(tab, paced, session, upset):
    """Answer at an honest pace; the longest wait that the server asked for, and the waits beyond the pictures' time."""
    position, refusals = session.cursor, []
    while position < session.total:
        paced.go(seconds=0.7)
        upset(position)
        reply = tab.answer(position)
        if reply.status_code == 201:
            position += 1
        else:
            assert reply.status_code == 429, reply.content
            refusals.append(int(reply["Retry-After"]))
    return refusals


@pytest.mark.parametrize("step_s", [-86_400 * 400, -3600, -60, -2, 2, 3600, 86_400 * 400])
def test_a_clock_that_is_set_stops_nobody(paced, client, study, step_s):
    session = new_session(study)
    tab = Tab(client, session)
    tab.take_lease()
    middle = session.blocks[1]["first"] + 5

    def once(position):
        if position == middle and not waited:
            waited.append(position)
            paced.go(seconds=step_s)

    waited = []
    refusals = answer_whole(tab, paced, session, once)
    assert len(refusals) <= 3 and sum(refusals) <= 3, refusals


def test_a_clock_that_is_set_to_and_fro_stops_nobody(paced, client, study):
    session = new_session(study)
    tab = Tab(client, session)
    tab.take_lease()
    steps = {6: 7200, 9: -7200, 12: -3600, 13: 3600, 20: -30, 21: -30}
    done = set()

    def upset(position):
        if position in steps and position not in done:
            done.add(position)
            paced.go(seconds=steps[position])
            tab.take_lease()  # the page is loaded anew at once, which is a sign of life, too

    refusals = answer_whole(tab, paced, session, upset)
    assert sum(refusals) <= 3, refusals


def test_a_clock_that_was_set_back_hurries_nobody(paced, client, study):
    """What is gained by it are the pictures of one trial: the next ones take their time."""
    session = new_session(study)
    tab = Tab(client, session)
    tab.take_lease()
    paced.go(seconds=0.7)
    assert tab.answer(0).status_code == 201
    paced.go(seconds=-3600)
    assert tab.answer(1).status_code == 201
    assert [tab.answer(2).status_code for _ in range(3)] == [429] * 3
    paced.go(seconds=0.7)
    assert tab.answer(2).status_code == 201
