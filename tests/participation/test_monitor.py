"""The live page: where participants are, where they stop, how they were timed, on what."""

from __future__ import annotations

import datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from humanexp.core import clock
from humanexp.core.models import User
from humanexp.participation.models import Response, Session, SessionState
from humanexp.participation.pages import live
from humanexp.participation.pages.live import Activity, live_page
from tests.factories import collecting_study, make_stimulus_set, new_session

CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"
EDGE = f"{CHROME} Edg/140.0.0.0"
DESIGN = {
    "sessions": 20,
    "main_trials": 10,
    "minimum_main_trials": 5,
    "practice_trials": 2,
    "gold_trials": 0,
    "negative_trials": 0,
    "consistency_pairs": 0,
    "clean_trials": 0,
    "block_trials": 5,
    "qualification_trials": 16,
}


@pytest.fixture
def study(db):
    """Practice 0-1, two tries of the qualification 2-17 and 18-33, rounds 34-38 and 39-43."""
    make_stimulus_set(per_category=10, per_function=96)
    return collecting_study(design=DESIGN)


@pytest.fixture
def researcher(client, study):
    user = User.objects.create_user("anna")
    study.memberships.create(user=user, role="owner")
    client.force_login(user)
    return user


def someone(
    study, number, *, cursor=0, state="open", qualified=None, minutes_ago=0, lease="tab-1", timing=(), **fields
):
    """A participant who is where the arguments say."""
    session = new_session(study, f"P-{number}")
    now = clock.now()
    seen = now - datetime.timedelta(minutes=minutes_ago)
    Session.objects.filter(pk=session.pk).update(
        cursor=cursor, state=state, qualified=qualified, last_seen_at=seen, lease=lease, **fields
    )
    trials = list(session.trials.all())
    for position, (ok, seconds) in enumerate(timing):
        Response.objects.create(
            session=session,
            trial=trials[position],
            position=position,
            response="dog",
            timing_ok=ok,
            timing={"t_refresh_median_ms": 16.67, "dpr": 2.0},
            received_at=now + datetime.timedelta(seconds=seconds),
        )
    session.refresh_from_db()
    return session


def steps(study):
    return {str(step.label): step for step in live_page(study).steps}


def test_the_plan_is_what_these_tests_think(study):
    session = new_session(study)
    ends = [(block["kind"], block["last"]) for block in session.blocks]
    assert ends == [("practice", 1), ("qualification", 17), ("qualification", 33), ("main", 38), ("main", 43)]


def test_everybody_stands_where_they_stopped(study):
    someone(study, 1, lease="")  # agreed, and no more
    someone(study, 2, minutes_ago=31)  # opened the page, and fell silent
    someone(study, 3, cursor=1)  # in practice
    someone(study, 4, cursor=2, state=SessionState.WITHDRAWN)  # left after practice
    someone(study, 5, cursor=18)  # failed the first try, in the second
    someone(study, 6, cursor=34, qualified=True)  # passed
    someone(study, 7, cursor=44, qualified=False, state=SessionState.COMPLETED)  # not qualified: ended
    someone(study, 8, cursor=40, qualified=True, minutes_ago=29)
    someone(study, 9, cursor=44, qualified=True, state=SessionState.COMPLETED)
    someone(study, 10, cursor=44, qualified=True, state=SessionState.SUBMITTED)
    found = steps(study)
    assert {label: step.reached for label, step in found.items()} == {
        "Agreed to take part": 10,
        "Opened the study": 9,
        "Read the instructions, answered once": 8,
        "Practice done": 7,
        "Qualified": 4,
        "Round 1 done": 3,
        "Round 2 done": 2,
        "Finished": 2,
        "Submitted": 1,
    }
    stopped = {label: (step.under_way, step.silent, step.left, step.unqualified) for label, step in found.items()}
    assert stopped["Agreed to take part"] == (1, 0, 0, 0)
    assert stopped["Opened the study"] == (0, 1, 0, 0)
    assert stopped["Practice done"] == (1, 0, 1, 1)
    assert stopped["Qualified"] == (1, 0, 0, 0) and stopped["Round 1 done"] == (1, 0, 0, 0)
    page = live_page(study)
    assert page.counts == {
        Activity.UNDER_WAY: 5,
        Activity.SILENT: 1,
        Activity.FINISHED: 3,
        Activity.LEFT: 1,
    }
    assert (page.begun, page.finished, page.unqualified, page.lost, page.lost_share) == (10, 2, 1, 2, 0.2)


