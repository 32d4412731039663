from __future__ import annotations

import json
import os
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from analysis.claims.curves import NOT_OURS
from humanexp.results.models import AnalysisRun
from humanexp.results.services import import_trials

pytestmark = pytest.mark.django_db

HEADER = "subj,session,trial,rt,object_response,category,condition,imagename"


def write_trials(folder: Path, conditions: list[str], per_condition: int = 60) -> Path:
    """Two people and a network; the first condition is the easiest."""
    rows = []
    for observer, loss in (("subject-01", 0.5), ("subject-02", 0.6), ("net", 0.9)):
        trial = 0
        for place, condition in enumerate(conditions):
            right = round(per_condition * (1 - loss * place / max(1, len(conditions) - 1)))
            for number in range(per_condition):
                trial += 1
                response = "dog" if number < right else ("na" if number % 7 == 0 else "cat")
                rt = "" if observer == "net" else "0.5"
                rows.append(f"{observer},1,{trial},{rt},{response},dog,{condition},{place}-{number}.png")
    path = folder / "trials.csv"
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    return path


def analyse(*arguments: object) -> str:
    out = StringIO()
    call_command("analyse", *map(str, arguments), stdout=out)
    return out.getvalue()


def test_prints_the_answer_and_writes_every_number(tmp_path: Path) -> None:
    import_trials(paths=[write_trials(tmp_path, ["0.0", "0.2", "0.5", "0.8"])], name="widths")
    target = tmp_path / "numbers.json"
    said = analyse("widths", "--bootstrap", 10, "--json", target)
    numbers = json.loads(target.read_text())
    nothing = {"owed_cents": 0, "paid_cents": 0, "fee_cents": 0, "total_cents": 0}
    counts = {"approved": 0, "rejected": 0, "bonuses": 0}
    assert numbers["payments"] == {**counts, "currency": "USD", **nothing, "by_currency": {"USD": nothing}}
    assert numbers["sessions"]["accepted"] == 2
    cell = next(c for c in numbers["accuracy"] if (c["observer"], c["condition"]) == ("subject-01", "0.8"))
    assert cell == {"observer": "subject-01", "condition": "0.8", "trials": 60, "correct": 30, "accuracy": 0.5}
    assert {curve["population"] for curve in numbers["curves"]} == {"humans", "net"}
    assert (
        "There is no verdict on the model net on widths: 2 people answered" in said
        and "50.00" in said
        and str(target) in said
    )


def test_json_on_the_screen_is_nothing_but_json(tmp_path: Path) -> None:
    import_trials(paths=[write_trials(tmp_path, ["0.0", "0.5"])], name="widths")
    assert json.loads(analyse("widths", "--bootstrap", 0, "--json", "-"))["study"] == "widths"


def test_conditions_that_are_no_numbers_give_accuracies_and_no_curve(tmp_path: Path) -> None:
    import_trials(paths=[write_trials(tmp_path, ["1-0-10", "4-0-10", "8-0-10"])], name="eidolon")
    numbers = json.loads(analyse("eidolon", "--bootstrap", 0, "--json", "-"))
    assert numbers["curves"] == [] and len(numbers["accuracy"]) == 9
    assert "People are right on" in analyse("eidolon", "--bootstrap", 0)


def test_a_column_of_visual_change_becomes_the_axis(tmp_path: Path) -> None:
    path = write_trials(tmp_path, ["low", "high"])
    head, *rows = path.read_text().splitlines()
    values = {"low": "0.1", "high": "0.8"}
    path.write_text("\n".join([f"{head},visual_change", *[f"{row},{values[row.split(',')[6]]}" for row in rows]]))
    import_trials(paths=[path], name="measured")
    numbers = json.loads(analyse("measured", "--bootstrap", 0, "--json", "-"))
    assert {curve["abscissa"] for curve in numbers["curves"]} == {"visual_change"}
    people = next(curve for curve in numbers["curves"] if curve["population"] == "humans")
    assert [(one["v"], one["n"]) for one in people["bins"]] == [(pytest.approx(0.1), 120), (pytest.approx(0.8), 120)]
    assert {cell["condition"] for cell in numbers["accuracy"]} == {"low", "high"}


@pytest.mark.verify
def test_the_same_seed_gives_the_same_file(tmp_path: Path) -> None:
    import_trials(paths=[write_trials(tmp_path, ["0.0", "0.5"])], name="widths")
    first, second = (analyse("widths", "--bootstrap", 5, "--seed", 3, "--json", "-") for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing"], "no study 'nothing'"),
        (["widths", "--seed", -1], "not negative"),
        (["widths", "--json", "/no/x.json"], "is no folder"),
    ],
)
def test_bad_input_is_refused_before_anything_is_stored(tmp_path: Path, arguments: list[object], said: str) -> None:
    import_trials(paths=[write_trials(tmp_path, ["0.0", "0.5"])], name="widths")
    with pytest.raises(CommandError, match=said):
        analyse(*arguments)
    assert not AnalysisRun.objects.exists()


@pytest.mark.verify
@pytest.mark.skipif("REFERENCE_DATA" not in os.environ, reason="REFERENCE_DATA names no folder with published trials")
def test_the_published_accuracies_come_out_of_the_command() -> None:
    folder = Path(os.environ["REFERENCE_DATA"]) / "published"
    import_trials(paths=sorted((folder / "noise-experiment").glob("*.csv")), name="noise")
    numbers = json.loads(analyse("noise", "--bootstrap", 0, "--json", "-"))
    head, *lines = [line.split() for line in (folder / "noise-experiment_accuracies.txt").read_text().splitlines()]
    assert [cell.strip('"') for cell in head] == [
        "condition",
        "human_observers(average)",
        "AlexNet",
        "GoogLeNet",
        "VGG-16",
    ]
    people = {cell["condition"]: cell["mean_over_observers"] for cell in numbers["human_accuracy"]}
    networks = {(cell["observer"], cell["condition"]): cell["accuracy"] for cell in numbers["accuracy"]}
    for condition, human, *others in lines:
        key = f"{float(condition):.2f}"
        assert abs(100 * people[key] - float(human)) <= 5e-5
        for name, value in zip(("alexnet", "googlenet", "vgg"), others, strict=True):
            assert abs(100 * networks[name, key] - float(value)) <= 5e-5


def test_curves_are_drawn_as_published_where_that_is_asked_for(tmp_path: Path) -> None:
    import_trials(paths=[write_trials(tmp_path, ["0.0", "0.2", "0.5", "0.8"])], name="widths")
    target = tmp_path / "paper.json"
    said = " ".join(analyse("widths", "--bootstrap", 10, "--curve", "paper", "--json", target).split())
    assert NOT_OURS["paper"] in said
    numbers = json.loads(target.read_text())
    human = next(one for one in numbers["curves"] if (one["population"], one["property"]) == ("humans", "accuracy"))
    # Right answers of two people, 120 a condition, in Algorithm 1's bins; the spline joins their rates.
    rates = [1.0, (50 + 48) / 120, (40 + 36) / 120, (30 + 24) / 120]
    places = [0.0, 0.2, 0.5, 0.8]
    assert [one["rate"] for one in human["bins"]] == pytest.approx(rates)
    joined = np.interp(np.linspace(0, 0.8, 81), places, rates)
    assert np.abs(np.array(human["band"]["estimate"])[:81] - joined).max() < 0.05
    assert human["interval"] is None and human["own"]["interval"] is not None
    assert numbers["settings"]["curve"] == "paper"
    with pytest.raises(CommandError, match="invalid choice: 'koenker'"):
        analyse("widths", "--curve", "koenker")
