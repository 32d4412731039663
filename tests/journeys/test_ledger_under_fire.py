"""The ledger under fire, in short: see benchmarks/ledger.py, which is run here as it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.served import ROOT

DATABASES = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]


def under_fire(request: pytest.FixtureRequest, out: Path, database: str, *arguments: str) -> list[dict[str, Any]]:
    if database == "postgres":
        request.getfixturevalue("postgres_cluster")
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("MARKETPLACE_", "AWS_", "DJANGO_"))
    }
    command = [sys.executable, "-m", "benchmarks.ledger", "--database", database, "--out", str(out), *arguments]
    ran = subprocess.run(command, cwd=ROOT, env=kept, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return [json.loads(line) for line in out.read_text().splitlines()]


def nobody_is_unpaid_or_paid_twice(outcomes: list[dict[str, Any]]) -> None:
    for outcome in outcomes:
        assert outcome["faults"] == []
        assert outcome["charged_cents"] == outcome["paid_cents"] > 0
        assert outcome["excluded_but_paid"] > 0
        assert outcome["kills"] > 0


@pytest.mark.process
@pytest.mark.timeout(600)
@pytest.mark.parametrize("database", DATABASES)
def test_twelve_people(request: pytest.FixtureRequest, tmp_path: Path, database: str) -> None:
    out = tmp_path / "fire.jsonl"
    short = ("--workers", "12", "--seeds", "3", "--kill-after", "0.3")
    [outcome] = under_fire(request, out, database, *short)
    nobody_is_unpaid_or_paid_twice([outcome])
    assert outcome["attempts"] > 12


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("database", DATABASES)
def test_sixty_people_three_seeds(request: pytest.FixtureRequest, tmp_path: Path, database: str) -> None:
    out = tmp_path / "fire.jsonl"
    outcomes = under_fire(request, out, database, "--workers", "60", "--seeds", "1-3")
    assert [outcome["seed"] for outcome in outcomes] == [1, 2, 3]
    nobody_is_unpaid_or_paid_twice(outcomes)
    # what is there is not run again
    assert len(under_fire(request, out, database, "--workers", "60", "--seeds", "1-3")) == 3
