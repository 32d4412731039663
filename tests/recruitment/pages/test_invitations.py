"""Personal links for a list of people."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from analysis.spec import Link
from humanexp.core import clock
from humanexp.core.errors import InvalidRequest, StudyRefused
from humanexp.core.models import AuditEvent, User
from humanexp.participation.models import Session
from humanexp.recruitment import services
from humanexp.recruitment.models import Campaign, Invitation, RecruitedPerson
from humanexp.studies.models import Study
from tests.downloads import rows_of
from tests.recruitment.studies import Visitor
from tests.tampering import tampered

pytestmark = pytest.mark.django_db
LABELS = ["Ada Lovelace <ada@example.org>", "=cmd()", "Grace Hopper, row 7"]


@pytest.fixture
def campaign(study: Study) -> Campaign:
    link = Link(preset="class", pay="credit", alternative="Read a chapter.")
    return services.publish(study=study, terms=services.LaunchTerms(to="link", assignments=4, link=link))


@pytest.fixture
def address(campaign: Campaign) -> str:
    return f"/studies/noise/recruit/{campaign.pk}/invitations/"


def merged(console: Client, address: str, labels: list[str] = LABELS, days: int = 14) -> list[dict[str, str]]:
    reply = console.post(address, {"labels": "\r\n".join(labels), "days": days})
    assert reply.status_code == 200 and reply["Content-Type"].startswith("text/csv")
    return rows_of(reply)


def follows(campaign: Campaign, row: dict[str, str], **changes: Any) -> tuple[Visitor, Any]:
    visitor = Visitor(campaign)
    return visitor, visitor.open(invitation=row["link"].partition("#")[2], **changes)


def test_each_line_is_one_link_and_no_line_is_stored(campaign: Campaign, console: Client, address: str) -> None:
    rows = merged(console, address)
    assert [row["label"] for row in rows] == [LABELS[0], "'=cmd()", LABELS[2]]
    assert len({row["link"] for row in rows}) == len({row["id"] for row in rows}) == 3
    assert all(f"/take/{campaign.entry}/#" in row["link"] for row in rows)
    assert connection.connection is not None
    stored = "\n".join(connection.connection.iterdump())
    assert not any(name in stored for name in ("Lovelace", "ada@example.org", "Hopper", "cmd()"))


def test_excel_reads_names_as_they_are_written(console: Client, address: str) -> None:
    """Excel takes a file without this mark for one in the letters of its own country."""
    sent = console.post(address, {"labels": "Jürgen Grün", "days": 14}).getvalue().decode()
    assert sent.startswith("\ufefflabel,id,link,expires") and "Jürgen Grün," in sent


def test_a_link_is_one_persons_and_names_them_on_the_credit_list(
    campaign: Campaign, console: Client, address: str
) -> None:
    ada, other, _ = merged(console, address)
    visitor, opened = follows(campaign, ada)
    assert opened.status_code == 201
    visitor.answer_all()
    assert follows(campaign, ada)[1].status_code == 409
    assert follows(campaign, other)[1].status_code == 201
    assert Session.objects.count() == RecruitedPerson.objects.count() == 2
    reply = console.post(f"/studies/noise/recruit/{campaign.pk}/finished.csv")
    assert rows_of(reply) == [{"id": ada["id"], "credit": "yes"}]
    assert "yes" in console.post(f"/studies/noise/recruit/{campaign.pk}/finished/", {"id": ada["id"]}).text
    # its id typed into an address is another person
    assert Visitor(campaign, worker_id=ada["id"]).open().status_code == 201
    assert RecruitedPerson.objects.count() == 3


def test_the_browser_that_began_goes_on(campaign: Campaign, console: Client, address: str) -> None:
    ada = merged(console, address)[0]
    visitor, _ = follows(campaign, ada)
    secret = visitor.secret()
    refused = follows(campaign, ada)[1]
    assert refused.status_code == 409
    assert follows(campaign, ada, secret=secret)[1].status_code == 201
    assert Session.objects.count() == 1


def test_the_same_line_keeps_its_link(campaign: Campaign, console: Client, address: str) -> None:
    first = merged(console, address)
    again = merged(console, address, [*LABELS, "new"], days=30)
    assert [row["link"] for row in again[:3]] == [row["link"] for row in first]
    assert again[0]["expires"] > first[0]["expires"] and Invitation.objects.count() == 4


def test_expired_and_forged_links_open_nothing(campaign: Campaign, console: Client, address: str) -> None:
    ada, other, _ = merged(console, address)
    Invitation.objects.filter(code=ada["id"]).update(expires_at=clock.now() - timedelta(seconds=1))
    for link in (ada["link"], tampered(other["link"]), f"{campaign.entry}#1", "#"):
        visitor = Visitor(campaign)
        refused = visitor.open(invitation=link.partition("#")[2] or "nothing")
        assert refused.status_code == 401, link
    assert not Session.objects.exists()


def test_a_link_of_another_campaign_opens_nothing(campaign: Campaign, console: Client, address: str) -> None:
    ada = merged(console, address)[0]
    other = services.publish(study=campaign.study, terms=services.LaunchTerms(to="link", assignments=2))
    assert follows(other, ada)[1].status_code == 401


def test_links_are_taken_back_by_line_by_id_and_all(campaign: Campaign, console: Client, address: str) -> None:
    ada, other, third = merged(console, address)
    assert (
        "1 link is taken back." in console.post(address, {"revoke": "one", "who": LABELS[0].upper()}, follow=True).text
    )
    assert follows(campaign, ada)[1].status_code == 401
    assert merged(console, address)[0]["expires"] == "taken back"
    console.post(address, {"revoke": "one", "who": other["id"].lower()})
    assert follows(campaign, other)[1].status_code == 401
    assert "No link of this person" in console.post(address, {"revoke": "one", "who": "nobody"}, follow=True).text
    console.post(address, {"revoke": "all"})
    assert follows(campaign, third)[1].status_code == 401
    events = AuditEvent.objects.filter(action__in=["invite-people", "revoke-invitations"])
    assert events.count() == 5 and not any("ada" in str(event.facts).lower() for event in events)


@pytest.mark.parametrize(
    ("labels", "says"), [(["a", " A "], "twice"), (["x" * 201], "Line 1"), (["a", "b\x07"], "Line 2"), ([" "], "1 to")]
)
def test_one_bad_line_refuses_the_list(campaign: Campaign, researcher: User, labels: list[str], says: str) -> None:
    with pytest.raises(InvalidRequest, match=says):
        services.invite(campaign=campaign, labels=labels, by=researcher)
    assert not Invitation.objects.exists()


def test_a_panel_names_its_people_itself(study: Study, researcher: User, console: Client) -> None:
    terms = services.LaunchTerms(to="link", assignments=1, link=Link(preset="prolific"))
    panel = services.publish(study=study, terms=terms)
    with pytest.raises(StudyRefused):
        services.invite(campaign=panel, labels=["a"], by=researcher)
    assert console.get(f"/studies/noise/recruit/{panel.pk}/invitations/").status_code == 404


def test_only_who_may_launch_invites(campaign: Campaign, address: str, member: Callable[[str], Client]) -> None:
    for role in ("payer", "reviewer", "viewer"):
        assert member(role).post(address, {"labels": "a", "days": 3}).status_code == 403
    assert not Invitation.objects.exists()


class TestInvitedOnly:
    @pytest.fixture
    def campaign(self, study: Study) -> Campaign:
        link = Link(preset="class", pay="credit", alternative="Read a chapter.", invited_only=True)
        return services.publish(study=study, terms=services.LaunchTerms(to="link", assignments=4, link=link))

    def test_a_typed_id_is_refused_and_nothing_is_stored(self, campaign: Campaign) -> None:
        visitor = Visitor(campaign, worker_id="student-7")
        assert '"isInvitedOnly": true' in visitor.get(id="student-7").text
        refused = visitor.open()
        assert refused.status_code == 409 and "only for people with a personal link" in refused.json()["detail"]
        assert not Session.objects.exists() and not RecruitedPerson.objects.exists()

    def test_a_personal_link_lets_in(self, campaign: Campaign, console: Client, address: str) -> None:
        _visitor, reply = follows(campaign, merged(console, address)[0])
        assert reply.status_code == 201

    def test_a_panel_s_link_cannot_be_limited_so(self, study: Study) -> None:
        link = Link(preset="prolific", invited_only=True)
        with pytest.raises(InvalidRequest, match="your own list"):
            services.publish(study=study, terms=services.LaunchTerms(to="link", assignments=4, link=link))

    def test_the_launch_form_has_the_switch(self, study: Study, console: Client) -> None:
        assert 'name="link_invited_only"' in console.get(f"/studies/{study.slug}/recruit/?to=link").text
