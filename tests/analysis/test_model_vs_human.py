from __future__ import annotations

import os
import resource
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.model_vs_human import TrialFiles
from analysis.published_trials import read_published_trials
from tests.analysis.findings.studies import analysed, imported, predictions_for, study


def written(folder: Path, trials: pd.DataFrame, predictions: pd.DataFrame | None = None) -> list[Path]:
    files = TrialFiles(folder, trials["participant"].unique().tolist())
    for start in range(0, len(trials), 100):
        files.add_trials(trials.iloc[start : start + 100])
    if predictions is not None:
        files.add_predictions(predictions)
    return files.paths


def test_a_file_has_the_published_header_and_one_row_a_trial(tmp_path: Path) -> None:
    trials, predictions = study(1, people=8, trials_each=8)
    paths = written(tmp_path, trials.assign(rt_ms=650.0), predictions)
    assert {path.relative_to(tmp_path).as_posix() for path in paths} == {
        f"{name}/{name}_{who}.csv" for name in ("blur", "noise", "clean") for who in ("people", "near-sighted")
    }
    lines = (tmp_path / "blur/blur_people.csv").read_text().splitlines()
    assert lines[0].startswith("subj,session,trial,rt,object_response,category,condition,imagename")
    subject, session, _, seconds, _, category, condition, image, change = lines[1].split(",")
    assert (subject, session, seconds) == ("subject-01", "1", "0.65")
    assert image.startswith(f"0001_blu_s01_{condition}_{category}_00_") and image.endswith(".png")
    assert condition == f"{int(10 * float(change)) / 10:.1f}"
    assert "NaN" in (tmp_path / "blur/blur_near-sighted.csv").read_text().splitlines()[1]


def test_golds_and_sessions_that_do_not_count_are_left_out(tmp_path: Path) -> None:
    trials, _ = study(1, people=8, trials_each=8)
    written(tmp_path, trials.assign(accepted=trials["participant"] != "P-1"))
    clean = read_published_trials([tmp_path / "clean/clean_people.csv"], study="clean").trials
    assert set(clean["participant"]) == {f"subject-{k:02d}" for k in range(1, 9) if k != 2}
    assert len(clean) == 7 * 5


def test_published_trials_come_back_with_the_same_accuracies_and_kappas(tmp_path: Path) -> None:
    trials = imported({"c100": 0.9, "c10": 0.6, "c05": 0.3}, people=3, each=20, seed=2)
    trials = trials.assign(participant=trials["participant"].str.replace("P-", "subject-0"))
    trials["stimulus"] = trials["original"]
    copies = trials[trials["participant"] == "subject-00"]
    networks = copies.assign(classifier="vgg 16", label_space=16)
    paths = written(tmp_path, trials, networks)
    back = read_published_trials(paths, study="experiment")
    assert back.observers == {
        "subject-00": "human",
        "subject-01": "human",
        "subject-02": "human",
        "vgg-16": "classifier",
    }
    people = back.trials[back.trials["participant"] != "vgg-16"]
    before = analysed(trials, study="s", seed=1, n_bootstrap=0, sensitivity=False)
    after = analysed(people, study="s", seed=1, n_bootstrap=0, sensitivity=False)
    for key in ("accuracy", "human_accuracy", "error_consistency"):
        assert after[key] == before[key]


def test_every_observer_has_files_of_its_own_whatever_it_is_called(tmp_path: Path) -> None:
    """More observers than a process may have files open, among them two whose plain names are one."""
    trials, one = study(1, people=8, trials_each=8)
    names = ["vit_b", "vit-b", "people", *(f"net{number}" for number in range(40))]
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 24, limits[1]))
    try:
        paths = written(tmp_path, trials, pd.concat([one.assign(classifier=name) for name in names]))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert len(paths) == 3 * (1 + len(names))
    sizes = {
        len((tmp_path / f"blur/blur_{name}.csv").read_text().splitlines()) for name in ("vit-b", "vit-b-2", "net7")
    }
    assert sizes == {1 + int((one["corruption"] == "blur").sum())}
    people = read_published_trials([tmp_path / "blur/blur_people.csv"], study="blur")
    assert set(people.observers.values()) == {"human"}


@pytest.mark.parametrize("name", ["=cmd|' /C calc'!A0", "../../etc/passwd", "a_b/c d"])
def test_names_cannot_leave_the_folder_or_run_in_a_spreadsheet(name: str, tmp_path: Path) -> None:
    trials, _ = study(1, people=8, trials_each=8)
    hostile = trials.assign(corruption=np.where(trials["corruption"] == "blur", name, trials["corruption"]))
    predictions = predictions_for(np.random.default_rng(0), hostile).assign(classifier=name)
    paths = written(tmp_path, hostile, predictions)
    assert all(path.resolve().is_relative_to(tmp_path.resolve()) for path in paths)
    cells = [cell for path in paths for line in path.read_text().splitlines() for cell in line.split(",")]
    assert not [cell for cell in cells if cell.startswith(("=", "@", "+", "-"))]
