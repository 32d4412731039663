"""A shard is predicted with the classifier that was asked for, on the bytes that were measured, or not at all."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pandas as pd
import pytest

from analysis.classifiers.one_pass import predict_group
from analysis.classifiers.shards import Asked, PredictionShard, ShownStimulus, join_shards
from analysis.errors import ClassifierUnavailable, PictureRefused
from analysis.labels.files import default_labels
from tests.analysis.classifiers import small_networks as small

SPEC = "python:tests.analysis.classifiers.small_networks:make_lab_classifier"
ASKED = Asked(SPEC, allow_code=True, digest="1" * 64)


def shard_of(folder: Path, asked: Asked = ASKED, n: int = 5) -> PredictionShard:
    stimuli = []
    for number in range(n):
        picture = np.full((32, 32, 3), 40 * number, np.uint8)
        content = cv2.imencode(".png", picture)[1].tobytes()
        (folder / f"{number}.png").write_bytes(content)
        corruption = "gaussian_noise" if number else "none"
        digest = hashlib.sha256(content).hexdigest()
        file = str(folder / f"{number}.png")
        stimuli.append(ShownStimulus(f"s{number}", f"o{number}", "airplane", corruption, number / n, file, digest))
    return PredictionShard(asked, "lab", tuple(stimuli), str(folder))


def test_shards_are_joined_in_order_and_counted(tmp_path: Path) -> None:
    whole = shard_of(tmp_path)
    first, second = replace(whole, stimuli=whole.stimuli[:2]), replace(whole, stimuli=whole.stimuli[2:])
    parts = [predict_group((first,))[0], predict_group((second,))[0]]
    joined = join_shards(parts, tmp_path / "all.parquet")
    table = pd.read_parquet(tmp_path / "all.parquet")
    assert table["stimulus"].tolist() == ["s0", "s1", "s2", "s3", "s4"]
    assert (joined.count, joined.n_clean, joined.label_space) == (5, 1, 16)
    assert joined.n_clean_correct == int(table.loc[table["corruption"] == "none", "correct"].sum())
    assert joined.seconds > 0
    assert joined.sha256 == hashlib.sha256((tmp_path / "all.parquet").read_bytes()).hexdigest()
    assert not list(tmp_path.glob(".*"))


def test_a_shard_that_is_there_is_not_predicted_again(tmp_path: Path) -> None:
    shard = shard_of(tmp_path)
    path = predict_group((shard,))[0]
    before = path.stat().st_mtime_ns
    for number in range(5):
        (tmp_path / f"{number}.png").unlink()
    assert predict_group((shard,))[0] == path
    assert path.stat().st_mtime_ns == before


@pytest.mark.parametrize("kept", [0, 100, -1])
def test_a_file_that_a_loss_of_power_cut_off_is_written_again(tmp_path: Path, kept: int) -> None:
    shard = shard_of(tmp_path)
    content = predict_group((shard,))[0].read_bytes()
    shard.path.write_bytes(content[:kept])
    assert not shard.is_done
    assert pd.read_parquet(predict_group((shard,))[0])["stimulus"].tolist() == [one.stimulus for one in shard.stimuli]


def test_a_corrected_mapping_file_decides_anew(tmp_path: Path) -> None:
    """Shards that were predicted with the labels as they stood before are no shards of this run."""
    spec, shard = f"export:{small.export_file(tmp_path / 'small.pt2')}", shard_of(tmp_path)
    rows = [(f"my {name}", name) for name in default_labels().ids]
    paths, answers = [], []
    for given in (rows, rows[::-1]):
        asked = Asked(spec, labels=str(small.mapping_file(tmp_path, given)))
        own = replace(shard, asked=replace(asked, digest=asked.load().digest))
        paths.append(predict_group((own,))[0])
        answers.append(pd.read_parquet(paths[-1])["response"].tolist())
    assert paths[0] != paths[1]
    turned = dict(zip(default_labels().ids, default_labels().ids[::-1], strict=True))
    assert answers[1] == [turned[answer] for answer in answers[0]]


@pytest.mark.parametrize("change", [{"name": "other"}, {"asked": replace(ASKED, rule="max")}])
def test_whatever_decides_the_rows_decides_the_file(tmp_path: Path, change: dict[str, object]) -> None:
    shard = shard_of(tmp_path)
    assert replace(shard, **change).path != shard.path  # type: ignore[arg-type]


def test_another_classifier_on_another_machine_does_not_predict(tmp_path: Path) -> None:
    with pytest.raises(ClassifierUnavailable, match="another classifier here .*111111111111.* the same files"):
        predict_group((shard_of(tmp_path, replace(ASKED, digest="2" * 64)),))
    assert not list(tmp_path.glob("*.parquet"))


def test_other_bytes_than_those_that_were_measured_are_refused(tmp_path: Path) -> None:
    shard = shard_of(tmp_path)
    (tmp_path / "3.png").write_bytes((tmp_path / "2.png").read_bytes())
    with pytest.raises(PictureRefused, match=r"3\.png is not the one that was measured for the stimulus s3"):
        predict_group((shard,))[0]
    (tmp_path / "3.png").unlink()
    with pytest.raises(PictureRefused, match="The stimulus s3 has no file"):
        predict_group((shard,))[0]
    assert not list(tmp_path.glob("*.parquet"))


def test_rows_of_an_accelerator_never_stand_beside_those_of_the_processor(tmp_path: Path) -> None:
    shard = shard_of(tmp_path)
    on_gpu = [replace(shard, asked=replace(ASKED, device=device)).path for device in ("cuda", "cuda:1")]
    assert on_gpu[0] == on_gpu[1] != shard.path
