"""One pass over the pictures: read ahead, in order, each file once, and every network answers as in its own pass."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pandas as pd
import pytest
import torch

from analysis.classifiers.loading import load_classifier
from analysis.classifiers.networks import BATCH, MOST_BATCH, TorchNetwork, arithmetic, doubled_while_faster
from analysis.classifiers.one_pass import predict_group, predict_shards
from analysis.classifiers.preprocessing import Preprocessing
from analysis.classifiers.shards import AHEAD, Asked, PredictionShard, ShownStimulus, read_ahead, versions
from analysis.errors import ClassifierUnavailable, InvalidInput, PictureRefused
from tests.analysis.classifiers import small_networks as small

OWN = "python:tests.analysis.classifiers.small_networks:make_lab_classifier"


def stimuli_in(folder: Path, n: int, side: int = 32) -> tuple[ShownStimulus, ...]:
    rng = np.random.default_rng(n)
    made = []
    for number in range(n):
        content = cv2.imencode(".png", rng.integers(0, 256, (side, side, 3), dtype=np.uint8))[1].tobytes()
        path = folder / f"{side}-{number}.png"
        path.write_bytes(content)
        digest = hashlib.sha256(content).hexdigest()
        made.append(ShownStimulus(f"s{number:03}", f"o{number}", "cat", "none", 0.0, str(path), digest))
    return tuple(made)


def shard(spec: str, stimuli: tuple[ShownStimulus, ...], folder: Path, **how: Any) -> PredictionShard:
    folder.mkdir(exist_ok=True)
    asked = Asked(spec, allow_code=True, **how)
    return PredictionShard(
        replace(asked, digest=load_classifier(spec, allow_code=True).digest), "n", stimuli, str(folder)
    )


def answers(paths: Sequence[Path]) -> pd.DataFrame:
    return pd.concat([pd.read_parquet(path) for path in paths], ignore_index=True)


def test_pictures_come_in_order_and_no_more_than_a_few_batches_ahead(tmp_path: Path) -> None:
    stimuli = stimuli_in(tmp_path, 40)
    taken = 0

    def batches() -> Iterator[Sequence[ShownStimulus]]:
        nonlocal taken
        for start in range(0, 40, 5):
            taken += 1
            yield stimuli[start : start + 5]

    expected = [cv2.imread(one.file, cv2.IMREAD_COLOR_RGB) for one in stimuli]
    for number, pictures in enumerate(read_ahead(batches(), threads=3)):
        assert taken <= number + 1 + AHEAD, "memory is bounded by what is ahead"
        assert np.array_equal(pictures, expected[5 * number : 5 * number + 5])
    assert number == 7


def test_a_picture_of_another_size_is_refused_by_name(tmp_path: Path) -> None:
    stimuli = stimuli_in(tmp_path, 3) + stimuli_in(tmp_path, 1, side=40)
    with pytest.raises(PictureRefused, match=r"s000 is (40 x 40|32 x 32) px, and another"):
        list(read_ahead([stimuli], threads=2))


class Opened:
    """Counts how often files of a folder are opened, as Python's own audit tells it."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.folder = ""
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and self.folder and str(arguments[0]).startswith(self.folder):
            self.paths.append(str(arguments[0]))


@pytest.fixture(scope="module")
def opened() -> Opened:
    return Opened()


def test_each_file_is_read_once_for_all_networks_and_each_answers_as_alone(tmp_path: Path, opened: Opened) -> None:
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    stimuli = stimuli_in(pictures, 150)
    specs = (
        f"export:{small.export_file(tmp_path / 'a.pt2')}",
        f"export:{small.export_file(tmp_path / 'b.pt2', small.small_module(bias=0.5))}",
        f"onnx:{small.onnx_file(tmp_path / 'c.onnx')}",
        OWN,
    )

    def group(
        folder: str, stimuli: tuple[ShownStimulus, ...], chosen: Sequence[str] = specs
    ) -> tuple[PredictionShard, ...]:
        return tuple(shard(spec, stimuli, tmp_path / f"{folder}{specs.index(spec)}") for spec in chosen)

    groups = [group("all", stimuli[:100]), group("all", stimuli[100:])]
    opened.folder = str(pictures)
    looked_at: list[int] = []
    done = list(predict_shards(iter(groups), threads=3, tick=looked_at.append))
    opened.folder = ""
    assert looked_at == [64, 36, 50], "progress does not wait for the end of a shard"
    assert done == groups
    assert sorted(opened.paths) == sorted(one.file for one in stimuli), "each file once, whatever the networks"
    opened.paths.clear()
    for place, spec in enumerate(specs):
        alone = [predict_group(group("own", part, [spec]))[0] for part in (stimuli[:100], stimuli[100:])]
        assert answers(alone).equals(answers([one[place].path for one in groups]))
    network = load_classifier(specs[0])
    whole = network.predict(np.stack([cv2.imread(one.file, cv2.IMREAD_COLOR_RGB) for one in stimuli[:100]]))  # type: ignore[union-attr]
    assert answers([groups[0][0].path])["confidence"].tolist() == pytest.approx(whole.max(axis=1), abs=1e-6)


