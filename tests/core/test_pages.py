from __future__ import annotations

import logging

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


def test_the_access_log_drops_the_query_string(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="humanexp.access"):
        client.get("/login/?workerId=A1SECRET")
    lines = [record.getMessage() for record in caplog.records if record.name == "humanexp.access"]
    assert lines
    assert lines[0].startswith("GET /login/ ")
    assert "A1SECRET" not in caplog.text


@pytest.mark.parametrize("path", ["/", "/jobs/", "/stimuli/"])
def test_the_console_asks_for_a_login(client: Client, path: str) -> None:
    reply = client.get(path)
    assert reply.status_code == 302
    assert reply["Location"].startswith("/login/")


def test_every_page_carries_a_strict_policy(client: Client) -> None:
    policy = client.get("/login/")["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
