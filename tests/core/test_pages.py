from __future__ import annotations

import logging
import logging.config
import re
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.conf import settings
from django.test import Client
from gunicorn.util import unquote_to_wsgi_str

from humanexp.server import AccessLines
from tests.served import ROOT

pytestmark = pytest.mark.django_db


def test_the_access_log_drops_the_query_string(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="humanexp.access"):
        client.get("/login/?workerId=A1SECRET")
    lines = [record.getMessage() for record in caplog.records if record.name == "humanexp.access"]
    assert lines
    assert lines[0].startswith("GET /login/ ")
    assert "A1SECRET" not in caplog.text


FORGED = "/nope%0a2026-11-27%20INFO%20humanexp.access%20GET%20/FORGED%20200%0d%1b[2K%c2%85%e2%80%a8%00%7f"


@pytest.mark.parametrize("formatter", ["line", "json"])
def test_no_path_begins_another_line_of_the_log(
    client: Client, caplog: pytest.LogCaptureFixture, formatter: str
) -> None:
    """What an address says between its slashes is its caller's: of any log, it fills one line."""
    with caplog.at_level(logging.INFO, logger="humanexp.access"):
        client.get(FORGED)
    written = logging.config.dictConfigClass(settings.LOGGING).configure_formatter(
        {**settings.LOGGING["formatters"][formatter]}
    )
    lines = [written.format(record) for record in caplog.records]
    assert {record.name for record in caplog.records} >= {"humanexp.access", "django.request"}
    for line in lines:
        assert "/FORGED" in line and line.isprintable(), line


def test_no_path_begins_another_line_of_gunicorns_log() -> None:
    environ = {"REQUEST_METHOD": "GET", "RAW_URI": FORGED, "SERVER_PROTOCOL": "HTTP/1.1", "QUERY_STRING": ""}
    environ["PATH_INFO"] = unquote_to_wsgi_str(FORGED)
    serving = (ROOT / "humanexp" / "serving.py").read_text(encoding="utf-8")  # importing it changes this process
    named = dict(re.findall(r'^(logger_class|access_log_format) = "(.*)"$', serving, re.M))
    assert named["logger_class"] == f"{AccessLines.__module__}.{AccessLines.__qualname__}"
    logger = object.__new__(AccessLines)
    reply = SimpleNamespace(status="404 Not Found", sent=1, headers=[])
    atoms = logger.atoms(reply, SimpleNamespace(headers=[]), environ, timedelta(0))
    line = named["access_log_format"] % logger.atoms_wrapper_class(atoms)
    assert "/FORGED" in line and line.isprintable(), line


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
