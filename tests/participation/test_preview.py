"""A researcher's preview: the same calls as a participant's, and nothing stored of it."""

from __future__ import annotations

import datetime

import pytest

from humanexp.core import clock
from humanexp.core.models import User
from humanexp.jobs.models import Job
from humanexp.participation import presentation, previews
from humanexp.participation.answers import given_out, iter_trial_rows
from humanexp.participation.models import ClosingAnswers, Participant, Preview, RefusedCall, Response, Session, Trial
from humanexp.participation.openings import issue_handoff
from humanexp.participation.sessions import holding_slots, session_counts
from humanexp.participation.tallies import answer_counts
from tests.factories import Tab, draft_study, make_stimulus_set, new_session
from tests.labels import of_the_sixteen

RUN, PREVIEW = "/api/v1/run/", "/api/v1/preview/"


class PreviewTab(Tab):
    """The page of a preview, opened with the code that the console gives."""

    def __init__(self, client, preview, lease="tab-00000009"):
        self.client, self.lease, self.headers = client, lease, {}
        code = previews.issue_preview_handoff(preview=preview)
        token = self.post("handoff/", {"code": code}).json()["token"]
        self.headers = {"Authorization": f"Bearer {token}"}
        self.take_lease()

    def get(self, path, **headers):
        return self.client.get(PREVIEW + path, headers={**self.headers, "X-Lease": self.lease, **headers})

    def post(self, path, body, **headers):
        headers = {**self.headers, "X-Lease": self.lease, **headers}
        return self.client.post(PREVIEW + path, body, content_type="application/json", headers=headers)


@pytest.fixture
def anna(db):
    return User.objects.create_user("anna")


@pytest.fixture
def preview(study, anna):
    previews._read.cache_clear()  # another test's study of this number and plan may have had another protocol
    return previews.open_preview(study=study, by=anna)


@pytest.fixture
def qualifying(db):
    """A study with two tries of a qualification."""
    make_stimulus_set(per_category=10)
    design = {
        "sessions": 3,
        "main_trials": 16,
        "practice_trials": 2,
        "consistency_pairs": 1,
        "qualification_trials": 16,
    }
    return draft_study(design=design)


def test_what_is_said_at_the_end_of_a_preview_is_stored_nowhere(client, db, anna):
    make_stimulus_set()
    asking = draft_study(spec=4)
    tab = PreviewTab(client, previews.open_preview(study=asking, by=anna))
    tab.post("skip/", {"to": "main"})
    while tab.get("session/").json()["cursor"] < tab.get("session/").json()["total"]:
        tab.post("skip/", {"to": "block"})
    assert tab.post("complete/", {}).json()["closing"] == ["problems", "comments", "device"]
    assert tab.post("closing/", {"comment": "Mine."}).status_code == 200
    assert not ClosingAnswers.objects.exists()


@pytest.fixture
def page(client, preview):
    return PreviewTab(client, preview)


def right_answers(study, slot=0):
    from humanexp.studies.plans import session_plan

    return [trial.correct_response for trial in session_plan(study, slot)[1].trials]


def stored(study):
    """Everything that there is of sessions."""
    study.refresh_from_db()
    return {
        "rows": {model.__name__: model.objects.count() for model in (Session, Trial, Response, Participant)},
        "audit": RefusedCall.objects.count(),
        "jobs": Job.objects.count(),
        "counts": session_counts(study),
        "bins": answer_counts(study).bins,
        "rows of answers": list(iter_trial_rows(study)),
        "held": list(holding_slots(study)),
        "frozen": study.frozen_at,
        "given": sorted(given_out(study)),
    }


def test_a_whole_preview_stores_nothing_and_is_gone_at_its_end(client, study, page):
    new_session(study)  # somebody real is under way
    before = stored(study)
    state = page.get("session/").json()
    for position, response in enumerate(right_answers(study)[: state["total"]]):
        if page.get("session/").json()["cursor"] > position:
            continue  # the second try of a qualification that was passed
        assert page.answer(position, response).status_code == 201
    end = page.post("complete/", {"environment": {"user_agent": "mine"}})
    assert end.json() == {
        "state": "completed",
        "receipt": "",
        "completion_code": "PREVIEW",
        "qualified": True,
        "practised": True,
        "debrief": "It was about noise.",
        "closing": [],
        "own_result": "",
    }
    assert stored(study) == before
    assert not Preview.objects.exists()
    over = page.get("session/")
    assert over.status_code == 409 and over.json()["type"] == "session-closed"
    assert stored(study) == before, "a call after the end is no audit entry either"


