"""A network of the native size gets native pixels of pictures that are shown enlarged; others get what is shown."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from analysis.classifiers.description import Description
from analysis.classifiers.exported import save
from analysis.classifiers.loading import load_classifier
from analysis.classifiers.networks import TorchNetwork
from analysis.classifiers.one_pass import predict_group
from analysis.classifiers.onnx_network import OnnxNetwork
from analysis.classifiers.port import seen_by
from analysis.classifiers.preprocessing import Preprocessing
from analysis.classifiers.shards import Asked, PredictionShard, ShownStimulus
from analysis.errors import InvalidInput
from analysis.generation.files import encode_png
from analysis.labels.files import default_labels
from analysis.native_size import enlarge
from tests.analysis.classifiers import small_networks as small

ENLARGED = 7
NATIVE = np.random.default_rng(3).integers(0, 256, (9, 32, 32, 3), dtype=np.uint8)
SHOWN = np.stack([enlarge(one, ENLARGED) for one in NATIVE])


@pytest.fixture
def specs(tmp_path: Path) -> dict[str, str]:
    """Networks of an input of 32 px, and one of another size."""
    larger = tmp_path / "c.pt2"
    described = Description("larger", default_labels().ids, Preprocessing(64, (0.5,) * 3, (0.5,) * 3), "logits")
    save(torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(32), small.small_module()), larger, described)
    return {
        "export": f"export:{small.export_file(tmp_path / 'a.pt2')}",
        "onnx": f"onnx:{small.onnx_file(tmp_path / 'b.onnx')}",
        "larger": f"export:{larger}",
    }


def stimuli_of(folder: Path, pictures: np.ndarray, enlarged: int) -> tuple[ShownStimulus, ...]:
    folder.mkdir(exist_ok=True)
    made = []
    for number, picture in enumerate(pictures):
        content, path = encode_png(picture), folder / f"{number}.png"
        path.write_bytes(content)
        sha256 = hashlib.sha256(content).hexdigest()
        made.append(ShownStimulus(f"s{number}", f"o{number}", "cat", "none", 0.0, str(path), sha256, enlarged))
    return tuple(made)


def predicted(spec: str, stimuli: tuple[ShownStimulus, ...], folder: Path) -> pd.DataFrame:
    folder.mkdir(exist_ok=True)
    (path,) = predict_group((PredictionShard(Asked(spec), "n", stimuli, str(folder)),))
    return pd.read_parquet(path)


def test_native_pixels_reach_a_network_of_that_size_bit_for_bit(specs: dict[str, str]) -> None:
    for name in ("export", "onnx"):
        network = load_classifier(specs[name])
        assert isinstance(network, TorchNetwork | OnnxNetwork) and network.inputs.input_px == 32
        seen = seen_by(network, SHOWN, ENLARGED)
        assert seen.dtype == np.uint8 and np.array_equal(seen, NATIVE)
        assert np.array_equal(network.predict(seen), network.predict(NATIVE))
        # A set that is not enlarged, and one of another native size, are shown as they are.
        assert seen_by(network, SHOWN, 1) is SHOWN and seen_by(network, SHOWN, 8) is SHOWN
        assert seen_by(network, NATIVE, 1) is NATIVE
    assert seen_by(load_classifier(specs["larger"]), SHOWN, ENLARGED) is SHOWN


@pytest.mark.parametrize("name", ["export", "onnx"])
def test_answers_are_those_to_the_native_pictures_to_the_bit(specs: dict[str, str], name: str, tmp_path: Path) -> None:
    shown = predicted(specs[name], stimuli_of(tmp_path / "shown", SHOWN, ENLARGED), tmp_path / "of-shown")
    native = predicted(specs[name], stimuli_of(tmp_path / "native", NATIVE, 1), tmp_path / "of-native")
    assert shown.equals(native)
    # Without the factor the network averages squares of equal pixels: the same answers, up to rounding.
    scaled = predicted(specs[name], stimuli_of(tmp_path / "shown", SHOWN, 1), tmp_path / "of-scaled")
    assert (scaled["response"] == native["response"]).all()
    assert scaled["confidence"].tolist() == pytest.approx(native["confidence"].tolist(), abs=1e-5)


def test_another_network_gets_what_is_shown_whatever_the_factor(specs: dict[str, str], tmp_path: Path) -> None:
    with_factor = predicted(specs["larger"], stimuli_of(tmp_path / "shown", SHOWN, ENLARGED), tmp_path / "a")
    without = predicted(specs["larger"], stimuli_of(tmp_path / "shown", SHOWN, 1), tmp_path / "b")
    assert with_factor.equals(without)


def test_a_classifier_of_ones_own_gets_native_pixels_where_it_says_its_input() -> None:
    class Own:
        name, digest, preprocessing = "own", "0" * 64, "as they are"
        labels = ("cat", "dog")
        label_space = 2

        def predict(self, images: np.ndarray) -> np.ndarray:
            return np.zeros((len(images), 2), np.float32)

    own: Any = Own()
    assert seen_by(own, SHOWN, ENLARGED) is SHOWN
    own.inputs = Preprocessing(32, (0.0,) * 3, (1.0,) * 3)
    assert np.array_equal(seen_by(own, SHOWN, ENLARGED), NATIVE)


def test_predictions_are_kept_apart_by_the_factor_and_never_mixed(specs: dict[str, str], tmp_path: Path) -> None:
    stimuli = stimuli_of(tmp_path / "shown", SHOWN, ENLARGED)
    plain = tuple(replace(one, enlarged=1) for one in stimuli)
    asked = Asked(specs["export"])
    paths = {PredictionShard(asked, "n", some, str(tmp_path)).path for some in (stimuli, plain)}
    assert len(paths) == 2
    mixed = PredictionShard(asked, "n", (stimuli[0], plain[1]), str(tmp_path))
    with pytest.raises(InvalidInput, match="enlarged alike"):
        predict_group((mixed,))
