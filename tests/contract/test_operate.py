"""What an operator reads and deploys is there: tests, pages, commands, settings, images; no log has an id."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import get_commands

ROOT = Path(__file__).resolve().parents[2]
DEPLOY, OPERATE = ROOT / "deploy", ROOT / "docs/operate"
SETTINGS = set(re.findall(r"`([A-Z][A-Z_]+)`", (ROOT / "docs/settings.md").read_text(encoding="utf-8")))
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
#: Names that docs/settings.md does not have: other programs read them.
ELSEWHERE = {"REQUESTS_CA_BUNDLE", "AWS_CA_BUNDLE"}
#: Variables in nginx's logs that hold a query, a referrer or an address.
TELLING = {"$request", "$request_uri", "$args", "$query_string", "$http_referer", "$remote_addr", "$remote_user"}
TELLING |= {"$http_x_forwarded_for", "$proxy_add_x_forwarded_for", "$is_args"}


def test_every_test_that_the_security_page_names_exists() -> None:
    text = (OPERATE / "security.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| V")]
    named = set(re.findall(r"`(tests/[\w/]+\.py)`", text))
    assert len(rows) > 25 and len(named) > 20
    assert sorted(name for name in named if not (ROOT / name).is_file()) == []
    untested = [row for row in rows if "| yes |" in row and "`tests/" not in row]
    assert untested == [], "what is met is tested"


@pytest.mark.parametrize("page", sorted(OPERATE.glob("*.md")), ids=lambda page: page.name)
def test_links_of_the_pages_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (page.parent / link).exists()] == []


def test_every_page_is_reached_from_the_readme() -> None:
    reached = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in OPERATE.glob("*.md") if f"docs/operate/{page.name}" not in reached] == []


def commands_of_the_product() -> set[str]:
    """In units, containers and blocks of the pages."""
    text = "\n".join(unit.read_text(encoding="utf-8") for unit in UNITS)
    found = set(re.findall(r"^ExecStart=\S+ -m humanexp (\w+)", text, re.M))
    for service in COMPOSE["services"].values():
        command = service.get("command", [])
        found |= (
            {command[1]} if command[:1] == ["humanexp"] else set(re.findall(r"humanexp (\w+) --", " ".join(command)))
        )
    for page in OPERATE.glob("*.md"):
        for block in re.findall(r"^```sh\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S):
            found |= set(re.findall(r"(?:^| )humanexp ([a-z]\w+)", block, re.M)) - {"humanexp"}
    return found


def test_every_command_is_one_of_the_product() -> None:
    found = commands_of_the_product()
    assert {"run_jobs", "migrate", "marketplace", "doctor", "preflight", "backup"} <= found
    assert found <= set(get_commands())


def test_every_setting_is_documented() -> None:
    lines = (DEPLOY / "humanexp.env").read_text(encoding="utf-8").splitlines()
    named = {line.partition("=")[0] for line in lines if line and not line.startswith("#")} | set(COMPOSE["x-settings"])
    assert len(named) > 8 and named - SETTINGS == set()
    for page in OPERATE.glob("*.md"):
        blocks = "".join(re.findall(r"^```sh\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S))
        assert set(re.findall(r"^(?:echo )?([A-Z]+_[A-Z_]+)=", blocks, re.M)) <= SETTINGS | ELSEWHERE, page.name


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_can_write_to_its_own_folder_alone(unit: Path) -> None:
    lines = unit.read_text(encoding="utf-8").splitlines()
    assert {"User=humanexp", "NoNewPrivileges=yes", "ProtectSystem=strict", "CapabilityBoundingSet=", "UMask=0077"} <= {
        *lines
    }
    (command,) = (line.partition("=")[2] for line in lines if line.startswith("ExecStart="))
    assert shlex.split(command)[0] == "/opt/humanexp/venv/bin/python"


def test_containers_of_the_product_have_no_rights() -> None:
    ours = {name: one for name, one in COMPOSE["services"].items() if one["image"].startswith("humanexp/")}
    assert set(ours) == {"migrate", "web", "jobs", "marketplace", "backup"}
    for name, service in ours.items():
        assert service["read_only"] and service["cap_drop"] == ["ALL"] and service["user"] == "10001:10001", name
        assert service["security_opt"] == ["no-new-privileges:true"], name
    targets = set(re.findall(r"^FROM \S+ AS (\w[\w-]*)$", (DEPLOY / "Dockerfile").read_text(encoding="utf-8"), re.M))
    assert {service["build"]["target"] for service in ours.values() if "build" in service} == {"web", "worker"}
    assert {"web", "worker", "cuda"} <= targets


def test_only_the_proxy_is_reached_from_outside() -> None:
    assert [name for name, service in COMPOSE["services"].items() if "ports" in service] == ["proxy"]
    assert COMPOSE["services"]["database"]["networks"] == ["inside"] and COMPOSE["networks"]["inside"]["internal"]


@pytest.mark.parametrize("name", ["nginx.conf", "nginx-marketplace.conf"])
def test_nginx_leads_to_its_own_name_alone(name: str) -> None:
    """Whatever name a request gives, which a cache in between may keep."""
    text = (DEPLOY / name).read_text(encoding="utf-8")
    assert re.findall(r"return 301 (\S+);", text) == ["https://$server_name$request_uri"]


def test_logs_of_nginx_hold_no_query_and_no_address() -> None:
    (log,) = re.findall(r"^log_format humanexp '([^']*)';", (DEPLOY / "nginx.conf").read_text(encoding="utf-8"), re.M)
    assert set(re.findall(r"\$\w+", log)) & TELLING == set()
    for name in ("nginx.conf", "nginx-marketplace.conf"):
        text = (DEPLOY / name).read_text(encoding="utf-8")
        assert set(re.findall(r"^\s*access_log \S+ (\w+);", text, re.M)) == {"humanexp"}
        assert text.count("access_log ") == text.count("server {") == text.count(" emerg;")