def test_a_bar_is_as_long_as_its_share_and_its_parts_fill_it(study):
    someone(study, 1, cursor=2, state=SessionState.WITHDRAWN)
    someone(study, 2, cursor=2, minutes_ago=40)
    someone(study, 3, cursor=2)
    someone(study, 4, lease="")
    practice = steps(study)["Practice done"]
    assert [(part.kind, part.x, part.width) for part in practice.parts] == [
        ("is-here", 0, 25),
        ("is-silent", 25, 25),
        ("is-left", 50, 25),
    ]
    assert [part.kind for part in steps(study)["Agreed to take part"].parts] == ["is-on", "is-here"]
    assert steps(study)["Submitted"].parts == []


def test_timing_is_told_by_session_and_over_all(study):
    someone(study, 1, cursor=4, timing=[(True, 0), (True, 1), (True, 2), (None, 3)])
    someone(study, 2, cursor=4, timing=[(True, 0), (False, 1), (True, 2), (True, 3)])
    someone(study, 3, cursor=2, timing=[(None, 0), (None, 1)])
    someone(study, 4, cursor=2, timing=[(False, 0), (False, 1)], state=SessionState.WITHDRAWN)
    page = live_page(study)
    assert (page.figures.timing.ok, page.figures.timing.judged, page.figures.timing.sessions) == (6, 7, 2)
    assert [(one.low, one.high, one.sessions) for one in page.figures.timing.classes] == [
        (0.99, 1.0, 1),
        (0.95, 0.99, 0),
        (0.9, 0.95, 0),
        (0.0, 0.9, 1),
    ]
    by_code = {row.participant: row.timing_share for row in page.rows}
    assert by_code == {"P-1": 1.0, "P-2": 0.75, "P-3": None, "P-4": None}  # who left is not told of


def test_active_time_leaves_out_long_pauses(study):
    someone(study, 1, cursor=4, timing=[(True, 0), (True, 3), (True, 600), (True, 602)])
    someone(study, 2, cursor=1, timing=[(True, 0)])
    active = {row.participant: row.active_s for row in live_page(study).rows}
    assert active == {"P-1": pytest.approx(3 + 60 + 2, abs=0.01), "P-2": None}


def test_devices_are_told_in_classes_without_the_browsers_own_words(study, client, researcher):
    def told(agent, width):
        return {"environment": {"user_agent": agent, "window_px": [width, 900], "dpr": 2}}

    someone(study, 1, timing=[(True, 0)], **told(CHROME, 1440))
    someone(study, 2, timing=[(True, 0)], **told(EDGE, 1280))
    someone(study, 3, **told("curl/8 secret-of-mine", 1920))
    someone(study, 4)
    someone(study, 5, environment={"simulated": True})
    devices = live_page(study).figures.devices
    assert [(one.label, one.sessions) for one in devices.rates] == [("60 Hz", 2)]
    assert [(one.label, one.sessions, one.share) for one in devices.ratios] == [("2", 2, 1.0)]
    assert sorted((one.label, one.sessions) for one in devices.families) == [("Chrome", 1), ("Edge", 1), ("other", 1)]
    assert [(one.label, one.sessions) for one in devices.windows] == [("1280–1535 px", 2), ("1920–2559 px", 1)]
    text = client.get(f"/studies/{study.slug}/sessions/").content.decode()
    assert "Chrome" in text and "secret-of-mine" not in text and "AppleWebKit" not in text


