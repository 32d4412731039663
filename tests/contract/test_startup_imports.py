"""The web process, and commands that compute nothing, start without the heavy parts of the science house."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.limits import LIMIT

ROOT = Path(__file__).resolve().parents[2]
#: What a process pays for once somebody asks for a picture, a curve or a call to another machine, and not before.
HEAVY = (
    *("torch", "torchvision", "statsmodels", "matplotlib", "pandas", "pyarrow", "scipy", "sklearn", "cv2"),
    *("boto3", "botocore", "moto", "analysis.findings.analysing", "analysis.findings.fits"),
)
#: Addresses bring the values of stored findings, which the results pages show, and requests, by REST framework.
HEAVY_BEFORE_ADDRESSES = (*HEAVY, "analysis.findings", "requests", "PIL", "humanexp.stimuli.services")
#: Commands that read and write rows and files, or start other processes. Django's checks look at every address first.
LIGHT = (
    *("check", "migrate", "user", "catalogue", "run_jobs", "backup", "restore", "files", "doctor", "demo"),
    *("marketplace", "panel", "simulate", "create_study", "import_images", "attach_pictures", "preflight"),
    *("publish", "sync", "settle", "reconcile", "stop", "extend", "top_up", "recruiter", "budget"),
    *("exclusions", "find_code", "forget_ids", "personal_data", "delete_participant"),
)
COMMANDS = f"""
from django.core.management import call_command, get_commands, load_command_class
import django

django.setup()
call_command("check")
for name in {LIGHT!r}:
    load_command_class(get_commands()[name], name)
"""


def imported_by(tmp_path: Path, script: str) -> str:
    """What Python says of the imports: a line a module, after those that it imports itself."""
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "humanexp.settings", "MEDIA_ROOT": str(tmp_path)}
    environment.pop("PYTEST_CURRENT_TEST", None)
    ran = subprocess.run(  # noqa: S603  our own interpreter and script
        [sys.executable, "-X", "importtime", "-c", script],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    return ran.stderr


def chains(told: str, names: tuple[str, ...]) -> list[str]:
    """Of each of these modules that was imported, who imported it for the first time, up to the beginning."""
    found = []
    open_: list[tuple[int, str]] = []
    for line in reversed(told.splitlines()):
        match = re.fullmatch(r"import time: +\d+ \| +\d+ \|( +)(\S+)", line)
        if match is None:
            continue
        depth, module = len(match[1]), match[2]
        while open_ and open_[-1][0] >= depth:
            open_.pop()
        if module in names:
            found.append(" <- ".join([module, *(name for _, name in reversed(open_))]))
        open_.append((depth, module))
    return found


def test_a_chain_names_who_imports_whom() -> None:
    told = "\n".join(
        f"import time:  1 |  1 |{' ' * depth}{name}" for depth, name in ((5, "heavy"), (3, "between"), (1, "first"))
    )
    assert chains(told, ("heavy",)) == ["heavy <- between <- first"]


@pytest.mark.process
@pytest.mark.gate
def test_the_web_process_starts_without_the_heavy_packages(tmp_path: Path) -> None:
    assert chains(imported_by(tmp_path, "import humanexp.wsgi"), HEAVY_BEFORE_ADDRESSES) == []


@pytest.mark.process
@pytest.mark.gate
def test_its_addresses_bring_none_of_them(tmp_path: Path) -> None:
    script = "import humanexp.wsgi; from django.urls import reverse; print(reverse('console:studies'))"
    assert chains(imported_by(tmp_path, script), HEAVY) == []


@pytest.mark.process
@pytest.mark.gate
def test_light_commands_import_none_of_them(tmp_path: Path) -> None:
    assert chains(imported_by(tmp_path, COMMANDS), HEAVY) == []
