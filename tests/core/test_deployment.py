"""`check --deploy` of a site as docs/settings.md describes it, with settings from the environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.limits import LIMIT

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[2]
PROBE = """
import django; django.setup()
from django.test import Client
reply = Client().get("/login/?next=/", headers={"host": "lab.example", "x-forwarded-proto": "%s"})
print(reply.status_code, reply.get("Location"))
"""

COOKIES = """
import django; django.setup()
from django.conf import settings
from django.test import Client
from humanexp.core.models import User
client = Client(headers={"host": "lab.example"})
client.get("/login/", secure=True)
client.force_login(User.objects.create_superuser("ada"))
client.post("/account/", {"what": "sessions"}, secure=True)
for name, cookie in client.cookies.items():
    print(name, cookie["path"], bool(cookie["secure"]), bool(cookie["httponly"]), cookie["samesite"], cookie["domain"])
"""


#: What the test run itself sets, for instance for a browser in the same process.
_OF_TESTS = ("PYTEST_CURRENT_TEST", "DJANGO_ALLOW_ASYNC_UNSAFE")


def run(tmp_path: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name not in _OF_TESTS}
    places = {"MEDIA_ROOT": str(tmp_path), "DJANGO_SETTINGS_MODULE": "humanexp.settings"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**kept, **places, "PUBLIC_URL": "https://lab.example", "SECURE_HSTS_SECONDS": "31536000", **env},
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )


@pytest.mark.parametrize("trusted", ["on", "off"])
def test_a_site_behind_tls_has_nothing_to_be_told(tmp_path: Path, trusted: str) -> None:
    said = run(tmp_path, "manage.py", "check", "--deploy", TRUST_PROXY_HEADER=trusted)
    assert said.returncode == 0 and "security." not in said.stderr, said.stderr
    assert "humanexp.W001" in said.stderr, "SQLite serves one machine"


def test_without_tls_it_says_so(tmp_path: Path) -> None:
    said = run(tmp_path, "manage.py", "check", "--deploy", PUBLIC_URL="http://lab.example")
    assert said.returncode == 1 and "humanexp.E002" in said.stderr and "security.W008" in said.stderr


def test_who_came_to_the_proxy_without_tls_is_sent_to_the_right_address(tmp_path: Path) -> None:
    env = {"TRUST_PROXY_HEADER": "on", "SECRET_KEY": "k" * 60}
    assert run(tmp_path, "-c", PROBE % "http", **env).stdout.strip() == "301 https://lab.example/login/?next=/"
    assert run(tmp_path, "-c", PROBE % "https", **env).stdout.startswith("200")


@pytest.mark.parametrize(("scheme", "prefix"), [("https", "__Host-"), ("http", "")])
def test_behind_tls_no_other_host_can_set_a_cookie_of_ours(
    tmp_path: Path, migrated_database: Path, scheme: str, prefix: str
) -> None:
    """A browser takes a cookie of this prefix from this very host alone, over TLS, and for all of it."""
    shutil.copyfile(migrated_database, tmp_path / "humanexp.sqlite3")
    said = run(tmp_path, "-c", COOKIES, PUBLIC_URL=f"{scheme}://lab.example", SECURE_HSTS_SECONDS="0")
    found = {line.split()[0]: line.split()[1:] for line in said.stdout.splitlines()}
    assert set(found) == {f"{prefix}humanexp_session", f"{prefix}humanexp_csrf"}, said.stdout + said.stderr
    for name, (path, is_secure, is_http_only, same_site, *domain) in found.items():
        assert (path, is_secure, same_site, domain) == ("/", str(scheme == "https"), "Lax", []), name
        assert is_http_only == str("session" in name), name


def test_an_empty_variable_is_one_that_is_not_set(tmp_path: Path) -> None:
    probe = "from django.conf import settings; print(settings.DATABASES['default']['NAME'])"
    said = run(tmp_path, "-c", probe, DATABASE_URL="")
    assert said.stdout.strip() == str(tmp_path / "humanexp.sqlite3"), said.stderr
