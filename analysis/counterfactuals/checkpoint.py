"""Reads a VQ autoencoder from a local file in the layout of the taming-transformers checkpoints.

Such a file is a pickled dictionary whose ``state_dict`` holds the weights beside those of the losses it was trained
with (``loss.*``), and what the training program left: optimisers, callbacks. Only tensors are made; whatever else the
pickle names is replaced by an empty placeholder, so that a file can run no code.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from analysis.classifiers.tensors import Unreadable, read_tensors
from analysis.counterfactuals.autoencoder import GROUPS, Layout, VqAutoencoder, shapes
from analysis.errors import GeneratorUnavailable

_LOSS = "loss."


def load_autoencoder(path: Path, *, device: str = "cpu") -> tuple[VqAutoencoder, str]:
    """A VQ autoencoder and the SHA-256 of its file.

    Parameters
    ----------
    path : Path
        A ``.ckpt`` or ``.pt`` file; the network's shape is read from its weights.
    device : str
        "cpu", "cuda", "cuda:1".

    Raises
    ------
    GeneratorUnavailable
        If the file is missing, unreadable, or of another layout; the message names the first weight that differs.
    """
    if not path.is_file():
        raise GeneratorUnavailable(f"{path}: there is no such checkpoint. Give the path of a file on this machine.")
    weights = _weights(path)
    network = VqAutoencoder(_layout(weights, path))
    _check(weights, shapes(network), path)
    network.load_state_dict({name: values.float() for name, values in weights.items()})
    network.eval().requires_grad_(False).to(device)
    return network, hashlib.sha256(path.read_bytes()).hexdigest()


def _weights(path: Path) -> dict[str, Any]:
    try:
        loaded = read_tensors(path)
    except Unreadable as error:
        raise GeneratorUnavailable(f"{path}: this is no checkpoint that torch can read. Fetch it again.") from error
    state = loaded.get("state_dict", loaded) if isinstance(loaded, dict) else None
    if not isinstance(state, Mapping):
        raise GeneratorUnavailable(f"{path}: the checkpoint holds no dictionary of weights.")
    return {
        str(name): values
        for name, values in state.items()
        if isinstance(values, torch.Tensor) and not str(name).startswith(_LOSS)
    }


def _layout(weights: Mapping[str, Any], path: Path) -> Layout:
    """Shape of the network that has these weights."""

    def count(pattern: str) -> int:
        found = {int(match[1]) for name in weights if (match := re.match(pattern, name))}
        return 1 + max(found, default=-1)

    try:
        width = int(weights["encoder.conv_in.weight"].shape[0])
        levels = count(r"encoder\.down\.(\d+)\.")
        outputs = [int(weights[f"encoder.down.{level}.block.0.conv1.weight"].shape[0]) for level in range(levels)]
        codes, embedding = weights["quantize.embedding.weight"].shape
        latent = int(weights["encoder.conv_out.weight"].shape[0])
    except KeyError as error:
        raise _other_layout(path, f"the weight {error.args[0]} is missing") from None
    if not levels or width % GROUPS or any(channels % width for channels in outputs):
        raise _other_layout(path, f"its levels have {width} and {outputs} channels")
    return Layout(
        width=width,
        multipliers=tuple(channels // width for channels in outputs),
        blocks=count(r"encoder\.down\.0\.block\.(\d+)\."),
        attention=frozenset(level for level in range(levels) if f"encoder.down.{level}.attn.0.q.weight" in weights),
        latent=latent,
        embedding=int(embedding),
        codes=int(codes),
    )


def _check(weights: Mapping[str, Any], wanted: Mapping[str, tuple[int, ...]], path: Path) -> None:
    for name, shape in wanted.items():
        if name not in weights:
            raise _other_layout(path, f"the weight {name} is missing")
        if tuple(weights[name].shape) != shape:
            raise _other_layout(path, f"{name} has the shape {tuple(weights[name].shape)} instead of {shape}")
    if strange := sorted(set(weights) - set(wanted)):
        raise _other_layout(path, f"the weight {strange[0]} has no place")


def _other_layout(path: Path, what: str) -> GeneratorUnavailable:
    return GeneratorUnavailable(
        f"{path}: a checkpoint of another layout: {what}. Give a VQ autoencoder of taming-transformers (for example "
        "vqgan_imagenet_f16_1024), or one made by python -m fixtures.train_counterfactuals."
    )
