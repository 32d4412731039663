"""Pictures attached to imported trials, and models that are asked about them next to the published people."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from zipfile import ZipFile

import cv2
import numpy as np
import pandas as pd
import pytest
from django.core.management import CommandError

from analysis.labels.files import default_labels
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.results import selectors, tables
from humanexp.results.models import TrialImport
from humanexp.results.tables import pooled_standings
from humanexp.stimuli.models import SourceSet, StimulusSet
from humanexp.studies.models import Study
from tests.labels import of_the_sixteen
from tests.results.edges import HEADER, SHOWN, SIDE, media, network, pictures, run, trial, trials, write_picture

__all__ = ["media", "network", "pictures", "trials"]

pytestmark = [pytest.mark.django_db, of_the_sixteen]


def stored() -> tuple[int, ...]:
    folders = (media_path("stimuli"), media_path("originals"), media_path("results/imports"))
    files = sum(1 for folder in folders if folder.exists() for path in folder.rglob("*") if path.is_file())
    return Study.objects.count(), StimulusSet.objects.count(), SourceSet.objects.count(), files


def test_a_new_model_stands_beside_the_published_people(trials: list[Path], pictures: Path, network: str) -> None:
    assert "with their pictures" in run("import_trials", *trials, "--study", "edges", "--pictures", pictures)
    said = run("evaluate", "--study", "edges", "--classifier", network, "--name", "grey")
    assert "grey: 4 predictions, 0.750 right on published pictures" in said
    study = Study.objects.get(slug="edges")
    found = tables.predictions_of(study)
    mine = found[found["classifier"] == "grey"].sort_values("stimulus").reset_index(drop=True)
    theirs = found[found["classifier"] == "alexnet"].sort_values("stimulus").reset_index(drop=True)
    for column in ("stimulus", "original", "category", "corruption", "condition"):
        assert mine[column].tolist() == theirs[column].tolist()
    assert mine["visual_change"].isna().all()
    assert dict(zip(mine["category"], mine["correct"], strict=True)) == {
        "bear": False, "cat": True, "dog": True, "oven": True,
    }  # fmt: skip
    run("analyse", "edges", "--bootstrap", "0")
    results = selectors.findings(selectors.latest_run(study))
    accuracy = {one.observer: one.accuracy for one in results.accuracy}
    assert accuracy == {"subject-01": 0.75, "subject-02": 0.75, "alexnet": 0.25, "grey": 0.75}
    agreeing = {frozenset(one.pair): one.observed for one in results.error_consistency}
    # Person 1 errs on the bear, as the network does; person 2 on the cat.
    assert agreeing[frozenset(("subject-01", "grey"))] == 1.0
    assert agreeing[frozenset(("subject-02", "grey"))] == 0.5


def test_models_see_the_pictures_in_the_order_in_which_people_did(
    trials: list[Path], pictures: Path, network: str
) -> None:
    run("import_trials", *trials, "--study", "edges", "--pictures", pictures)
    seen: list[int] = sys.modules["grey_network"].Network.seen
    run("evaluate", "--study", "edges", "--classifier", network, "--name", "grey")
    assert [default_labels().ids[one] for one in seen[-4:]] == list(SHOWN)


def test_pixels_stay_as_they_were(trials: list[Path], pictures: Path) -> None:
    run("import_trials", *trials, "--study", "edges", "--pictures", pictures)
    for stimulus in StimulusSet.objects.get().stimuli.select_related("source_image"):
        category = stimulus.source_image.category
        given = cv2.imread(str(pictures / category / f"{category}1.png"))
        assert np.array_equal(cv2.imread(str(media_path(stimulus.file))), given)


def test_pictures_come_later_or_in_an_archive(trials: list[Path], pictures: Path, tmp_path: Path) -> None:
    run("import_trials", *trials, "--study", "edges")
    with pytest.raises(CommandError, match="no pictures.*attach_pictures edges"):
        run("evaluate", "--study", "edges", "--classifier", "table:none.csv")
    with ZipFile(tmp_path / "all.zip", "w") as archive:
        for path in pictures.rglob("*.png"):
            archive.write(path, path.relative_to(pictures))
    assert "Attached 4 pictures" in run("attach_pictures", "edges", tmp_path / "all.zip")
    with pytest.raises(CommandError, match="has its pictures already"):
        run("attach_pictures", "edges", tmp_path / "all.zip")


@pytest.mark.parametrize("later", [False, True])
def test_a_missing_or_ambiguous_picture_is_named_and_refuses_everything(
    trials: list[Path], pictures: Path, *, later: bool
) -> None:
    (pictures / "cat" / "cat1.png").unlink()
    write_picture(pictures / "again" / "oven1.png", "oven")
    if later:
        run("import_trials", *trials, "--study", "edges")
    before = stored()
    command = (
        ("attach_pictures", "edges", pictures)
        if later
        else ("import_trials", *trials, "--study", "edges", "--pictures", pictures)
    )
    with pytest.raises(CommandError, match=r"1 pictures of the trials are missing: 0/0_cat_00_cat1.*several.*oven1"):
        run(*command)
    assert stored() == before


@pytest.mark.parametrize("fault", ["torn", "larger"])
def test_a_picture_that_cannot_be_used_leaves_nothing_behind(trials: list[Path], pictures: Path, fault: str) -> None:
    path = pictures / "oven" / "oven1.png"
    if fault == "torn":
        path.write_bytes(path.read_bytes()[:90])
    else:
        write_picture(path, "oven", side=128)
    before = stored()
    with pytest.raises(CommandError, match="oven1.png"):
        run("import_trials", *trials, "--study", "edges", "--pictures", pictures)
    assert stored() == before and not TrialImport.objects.exists()


def test_of_several_conditions_the_file_names_its_own(tmp_path: Path, pictures: Path) -> None:
    rows = [trial("subject-01", number, "dog", "dog", condition) for number, condition in ((1, "0.1"), (2, "0.6"))]
    (tmp_path / "subject-01.csv").write_text(HEADER + "".join(rows).replace("dog1", "n02085620_7"), encoding="utf-8")
    command = ("import_trials", tmp_path / "subject-01.csv", "--study", "noise", "--pictures", pictures)
    write_picture(pictures / "0.1" / "n02085620_7.png", "dog")
    with pytest.raises(CommandError, match=r"1 pictures of the trials are missing: 0\.6/n02085620_7"):
        run(*command)
    write_picture(pictures / "0009_nse_dnn_0.60_dog_10_n02085620_7.png", "dog")
    run(*command)
    assert StimulusSet.objects.get().stimuli.count() == 2


def test_with_originals_visual_change_is_measured_and_becomes_the_abscissa(
    trials: list[Path], pictures: Path, tmp_path: Path, network: str
) -> None:
    rng = np.random.default_rng(0)
    for category in SHOWN:
        path = pictures / category / f"{category}1.png"
        clean = tmp_path / "originals" / path.name
        clean.parent.mkdir(exist_ok=True)
        base = cv2.resize(rng.integers(0, 200, (12, 12, 3), np.uint8), (SIDE, SIDE), interpolation=cv2.INTER_CUBIC)
        cv2.imwrite(str(clean), base)
        noise = np.clip(base + rng.normal(0, 20 * (1 + SHOWN.index(category)), base.shape), 0, 255)
        cv2.imwrite(str(path), noise.astype(np.uint8))
    run(
        "import_trials", *trials, "--study", "edges", "--pictures", pictures, "--originals", tmp_path / "originals"
    )  # fmt: skip
    run("evaluate", "--study", "edges", "--classifier", network, "--name", "grey")
    study = Study.objects.get(slug="edges")
    people = tables.trials_of(study)
    change = people.drop_duplicates("category").set_index("category")["visual_change"]
    assert list(change[list(SHOWN)]) == sorted(change) and 0 < min(change) < max(change) < 1
    answers = tables.predictions_of(study)
    assert answers["visual_change"].tolist() == [change[one] for one in answers["category"]]
    assert len(tables.stimuli_of(study)) == 4
    assert tables.stimuli_of(Study.objects.get()) is not None


def test_names_of_published_networks_are_not_taken_over(trials: list[Path], pictures: Path, network: str) -> None:
    run("import_trials", *trials, "--study", "edges", "--pictures", pictures)
    run("evaluate", "--study", "edges", "--classifier", network, "--name", "alexnet")
    found = tables.predictions_of(Study.objects.get(slug="edges"))
    assert found.groupby("classifier")["correct"].mean().to_dict() == {"alexnet": 0.25, "alexnet (here)": 0.75}


@pytest.mark.verify
def test_the_export_holds_the_models_answers(trials: list[Path], pictures: Path, network: str, tmp_path: Path) -> None:
    run("import_trials", *trials, "--study", "edges", "--pictures", pictures)
    run("evaluate", "--study", "edges", "--classifier", network, "--name", "grey")
    run("analyse", "edges", "--bootstrap", "0")
    run("export", "edges", "--to", tmp_path / "out")
    assert (tmp_path / "out" / "predictions.csv").read_text(encoding="utf-8").count("grey,") == 4
    assert (tmp_path / "out" / "model-vs-human" / "edges").is_dir()


@pytest.mark.skipif("REFERENCE_DATA" not in os.environ, reason="REFERENCE_DATA names no folder with published trials")
def test_every_published_edge_picture_is_found() -> None:
    folder = Path(os.environ["REFERENCE_DATA"])
    trial_files = sorted((folder / "published" / "edge-experiment").glob("*.csv"))
    said = run(
        "import_trials", *trial_files, "--study", "edges", "--pictures", folder / "pictures-of-published" / "edges"
    )
    assert "2080 trials of 10 people and 3 classifiers" in said
    assert StimulusSet.objects.get().stimuli.count() == 160


def answers_file(tmp_path: Path, **texts: str) -> Path:
    path = tmp_path / "20240205_202056_talker.csv"
    rows = "".join(f"{image},2024,{text},x,1\n" for image, text in texts.items())
    path.write_text("image,timestamp,response,pred_label,pred_conf\n" + rows, encoding="utf-8")
    return path


def test_texts_of_a_model_become_trials_and_their_kinds_are_kept(trials: list[Path], tmp_path: Path) -> None:
    answers = answers_file(tmp_path, dog1="A dog.", cat1="I cannot say", oven1="dog or cat", bear1="bear")
    said = run("import_trials", *trials, "--study", "edges", "--answers", answers)
    assert "talker 1 refusal, 1 unreadable" in said
    study = Study.objects.get(slug="edges")
    mine = tables.predictions_of(study).query("classifier == 'talker'").set_index("category")["response"]
    assert mine.to_dict() == {"dog": "dog", "cat": "na", "oven": "na", "bear": "bear"}
    assert study.trial_import.kinds == {"talker": {"label": 2, "refusal": 1, "unreadable": 1}}


def test_letters_are_read_only_where_they_were_asked_for(trials: list[Path], tmp_path: Path) -> None:
    answers = answers_file(tmp_path, dog1="K.", cat1="J")
    run("import_trials", *trials, "--study", "words", "--answers", answers)
    run("import_trials", *trials, "--study", "letters", "--answers", answers, "--letters")
    found = [Study.objects.get(slug=name).trial_import.kinds["talker"] for name in ("words", "letters")]
    assert found == [{"unreadable": 2}, {"label": 2}]


def test_texts_that_the_authors_read_otherwise_are_listed(trials: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "talker.csv"
    rows = 'dog1,A dog.,dog\ncat1,cat or dog,cat\noven1,BLOCKED,None\nbear1,"It is\na bear",none\n'
    path.write_text(f"image,response,pred_label\n{rows}", encoding="utf-8")
    said = run("import_trials", *trials, "--study", "edges", "--answers", path)
    assert "talker: 2 of 4 texts are read otherwise than their authors read them (pred_label)" in said
    assert "cat1 'cat or dog': cat, here na; bear1 'It is\\na bear': none, here bear." in said
    path.write_text("image,response,pred_label\ndog1,A dog.,Dog\ncat1,,none\n", encoding="utf-8")
    assert "read otherwise" not in run("import_trials", *trials, "--study", "others", "--answers", path)


def test_an_answer_about_another_picture_refuses_everything(trials: list[Path], tmp_path: Path) -> None:
    before = stored()
    with pytest.raises(CommandError, match="talker.csv, row 2: the picture 'boat9' is in no trial"):
        run("import_trials", *trials, "--study", "edges", "--answers", answers_file(tmp_path, dog1="dog", boat9="boat"))
    assert stored() == before


@pytest.mark.verify
@pytest.mark.skipif("REFERENCE_DATA" not in os.environ, reason="REFERENCE_DATA names no folder with published trials")
def test_nine_published_models_stand_next_to_ten_people() -> None:
    folder = Path(os.environ["REFERENCE_DATA"])
    people, answers = (sorted((folder / name).glob("*.csv")) for name in ("published/cue-conflict", "vlm"))
    run("import_trials", *people, "--study", "cue", "--answers", *answers, "--letters")
    found = {one.observer: one for one in pooled_standings([Study.objects.get(slug="cue")])}
    assert sum(one.kind == "human" for one in found.values()) == 10
    bias = {name: one.shape_bias.value for name, one in found.items() if one.kind == "classifier" and one.shape_bias}
    published = {
        "llava_1_6_vicuna_13b": 0.572, "moe_llava_stablelm": 0.591, "moe_llava_phi2": 0.596,
        "internvl_chat_1_2_plus": 0.611, "llava_1_5_7b": 0.614, "llava_rlhf_1_5_7b": 0.617,
        "gemini_pro_vision": 0.641, "qwen_vl_plus": 0.648, "instructblip_flan_t5_xl": 0.684,
    }  # fmt: skip
    assert bias == pytest.approx(published, abs=5e-4)
    # The authors' reading gives their printed numbers; only one model's differ in the third digit.
    authors = {}
    for path in answers:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        shape, texture = (table["image"].str.extract(pattern)[0] for pattern in (r"^([a-z]+)", r"-([a-z]+)"))
        by_shape, by_texture = (
            int(((table["pred_label"] == cue) & (shape != texture)).sum()) for cue in (shape, texture)
        )
        authors[path.stem[16:]] = by_shape / (by_shape + by_texture)
    assert authors == pytest.approx(published | {"instructblip_flan_t5_xl": 0.682}, abs=5e-4)
    low, high = found["humans"].shape_bias.interval
    # Persons spread from .919 to .987: an interval for new people is far wider than one over 12,000 answers.
    assert low < 0.945 < 0.968 < high


def test_a_stranger_attaches_nothing(trials: list[Path], pictures: Path) -> None:
    from humanexp.core.errors import NotAllowed
    from humanexp.results.services import attach_pictures

    run("import_trials", *trials, "--study", "edges")
    with pytest.raises(NotAllowed):
        attach_pictures(
            study=Study.objects.get(slug="edges"), pictures=pictures, by=User.objects.create_user("stranger")
        )
    assert not StimulusSet.objects.exists()
