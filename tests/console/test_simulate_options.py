"""Studies with options of their own: rehearsed before a launch, and taken by scripted participants over HTTP."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from analysis.labels.files import default_labels
from humanexp.console.preflight.check import run_preflight
from humanexp.core.models import User
from humanexp.jobs import runner
from humanexp.participation.models import Response
from humanexp.recruiting.launch import LaunchTerms, publish
from tests.factories import SIZE_PX, collecting_study, draft_study, make_stimulus_set

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("unhurried", "open_gates", "one_at_a_time"),
]

DESIGN = {
    "sessions": 3,
    "main_trials": 16,
    "practice_trials": 4,
    "gold_trials": 4,
    "consistency_pairs": 1,
    "alternatives": 2,
    "none_of_these": True,
}


def test_a_rehearsal_answers_among_what_is_offered(live_server: Any, settings: Any) -> None:
    settings.PUBLIC_URL = live_server.url
    make_stimulus_set(per_category=8, per_function=120)
    user = User.objects.create_user("ada")
    study = draft_study(by=user, design=DESIGN, recruitment={"contact": "lab@example.org"})
    made = run_preflight(study=study, to="link", by=user)
    dry = next(entry for entry in made.lines if entry["key"] == "dry-run")
    assert dry["tone"] == "good" and dry["detail"].startswith("2 sessions were taken to their end"), dry


def test_scripted_people_take_it_to_findings_and_pages(
    live_server: Any, settings: Any, tmp_path: Path, admin_client: Any
) -> None:
    settings.PUBLIC_URL = live_server.url
    make_stimulus_set(per_category=8, per_function=120)
    study = collecting_study(
        population="scripted", protocol={"name": "vcr", "size_px": SIZE_PX}, design=DESIGN, rules="none"
    )
    publish(study=study, terms=LaunchTerms(to="link", assignments=3))
    call_command("simulate", study.slug, "--participants", "3", "--mix", "careful=0.7,random=0.3", stdout=StringIO())
    runner.run_waiting()
    given = Response.objects.filter(session__study=study).values_list("response", "trial__options")
    assert given.count() > 60 and all(said in (*options, "na") for said, options in given)
    assert "none" in {said for said, _ in given}

    found = tmp_path / "findings.json"
    call_command("analyse", study.slug, "--json", str(found), stdout=StringIO())
    curves = json.loads(found.read_text())["curves"]
    assert {curve["own_chance"] for curve in curves if curve["property"] == "accuracy"} == {0.5}
    results = admin_client.get(f"/studies/{study.slug}/results/").content.decode()
    assert f"Which of 2 offered, of {len(default_labels())} categories?" in results
    for tab in ("design", "monitor", "review", "results/methods"):
        assert admin_client.get(f"/studies/{study.slug}/{tab}/").status_code in (200, 404)
    call_command("export", study.slug, "--to", str(tmp_path / "out"), stdout=StringIO())
    assert "guess rate of 1/2" in (tmp_path / "out" / "README.md").read_text()
