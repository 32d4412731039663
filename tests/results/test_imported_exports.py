"""Exports of studies of any labels and options, imported into an empty database: their analysis is the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.test import Client

from analysis.findings.reproduction import read_export
from analysis.labels.files import labels_of_words, shipped
from analysis.labels.space import LabelSpace
from analysis.published_trials import read_published_trials
from analysis.tables.trials import TRIALS
from humanexp.participation.models import Session, Trial
from humanexp.results.exports import export_study
from humanexp.results.models import TrialImport
from humanexp.results.selectors import findings_json
from humanexp.results.services import run_analysis
from humanexp.stimuli.models import LabelSet
from humanexp.stimuli.services.label_sets import label_set_named, store_labels
from humanexp.studies.models import Study
from tests.factories import Tab, collecting_study, make_stimulus_set, new_session
from tests.participation.test_labels import DESIGN, PROTOCOL

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("unhurried", "open_gates")]


def german() -> LabelSpace:
    return labels_of_words("obst", ("Apfel", "Birne", "Quitte", "Pflaume", "Kirsche"), "de")


CASES: dict[str, tuple[Any, dict[str, object]]] = {
    "digits": (lambda: shipped("mnist"), {}),
    "two of ten digits": (lambda: shipped("mnist"), {"alternatives": 2, "gold_trials": 4, "practice_trials": 4}),
    "words with none of these": (german, {"none_of_these": True}),
}


def exported(client: Client, name: str, folder: Path) -> tuple[Path, dict[str, Any]]:
    """A folder with an export, and the findings of its analysis; the database is empty again."""
    make, design = CASES[name]
    space = make()
    with transaction.atomic():
        labels = label_set_named(space.name) if space.name == "mnist" else store_labels(space)
        make_stimulus_set(labels=labels, per_category=-(-96 // len(space)), per_function=160)
        study = collecting_study(protocol=PROTOCOL, design={**DESIGN, **design}, seed=7)
        for number in range(3):
            session = new_session(study, f"P-{number}")
            tab = Tab(client, session)
            tab.take_lease()
            for trial in Trial.objects.filter(session=session).order_by("position"):
                offered = trial.options or space.ids
                tab.answer(trial.position, trial.correct_response if trial.position % 4 else offered[-1])
            assert tab.post("complete/", {}).status_code == 200
        run = run_analysis(study=study, n_bootstrap=30)
        export_study(study, folder)
        found = findings_json(run)
        transaction.set_rollback(True)
    assert not (Study.objects.exists() or Session.objects.exists() or LabelSet.objects.exists())
    return folder, found


@pytest.mark.parametrize("name", list(CASES))
def test_the_analysis_of_the_import_is_that_of_the_export(client: Client, tmp_path: Path, name: str) -> None:
    folder, found = exported(client, name, tmp_path / "export")
    call_command("import_trials", str(folder), study="small-study")
    study = Study.objects.get(slug="small-study")
    assert study.space.identity == CASES[name][0]().identity
    again = findings_json(run_analysis(study=study, n_bootstrap=30))
    assert again == found
    if name == "two of ten digits":
        assert {round(1 / (curve["own_chance"] or 1)) for curve in again["curves"]} == {2}


def test_an_import_can_be_exported_again(client: Client, tmp_path: Path) -> None:
    folder, _ = exported(client, "two of ten digits", tmp_path / "export")
    call_command("import_trials", str(folder), study="small-study")
    export_study(Study.objects.get(slug="small-study"), tmp_path / "again")
    once, twice = read_export(folder), read_export(tmp_path / "again")
    assert once.trials.equals(twice.trials)
    assert once.labels is not None and twice.labels is not None and once.labels.identity == twice.labels.identity


def test_the_same_export_again_changes_nothing_and_another_one_is_refused(client: Client, tmp_path: Path) -> None:
    folder, _ = exported(client, "digits", tmp_path / "export")
    call_command("import_trials", str(folder), study="small-study")
    call_command("import_trials", str(folder), study="small-study")
    assert TrialImport.objects.count() == 1
    told = json.loads((folder / "analysis.json").read_text(encoding="utf-8"))
    (folder / "analysis.json").write_text(json.dumps({**told, "study": "other"}), encoding="utf-8")
    with pytest.raises(CommandError, match="trials of other files"):
        call_command("import_trials", str(folder), study="small-study")


def test_what_is_no_export_or_contradicts_itself_is_refused_whole(client: Client, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="is no exported study: analysis.json is missing"):
        call_command("import_trials", str(tmp_path), study="small-study")
    folder, _ = exported(client, "two of ten digits", tmp_path / "export")
    trials = TRIALS.read(folder / "trials.parquet")
    trials.loc[0, "options"] = "1 2"
    trials.loc[0, "response"] = "7"
    TRIALS.write(trials, folder / "trials.parquet")
    with pytest.raises(CommandError, match="is not among the options 1 2"):
        call_command("import_trials", str(folder), study="small-study")
    assert not Study.objects.exists() and not TrialImport.objects.exists()


def test_trial_files_of_an_export_say_what_was_offered(client: Client, tmp_path: Path) -> None:
    folder, _ = exported(client, "two of ten digits", tmp_path / "export")
    trials = read_export(folder).trials
    for file in sorted((folder / "model-vs-human").glob("*/*_people.csv")):
        read = read_published_trials([file], study=file.parent.name, space=shipped("mnist")).trials
        assert set(read["options"]) <= set(trials["options"]) and all(len(one.split()) == 2 for one in read["options"])
    plain, _ = exported(client, "digits", tmp_path / "plain")
    assert all("options" not in file.read_text() for file in (plain / "model-vs-human").glob("*/*.csv"))


def test_trial_files_name_their_labels_and_lists(tmp_path: Path) -> None:
    rows = [
        "subj,session,trial,rt,object_response,category,condition,imagename,options",
        "subject-01,1,1,0.6,3,3,0.1,0001_x_s01_0.1_3_00_a.png,3 8",
        "subject-01,1,2,0.7,none,5,0.1,0002_x_s01_0.1_5_00_b.png,",
        "subject-01,1,3,0.8,1,1,0.1,0003_x_s01_0.1_1_00_c.png,7 1",
    ]
    file = tmp_path / "digits.csv"
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    with pytest.raises(CommandError, match="is not one of airplane"):
        call_command("import_trials", str(file), study="digits", none_offered=True)
    with pytest.raises(CommandError, match="says nothing"):
        call_command("import_trials", str(file), study="digits", label_space="mnist")
    call_command("import_trials", str(file), study="digits", label_space="mnist", none_offered=True)
    study = Study.objects.get(slug="digits")
    assert study.space.identity == shipped("mnist").identity
    table = TRIALS.read(Path(_media(study)))
    assert table["response"].tolist() == ["3", "none", "1"]
    assert table["options"].fillna("").tolist() == ["3 8", "", "7 1"]
    run_analysis(study=study, n_bootstrap=10)


def _media(study: Study) -> str:
    from humanexp.core.storage import media_path

    return str(media_path(TrialImport.objects.get(study=study).trials_file))
