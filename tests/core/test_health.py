"""What a prober may ask of a site that is well, locked or without its database; a stranger learns no more."""

from __future__ import annotations

import gc
import sqlite3
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def database_at(path: Path) -> Iterator[None]:
    """The site looks for its database there."""
    if connection.vendor != "sqlite":
        pytest.skip("a database that is a file")
    connection.close()
    before = connection.settings_dict["NAME"]
    connection.settings_dict["NAME"] = str(path)
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = before


@pytest.mark.parametrize("host", ["10.0.0.7", "127.0.0.1:8000", "[::1]:8000", "localhost.", "evil.example.org", "_"])
@pytest.mark.parametrize("method", ["get", "head", "post"])
def test_it_answers_under_any_host_name_and_tells_nothing_else(client: Client, host: str, method: str) -> None:
    reply = getattr(client, method)("/healthz", headers={"host": host})
    assert reply.status_code == 200 and reply.headers["Cache-Control"] == "no-store"
    if method != "head":
        assert reply.json() == {"status": "ok"}
    assert not reply.cookies and not Session.objects.exists()
    assert set(reply.headers) == {"Content-Type", "Cache-Control"}


def test_a_database_that_is_not_there_is_told_and_not_made(client: Client, tmp_path: Path) -> None:
    absent = tmp_path / "absent.sqlite3"
    with database_at(absent):
        reply = client.get("/healthz")
        assert (reply.status_code, reply.json()) == (503, {"status": "not ok"})
    assert list(tmp_path.iterdir()) == []


def test_a_database_that_vanishes_under_a_kept_connection_is_told(client: Client, tmp_path: Path) -> None:
    moved = tmp_path / "moved.sqlite3"
    with database_at(moved):
        with closing(sqlite3.connect(moved)) as made:
            made.execute("CREATE TABLE django_migrations (id)")
        assert client.get("/healthz").status_code == 200
        moved.unlink()
        assert client.get("/healthz").status_code == 503
        assert not moved.exists()


@pytest.mark.parametrize("content", [b"", b"no database at all" * 100])
def test_a_file_that_holds_no_site_is_told(client: Client, tmp_path: Path, content: bytes) -> None:
    other = tmp_path / "other.sqlite3"
    other.write_bytes(content)
    with database_at(other):
        reply = client.get("/healthz")
        assert (reply.status_code, reply.json()) == (503, {"status": "not ok"})
    with warnings.catch_warnings():
        # Django leaves the file open that it found to be no database; from Python 3.13 on, that warns when it is
        # collected, in whatever test runs then.
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def test_it_answers_while_somebody_else_writes(client: Client) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("a database that is a file")
    connection.close()
    with closing(sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")  # and ends it only after the answer, so that nobody can have waited for it
        assert client.get("/healthz").status_code == 200
        writer.execute("ROLLBACK")
