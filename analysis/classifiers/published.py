"""Adapters ``torchvision:NAME[@WEIGHTS]`` and ``timm:NAME[@WEIGHTS]``: published ImageNet networks.

WEIGHTS is a file of weights, ``random`` (an untrained baseline), or for torchvision the name of published weights;
without it the library's default weights are used. Weights are taken from the library's cache, and fetched only when
downloads are allowed.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from analysis.categories import IMAGENET_WNIDS
from analysis.classifiers.networks import TorchNetwork, check_device, weights_digest
from analysis.classifiers.port import Preprocessing
from analysis.errors import ClassifierUnavailable

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)
INSTALL = "pip install -r requirements/classifiers.txt"
#: The one failure of ``import torchvision`` that `import_torchvision` mends.
MISSING_OPERATOR = "operator torchvision::nms does not exist"
#: Kept alive: an operator's declaration lives as long as its library object.
_declarations: list[Any] = []


def import_torchvision() -> ModuleType:
    """``import torchvision``, also where its compiled extension was built for another torch.

    The CPU build of torch with the common build of torchvision fails at import, for want of two detection operators
    that classification never uses. After that failure, and no other, they are declared and the import is repeated.

    Raises
    ------
    ClassifierUnavailable
        If torchvision is not installed.
    """
    try:
        return importlib.import_module("torchvision")
    except ImportError as error:
        raise ClassifierUnavailable(f"torchvision is not installed: {INSTALL}") from error
    except RuntimeError as error:
        if MISSING_OPERATOR not in str(error):
            raise
    declare_detection_operators()
    return importlib.import_module("torchvision")


def declare_detection_operators() -> None:
    """Declare the schemas of torchvision's two operators, and forget its half-imported modules."""
    import torch

    for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
        del sys.modules[name]
    library = torch.library.Library("torchvision", "FRAGMENT")
    library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    library.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    _declarations.append(library)


def load_torchvision(reference: str, *, device: str = "cpu", allow_download: bool = False) -> TorchNetwork:
    """Load a classification network of torchvision.

    Raises
    ------
    ClassifierUnavailable
        If torchvision, the network or its weights are not here.
    """
    name, _, wanted = reference.partition("@")
    check_device(device)
    models = import_torchvision().models
    if name not in models.list_models(module=models):
        raise ClassifierUnavailable(f"torchvision has no classification network {name!r}.")
    inputs = Preprocessing(224, IMAGENET_MEAN, IMAGENET_STD)
    if wanted == "random" or Path(wanted).is_file():
        network = _untrained(lambda: models.get_model(name, weights=None))
        if wanted != "random":
            _load_weights(network, Path(wanted), reference)
    else:
        choices = models.get_model_weights(name)
        if wanted and wanted not in choices.__members__:
            raise ClassifierUnavailable(
                f"torchvision:{reference}: {wanted!r} is neither a file nor published weights of {name}; there are: "
                f"{', '.join(choices.__members__)}, random."
            )
        weights = choices[wanted] if wanted else choices.DEFAULT
        _check_cached(weights.url, f"torchvision:{reference}", allow_download=allow_download)
        network = models.get_model(name, weights=weights)
        transform = weights.transforms()
        inputs = Preprocessing(int(transform.crop_size[0]), tuple(transform.mean), tuple(transform.std))
    return _network(reference, network, inputs, device)


def load_timm(reference: str, *, device: str = "cpu", allow_download: bool = False) -> TorchNetwork:
    """Load a classification network of timm.

    Raises
    ------
    ClassifierUnavailable
        If timm, the network or its weights are not here.
    """
    name, _, wanted = reference.partition("@")
    check_device(device)
    import_torchvision()
    try:
        timm = importlib.import_module("timm")
    except ImportError as error:
        raise ClassifierUnavailable(f"timm is not installed: {INSTALL}") from error
    if not timm.is_model(name):
        raise ClassifierUnavailable(f"timm has no network {name!r}; timm.list_models() names them.")
    if wanted and wanted != "random" and not Path(wanted).is_file():
        raise ClassifierUnavailable(f"timm:{reference}: there is no file {wanted}. Give a file of weights, or random.")
    if wanted == "random":
        network = _untrained(lambda: timm.create_model(name))
    else:
        path = wanted or _cached_by_timm(timm, name)
        if not path and not allow_download:
            raise ClassifierUnavailable(_must_fetch(f"timm:{reference}"))
        network = timm.create_model(name, pretrained=not path, checkpoint_path=path)
    settings = timm.data.resolve_model_data_config(network)
    inputs = Preprocessing(int(settings["input_size"][-1]), tuple(settings["mean"]), tuple(settings["std"]))
    return _network(reference, network, inputs, device)


def _network(reference: str, network: Any, inputs: Preprocessing, device: str) -> TorchNetwork:
    network.eval().to(device)
    return TorchNetwork(
        name=reference,
        labels=IMAGENET_WNIDS,
        digest=weights_digest(network.state_dict(), also=str(inputs)),
        inputs=inputs,
        forward=network,
        device=device,
    )


def _untrained(make: Any) -> Any:
    """A network with the same random weights every time, leaving torch's own random state alone."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return make()


def _load_weights(network: Any, path: Path, reference: str) -> None:
    import torch

    state: Mapping[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    try:
        network.load_state_dict(state.get("state_dict", state))
    except RuntimeError as error:
        raise ClassifierUnavailable(f"torchvision:{reference}: {path.name} holds another network's weights.") from error


def _check_cached(url: str, spec: str, *, allow_download: bool) -> None:
    import torch

    if not allow_download and not (Path(torch.hub.get_dir()) / "checkpoints" / url.rpartition("/")[2]).is_file():
        raise ClassifierUnavailable(_must_fetch(spec))


def _cached_by_timm(timm: ModuleType, name: str) -> str:
    """Path of weights that an earlier download left in the Hugging Face cache; empty if there are none."""
    hub = importlib.import_module("huggingface_hub")
    repository = timm.get_pretrained_cfg(name).hf_hub_id
    found = hub.try_to_load_from_cache(repository, "model.safetensors") if repository else None
    return found if isinstance(found, str) else ""


def _must_fetch(spec: str) -> str:
    network = spec.partition("@")[0]
    return f"The weights of {spec} are not on this machine: allow the download, or give a file ({network}@FILE)."
