"""The questions at the end: optional, apart from the answers, and no text leaves without a person's word."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from humanexp.core.errors import NotAllowed
from humanexp.core.models import AuditEvent, User
from humanexp.participation.endings import clear_text, erase_withdrawn
from humanexp.participation.models import ClosingAnswers, Response, Session
from humanexp.participation.set_ups import closing_answers
from humanexp.results.tables import closing_of
from humanexp.studies.models import Role, Study
from tests.factories import Tab, collecting_study, make_stimulus_set, new_session

SAID = {"went_wrong": "yes", "problem": "It froze.", "comment": "I am Jo, 12 Main St.", "device": "laptop"}


@pytest.fixture
def asking(db: None) -> Study:
    """A study of the newest version, which asks at the end."""
    make_stimulus_set()
    return collecting_study(spec=4)


@pytest.fixture
def tab(client, asking: Study) -> Tab:
    return finished(client, new_session(asking))


def finished(client, session: Session) -> Tab:
    tab = Tab(client, session)
    tab.take_lease()
    for position in range(session.total):
        assert tab.answer(position).status_code == 201
    tab.done = tab.post("complete/", {}).json()
    return tab


def test_what_is_asked_follows_from_the_study(client, tab: Tab) -> None:
    assert tab.done["closing"] == ["problems", "comments", "device"]
    assert tab.get("status/").json()["closing"] == "open"
    reply = tab.post("closing/", SAID)
    assert (reply.status_code, reply.json()) == (200, {"state": "completed"})
    assert tab.get("status/").json()["closing"] == "given" and tab.post("complete/", {}).json()["closing"] == []
    stored = ClosingAnswers.objects.get()
    assert {name: getattr(stored, name) for name in SAID} == SAID
    assert not Response.objects.filter(response__in=SAID.values()).exists(), "apart from the answers"


def test_saying_nothing_finishes_too_and_the_first_time_counts(tab: Tab, asking: Study) -> None:
    assert tab.post("closing/", {}).status_code == 200
    assert tab.get("status/").json()["closing"] == "given"
    assert tab.post("closing/", SAID).status_code == 200
    assert list(closing_answers(asking)) == [] and ClosingAnswers.objects.get().comment == ""


def test_earlier_studies_ask_nothing(client, db: None) -> None:
    make_stimulus_set()
    study = collecting_study()
    assert study.configuration.get("spec") is None
    tab = finished(client, new_session(study))
    assert tab.done["closing"] == [] and tab.get("status/").json()["closing"] == "none"
    assert tab.post("closing/", {"comment": "Hello"}).status_code == 422
    assert not ClosingAnswers.objects.exists()


def test_only_what_is_asked_and_only_after_the_last_answer(client, db: None) -> None:
    make_stimulus_set()
    session = new_session(collecting_study(spec=4, ending={"comments": False}))
    early = Tab(client, session)
    early.take_lease()
    assert early.post("closing/", {"device": "laptop"}).status_code == 409
    tab = finished(client, session)
    assert tab.done["closing"] == ["problems", "device"]
    assert tab.post("closing/", {"comment": "Hello"}).status_code == 422
    assert tab.post("closing/", {"went_wrong": "maybe"}).status_code == 422
    assert tab.post("closing/", {"problem": "x" * 2001}).status_code == 422
    assert Tab(client, session, lease="another-tab").post("closing/", {}).status_code == 409
    assert not ClosingAnswers.objects.exists()


def test_an_export_has_a_text_only_after_somebody_cleared_it(tab: Tab, asking: Study) -> None:
    tab.post("closing/", SAID)
    session = Session.objects.get()
    anna = User.objects.create_user("anna")
    asking.memberships.create(user=anna, role=Role.REVIEWER)

    def exported() -> dict[str, object]:
        (row,) = closing_of(asking).to_dict("records")
        return {name: row[name] for name in SAID if isinstance(row[name], str)}

    assert exported() == {"went_wrong": "yes", "device": "laptop"}
    clear_text(session=session, text="problem", is_cleared=True, by=anna)
    assert exported() == {"went_wrong": "yes", "device": "laptop", "problem": "It froze."}
    clear_text(session=session, text="problem", is_cleared=False, by=anna)
    assert "problem" not in exported()
    lines = AuditEvent.objects.filter(action__in=["clear-comment", "hold-comment"]).order_by("pk")
    assert [(line.action, line.by) for line in lines] == [("clear-comment", anna), ("hold-comment", anna)]
    assert "froze" not in str([line.facts for line in lines])


def test_clearing_takes_the_role(tab: Tab, asking: Study) -> None:
    tab.post("closing/", SAID)
    payer = User.objects.create_user("paula")
    asking.memberships.create(user=payer, role=Role.PAYER)
    with pytest.raises(NotAllowed):
        clear_text(session=Session.objects.get(), text="comment", is_cleared=True, by=payer)
    assert ClosingAnswers.objects.get().comment_cleared_at is None


def test_review_shows_texts_escaped_to_those_who_may_see_people(client, tab: Tab, asking: Study) -> None:
    tab.post("closing/", {**SAID, "comment": "<b>bold</b>"})
    for role, status in ((Role.REVIEWER, 200), (Role.VIEWER, 403)):
        user = User.objects.create_user(role)
        asking.memberships.create(user=user, role=role)
        client.force_login(user)
        page = client.get(f"/studies/{asking.slug}/review/comments/")
        assert page.status_code == status
        assert ("&lt;b&gt;bold&lt;/b&gt;" in page.text) is (status == 200) and "<b>bold" not in page.text
    client.force_login(User.objects.get(username=Role.REVIEWER))
    code = Session.objects.get().code
    sent = client.post(
        f"/studies/{asking.slug}/review/comments/", {"session": code, "text": "comment", "act": "clear", "page": "1"}
    )
    assert sent.status_code == 302 and ClosingAnswers.objects.get().comment_cleared_at
    assert ClosingAnswers.objects.get().problem_cleared_at is None


def test_whoever_leaves_takes_this_back_too(tab: Tab, asking: Study) -> None:
    tab.post("closing/", SAID)
    tab.post("withdraw/", {})
    assert list(closing_answers(asking)) == [] and len(closing_of(asking)) == 0
    Session.objects.update(erase_after=timezone.now() - timedelta(minutes=1))
    erase_withdrawn()
    assert not ClosingAnswers.objects.exists()
