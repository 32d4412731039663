"""Bonuses without a token under fire, in short: see benchmarks/panel_fire.py, which is run here as it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.served import ROOT

pytestmark = pytest.mark.process


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("share", ["0", "0.2"])
def test_forty_people_are_each_paid_once_or_left_to_a_person(tmp_path: Path, share: str) -> None:
    out = tmp_path / "fire.jsonl"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PANEL_", "DJANGO_"))}
    command = [sys.executable, "-m", "benchmarks.panel_fire", "--people", "40", "--seeds", "1", "--share", share]
    ran = subprocess.run([*command, "--out", str(out)], cwd=ROOT, env=kept, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    outcome = json.loads(out.read_text())
    assert outcome["faults"] == []
    assert outcome["charged_cents"] == outcome["paid_cents"] > 0
    assert (outcome["bonuses"], outcome["kills"] > 0) == (40, True)
    assert outcome["parked"] == 0 or share == "0.2"
