"""Models on sets of pictures by one command: every kind of set, the numbers against another count, what is refused."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from django.core.management import CommandError, call_command

from analysis.documents.value import FigureBlock
from analysis.labels.files import default_labels, labels_of_words
from humanexp.core.errors import InvalidRequest
from humanexp.evaluations.models import EvaluationRun
from humanexp.evaluations.services.training_material import check_may_train
from humanexp.results.published_sets import ScoredSet
from humanexp.results.scorecard import MOST_LABELS, confusion_figures, scorecard, scorecard_document
from humanexp.results.tables import predictions_of, trials_of
from humanexp.screening.services import judge_study
from humanexp.stimuli.models import SourceSet, StimulusSet
from humanexp.stimuli.services.imports import import_images
from humanexp.stimuli.services.sources import ImportOrder
from humanexp.studies.models import Study
from tests.labels import of_the_sixteen
from tests.published_sets import digest_list
from tests.results.collected import make_predictions
from tests.results.edges import HEADER, SHOWN, media, network, pictures, run, trial, trials, write_picture

__all__ = ["media", "network", "pictures", "trials"]
pytestmark = [pytest.mark.django_db, of_the_sixteen]
Write = Callable[..., Path]


def score(network: str, *more: object) -> str:
    return run("score", network, "--name", "grey", *more)


@pytest.fixture
def published(trials: list[Path], pictures: Path, tmp_path: Path) -> Write:
    """Writes the four pictures and their trials as a published set."""

    def write(name: str = "edges", more: str = "", shown: tuple[str, ...] = SHOWN) -> Path:
        folder = tmp_path / "sets" / name
        for category in shown:
            shutil.copytree(pictures / category, folder / "pictures" / category)
        (folder / "trials").mkdir()
        for path in trials:
            shutil.copy(path, folder / "trials")
        (folder / "pictures.sha256").write_text(digest_list(folder, "pictures"), encoding="utf-8")
        text = f'name = "{name}"\nversion = "1"\n{more}\n[trials]\nfiles = ["trials/*.csv"]\nexposure_ms = 200\n'
        (folder / "set.toml").write_text(text, encoding="utf-8")
        return folder

    return write


def found_in(path: Path) -> dict[str, dict[str, float]]:
    """Accuracy by set and observer."""
    document = json.loads(path.read_text(encoding="utf-8"))
    return {one["set"]: {row["observer"]: row["accuracy"] for row in one["scores"]} for one in document["sets"]}


def test_a_published_set_is_scored_and_counted_again(published: Write, network: str, tmp_path: Path) -> None:
    folder = published(more='licence = "CC BY 4.0"\ncontamination = "public since 2018"')
    out = {kind: tmp_path / f"all.{kind}" for kind in ("json", "csv", "pdf")}
    said = score(network, "--on", folder, *(part for kind, path in out.items() for part in (f"--{kind}", path)))
    assert [line.split()[0] for line in said.split("Observers next to")[0].splitlines() if "[" in line] == [
        "people", "subject-01", "subject-02", "grey", "alexnet",
    ]  # fmt: skip
    scores = found_in(out["json"])["edges-1"]
    # By hand: subject-01 missed one of four, subject-02 called the cat a dog.
    assert scores == {"chance": 1 / 16, "humans": 0.75, "subject-01": 0.75, "subject-02": 0.75, "grey": 0.75,
                      "alexnet": 0.25}  # fmt: skip
    rows = list(csv.DictReader(io.StringIO(out["csv"].read_text(encoding="utf-8"))))
    assert len(rows) == 4 and {row["original"].rsplit("_", 1)[-1] for row in rows} == {f"{one}1" for one in SHOWN}
    assert np.mean([row["grey"] == row["category"] for row in rows]) == 0.75
    assert sum(int(row["people_right"]) for row in rows) == 6
    (document,) = json.loads(out["json"].read_text(encoding="utf-8"))["sets"]
    assert document["about"]["Licence"] == "CC BY 4.0"
    assert document["about"]["People saw a picture for"] == "200 ms"
    assert document["about"]["Models saw a picture for"] == "no limit of viewing time"
    assert document["models"]["grey"] == "none; mean, the labels' outputs competed"
    assert out["pdf"].read_bytes().startswith(b"%PDF")


def test_the_document_has_the_answers_to_each_label_of_sets_with_few(published: Write, network: str) -> None:
    score(network, "--on", published())
    study = Study.objects.get()
    made = scorecard([ScoredSet(study.stimulus_set, study)])
    document = scorecard_document(made, title="all", with_matrices=True)
    (section,) = (one for one in document.sections if one.title == "edges-1")
    blocks = [one for one in section.blocks if isinstance(one, FigureBlock)]
    # By hand: people are right on 2 + 1 + 2 + 1 of 8; each model on what is said of it above.
    assert [one.figure.description for one in blocks] == [
        "Answers of people: edges-1: 6 of 8 answers lie on the diagonal.",
        "Answers of grey: edges-1: 3 of 4 answers lie on the diagonal.",
        "Answers of alexnet: edges-1: 1 of 4 answers lie on the diagonal.",
    ]
    (answers,) = made.answers
    words = [f"label {number}" for number in range(MOST_LABELS + 1)]
    assert len(list(confusion_figures(answers))) == 3
    assert not list(confusion_figures(replace(answers, space=labels_of_words("many", words))))
    # Answers among other labels have no place in the matrix.
    assert not list(confusion_figures(replace(answers, space=labels_of_words("few", words[:4]))))


def test_the_same_set_again_is_not_imported_again_and_a_changed_one_is_refused(published: Write, network: str) -> None:
    folder = published()
    score(network, "--on", folder)
    assert "grey" in score(network, "--on", folder) and Study.objects.count() == 1
    write_picture(folder / "pictures/dog/dog1.png", "dog", side=64)
    with pytest.raises(CommandError, match="dog1.png: not the picture that pictures.sha256 lists"):
        score(network, "--on", folder)
    (folder / "pictures.sha256").write_text(digest_list(folder, "pictures"), encoding="utf-8")
    with pytest.raises(CommandError, match="version 1 of edges is here already, with another set.toml"):
        score(network, "--on", folder)
    assert StimulusSet.objects.count() == Study.objects.count() == 1


def test_a_drop_is_that_of_the_labels_in_common(published: Write, network: str, tmp_path: Path) -> None:
    easy = published("clean", shown=SHOWN)
    hard = published("hard", 'reference = "clean"\n', shown=("dog", "bear"))
    text = (hard / "set.toml").read_text(encoding="utf-8")
    (hard / "set.toml").write_text(f"{text}only_pictured = true\n", encoding="utf-8")
    said = score(network, "--on", easy, hard, "--json", tmp_path / "all.json")
    drops = {one["observer"]: one for one in json.loads((tmp_path / "all.json").read_text())["drops"]}
    # The network calls bears dogs: of dogs and bears it names half on both sets.
    assert (drops["grey"]["reference_accuracy"], drops["grey"]["accuracy"], drops["grey"]["drop"]) == (0.5, 0.5, 0.0)
    assert drops["humans"]["labels"] == 2 and drops["humans"]["drop"] == 0.0
    assert "Drop from the reference" in said
    run("evaluate", "--study", "hard-1", "--classifier", network, "--name", "grey", "--rule", "max")
    run("score", "--on", easy, hard, "--json", tmp_path / "all.json")
    drops = {one["observer"]: one for one in json.loads((tmp_path / "all.json").read_text())["drops"]}
    assert "drop" not in drops["grey"] and drops["grey"]["withheld"].startswith("two rules: mean")


def test_a_factor_has_its_drop_and_the_total_as_in_imagenet_ds_table(network: str, tmp_path: Path) -> None:
    """By hand: on the reference the network names dog and cat and calls the bear a dog, 2 of 3."""
    for name, reference in (("plain", ""), ("synthetic", 'reference = "plain"\n')):
        folder, rows = tmp_path / name, []
        for category, nuisance in (("dog", "background"), ("cat", "texture"), ("bear", "texture")):
            write_picture(folder / "pictures" / f"{category}.png", category, side=64 if reference else 96)
            rows.append(f"{category}.png,{category},{nuisance}")
        (folder / "pictures/table.csv").write_text("path,category,nuisance\n" + "\n".join(rows), encoding="utf-8")
        (folder / "pictures.sha256").write_text(digest_list(folder, "pictures"), encoding="utf-8")
        pictures = '[pictures]\ntable = "table.csv"\nfactors = ["nuisance"]\n'
        (folder / "set.toml").write_text(f'name = "{name}"\nversion = "1"\n{reference}{pictures}', encoding="utf-8")
    said = score(network, "--on", tmp_path / "plain", tmp_path / "synthetic")
    table = said.split("Right answers by nuisance: synthetic-1")[1]
    row = next(line for line in table.splitlines() if line.startswith("grey"))
    shown = re.sub(r"\[[^]]*\]", "", row).split()[1:]
    assert [float(one.replace("−", "-")) for one in shown] == pytest.approx(
        [1.0, 2 / 3 - 1.0, 0.5, 2 / 3 - 0.5, 2 / 3, 0.0], abs=5e-4
    )


def test_trials_about_pictures_that_are_not_there_are_left_out_only_where_the_set_says_so(
    published: Write, network: str
) -> None:
    folder = published(shown=("dog", "cat"))
    with pytest.raises(CommandError, match="2 pictures of the trials are missing"):
        score(network, "--on", folder)
    assert not Study.objects.exists() and not StimulusSet.objects.exists()
    text = (folder / "set.toml").read_text(encoding="utf-8")
    (folder / "set.toml").write_text(f"{text}only_pictured = true\n", encoding="utf-8")
    score(network, "--on", folder)
    assert Study.objects.get().trial_import.trials == 6


def test_stated_conditions_are_left_out_of_means_and_unknown_ones_refused(
    published: Write, network: str, tmp_path: Path
) -> None:
    folder = published()
    more = "".join(trial("subject-01", number, "dog", one, "9") for number, one in enumerate(SHOWN, 5))
    (folder / "trials/more.csv").write_text(HEADER + more, encoding="utf-8")
    for category in SHOWN:
        for condition in ("0", "9"):
            shutil.copytree(folder / "pictures" / category, folder / "pictures" / condition / category)
        shutil.rmtree(folder / "pictures" / category)
    (folder / "pictures.sha256").write_text(digest_list(folder, "pictures"), encoding="utf-8")
    text = (folder / "set.toml").read_text(encoding="utf-8")
    (folder / "set.toml").write_text(f"{text}[conditions]\nexcluded = ['0']\n", encoding="utf-8")
    score(network, "--on", folder, "--json", tmp_path / "all.json")
    beside = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))["beside_people"]
    assert next(one for one in beside if one["observer"] == "humans")["ood_accuracy"]["value"] == 0.25
    (folder / "set.toml").write_text(
        f"{text}[conditions]\nexcluded = ['7']\n".replace('version = "1"', 'version = "2"'), encoding="utf-8"
    )
    with pytest.raises(CommandError, match="There is no condition '7' to leave out; there are: 0, 9"):
        score(network, "--on", folder)


def test_photographs_without_trials_are_scored_with_their_factors(network: str, tmp_path: Path) -> None:
    folder = tmp_path / "photographs"
    rows = []
    for number, category in enumerate(("dog", "cat", "bear")):
        write_picture(folder / f"{category}{number}.png", category)
        rows.append(f"{category}{number}.png,{category},{'grass' if number else 'sand'}")
    (folder / "table.csv").write_text("path,category,ground\n" + "\n".join(rows) + "\n", encoding="utf-8")
    (folder / "pictures.sha256").write_text(digest_list(folder, "."), encoding="utf-8")
    (folder / "set.toml").write_text('name = "photos"\nversion = "1"\n[pictures]\npath = "."\n', encoding="utf-8")
    with pytest.raises(CommandError):
        score(network, "--on", folder)  # the list lies in the folder that it lists
    shutil.move(folder, tmp_path / "pictures")
    folder.mkdir()
    shutil.move(tmp_path / "pictures", folder / "pictures")
    for name in ("set.toml", "pictures.sha256"):
        (folder / "pictures" / name).unlink()
    (folder / "pictures.sha256").write_text(digest_list(folder, "pictures"), encoding="utf-8")
    text = 'name = "photos"\nversion = "1"\n[pictures]\ntable = "table.csv"\nfactors = ["ground"]\n'
    (folder / "set.toml").write_text(text, encoding="utf-8")
    said = score(network, "--on", folder, "--json", tmp_path / "all.json", "--pdf", tmp_path / "all.pdf")
    assert found_in(tmp_path / "all.json")["photos-1"] == pytest.approx({"chance": 1 / 16, "grey": 2 / 3})
    (document,) = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))["sets"]
    # On grass are the cat, which it knows, and the bear, which it calls a dog.
    assert {one["value"]: (one["n"], one["accuracy"]) for one in document["factors"]} == {
        "grass": (2, 0.5), "sand": (1, 1.0),
    }  # fmt: skip
    assert "Right answers by ground: photos-1" in said
    images = SourceSet.objects.get(name="photos-1").images.order_by("key")
    assert [one.factors for one in images] == [{"ground": "grass"}, {"ground": "grass"}, {"ground": "sand"}]


def test_a_folder_of_labelled_pictures_and_what_is_here_are_sets(network: str, pictures: Path, tmp_path: Path) -> None:
    folder = tmp_path / "my-photographs"
    for category in ("dog", "cat"):
        write_picture(folder / category / "one.png", category, side=224)
    score(network, "--on", folder, "--json", tmp_path / "all.json")
    assert found_in(tmp_path / "all.json") == {"my-photographs": {"chance": 1 / 16, "grey": 1.0}}
    with pytest.raises(CommandError, match=r"there are pictures called my-photographs already. Name them"):
        score(network, "--on", folder)
    assert "grey" in score(network, "--on", "my-photographs")
    with pytest.raises(CommandError, match="nothing is no folder or archive, and no study or stimulus set"):
        score(network, "--on", "nothing")


def test_one_command_scores_a_model_on_folders_of_trial_files(
    trials: list[Path], pictures: Path, network: str, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    (data / "edges").mkdir(parents=True)
    for path in trials:
        path.rename(data / "edges" / path.name)
    shutil.copytree(data / "edges", data / "bare")
    pictures.rename(data / "edges" / "pictures")
    score(network, "--on", data, "--json", tmp_path / "all.json")
    # What has no pictures is imported and stays out of the model's table.
    assert list(found_in(tmp_path / "all.json")) == ["edges"] and Study.objects.filter(slug="bare").exists()
    score(network, "--on", data)
    assert Study.objects.count() == 2 and EvaluationRun.objects.count() == 1
    assert run("benchmark_table", "edges", "bare").count("alexnet") == 1
    assert "grey" in score(network, "--on", "edges")
    with pytest.raises(CommandError, match="bare has no pictures"):
        score(network, "--on", "bare")
    with pytest.raises(CommandError, match="edges is given twice"):
        score(network, "--on", "edges", "edges")


def test_trial_files_without_any_picture_say_where_to_put_them(
    trials: list[Path], network: str, tmp_path: Path
) -> None:
    folder = tmp_path / "experiment"
    folder.mkdir()
    for path in trials:
        path.rename(folder / path.name)
    with pytest.raises(CommandError, match="has pictures: put them into a folder `pictures`"):
        score(network, "--on", folder)
    with pytest.raises(CommandError, match="--pictures edgs: no folder of trial files has this name"):
        score(network, "--on", folder, "--pictures", f"edgs={tmp_path}")


def test_the_benchmark_prints_its_own_columns(published: Write, network: str) -> None:
    said = score(network, "--on", published(), "--as", "model-vs-human")
    assert "accuracy diff. ↓" in said and "obs. consistency ↑" in said and "People's lead" not in said
    assert "people" not in said.split("mean rank")[1]


def test_nothing_is_trained_on_what_is_for_tests_alone(published: Write, pictures: Path, network: str) -> None:
    score(network, "--on", published(more='use = "test-only"'))
    with pytest.raises(InvalidRequest, match="belong to published-edges-1"):
        check_may_train(SourceSet.objects.get(), field="source_set")
    free, same = pictures.parent / "free", pictures.parent / "same"
    for category in ("dog", "cat"):
        write_picture(free / category / "other.png", category, side=128)
    shutil.copytree(pictures / "dog", same / "dog")
    for folder in (free, same):
        import_images(source=folder, order=ImportOrder(name=folder.name))
    check_may_train(SourceSet.objects.get(name="free"), field="source_set")
    with pytest.raises(InvalidRequest, match="Pictures of same belong to"):
        check_may_train(SourceSet.objects.get(name="same"), field="source_set")
    mixed = (
        "--images=free",
        "--images=same",
        "--test=free",
        f"--classifier={network}",
        f"--out={free.parent / 'm.pt2'}",
    )
    with pytest.raises(CommandError, match="Pictures of same belong to"):
        call_command("retrain", *mixed)


def test_labels_of_the_set_come_with_it(published: Write, network: str) -> None:
    folder = published(more='labels = "four.toml"')
    with pytest.raises(CommandError, match="labels: there is no file four.toml beside it"):
        score(network, "--on", folder)
    labels = "".join(f"[labels.{one}]\n" for one in SHOWN)
    (folder / "four.toml").write_text(f'name = "four"\n{labels}', encoding="utf-8")
    score(network, "--on", folder)
    assert Study.objects.get().space.ids == tuple(sorted(SHOWN)) != default_labels().ids
    assert SourceSet.objects.get().labels is not None


def test_a_study_of_ones_own_counts_accepted_answers_in_curves(study: Study, tmp_path: Path) -> None:
    """Again from the tables: sentinels and excluded sessions stay out, for people and for models."""
    make_predictions(study)
    judge_study(study)
    run("score", "--on", study.slug, "--json", tmp_path / "all.json", "--csv", tmp_path / "all.csv")
    found = found_in(tmp_path / "all.json")[study.slug]
    counted = trials_of(study)
    counted = counted[counted["accepted"] & counted["role"].isin(["main", "clean", "consistency_first"])]
    assert found["humans"] == pytest.approx(counted["correct"].mean())
    sentinels = set(trials_of(study).query("role == 'gold' or role == 'negative'")["original"])
    of_model = predictions_of(study)
    of_model = of_model[~of_model["original"].isin(sentinels - set(counted["original"]))]
    (model,) = set(of_model["classifier"])
    assert found[model] == pytest.approx(of_model["correct"].mean())
    (document,) = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))["sets"]
    assert document["about"]["People"].split(",")[0].isdecimal()


@pytest.mark.verify
@pytest.mark.skipif("REFERENCE_DATA" not in os.environ, reason="REFERENCE_DATA names no folder with published trials")
def test_published_people_networks_and_models_in_words_are_in_one_table(tmp_path: Path) -> None:
    """Every share of right answers again, from the raw files alone."""
    data = Path(os.environ["REFERENCE_DATA"])
    edges, cue = tmp_path / "edges", tmp_path / "cue"
    for folder, experiment, shown, more in (
        (edges, "edge-experiment", "pictures-of-published/edges", ""),
        (cue, "cue-conflict", "stylised16", 'answers = ["answers/*.csv"]\nletters = true\nonly_pictured = true\n'),
    ):
        shutil.copytree(data / "published" / experiment, folder / "trials")
        shutil.copytree(data / shown, folder / "pictures")
        (folder / "pictures.sha256").write_text(digest_list(folder, "pictures"), encoding="utf-8")
        text = f'name = "{folder.name}"\nversion = "1"\n[trials]\nfiles = ["trials/*.csv"]\n{more}'
        (folder / "set.toml").write_text(text, encoding="utf-8")
    shutil.copytree(data / "vlm", cue / "answers")
    run("score", "--on", edges, cue, "--json", tmp_path / "all.json", "--pdf", tmp_path / "all.pdf")
    found = found_in(tmp_path / "all.json")
    raw = pd.concat([pd.read_csv(path, dtype=str, keep_default_na=False) for path in (edges / "trials").glob("*.csv")])
    raw["right"] = raw["object_response"] == raw["category"]
    expected = raw.groupby("subj")["right"].mean().to_dict()
    people = raw[raw["subj"].str.startswith("subject")]["right"].mean()
    assert found["edges-1"] == pytest.approx(expected | {"humans": people, "chance": 1 / 16})
    assert len(found["edges-1"]) == 15
    there = {path.stem for path in (cue / "pictures").rglob("*.jpg")}
    texts = pd.read_csv(next((cue / "answers").glob("*qwen*")), dtype=str, keep_default_na=False)
    texts = texts[texts["image"].isin(there)]
    # Its authors read every text of this model as it is read here.
    right = texts["pred_label"] == texts["image"].str.extract(r"^([a-z]+)")[0]
    assert len(texts) == 128 and found["cue-1"]["qwen_vl_plus"] == pytest.approx(right.mean())
    assert len(found["cue-1"]) == 21 and (tmp_path / "all.pdf").read_bytes().startswith(b"%PDF")
