"""A job runner that is killed between sending and recording: the message is repeated, under the same name."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.limits import LIMIT
from tests.notices.receivers import Receiver

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.gate
@pytest.mark.promise(10)
def test_killed_after_sending_it_says_the_same_again_and_then_no_more(
    tmp_path: Path, migrated_database: Path, receiver: Receiver
) -> None:
    own = shutil.copy(migrated_database, tmp_path / "platform.sqlite3")
    environment = {**os.environ, "DATABASE_URL": f"sqlite:///{own}", "MEDIA_ROOT": str(tmp_path)}
    environment["DJANGO_SETTINGS_MODULE"] = "humanexp.settings"

    def start(*arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.notices.teller_process", *arguments], cwd=ROOT, env=environment
        )

    teller = start("prepare", receiver.url, "tell")
    receiver.on_call = lambda _call: os.kill(teller.pid, signal.SIGKILL)
    assert teller.wait(LIMIT) == -signal.SIGKILL
    receiver.on_call = None
    assert len(receiver.calls) == 1
    assert start("time-passes", "tell", "tell").wait(LIMIT) == 0
    first, second = receiver.calls
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]
    assert [event["id"] for event in first.json["events"]] == [event["id"] for event in second.json["events"]]