def test_the_replies_have_the_shape_of_a_participants(client, study, page):
    session = new_session(study)
    tab = Tab(client, session)
    tab.take_lease()
    for call in ("session/", "status/"):
        mine, theirs = page.get(call).json(), tab.get(call).json()
        assert mine.pop("session_code") == "", "a letter would name nobody"
        assert theirs.pop("session_code") == session.code and mine == theirs
    for path in ("trials/0/stimulus/0/", "trials/0/mask/", "trials/0-1/pictures/"):
        mine, theirs = page.get(path), tab.get(path)
        assert mine.status_code == theirs.status_code == 200
        assert mine.content == theirs.content and mine["Cache-Control"] == theirs["Cache-Control"]
    mine, theirs = page.answer(0, "dog"), tab.answer(0, "dog")
    assert mine.json() == theirs.json() and set(mine.json()) == {"position", "cursor", "feedback"}


def test_no_answer_is_told_before_it_is_given(study, page):
    text = page.get("session/").content.decode() + page.get("status/").content.decode()
    for word in ("role", "correct", "category", "corruption", "gold", "stimulus_id"):
        assert f'"{word}' not in text
    later = page.get("session/").json()["blocks"][1]["first"]
    for path in (f"trials/{later}/stimulus/0/", f"trials/0-{later}/pictures/"):
        assert page.get(path).status_code in (404, 422)
    page.post("skip/", {"to": "main"})
    first = page.get("session/").json()["cursor"]
    assert "feedback" not in page.answer(first, "dog").json()
    assert page.get(f"trials/{first}/stimulus/0/").status_code == 404


def test_tokens_and_codes_of_the_two_kinds_open_nothing_of_each_other(client, study, page, preview):
    session = new_session(study)
    real = Tab(client, session)
    assert client.get(f"{PREVIEW}session/", headers=real.headers).status_code == 401
    assert client.get(f"{RUN}session/", headers=page.headers).status_code == 401
    code = issue_handoff(session=session)
    assert client.post(f"{PREVIEW}handoff/", {"code": code}, content_type="application/json").status_code == 401
    code = previews.issue_preview_handoff(preview=preview)
    assert client.post(f"{RUN}handoff/", {"code": code}, content_type="application/json").status_code == 401
    assert client.post(f"{PREVIEW}handoff/", {"code": code}, content_type="application/json").status_code == 200
    assert client.post(f"{PREVIEW}handoff/", {"code": code}, content_type="application/json").status_code == 401


def test_a_draft_can_be_taken_before_it_is_launched(client, stimulus_set, anna):
    study = draft_study()
    page = PreviewTab(client, previews.open_preview(study=study, by=anna, slot=5))
    assert page.get("session/").json()["total"] == len(right_answers(study, 5))
    study.refresh_from_db()
    assert study.state == "draft" and study.frozen_at is None


@pytest.mark.parametrize("slot", [-1, 6])
def test_a_session_that_is_not_in_the_plan_is_refused(study, anna, slot):
    with pytest.raises(Exception, match="sessions 1 to 6"):
        previews.open_preview(study=study, by=anna, slot=slot)


def test_one_preview_a_researcher_and_study_and_old_ones_are_swept(study, anna, monkeypatch):
    bert = User.objects.create_user("bert")
    first = previews.open_preview(study=study, by=anna)
    again = previews.open_preview(study=study, by=anna)
    assert list(Preview.objects.all()) == [again] and again.pk != first.pk
    later = clock.now() + datetime.timedelta(hours=13)
    monkeypatch.setattr(clock, "now", lambda: later)
    previews.open_preview(study=study, by=bert)
    assert [preview.by for preview in Preview.objects.all()] == [bert]
    assert previews.sweep_previews() == 0


def test_a_preview_of_somebody_who_may_not_log_in_any_more_is_over(page, anna):
    anna.is_active = False
    anna.save()
    assert page.get("session/").status_code == 409


def test_leaving_deletes_it(page):
    assert page.post("withdraw/", {}).json() == {"state": "withdrawn"}
    assert not Preview.objects.exists()


