"""A deletion code for people who came without an id: a secret of which a hash is kept, and which has a last day."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from analysis.study.ethics import Ethics
from humanexp.core import clock
from humanexp.core.models import AuditEvent
from humanexp.entry import identity
from humanexp.entry.models import DeletionCode
from humanexp.participation.models import Session, SessionState
from humanexp.recruiters.models import Campaign
from humanexp.recruiting.launch import LaunchTerms, publish
from tests.recruitment.studies import Visitor, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def fresh_allowance() -> None:
    identity.ATTEMPTS.clear()


def link(slug: str = "by-code", **ethics: Any) -> Campaign:
    study = make_study(slug, ethics=Ethics.from_dict(ethics))
    return publish(study=study, terms=LaunchTerms(to="link", assignments=4))


def opened(client: Client, campaign: Campaign, **ids: str) -> str:
    reply = client.post(f"/take/{campaign.entry}/open/", {"consent": True, **ids}, content_type="application/json")
    assert reply.status_code == 201, reply.json()
    return str(reply.json()["token"])


def code_of(client: Client, token: str) -> str:
    reply = client.post("/api/v1/run/deletion/", headers={"Authorization": f"Bearer {token}"})
    assert reply.status_code == 200
    return str(reply.json()["code"])


def finished(client: Client, campaign: Campaign, **ids: str) -> str:
    token = opened(client, campaign, **ids)
    Session.objects.update(state=SessionState.COMPLETED, completed_at=clock.now())
    return token


def deletes(client: Client, campaign: Campaign, code: str) -> Any:
    return client.post(f"/take/{campaign.entry}/delete/", {"code": code})


def test_the_code_deletes_what_was_finished_and_only_its_hash_is_kept(client: Client) -> None:
    campaign = link()
    token = finished(client, campaign)
    code = code_of(client, token)
    assert len(code) == 18 and code == code_of(client, token), "a reload loses no code"
    kept = DeletionCode.objects.get()
    assert code not in str(kept.__dict__)
    assert client.get(f"/take/{campaign.entry}/delete/").status_code == 200
    page = deletes(client, campaign, f" {code[:9].lower()} {code[9:]} ")
    assert page.status_code == 200 and "Your answers are withdrawn" in page.text
    session = Session.objects.get()
    assert session.state == SessionState.WITHDRAWN and session.erase_after is not None
    assert deletes(client, campaign, code).status_code == 200, "twice is once"
    assert AuditEvent.objects.filter(action="delete-by-code").count() == 1


def test_who_left_with_answers_gets_one_too_and_nobody_before_the_end(client: Client) -> None:
    campaign = link()
    token = opened(client, campaign)
    assert code_of(client, token) == ""
    client.post(
        "/api/v1/run/withdraw/",
        {"keep": True},
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}"},
    )
    code = code_of(client, token)
    assert code and deletes(client, campaign, code).status_code == 200
    assert Session.objects.get().state == SessionState.WITHDRAWN


def test_who_came_with_an_id_gets_none(client: Client) -> None:
    campaign = link()
    assert code_of(client, finished(client, campaign, workerId="panel-7")) == ""
    assert not DeletionCode.objects.exists()


def test_a_study_without_codes_gives_none_and_has_no_page(client: Client) -> None:
    campaign = link(deletion_code=False)
    assert code_of(client, finished(client, campaign)) == ""
    assert client.get(f"/take/{campaign.entry}/delete/").status_code == 404


def test_a_wrong_code_and_another_study_s_delete_nothing(client: Client) -> None:
    code = code_of(client, finished(client, link()))
    other = link("another-study")
    assert deletes(client, other, code).status_code == 409
    assert deletes(client, other, "D-2222222222222222").status_code == 409
    assert Session.objects.get().state == SessionState.COMPLETED


def test_after_the_last_day_nothing_is_deleted(client: Client) -> None:
    yesterday = (clock.now().date() - timedelta(days=1)).isoformat()
    campaign = link(deletable_until=yesterday)
    late = deletes(client, campaign, code_of(client, finished(client, campaign)))
    assert late.status_code == 409 and "last day" in late.text
    assert Session.objects.get().state == SessionState.COMPLETED


def test_guessing_is_limited_and_a_right_code_passes(client: Client) -> None:
    """Whoever guesses shuts nobody out who comes from the same address: nobody guesses one of so many codes."""
    campaign = link()
    code = code_of(client, finished(client, campaign))
    assert {deletes(client, campaign, f"D-{number:016d}").status_code for number in range(10)} == {409}
    assert deletes(client, campaign, "D-2222222222222222").status_code == 429
    assert deletes(client, campaign, code).status_code == 200
    assert Session.objects.get().state == SessionState.WITHDRAWN


@pytest.mark.parametrize("language", ["en", "de"])
def test_consent_names_the_code_its_page_and_the_last_day(client: Client, language: str) -> None:
    campaign = link(deletable_until="2031-03-31")
    page = client.get(f"/take/{campaign.entry}/?language={language}").text
    assert f"/take/{campaign.entry}/delete" in page and "2031-03-31" in page
    assert Visitor(link("none", deletion_code=False)).get().text.count("/delete") == 0
