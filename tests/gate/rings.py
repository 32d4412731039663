"""pytest plugin: every test has one ring, and `--ring` runs the tests of one.

    pure       everything that needs no mark: it starts no process, opens no port and waits for no clock
    process    marked `process` and `gate`
    browser    marked `browser` and `gate`
    verify     marked `process` or `browser`, without `gate`; and what is marked `verify`, being too dear
    known      named in tests/quarantine.toml or tests/red.toml, whatever its marks
    slow, bench   run by commands of their own

`make verify` runs its own ring and what is known; the touched ring of the gate, what is of `verify` alone.

A test of a fixture that starts something is marked by that fixture's name, see STARTERS.
"""

from __future__ import annotations

import json
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

#: What every change must pass.
GATE = ("pure", "process", "browser")
#: What `--ring` may be asked for, and the rings that it runs.
ASKED = {**{ring: (ring,) for ring in GATE}, "gate": GATE, "touched": ("verify",), "verify": ("verify", "known")}

#: Fixtures that start a process or open a port, and the mark that a test has for asking for one.
STARTERS = {
    "chromium": "browser",
    "live_server": "process",
    "marketplace_process": "process",
    "panel_process": "process",
    "market": "process",
    "postgres_cluster": "process",
    "server": "process",
    "queues": "process",
    "site": "process",
    "receiver": "process",
    "endpoint": "process",
}


def _named(file: str) -> dict[str, dict[str, Any]]:
    """Tests that stand in a file of `tests`, with date and cause, by node id."""
    entries = tomllib.loads((ROOT / "tests" / f"{file}.toml").read_text(encoding="utf-8"))[file]
    return {str(entry["test"]): entry for entry in entries}


def quarantined() -> dict[str, dict[str, Any]]:
    """Tests that failed once and passed alone."""
    return _named("quarantine")


def red() -> dict[str, dict[str, Any]]:
    """What is known to fail in `make verify`."""
    return _named("red")


@cache
def known() -> frozenset[str]:
    return frozenset({**quarantined(), **red()})


def kind_of(item: pytest.Item) -> str:
    """What a collected test needs, by its marks alone; `pure` if it has none of these."""
    return next((mark for mark in ("bench", "slow", "browser", "process") if item.get_closest_marker(mark)), "pure")


def ring_of(item: pytest.Item) -> str:
    kind = kind_of(item)
    if kind in ("bench", "slow"):
        return kind
    if item.nodeid in known():
        return "known"
    if item.get_closest_marker("verify"):
        return "verify"
    return kind if kind == "pure" or item.get_closest_marker("gate") else "verify"


def _passed(file: str | None) -> set[str]:
    lines = Path(file).read_text(encoding="utf-8").splitlines() if file and Path(file).exists() else []
    return {line["test"] for line in map(json.loads, lines) if line["outcome"] != "failed"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--ring", choices=ASKED, help="run the tests of this ring alone")
    parser.addoption("--but", metavar="FILE", help="leave out the tests that passed by these lines of the recorder")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        for fixture in STARTERS.keys() & set(getattr(item, "fixturenames", ())):
            item.add_marker(STARTERS[fixture])
        if item.get_closest_marker("postgres"):
            item.add_marker("process")
    wanted = config.getoption("--ring")
    if wanted is None:
        return
    over = _passed(config.getoption("--but"))
    kept = [item for item in items if ring_of(item) in ASKED[wanted] and item.nodeid not in over]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = kept
