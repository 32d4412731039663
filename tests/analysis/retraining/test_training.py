from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch

from analysis.classifiers.description import Description
from analysis.classifiers.exported import save
from analysis.classifiers.loading import load_classifier
from analysis.classifiers.networks import TorchNetwork, require_gradients
from analysis.errors import InvalidInput
from analysis.labels.files import default_labels
from analysis.labels.space import LabelSpace
from analysis.retraining.training import Recipe, fine_tune
from tests.analysis.classifiers import small_networks as small


@dataclass
class Colours:
    """Pictures whose category is their brightness: easy to learn."""

    n: int = 48

    @property
    def space(self) -> LabelSpace:
        return default_labels()

    def __len__(self) -> int:
        return self.n

    def batch(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        categories = np.asarray(numbers % 16, dtype=np.int64)
        pictures = np.zeros((len(numbers), 32, 32, 3), dtype=np.uint8)
        pictures += (categories * 15).astype(np.uint8)[:, None, None, None]
        return pictures, categories


class Stopped(Exception):
    pass


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> TorchNetwork:
    path = small.export_file(tmp_path_factory.mktemp("net") / "small.pt2")
    return require_gradients(load_classifier(f"export:{path}"))


RECIPE = Recipe(epochs=3, learning_rate=0.02, batch=16, seed=4)


def weights_of(network: TorchNetwork) -> list[np.ndarray]:
    return [value.numpy() for value in network.forward.state_dict().values()]  # type: ignore[attr-defined]


def test_training_lowers_the_loss_and_leaves_the_network_that_was_given(network: TorchNetwork) -> None:
    before = [value.copy() for value in weights_of(network)]
    steps = []
    made = fine_tune(network, Colours(), RECIPE, tell=lambda done, total, loss: steps.append((done, total)))
    assert made.losses[-1] < made.losses[0]
    assert steps[0] == (1, 9)
    assert steps[-1] == (9, 9)
    assert all(np.array_equal(one, other) for one, other in zip(before, weights_of(network), strict=True))
    assert made.network.digest != network.digest
    assert made.seconds > 0
    assert not any(weight.requires_grad for weight in made.network.forward.parameters())  # type: ignore[attr-defined]
    pictures, categories = Colours().batch(np.arange(16))
    accuracy = [(one.predict(pictures).argmax(axis=1) == categories).mean() for one in (network, made.network)]
    assert accuracy[1] > accuracy[0]


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(network: TorchNetwork) -> None:
    one, two, three = (
        fine_tune(network, Colours(), Recipe(epochs=1, learning_rate=0.02, batch=16, seed=seed)) for seed in (4, 4, 5)
    )
    assert one.network.digest == two.network.digest != three.network.digest
    assert one.losses == two.losses


def test_an_interrupted_training_goes_on_and_ends_with_the_same_weights(network: TorchNetwork, tmp_path: Path) -> None:
    whole = fine_tune(network, Colours(), RECIPE)
    checkpoint = tmp_path / "checkpoint.pt"

    def stop(done: int, total: int, loss: float) -> None:
        if done == 5:
            raise Stopped

    with pytest.raises(Stopped):
        fine_tune(network, Colours(), RECIPE, checkpoint=checkpoint, tell=stop)
    steps: list[int] = []
    resumed = fine_tune(
        network, Colours(), RECIPE, checkpoint=checkpoint, tell=lambda done, total, loss: steps.append(done)
    )
    assert steps[0] == 4
    assert resumed.network.digest == whole.network.digest
    assert resumed.losses == whole.losses


def test_a_checkpoint_of_another_training_is_left_alone(network: TorchNetwork, tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint.pt"
    fine_tune(network, Colours(), RECIPE, checkpoint=checkpoint)
    other = Recipe(epochs=3, learning_rate=0.02, batch=16, seed=9)
    assert (
        fine_tune(network, Colours(), other, checkpoint=checkpoint).losses
        == fine_tune(network, Colours(), other).losses
    )


@pytest.mark.parametrize("kind", [pytest.param("timm", marks=pytest.mark.slow), "open_clip"])
def test_any_torch_classifier_can_be_retrained_saved_and_loaded_again(kind: str, tmp_path: Path) -> None:
    labels = small.mapping_file(tmp_path)
    spec = {
        "timm": lambda: f"timm:test_vit@{small.timm_weights(tmp_path / 'timm.pt')}",
        "open_clip": lambda: f"open_clip:{small.clip_folder(tmp_path / 'clip')}",
    }[kind]()
    given = labels if kind == "timm" else None
    made = fine_tune(
        require_gradients(load_classifier(spec, labels=given)), Colours(16), Recipe(epochs=1, batch=8)
    ).network
    out = tmp_path / "out.pt2"
    save(made.forward, out, Description("retrained", made.labels, made.inputs, made.outputs), made_by="a test")
    again = load_classifier(f"export:{out}")
    pictures, _ = Colours().batch(np.arange(5))
    assert again.labels == default_labels().ids
    assert again.predict(pictures) == pytest.approx(made.predict(pictures), abs=1e-5)  # type: ignore[union-attr]
    assert json.loads(out.with_suffix(".json").read_text())["provenance"] == {"made_by": "a test"}


def test_a_thousand_labels_learn_the_16_categories(tmp_path: Path) -> None:
    path = small.export_file(tmp_path / "net.pt2", small.small_module(1000), labels="imagenet")
    made = fine_tune(require_gradients(load_classifier(f"export:{path}")), Colours(), RECIPE)
    assert made.losses[-1] < made.losses[0]


@pytest.mark.parametrize(
    "wrong", [{"epochs": 0}, {"learning_rate": 0.0}, {"momentum": 1.0}, {"batch": 0}, {"seed": -1}]
)
def test_an_impossible_recipe_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidInput):
        Recipe(**wrong)  # type: ignore[arg-type]


def test_nothing_to_learn_from_and_a_loss_that_explodes_are_refused(network: TorchNetwork) -> None:
    with pytest.raises(InvalidInput, match="no stimuli to train on"):
        fine_tune(network, Colours(0))
    with pytest.raises(InvalidInput, match="smaller learning rate"):
        fine_tune(network, Colours(), Recipe(epochs=3, learning_rate=1e30))


def test_torchs_own_random_state_is_left_alone(network: TorchNetwork) -> None:
    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)
    fine_tune(network, Colours(16), Recipe(epochs=1))
    assert torch.equal(torch.rand(1), expected)