def test_what_one_network_has_already_is_left_alone(tmp_path: Path) -> None:
    stimuli = stimuli_in(tmp_path, 70)
    first = shard(f"export:{small.export_file(tmp_path / 'a.pt2')}", stimuli, tmp_path / "a")
    second = shard(OWN, stimuli, tmp_path / "b")
    before = predict_group((first,))[0].stat().st_mtime_ns
    predict_group((first, second))
    assert first.path.stat().st_mtime_ns == before and second.is_done


def test_a_picture_that_is_gone_stops_the_pass_and_leaves_whole_shards(tmp_path: Path) -> None:
    stimuli = stimuli_in(tmp_path, 20)
    groups = [(shard(OWN, stimuli[start : start + 5], tmp_path / "a"),) for start in range(0, 20, 5)]
    Path(stimuli[17].file).unlink()
    done = []
    with pytest.raises(PictureRefused, match="s017"):
        for group in predict_shards(groups, threads=2):
            done.append(group)
    assert done == groups[:3] and [one.is_done for (one,) in groups] == [True, True, True, False]


@pytest.mark.parametrize("wrong", ["stimuli", "folder"])
def test_shards_that_do_not_belong_together_are_refused(wrong: str, tmp_path: Path) -> None:
    stimuli = stimuli_in(tmp_path, 6)
    one = shard(OWN, stimuli, tmp_path / "a")
    other = replace(one, stimuli=stimuli[:5]) if wrong == "stimuli" else one
    with pytest.raises(InvalidInput, match="same stimuli" if wrong == "stimuli" else "one file"):
        predict_group((one, other))


def test_beside_an_accelerator_rows_are_written_apart_and_all_are_there_at_the_end(tmp_path: Path) -> None:
    """The device's name alone decides; the network of this test computes on the processor all the same."""
    stimuli = stimuli_in(tmp_path, 150)
    groups = [(shard(OWN, stimuli[start : start + 50], tmp_path / "a", device="xpu"),) for start in range(0, 150, 50)]
    assert list(predict_shards(groups, threads=2)) == groups
    on_processor = [predict_group((replace(one, asked=replace(one.asked, device="cpu"), folder=str(tmp_path)),))[0]
                    for (one,) in groups]  # fmt: skip
    assert answers([one.path for (one,) in groups]).equals(answers(on_processor))
    assert {one.path.name for (one,) in groups}.isdisjoint(path.name for path in on_processor)


def test_a_processor_looks_at_four_pictures_at_once_and_the_run_says_so() -> None:
    """Their number decides how sums are rounded: it belongs to what determined the predictions."""
    sizes: list[int] = []

    def forward(inputs: torch.Tensor) -> torch.Tensor:
        sizes.append(len(inputs))
        return inputs.mean(dim=(2, 3))

    inputs = Preprocessing(32, (0.5,) * 3, (0.5,) * 3)
    network = TorchNetwork("three", ("a", "b", "c"), "0" * 64, inputs, forward)
    network.predict(np.zeros((10, 32, 32, 3), np.uint8))
    assert sizes == [4, 4, 2]
    assert versions(network)["batch"] == "4"
    # An accelerator finds the number anew: nothing is said of it.
    assert "batch" not in versions(replace(network, device="mps"))


@pytest.mark.parametrize(
    ("rates", "memory", "expected"),
    [
        ({64: 100, 128: 180, 256: 185}, 512, 128),
        ({64: 100, 128: 180, 256: 300, 512: 500}, MOST_BATCH, MOST_BATCH),
        ({64: 100, 128: 300}, 128, 128),
        ({64: 100}, 64, BATCH),
        ({}, 0, 1),
    ],
)
def test_a_batch_is_doubled_while_that_is_faster_and_fits(rates: dict[int, float], memory: int, expected: int) -> None:
    def rate(size: int) -> float:
        if size > memory:
            raise MemoryError
        return rates[size]

    assert doubled_while_faster(rate, MemoryError) == expected


@pytest.mark.parametrize(("precision", "expected"), [("float32", "ieee"), ("tf32", "tf32")])
def test_exact_float32_is_asked_for_and_what_was_set_before_comes_back(precision: Any, expected: str) -> None:
    settings = (torch.backends.cudnn.conv, torch.backends.cuda.matmul)
    before = [setting.fp32_precision for setting in settings]
    with arithmetic("cuda:1", precision):
        assert [setting.fp32_precision for setting in settings] == [expected] * 2
    assert [setting.fp32_precision for setting in settings] == before
    with arithmetic("cpu", precision):
        assert [setting.fp32_precision for setting in settings] == before


def test_a_precision_names_the_shards_of_an_accelerator(tmp_path: Path) -> None:
    own = shard(OWN, stimuli_in(tmp_path, 2), tmp_path)
    paths = {
        replace(own, asked=replace(own.asked, device="cuda", precision=one)).path for one in ("float32", "float16")
    }  # type: ignore[arg-type]
    assert len(paths | {own.path}) == 3


@pytest.mark.parametrize(
    ("precision", "device", "sentence"),
    [("float16", "cpu", "A processor computes in float32"), ("float8", "cuda", "there are: float32, tf32")],
)
def test_a_precision_that_is_not_there_is_refused(precision: Any, device: str, sentence: str, tmp_path: Path) -> None:
    path = small.export_file(tmp_path / "a.pt2")
    with pytest.raises(ClassifierUnavailable, match=sentence):
        load_classifier(f"export:{path}", device=device, precision=precision)
