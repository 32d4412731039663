"""Scripted participants through practice with a criterion, over HTTP, to the flow and the methods text."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command

from analysis.study.design import DesignConfig, DiscriminationDesign, PracticeDesign
from analysis.study.study import StudyConfiguration
from humanexp.jobs import runner
from humanexp.participation.models import Session
from humanexp.participation.sessions import holding_slots
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.simulation.observers import DEMO_CURVES, ObserverModel
from humanexp.simulation.personas import Persona, TruePicture, personas
from humanexp.studies.services import create_study
from tests.factories import SIZE_PX, make_stimulus_set

PEOPLE = 1000
KINDS = personas(ObserverModel(curves=DEMO_CURVES, seed=5), 5)


def clean(number: int) -> list[TruePicture]:
    return [TruePicture(original=f"o{number}", category="dog", corruption="none", visual_change=0.0)]


def pair(number: int) -> list[TruePicture]:
    functions = ("frost", "frost") if number % 2 else ("frost", "glass_blur")
    return [
        TruePicture(original=f"o{2 * number + at}", category="dog", corruption=name, visual_change=0.6)
        for at, name in enumerate(functions)
    ]


def share_passing(persona: Persona, design: PracticeDesign, *, pairs: bool) -> float:
    """Of many scripted people, those who pass one of the rounds at speed."""
    size = design.practice_round
    right = np.zeros((PEOPLE, design.practice_rounds, size), dtype=bool)
    for person, attempt, number in np.ndindex(right.shape):
        position = attempt * size + number
        shown = pair(number) if pairs else clean(position)
        correct = ("same" if number % 2 else "different") if pairs else "dog"
        given = persona.answer(shown, participant=f"P-{person}", position=position).response
        right[person, attempt, number] = given == correct
    return float((right.sum(axis=2) >= design.practice_pass).any(axis=1).mean())


@pytest.mark.verify
@pytest.mark.parametrize("pairs", [False, True], ids=["16 categories", "pairs"])
def test_careful_scripted_people_pass_and_guessing_ones_do_not(pairs: bool) -> None:
    design = DiscriminationDesign() if pairs else DesignConfig()
    assert share_passing(KINDS["careful"], design, pairs=pairs) >= 0.99
    assert share_passing(KINDS["average"], design, pairs=pairs) >= 0.99
    assert share_passing(KINDS["random"], design, pairs=pairs) <= 0.05
    assert share_passing(KINDS["one-button"], design, pairs=pairs) <= 0.05


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("unhurried", "open_gates", "one_at_a_time")
def test_whoever_guesses_ends_in_practice_and_is_told_of_separately(
    live_server: Any, settings: Any, tmp_path: Path, client: Any, admin_client: Any
) -> None:
    settings.PUBLIC_URL = live_server.url
    make_stimulus_set(per_category=8, per_function=120)
    study = create_study(
        configuration=StudyConfiguration.from_file_values(
            {
                "title": "Practice first",
                "population": "scripted",
                "stimuli": "pictures",
                "protocol": {"name": "vcr", "size_px": SIZE_PX},
                "design": {"sessions": 4, "main_trials": 16, "consistency_pairs": 1, "negative_trials": 0},
            }
        )
    )
    publish(study=study, terms=LaunchTerms(to="link", assignments=4))
    mix = "careful=0.5,random=0.5"
    call_command("simulate", study.slug, "--participants", "4", "--mix", mix, "--seed", "3", stdout=StringIO())
    runner.run_waiting()
    ended = Session.objects.filter(study=study).values_list("practised", "state", "qualified", "cursor", "total")
    assert sorted(practised for practised, *_ in ended) == [False, False, True, True]
    assert all(state in ("completed", "submitted") and cursor == total for _, state, _, cursor, total in ended)
    assert holding_slots(study).count() == 2, "the others gave their places back"

    found = tmp_path / "findings.json"
    call_command("analyse", study.slug, "--json", str(found), stdout=StringIO())
    flow = json.loads(found.read_text())["flow"]
    assert (flow["opened"], flow["finished"], flow["practice_not_passed"]) == (4, 2, 2)
    assert not any("practice" in one["reason"] for one in flow["excluded"])
    results = admin_client.get(f"/studies/{study.slug}/results/").content.decode()
    assert "practice not passed" in results
    call_command("export", study.slug, "--to", str(tmp_path / "out"), stdout=StringIO())
    texts = "".join(path.read_text() for path in (tmp_path / "out").rglob("*.md"))
    texts += "".join(path.read_text() for path in (tmp_path / "out").rglob("*.txt"))
    assert "practised" in texts + (next((tmp_path / "out").rglob("sessions.csv"))).read_text()
    for tab in ("design", "monitor", "review"):
        assert admin_client.get(f"/studies/{study.slug}/{tab}/").status_code == 200
