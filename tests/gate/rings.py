"""pytest plugin: every test has one ring, and `--ring` runs the tests of one.

    pure       everything that needs no mark: it starts no process, opens no port and waits for no clock
    process    marked `process` and `gate`
    browser    marked `browser` and `gate`
    verify     marked `process` or `browser`, without `gate`; marked `verify`, being too dear; and the quarantine
    slow, bench   run by commands of their own

A test of a fixture that starts something is marked by that fixture's name, see STARTERS.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
QUARANTINE = ROOT / "tests" / "quarantine.toml"

RINGS = ("pure", "process", "browser", "verify")
#: What every change must pass.
GATE = ("pure", "process", "browser")

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


def quarantined() -> dict[str, dict[str, str]]:
    """Tests that failed once and passed alone, with date and cause, by node id."""
    return {str(entry["test"]): entry for entry in tomllib.loads(QUARANTINE.read_text(encoding="utf-8"))["quarantine"]}


def ring_of(item: pytest.Item, out: frozenset[str] | set[str] = frozenset()) -> str:
    """The ring of a collected test; `out` are the node ids of the quarantine."""
    for apart in ("bench", "slow"):
        if item.get_closest_marker(apart):
            return apart
    kind = next((mark for mark in ("browser", "process") if item.get_closest_marker(mark)), "pure")
    if item.nodeid in out or item.get_closest_marker("verify"):
        return "verify"
    return kind if kind == "pure" or item.get_closest_marker("gate") else "verify"


def _passed(file: str | None) -> set[str]:
    lines = Path(file).read_text(encoding="utf-8").splitlines() if file and Path(file).exists() else []
    return {line["test"] for line in map(json.loads, lines) if line["outcome"] != "failed"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--ring", choices=[*RINGS, "gate"], help="run the tests of this ring alone (gate: of its three)")
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
    out, over = set(quarantined()), _passed(config.getoption("--but"))
    asked = GATE if wanted == "gate" else (wanted,)
    kept = [item for item in items if ring_of(item, out) in asked and item.nodeid not in over]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = kept
