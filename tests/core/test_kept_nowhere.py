"""What the console shows stays in no browser: whoever sits there next finds nothing of it."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.test import Client

from humanexp.core.models import User
from humanexp.studies.models import Study
from tests.addresses import addresses

pytestmark = pytest.mark.django_db

FILES = ("monitor/ledger/ledger.csv", "monitor/money/month.csv", "results/responses.csv", "audit/record.csv")


@pytest.fixture
def head(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("ada"))
    return client


def test_no_page_of_the_console_is_kept(head: Client) -> None:
    """Refusals, too: the address asks for nothing that is there."""
    asked = [path for path in addresses() if not path.startswith(settings.PARTICIPANT_PATHS)]
    assert len(asked) > 100
    kept = {path: reply.get("Cache-Control") for path in asked if "no-store" not in _told(reply := head.get(path))}
    assert kept == {}


def test_no_file_with_people_or_money_is_kept(head: Client, study: Study) -> None:
    for file in ("", "monitor/", "members/", *FILES):
        reply = head.get(f"/studies/{study.slug}/{file}")
        assert reply.status_code == 200 and "no-store" in _told(reply) and "private" in _told(reply), file


def test_what_a_page_loads_is_kept(client: Client) -> None:
    reply = client.get("/static/css/base.css")
    reply.close()
    assert "max-age" in _told(reply)


def _told(reply: object) -> str:
    return str(reply.get("Cache-Control", ""))  # type: ignore[attr-defined]