@pytest.mark.parametrize(
    ("interval", "label"), [(16.67, "60 Hz"), (6.94, "144 Hz"), (8.33, "120 Hz"), (4.17, "240 Hz"), (40.0, "other")]
)
def test_refresh_rates_fall_into_the_rates_that_screens_have(study, interval, label):
    someone(study, 1, timing=[(True, 0)])
    Response.objects.update(timing={"t_refresh_median_ms": interval, "dpr": 1})
    assert [str(one.label) for one in live_page(study).figures.devices.rates] == [label]


def test_the_page_shows_who_is_where_and_refreshes_only_its_part(client, study, researcher):
    someone(study, 1, cursor=35, qualified=True, timing=[(True, 0), (True, 4)])
    someone(study, 2, cursor=18, minutes_ago=45)
    whole = client.get(f"/studies/{study.slug}/sessions/").content.decode()
    for words in (
        "1 person is taking part now",
        "round 1 of 2",
        "qualification, attempt 2 of 2",
        "35 of 44",
        "Certificate",
    ):
        assert words in " ".join(whole.split())
    assert f'href="/studies/{study.slug}/timing/"' in whole and 'hx-trigger="live"' in whole
    part = client.get(f"/studies/{study.slug}/sessions/", headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part and "P-1" in part and "P-2" in part
    silent = client.get(f"/studies/{study.slug}/sessions/?show=silent").content.decode()
    assert "P-2" in silent and "P-1<" not in silent


def test_before_the_first_session_the_page_says_what_will_be_here(client, study, researcher):
    text = client.get(f"/studies/{study.slug}/sessions/").content.decode()
    assert "No sessions yet" in text and "Take it yourself" in text


def test_other_peoples_studies_are_not_there(client, study):
    client.force_login(User.objects.create_user("bert"))
    assert client.get(f"/studies/{study.slug}/sessions/").status_code == 404
    client.logout()
    assert client.get(f"/studies/{study.slug}/sessions/").status_code == 302


def test_the_number_of_queries_does_not_grow_with_the_sessions_and_pages_are_short(study, monkeypatch):
    monkeypatch.setattr(live, "ROWS", 10)
    for number in range(3):
        someone(study, number, cursor=1, timing=[(True, 0), (True, 2)])
    with CaptureQueriesContext(
        connection,
    ) as few:
        page = live_page(study)
        list(page.rows)
    for number in range(3, 18):
        someone(study, number, cursor=1, timing=[(True, 0), (True, 2)])
    with CaptureQueriesContext(connection) as many:
        page = live_page(study)
        shown = list(page.rows)
    assert len(many) == len(few) <= 13
    assert len(shown) == 10 and page.rows.paginator.num_pages == 2
    assert len(list(live_page(study, number="2").rows)) == 8
    assert len(list(live_page(study, number="nonsense", show="nonsense").rows)) == 10


def test_the_sessions_are_counted_once_and_a_page_of_them_is_told_by_its_keys(study):
    with CaptureQueriesContext(connection) as asked:
        page = live_page(study, show="finished")
    mine = [query["sql"] for query in asked if query["sql"].partition(" FROM ")[2].startswith('"experiments_session"')]
    assert len([sql for sql in mine if "standing" in sql and "COUNT(" in sql]) == 1
    (keys,) = [sql for sql in mine if "LIMIT" in sql and "ORDER BY" in sql]
    assert "blocks" not in keys and "environment" not in keys, "what is sorted is short"
    assert page.rows.paginator.count == page.counts[Activity.FINISHED] == len(page.rows)


def test_who_left_and_kept_the_answers_has_left_and_is_not_under_way(study):
    someone(study, 1, cursor=3, left_at=clock.now())
    someone(study, 2, cursor=3)
    page = live_page(study)
    assert (page.counts[Activity.LEFT], page.counts[Activity.UNDER_WAY], page.lost) == (1, 1, 1)
    assert [row.standing for row in live_page(study, show="left").rows] == [Activity.LEFT]
    at = next(step for step in page.steps if step.left)
    assert (str(at.label), at.left, at.under_way) == ("Practice done", 1, 1)
