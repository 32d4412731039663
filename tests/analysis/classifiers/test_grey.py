"""Networks that see no colour: any torch network by grey:, a program with one channel, and one trained in grey."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from analysis.classifiers.grey import SHARES
from analysis.classifiers.loading import load_classifier
from analysis.classifiers.networks import require_gradients
from analysis.counterfactuals.files import in_grey
from analysis.errors import ClassifierUnavailable
from analysis.labels.files import default_labels
from analysis.labels.space import Label, LabelSpace
from analysis.retraining.small_network import TrainingRecipe, train_small_network
from analysis.retraining.training import Recipe, fine_tune
from tests.analysis.classifiers import small_networks as small

#: Grey values and their weights come out whole, so that nothing is rounded: 0.299 R + 0.587 G + 0.114 B.
COLOURS = np.array([[250, 0, 0], [0, 250, 0], [0, 0, 250]], np.uint8)


@pytest.fixture
def spec(tmp_path: Path) -> str:
    return f"export:{small.export_file(tmp_path / 'net.pt2', mean=[0.4, 0.5, 0.6], std=[0.2, 0.25, 0.3])}"


class Named:
    """Pictures that each have a label of their own."""

    space = default_labels()

    def __len__(self) -> int:
        return 16

    def batch(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return noise(16)[numbers], numbers


def noise(n: int = 5) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (n, 32, 32, 3)).astype(np.uint8)


def test_a_grey_network_answers_as_the_network_does_to_pictures_made_grey_apart(spec: str) -> None:
    """Up to the rounding of grey levels, which `in_grey` does and the network need not."""
    grey, coloured, pictures = load_classifier(f"grey:{spec}"), load_classifier(spec), noise()
    assert np.abs(grey.predict(pictures) - coloured.predict(in_grey(pictures))).max() < 0.01
    assert np.abs(grey.predict(pictures) - coloured.predict(pictures)).max() > 0.01
    already = in_grey(pictures)
    assert np.abs(grey.predict(already) - coloured.predict(already)).max() < 1e-5
    assert grey.digest != coloured.digest and grey.labels == coloured.labels
    assert grey.name.endswith("in grey") and "0.299 R" in grey.facts["grey"]


def test_colours_of_one_grey_are_the_same_to_it(spec: str) -> None:
    """Red, green and blue of levels 0.299, 0.587 and 0.114 times 250 are what grey pictures of these levels are."""
    grey = load_classifier(f"grey:{spec}")
    coloured = np.broadcast_to(COLOURS[:, None, None], (3, 32, 32, 3)).copy()
    inputs = torch.from_numpy(coloured).permute(0, 3, 1, 2).float() / 255
    levels = torch.tensor(SHARES).view(3, 1, 1, 1) * 250 / 255
    with torch.no_grad():
        assert torch.allclose(grey.logits(inputs), grey.logits(levels.expand(3, 3, 32, 32)), atol=1e-5)


def test_its_gradient_is_the_same_mix_of_colours(spec: str) -> None:
    network = require_gradients(load_classifier(f"grey:{spec}"))
    pictures = torch.rand(2, 3, 32, 32, requires_grad=True)
    (gradient,) = torch.autograd.grad(network.label_logits(pictures, default_labels())[:, 0].sum(), pictures)
    shares = torch.tensor(SHARES).view(1, 3, 1, 1)
    assert torch.allclose(gradient / shares, (gradient / shares).mean(dim=1, keepdim=True), atol=1e-6)
    assert gradient.abs().max() > 0


def test_a_program_with_one_channel_takes_coloured_pictures(tmp_path: Path) -> None:
    module = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 4, stride=4), torch.nn.Flatten(), torch.nn.Linear(256, 16))
    program = torch.export.export(
        module.eval(), (torch.zeros(2, 1, 32, 32),), dynamic_shapes=({0: torch.export.Dim("batch", min=1)},)
    )
    path = tmp_path / "one.pt2"
    torch.export.save(program, path)
    small.describe(path, channels=1, mean=[0.5] * 3, std=[0.25] * 3)
    network, pictures = load_classifier(f"export:{path}"), noise()
    levels = torch.from_numpy(pictures).float() @ torch.tensor(SHARES) / 255
    with torch.no_grad():
        expected = torch.softmax(module((levels[:, None] - 0.5) / 0.25), dim=1).numpy()
    assert np.abs(network.predict(pictures) - expected).max() < 1e-5
    small.describe(path)
    with pytest.raises(ClassifierUnavailable, match="does not take one picture"):
        load_classifier(f"export:{path}")
    small.describe(path, channels=2)
    with pytest.raises(ClassifierUnavailable, match="field 'channels': write 1 for a grey input or 3"):
        load_classifier(f"export:{path}")


def test_answers_on_record_and_onnx_networks_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ClassifierUnavailable, match="only torch networks are shown pictures without colour"):
        load_classifier(f"grey:onnx:{small.onnx_file(tmp_path / 'net.onnx')}")


def test_a_network_trained_in_grey_has_one_channel_and_cannot_tell_colours_apart() -> None:
    """Of two labels that differ by colour and have one grey, a coloured network learns both, a grey one guesses."""
    space = LabelSpace(name="colours", labels=(Label(id="red"), Label(id="green")))
    rng = np.random.default_rng(0)
    labels = ["red", "green"] * 40
    tints = {"red": np.array([200, 50, 50]), "green": np.array([50, 126, 50])}
    pictures = np.stack([np.clip(tints[one] + rng.normal(0, 8, (16, 16, 3)), 0, 255) for one in labels])
    pictures = pictures.astype(np.uint8)
    right = {}
    for grey in (False, True):
        recipe = TrainingRecipe(epochs=4, batch=16, grey=grey, shift_px=0)
        made = train_small_network(pictures, labels, space, recipe)
        answers = np.array(space.ids)[made.network.predict(pictures).argmax(axis=1)]
        right[grey] = float(np.mean(answers == np.array(labels)))
        weights = next(iter(made.network.forward.parameters()))
        assert weights.shape[1] == (1 if grey else 3)
    assert right[False] > 0.95 and right[True] < 0.8


def test_a_grey_network_is_trained_further_and_stays_grey(spec: str) -> None:
    network = require_gradients(load_classifier(f"grey:{spec}"))
    made = fine_tune(network, Named(), Recipe(epochs=2, batch=8, learning_rate=0.05))
    coloured = noise(3)
    spread = made.network.predict(coloured) - made.network.predict(in_grey(coloured))
    assert np.abs(spread).max() < 0.02 and made.losses[1] < made.losses[0]
