"""docs/operate/accounts.md: its commands run in its order, and its settings and groups are those of the code."""

from __future__ import annotations

import json
import re
import shlex
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.urls import reverse

from humanexp.core.models import HouseRole, User
from humanexp.core.organisation import LAB

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "operate" / "accounts.md").read_text(encoding="utf-8")


@pytest.mark.django_db
def test_its_commands_run_in_its_order() -> None:
    out, ran = StringIO(), 0
    for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL):
        for line in block.splitlines():
            python, script, *command = shlex.split(line)
            assert (python, script) == ("python", "manage.py")
            call_command(*command, stdout=out, stderr=out)
            ran += 1
    assert ran == 8 and User.objects.get(username="ada").is_staff and User.objects.get(username="grace").is_active
    assert out.getvalue().count("/account/new-password/?") == 3


def test_its_settings_and_defaults_are_those_of_the_code() -> None:
    rows = re.findall(r"^\| `([A-Z][A-Z_]+)` \| (\S+) \|", TEXT, re.MULTILINE)
    numbers = {name: int(default) for name, default in rows if default.isdigit()}
    assert {name: getattr(settings, name) for name in numbers} == numbers and len(numbers) == 3
    for name in re.findall(r"`((?:OIDC|SESSION|SECOND|CONFIRM)_[A-Z_]+)`", TEXT):
        assert hasattr(settings, name), name
    assert settings.SECOND_FACTOR == "offered" and "`offered` (default)" in TEXT
    assert settings.OIDC_SCOPES == ["openid", "profile", "email"] and not settings.OIDC_LINK_BY_EMAIL


def test_its_groups_can_be_read_and_its_address_leads_back() -> None:
    found = re.search(r"^OIDC_GROUPS=(.*)$", TEXT, re.MULTILINE)
    assert found is not None
    roles = json.loads(found[1]).values()
    assert all(role in HouseRole.values or role.startswith(LAB) for role in roles)
    assert f"https://YOUR-HOST{reverse('organisation-back')}" in TEXT
