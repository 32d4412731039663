"""Adapter ``hf:REFERENCE``: image classifiers of the transformers library, from a folder or from the hub's cache.

REFERENCE is a folder as ``save_pretrained`` writes it, with its ``preprocessor_config.json``, or ``organisation/name``.
"""

from __future__ import annotations

import importlib
import json
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from analysis.classifiers.decision import imagenet_labels
from analysis.classifiers.networks import TorchNetwork, check_device, frozen, weights_digest
from analysis.classifiers.preprocessing import Preprocessing
from analysis.classifiers.weights import INSTALL, import_torchvision, refuse_two_sets
from analysis.errors import ClassifierUnavailable, InvalidInput

#: As a folder may name its weights, whole or by an index of parts.
_WEIGHTS = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json")
_WRITTEN_BY = ("transformers_version", "_name_or_path", "_commit_hash")


def load(
    reference: str, *, device: str = "cpu", allow_download: bool = False, labels: tuple[str, ...] | None = None
) -> TorchNetwork:
    """Load an image classifier; code that comes with weights is never run.

    Raises
    ------
    ClassifierUnavailable
        If transformers, the network, its weights or its preprocessing are not here, or not those of a classifier.
    """
    check_device(device)
    spec = f"hf:{reference}"
    import_torchvision()
    try:
        transformers = importlib.import_module("transformers")
    except ImportError as error:
        raise ClassifierUnavailable(f"transformers is not installed: {INSTALL}") from error
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    where = {"local_files_only": not allow_download}
    damaged = importlib.import_module("safetensors").SafetensorError
    unreadable = (RuntimeError, ValueError, KeyError, AttributeError, pickle.UnpicklingError, damaged)
    try:
        network, told = transformers.AutoModelForImageClassification.from_pretrained(
            reference, output_loading_info=True, trust_remote_code=False, **where
        )
        preprocessing, _ = transformers.ImageProcessingMixin.get_image_processor_dict(reference, **where)
        settings, _ = transformers.PretrainedConfig.get_config_dict(reference, **where)
    except OSError as error:
        raise ClassifierUnavailable(_absent(spec, Path(reference), error)) from error
    except unreadable as error:
        raise ClassifierUnavailable(f"{spec} cannot be read as an image classifier: {_first_line(error)}") from error
    wrong = sorted({*told["missing_keys"], *(str(key) for key in told["mismatched_keys"])})
    if wrong:
        raise ClassifierUnavailable(
            f"{spec} lacks weights of its classifier ({', '.join(wrong[:3])}): its answers would be random. Give a "
            "network that was trained to classify."
        )
    refuse_two_sets(Path(reference), _WEIGHTS, spec)
    inputs = _inputs(network.config, preprocessing, spec)
    names = [network.config.id2label[number] for number in range(network.config.num_labels)]
    state = network.state_dict()
    return TorchNetwork(
        name=Path(reference).name if Path(reference).is_dir() else reference,
        labels=labels or imagenet_labels(names),
        digest=weights_digest(state, also=f"{inputs} {_told(settings)}"),
        inputs=inputs,
        forward=_logits_of(frozen(network, device)),
        device=device,
    )


def _told(settings: Mapping[str, Any]) -> str:
    """What config.json says of the network, without who wrote it where: equal weights may compute something else."""
    return json.dumps({name: settings[name] for name in sorted(settings) if name not in _WRITTEN_BY}, sort_keys=True)


def _logits_of(network: Any) -> Any:
    """The network as a module whose output is the logits alone."""
    import torch

    class Logits(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, pictures: Any) -> Any:
            return self.network(pixel_values=pictures).logits

    return Logits().eval()


def _inputs(config: Any, preprocessing: Mapping[str, Any], spec: str) -> Preprocessing:
    """Size and normalisation from the network's files; only their cropping is left out."""
    size = getattr(config, "image_size", None) or preprocessing.get("crop_size") or preprocessing.get("size")
    if isinstance(size, Mapping):
        size = size.get("height") or size.get("shortest_edge")
    if isinstance(size, list | tuple):
        size = size[0]
    # The library computes (x * rescale_factor - mean) / std on bytes; here x is in [0, 1].
    factor = 255 * float(preprocessing.get("rescale_factor", 1 / 255)) if preprocessing.get("do_rescale", True) else 255
    normalises = preprocessing.get("do_normalize", True)
    mean = preprocessing.get("image_mean") if normalises else [0.0] * 3
    std = preprocessing.get("image_std") if normalises else [1.0] * 3
    if not isinstance(size, int) or not mean or not std:
        raise ClassifierUnavailable(
            f"{spec}: preprocessor_config.json names no size, image_mean or image_std. Add them, as the network was "
            "trained with."
        )
    try:
        return Preprocessing(size, tuple(value / factor for value in mean), tuple(value / factor for value in std))
    except InvalidInput as error:
        raise ClassifierUnavailable(
            f"{spec}, preprocessor_config.json (image_mean and image_std, by rescale_factor): {error}"
        ) from error


def _absent(spec: str, folder: Path, error: OSError) -> str:
    if folder.is_dir():
        return f"{spec} cannot be read as an image classifier: {_first_line(error)}"
    return (
        f"The network {spec} is not on this machine: allow the download, or give a folder with config.json, "
        "preprocessor_config.json and model.safetensors."
    )


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
