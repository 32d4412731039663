"""Adapters of published ImageNet networks.

WEIGHTS is a file of weights (.pt, .pth, .ckpt or .safetensors: tensors are read, nothing runs), ``random`` (an
untrained baseline), or for torchvision the name of published weights; without it the library's default weights are
used. Weights are taken from the library's cache, and fetched only when downloads are allowed. A network with its own
labels has a file of weights and a mapping file: see `analysis.classifiers.decision`. A JSON file next to a file of
weights may name ``labels``, ``mean``, ``std`` and ``input_px`` where they are not the library's.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

from analysis.classifiers.description import inputs_beside, labels_beside
from analysis.classifiers.networks import TorchNetwork, check_device, frozen, weights_digest
from analysis.classifiers.preprocessing import Preprocessing
from analysis.classifiers.weights import INSTALL, import_torchvision, load_weights, untrained
from analysis.errors import ClassifierUnavailable
from analysis.labels.imagenet import class_ids
from analysis.labels.space import LabelSpace

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


def load_torchvision(
    reference: str,
    *,
    device: str = "cpu",
    allow_download: bool = False,
    labels: tuple[str, ...] | None = None,
    space: LabelSpace | None = None,
) -> TorchNetwork:
    """Load a classification network of torchvision.

    Raises
    ------
    ClassifierUnavailable
        If torchvision, the network or its weights are not here, or the weights are another network's.
    """
    name, _, wanted = reference.partition("@")
    check_device(device)
    models = import_torchvision().models
    if name not in models.list_models(module=models):
        raise ClassifierUnavailable(f"torchvision has no classification network {name!r}.")
    spec = f"torchvision:{reference}"
    labels = labels or (labels_beside(Path(wanted), space) if Path(wanted).is_file() else None)
    inputs = Preprocessing(_published_px(models, name), IMAGENET_MEAN, IMAGENET_STD)
    if wanted == "random" or Path(wanted).is_file():
        # GoogLeNet and Inception have helpers for training that published weights lack too.
        options = {"num_classes": len(labels or class_ids()), "weights": None}
        if name in ("googlenet", "inception_v3"):
            options |= {"aux_logits": False, "init_weights": True}
        network = untrained(lambda: models.get_model(name, **options))
        if wanted != "random":
            load_weights(network, Path(wanted), spec)
            inputs = inputs_beside(Path(wanted), inputs)
    else:
        choices = models.get_model_weights(name)
        if wanted and wanted not in choices.__members__:
            raise ClassifierUnavailable(
                f"{spec}: {wanted!r} is neither a file nor published weights of {name}; there are: "
                f"{', '.join(choices.__members__)}, random."
            )
        weights = choices[wanted] if wanted else choices.DEFAULT
        _check_cached(weights.url, spec, allow_download=allow_download)
        network = models.get_model(name, weights=weights)
        transform = weights.transforms()
        inputs = Preprocessing(int(transform.crop_size[0]), tuple(transform.mean), tuple(transform.std))
    return _network(reference, network, inputs, device, labels)


def load_timm(
    reference: str,
    *,
    device: str = "cpu",
    allow_download: bool = False,
    labels: tuple[str, ...] | None = None,
    space: LabelSpace | None = None,
) -> TorchNetwork:
    """Load a classification network of timm.

    Raises
    ------
    ClassifierUnavailable
        If timm, the network or its weights are not here, or the weights are another network's.
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
    spec = f"timm:{reference}"
    labels = labels or (labels_beside(Path(wanted), space) if Path(wanted).is_file() else None)
    if wanted and wanted != "random" and not Path(wanted).is_file():
        raise ClassifierUnavailable(f"{spec}: there is no file {wanted}. Give a file of weights, or random.")
    if wanted:
        network = untrained(lambda: timm.create_model(name, num_classes=len(labels or class_ids())))
        if wanted != "random":
            load_weights(network, Path(wanted), spec)
    else:
        path = _cached_by_timm(timm, name)
        if not path and not allow_download:
            raise ClassifierUnavailable(_must_fetch(spec))
        overlay = {"pretrained_cfg_overlay": {"file": path}} if path else {}
        network = timm.create_model(name, pretrained=True, **overlay)
    settings = timm.data.resolve_model_data_config(network)
    inputs = Preprocessing(int(settings["input_size"][-1]), tuple(settings["mean"]), tuple(settings["std"]))
    if wanted and wanted != "random":
        inputs = inputs_beside(Path(wanted), inputs)
    return _network(reference, network, inputs, device, labels)


def _network(
    reference: str, network: Any, inputs: Preprocessing, device: str, labels: tuple[str, ...] | None
) -> TorchNetwork:
    return TorchNetwork(
        name=reference,
        labels=labels or class_ids(),
        digest=weights_digest(network.state_dict(), also=f"{inputs}{_named(labels)}"),
        inputs=inputs,
        forward=frozen(network, device),
        device=device,
    )


def _named(labels: tuple[str, ...] | None) -> str:
    """Own labels, as the digest tells them: other labels are other answers."""
    return "" if labels in (None, class_ids()) else " ".join(labels or ())


def _published_px(models: ModuleType, name: str) -> int:
    """Input size of a network's published weights."""
    return int(models.get_model_weights(name).DEFAULT.transforms().crop_size[0])


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
