"""Processes that die or run beside each other: nobody is paid twice and nobody is left out."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.limits import LIMIT
from tests.marketplace.server import MarketplaceServer, RequesterKeys
from tests.served import ROOT


class Platform:
    """The platform with a database of its own, one process an action."""

    def __init__(self, folder: Path, database_url: str, market: MarketplaceServer, keys: RequesterKeys) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("MARKETPLACE_", "AWS_"))}
        self.environment = {
            **kept,
            "DJANGO_SETTINGS_MODULE": "humanexp.settings",
            "MEDIA_ROOT": str(folder),
            "DATABASE_URL": database_url,
            "MARKETPLACE_URL": market.url,
            "MARKETPLACE_ACCESS_KEY_ID": keys.access_key_id,
            "MARKETPLACE_SECRET_ACCESS_KEY": keys.secret_access_key,
        }

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.recruitment.sender_process", *arguments],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str) -> dict[str, Any]:
        return _told(self.start(*arguments))[-1]

    def run_all(self, *actions: str) -> list[dict[str, Any]]:
        """One process that does them in turn."""
        return _told(self.start(*" then ".join(actions).split()))


def _told(process: subprocess.Popen[str]) -> list[dict[str, Any]]:
    printed, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 0
    return [json.loads(line) for line in printed.splitlines() if line.startswith("{")]


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=[pytest.mark.postgres, pytest.mark.slow])])
def platform(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    migrated_database: Path,
    marketplace: MarketplaceServer,
    rich_keys: RequesterKeys,
) -> Platform:
    if request.param == "sqlite":
        own = shutil.copy(migrated_database, tmp_path / "platform.sqlite3")
        return Platform(tmp_path, f"sqlite:///{own}", marketplace, rich_keys)
    return Platform(tmp_path, request.getfixturevalue("migrated_postgres_url"), marketplace, rich_keys)


def paid(other_side: Any, hit_id: str) -> tuple[list[str], list[str]]:
    """States of the assignments, and the bonuses, as the other side has them."""
    assignments = other_side.list_assignments_for_hit(HITId=hit_id)["Assignments"]
    bonuses = other_side.list_bonus_payments(HITId=hit_id)["BonusPayments"]
    return [row["AssignmentStatus"] for row in assignments], [row["BonusAmount"] for row in bonuses]


@pytest.mark.gate
@pytest.mark.promise(2)
def test_a_sender_killed_between_sending_and_confirming(platform: Platform, other_side: Any) -> None:
    """kill -9 before the reply is read: the bonus is paid there, and the row here says "sending"."""
    prepared = platform.run("prepare", "2")
    killed = platform.start("send-killed")
    killed.communicate(timeout=LIMIT)
    assert killed.returncode == -signal.SIGKILL
    assert paid(other_side, prepared["hit_id"])[1] == ["0.33"]
    # The lease of the dead one runs out between the second step and the fourth.
    left, kept_out, _, report, ledger = platform.run_all("ledger", "send", "time-passes", "send", "ledger")
    assert "sending" in left["states"]
    assert kept_out["remarks"] == ["marketplace: another sender is at work."]
    assert (report["waiting"], report["remarks"]) == (0, [])
    assert ledger["states"] == ["confirmed"] * 4
    assert paid(other_side, prepared["hit_id"]) == (["Approved"] * 2, ["0.33"] * 2)


@pytest.mark.slow
def test_two_senders_on_one_ledger(platform: Platform, other_side: Any) -> None:
    prepared = platform.run("prepare", "8")
    senders = [platform.start("send") for _ in range(3)]
    reports = [_told(sender)[-1] for sender in senders]
    final = platform.run("send")
    assert sum(report["confirmed"] for report in [*reports, final]) == prepared["planned"] == 16
    states, bonuses = paid(other_side, prepared["hit_id"])
    assert states == ["Approved"] * 8
    assert bonuses == ["0.33"] * 8
    ledger = platform.run("ledger")
    assert ledger == {"states": ["confirmed"] * 16, "total_cents": 8 * 83}


def test_promises_at_the_same_moment_stay_within_the_cap(platform: Platform) -> None:
    platform.run("prepare", "6")
    assert platform.run("promise", "6") == {"planned": 2, "left": 20}


@pytest.mark.slow
def test_many_clicks_at_the_same_moment_are_one_session(platform: Platform) -> None:
    entered = platform.run("enter", "8")
    assert len(entered["sessions"]) == entered["rows"] == 1


def test_polls_at_the_same_moment_agree(platform: Platform) -> None:
    """The job runner and a command poll at once: each finds the HIT full, one moves it, nobody stumbles."""
    platform.run("prepare", "2")
    assert platform.run("sync", "6", "10") == {"polled": [1] * 60, "hits": ["closed"]}