class Pairs(Colours):
    """Each example and one of the same category that is brighter by a little."""

    def __len__(self) -> int:
        return 2 * self.n

    def batch(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        pictures, categories = super().batch(numbers % self.n)
        return pictures + (6 * (numbers >= self.n)).astype(np.uint8)[:, None, None, None], categories

    def partners(self, numbers: np.ndarray) -> np.ndarray:
        return (numbers + self.n) % (2 * self.n)


def logits_of(network: TorchNetwork, examples: Pairs, numbers: np.ndarray) -> torch.Tensor:
    pictures, _ = examples.batch(numbers)
    shown = torch.from_numpy(pictures).permute(0, 3, 1, 2).float() / 255
    with torch.no_grad():
        return network.label_logits(shown, examples.space)


def test_the_consistency_loss_is_the_squared_distance_between_logits_of_pairs(network: TorchNetwork) -> None:
    """By hand: cross-entropy, and so much of the mean over examples of the sum of squared differences."""
    examples = Pairs(8)
    first, second = logits_of(network, examples, np.arange(8)), logits_of(network, examples, np.arange(8, 16))
    targets = torch.from_numpy(examples.batch(np.arange(16))[1])
    plain = float(torch.nn.functional.cross_entropy(torch.cat([first, second]), targets))
    apart = float(((first - second) ** 2).sum(dim=1).mean())
    assert apart > 0
    recipe = Recipe(epochs=1, batch=16, learning_rate=1e-9, consistency=2.5)
    assert fine_tune(network, examples, recipe).losses[0] == pytest.approx(plain + 2.5 * apart, rel=1e-4)


def test_with_the_consistency_loss_pairs_end_nearer_to_each_other(network: TorchNetwork) -> None:
    examples = Pairs(16)

    def apart(consistency: float) -> float:
        recipe = Recipe(epochs=4, batch=8, learning_rate=0.005, consistency=consistency)
        made = fine_tune(network, examples, recipe).network
        sides = [logits_of(made, examples, np.arange(16) + start) for start in (0, 16)]
        return float(((sides[0] - sides[1]) ** 2).sum(dim=1).mean())

    assert apart(0.3) < 0.8 * apart(0.0)


def test_examples_without_partners_have_no_consistency_loss(network: TorchNetwork) -> None:
    with pytest.raises(InvalidInput, match="needs pairs"):
        fine_tune(network, Colours(), Recipe(consistency=1.0))
    with pytest.raises(InvalidInput, match="0 or more"):
        Recipe(consistency=-1.0)
