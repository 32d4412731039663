"""Scripted participants answer ABX over HTTP; the study is then judged, analysed, exported and looked at."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from analysis.study.study import StudyConfiguration
from analysis.tables.trials import TRIALS
from humanexp.core.models import User
from humanexp.jobs import runner
from humanexp.participation.models import Response, Session
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.screening.selectors import current_verdicts
from humanexp.studies.services import create_study
from tests.factories import SIZE_PX, make_stimulus_set

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("unhurried", "open_gates")]


@pytest.mark.usefixtures("one_at_a_time")
def test_personas_compare_pictures_and_everything_downstream_takes_it(
    live_server: Any, settings: Any, tmp_path: Path, client: Any
) -> None:
    settings.PUBLIC_URL = live_server.url
    make_stimulus_set(per_category=8, per_function=120)
    study = create_study(
        configuration=StudyConfiguration.from_dict(
            {
                "title": "Whose corruption?",
                "population": "scripted",
                "stimuli": "pictures",
                "protocol": {"name": "vcr", "size_px": SIZE_PX},
                "design": {
                    "sessions": 5,
                    "main_trials": 0,
                    "discrimination": {"form": "abx", "trials": 12, "sentinels": 4, "practice": 2},
                },
            }
        )
    )
    publish(study=study, terms=LaunchTerms(to="link", assignments=5))
    mix = "careful=0.8,one-button=0.2"
    call_command("simulate", study.slug, "--participants", "5", "--mix", mix, "--seed", "3", stdout=StringIO())
    answers = Response.objects.filter(session__study=study)
    assert answers.count() == 5 * 18 and set(answers.values_list("response", flat=True)) <= {"a", "b", "na"}
    assert not answers.filter(timing_ok=None).exists(), "scripted answers can be judged by the rule for timing"

    runner.run_waiting()
    verdicts = current_verdicts(study)
    excluded = [verdict for verdict in verdicts.values() if not verdict.accepted]
    assert len(verdicts) == 5 and len(excluded) == 1
    assert all("plain ABX trials failed" in verdict.reasons for verdict in excluded)

    found = tmp_path / "findings.json"
    call_command("analyse", study.slug, "--json", str(found), stdout=StringIO())
    entries = {tuple(entry["pair"]): entry for entry in json.loads(found.read_text())["discrimination"]}
    assert {entry["form"] for entry in entries.values()} == {"abx"}
    assert sum(entry["trials"] for entry in entries.values()) == 4 * 12
    assert entries["gaussian_blur", "gaussian_noise"]["verdict"] == "different"
    assert (
        entries["gaussian_noise", "uniform_noise"]["accuracy"] < entries["gaussian_blur", "gaussian_noise"]["accuracy"]
    )

    call_command("export", study.slug, "--to", str(tmp_path / "out"), stdout=StringIO())
    frame = TRIALS.read(next((tmp_path / "out").rglob("trials.csv")))
    assert len(frame) == 5 * 18 and frame["third_stimulus"].notna().all()

    client.force_login(User.objects.create_superuser("ada"))
    for tab in ("design", "results", "monitor", "review"):
        assert client.get(f"/studies/{study.slug}/{tab}/").status_code == 200
    session = Session.objects.filter(study=study).first()
    assert session is not None and session.state in ("completed", "submitted")
    results = client.get(f"/studies/{study.slug}/results/").content.decode()
    assert "either is right in half of the trials" in results and ">ABX<" in results
    example = client.get(f"/studies/{study.slug}/preview/run/?page=result-&to=link").content.decode()
    assert example.count("all together") == 1, "the example on the page of all pages has the one row that people get"