@of_the_sixteen
def test_the_rules_of_the_qualification_hold_at_true_timing(client, qualifying, anna):
    """Two tries of which none is passed: the end, said as participants hear it."""
    page = PreviewTab(client, previews.open_preview(study=qualifying, by=anna))
    blocks = page.get("session/").json()["blocks"]
    tries = [block for block in blocks if block["kind"] == "qualification"]
    assert len(tries) == 2
    right = right_answers(qualifying)
    for position in range(tries[-1]["last"] + 1):
        wrong = "knife" if right[position] != "knife" else "dog"
        cursor = page.answer(position, wrong).json()["cursor"]
    assert cursor == len(right)
    assert page.post("complete/", {}).json()["qualified"] is False


def test_answers_out_of_order_and_other_windows_are_refused(page):
    assert page.answer(3).json()["type"] == "out-of-order"
    assert page.answer(0, "no such thing").status_code == 422
    assert page.post("responses/", {"position": 0, "response": "dog"}, **{"X-Lease": "another-tab"}).status_code == 409
    assert page.answer(0, "dog").status_code == 201
    assert page.answer(0, "cat").status_code == 200 and page.get("session/").json()["cursor"] == 1
    assert page.post("complete/", {}).status_code == 409


# Speeding through


def test_speeding_through_shortens_phases_and_lets_everybody_pass(client, qualifying, anna):
    page = PreviewTab(client, previews.open_preview(study=qualifying, by=anna, is_hurried=True))
    state = page.get("session/").json()
    shown = {name: state["protocol"][name] for name in ("fixation_ms", "stimulus_ms", "mask_ms", "response_ms")}
    assert shown == {"fixation_ms": 30, "stimulus_ms": 20, "mask_ms": 20, "response_ms": 4000}
    first_try, second_try = [block for block in state["blocks"] if block["kind"] == "qualification"]
    for position in range(first_try["last"] + 1):
        cursor = page.answer(position, "na").json()["cursor"]
    assert cursor == second_try["last"] + 1


def test_a_fixed_window_is_shortened_too(client, db, anna):
    make_stimulus_set()
    fixed = {"name": "vcr", "size_px": 24, "fixed_response_window": True, "response_ms": 1500}
    study = draft_study(protocol=fixed)
    page = PreviewTab(client, previews.open_preview(study=study, by=anna, is_hurried=True))
    assert page.get("session/").json()["protocol"]["response_ms"] == 200
    study.refresh_from_db()
    assert study.protocol.configuration["response_ms"] == 1500, "the study's protocol stays as it is"


def test_skipping_goes_to_the_next_block_past_practice_and_to_the_end(client, qualifying, anna):
    page = PreviewTab(client, previews.open_preview(study=qualifying, by=anna))
    blocks = page.get("session/").json()["blocks"]
    assert page.post("skip/", {"to": "block"}).json() == {"cursor": blocks[1]["first"]}
    main = next(block for block in blocks if block["kind"] == "main")
    assert page.post("skip/", {"to": "main"}).json() == {"cursor": main["first"]}
    for _ in blocks[main["index"] :]:
        reply = page.post("skip/", {"to": "block"})
    assert reply.json()["cursor"] == blocks[-1]["last"] + 1
    assert page.post("complete/", {}).status_code == 200
    assert page.post("skip/", {"to": "block"}).status_code == 409


@pytest.mark.parametrize("parameters", [{"hurry": "10"}, {"pace": "hurried"}, {"speed": "5", "is_hurried": "true"}])
def test_a_real_session_is_never_sped_up(client, study, tab, session, monkeypatch, parameters):
    monkeypatch.setattr(presentation, "SHARE", 100)  # a minute and more: no machine is so busy that it has passed
    plain = client.get(f"{RUN}session/", headers=tab.headers).json()
    asked = client.get(f"{RUN}session/", parameters, headers=tab.headers).json()
    assert asked == plain
    assert plain["protocol"]["stimulus_ms"] == 200
    shell = client.get("/run/", parameters).content.decode()
    assert '{"api": "/api/v1/run/"}' in shell and "preview" not in shell
    assert client.post(f"{RUN}skip/", {"to": "main"}, headers=tab.headers).status_code == 404
    reply = tab.post("responses/?hurry=10", {"position": 0, "response": "dog", "rt_ms": 5})
    assert reply.status_code == 429 and reply.json()["type"] == "too-fast"
    assert not Response.objects.exists()
