"""The money page: for payers, in words that are true for each recruiter."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from analysis.study.link import Link
from humanexp.core.models import AuditEvent, User
from humanexp.ledger.settlement import clear
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.studies.models import Study

pytestmark = pytest.mark.django_db


def text_of(client: Client, address: str) -> str:
    reply = client.get(address)
    assert reply.status_code == 200
    return " ".join(reply.content.decode().split())


def test_what_is_promised_and_how_people_are_paid(
    study: Study, console: Client, submission: Callable[..., Assignment]
) -> None:
    clear(assignment=submission(), by=None)
    page = text_of(console, f"/studies/{study.slug}/monitor/money/")
    assert "$1.44 is on its way" in page
    assert "An approval is a debt. You pay it out in your own way" in page
    assert "All in USD" in page
    assert "W-" not in page and "AWORKER" not in page


def test_a_link_says_that_its_money_moves_elsewhere(study: Study, console: Client) -> None:
    link = Link(preset="prolific", reward=150)
    publish(study=study, terms=LaunchTerms(to="link", assignments=2, link=link))
    page = text_of(console, f"/studies/{study.slug}/monitor/money/")
    assert "No money goes through this study's campaigns." in page
    assert "You pay people there, £1.50 each by the terms of the link. None of it is in this ledger." in page


@pytest.mark.parametrize("role", ["researcher", "reviewer", "viewer"])
def test_it_is_for_payers(study: Study, launched: Campaign, member: Callable[[str], Client], role: str) -> None:
    client = member(role)
    for page in ("", "person.csv"):
        assert client.get(f"/studies/{study.slug}/monitor/money/{page}").status_code == 403
    assert "/monitor/money/" not in client.get(f"/studies/{study.slug}/monitor/").content.decode()


def test_a_payer_takes_a_statement_and_that_is_recorded(
    study: Study, launched: Campaign, member: Callable[[str], Client]
) -> None:
    client = member("payer")
    reply = client.get(f"/studies/{study.slug}/monitor/money/month.csv")
    assert b"".join(reply).startswith("\ufeffmonth,recruiter,currency".encode())  # type: ignore[arg-type]
    assert AuditEvent.objects.filter(action="export", subject="money.csv", study=study.slug).count() == 1
    assert client.get(f"/studies/{study.slug}/monitor/money/study.csv").status_code == 404


def test_that_of_all_studies_is_for_administrators(
    study: Study, launched: Campaign, console: Client, signed_in: Callable[[User], Client]
) -> None:
    assert console.get("/money/").status_code == 403
    assert console.get("/money/study.csv").status_code == 403
    page = text_of(signed_in(User.objects.create_superuser("root", password="x")), "/money/")
    assert "By study" in page and "By person" not in page
