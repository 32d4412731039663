"""One network learns alike through every adapter: the same inputs, evaluation mode, fixed batch statistics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from analysis.classifiers.loading import load_classifier
from analysis.classifiers.networks import TorchNetwork, require_gradients
from analysis.classifiers.preprocessing import Preprocessing
from analysis.classifiers.weights import import_torchvision
from analysis.errors import ClassifierUnavailable
from analysis.labels.files import default_labels
from analysis.retraining.training import Recipe, fine_tune
from tests.analysis.classifiers import small_networks as small
from tests.analysis.retraining.test_training import Colours

#: Largest difference of a probability after retraining through two adapters: rounding alone.
TOLERANCE = 1e-4
RECIPE = Recipe(epochs=3, learning_rate=0.02, batch=8)


def module_with_batch_normalisation() -> Any:
    import_torchvision()
    import timm

    torch.manual_seed(2)
    module = timm.create_model("test_resnet", num_classes=16, drop_rate=0.5)
    for part in module.modules():
        if isinstance(part, torch.nn.BatchNorm2d):
            # As after a real training: statistics that no batch of these pictures has.
            torch.nn.init.uniform_(part.running_mean, -0.5, 0.5)
            torch.nn.init.uniform_(part.running_var, 0.5, 2.0)
    torch.nn.init.normal_(module.fc.weight, std=0.3)
    return module.eval()


FACTORY = """
import timm, torch
from analysis.labels.files import default_labels
from analysis.classifiers.networks import TorchNetwork
from analysis.classifiers.preprocessing import Preprocessing

def make(device):
    module = timm.create_model("test_resnet", num_classes=16, drop_rate=0.5)
    module.load_state_dict(torch.load({weights!r}, weights_only=True))
    inputs = Preprocessing(32, (0.5,) * 3, (0.25,) * 3)
    # In training mode, as a researcher may have left it.
    return TorchNetwork("lab", default_labels().ids, "1" * 64, inputs, module.train())
"""


@pytest.fixture(scope="module")
def adapters(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TorchNetwork]:
    folder = tmp_path_factory.mktemp("adapters")
    module = module_with_batch_normalisation()
    weights = folder / "weights.pt"
    torch.save(module.state_dict(), weights)
    small.describe(weights)
    (folder / "lab_of_one_network.py").write_text(FACTORY.format(weights=str(weights)))
    specs = {
        "export": f"export:{small.export_file(folder / 'program.pt2', module)}",
        "timm": f"timm:test_resnet@{weights}",
        "python": "python:lab_of_one_network:make",
    }
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(folder))
        return {name: require_gradients(load_classifier(spec, allow_code=True)) for name, spec in specs.items()}


@pytest.mark.verify
def test_the_same_weights_end_alike_through_every_adapter(adapters: dict[str, TorchNetwork]) -> None:
    pictures, _ = Colours().batch(np.arange(16))
    before = adapters["export"].predict(pictures)
    made = {name: fine_tune(network, Colours(), RECIPE, held_out=None) for name, network in adapters.items()}
    after = made["export"].network.predict(pictures)
    assert np.abs(after - before).max() > 0.05
    for name in ("timm", "python"):
        assert made[name].losses == pytest.approx(made["export"].losses, abs=TOLERANCE)
        assert np.abs(made[name].network.predict(pictures) - after).max() < TOLERANCE, name


def test_batch_statistics_stay_as_they_were_and_their_weights_learn(adapters: dict[str, TorchNetwork]) -> None:
    before: Any = adapters["timm"].forward
    after: Any = fine_tune(adapters["timm"], Colours(), RECIPE).network.forward
    kept, learned = before.state_dict(), after.state_dict()
    assert all(torch.equal(kept[name], learned[name]) for name in kept if "running" in name or "tracked" in name)
    assert not torch.equal(kept["bn1.weight"], learned["bn1.weight"])
    assert not after.training


def test_a_function_without_weights_is_refused_in_words() -> None:
    network = TorchNetwork(
        "f", default_labels().ids, "0" * 64, Preprocessing(32, (0,) * 3, (1,) * 3), lambda batch: batch
    )
    with pytest.raises(ClassifierUnavailable, match="no weights to train"):
        fine_tune(network, Colours(16))
