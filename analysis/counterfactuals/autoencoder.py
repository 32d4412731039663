"""The VQ autoencoder of Esser, Rombach and Ommer (2021), and its published checkpoints.

Residual convolutions and attention halve the picture level by level into a grid of vectors, each of which is replaced
by its nearest neighbour in a codebook; a mirrored decoder paints the picture from the grid. Everything about a network
(width, levels, blocks, attention, codebook) is told by the shapes in its checkpoint, so that one loader serves the
published f16 networks with 1,024 and 16,384 codes and the small one of this repository.

Such a file is a pickled dictionary whose ``state_dict`` holds the weights beside those of the losses it was trained
with (``loss.*``), and what the training program left: optimisers, callbacks. Only tensors are made; whatever else the
pickle names is replaced by an empty placeholder, so that a file can run no code.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from analysis.classifiers.weights import Unreadable, read_tensors
from analysis.errors import GeneratorUnavailable

#: Channels are normalised in this many groups.
GROUPS = 32


@dataclass(frozen=True, slots=True)
class Layout:
    """Shape of an autoencoder.

    Attributes
    ----------
    width : int
        Channels at the finest level, a multiple of 32.
    multipliers : tuple of int
        Channels of each level, in units of ``width``; the picture is halved between levels.
    blocks : int
        Residual blocks a level of the encoder; the decoder has one more.
    attention : frozenset of int
        Levels with attention after each block; the middle always has it.
    latent : int
        Channels that the encoder puts out.
    embedding : int
        Length of a code.
    codes : int
        Size of the codebook.
    """

    width: int
    multipliers: tuple[int, ...]
    blocks: int
    attention: frozenset[int]
    latent: int
    embedding: int
    codes: int

    @property
    def factor(self) -> int:
        """Pixels a side for one vector of the grid."""
        return int(2 ** (len(self.multipliers) - 1))


#: The published networks trained on ImageNet; they differ in their codebooks.
F16_1024 = Layout(128, (1, 1, 2, 2, 4), 2, frozenset({4}), 256, 256, 1024)
F16_16384 = Layout(128, (1, 1, 2, 2, 4), 2, frozenset({4}), 256, 256, 16384)


class VqAutoencoder(nn.Module):  # type: ignore[misc]
    """Encoder, codebook and decoder. Pictures are float tensors (n, 3, h, w) in [-1, 1]."""

    def __init__(self, layout: Layout) -> None:
        super().__init__()
        self.layout = layout
        self.encoder = _Encoder(layout)
        self.decoder = _Decoder(layout)
        self.quantize = _Codebook(layout)
        self.quant_conv = nn.Conv2d(layout.latent, layout.embedding, 1)
        self.post_quant_conv = nn.Conv2d(layout.embedding, layout.latent, 1)

    def encode(self, pictures: Any) -> Any:
        """Latents before the codebook, shape (n, embedding, h / factor, w / factor)."""
        return self.quant_conv(self.encoder(pictures))

    def decode(self, latents: Any) -> Any:
        """Pictures from latents; a gradient passes the codebook unchanged (straight-through)."""
        nearest = self.quantize(latents)
        return self.decoder(self.post_quant_conv(latents + (nearest - latents).detach()))


class _Codebook(nn.Module):  # type: ignore[misc]
    def __init__(self, layout: Layout) -> None:
        super().__init__()
        self.embedding = nn.Embedding(layout.codes, layout.embedding)

    def indices(self, latents: Any) -> Any:
        """Number of the nearest code, shape (n, h, w)."""
        codes = self.embedding.weight
        vectors = latents.permute(0, 2, 3, 1)
        distances = (codes * codes).sum(1) - 2 * (vectors @ codes.T)
        return distances.argmin(dim=-1)

    def forward(self, latents: Any) -> Any:
        return self.embedding(self.indices(latents)).permute(0, 3, 1, 2)


class _Block(nn.Module):  # type: ignore[misc]
    """Two normalised convolutions beside the input."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.norm1 = _norm(inputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.norm2 = _norm(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)
        if inputs != outputs:
            self.nin_shortcut = nn.Conv2d(inputs, outputs, 1)

    def forward(self, features: Any) -> Any:
        changed = self.conv1(functional.silu(self.norm1(features)))
        changed = self.conv2(functional.silu(self.norm2(changed)))
        return (self.nin_shortcut(features) if hasattr(self, "nin_shortcut") else features) + changed


class _Attention(nn.Module):  # type: ignore[misc]
    """Every place of the grid looks at every other, with one head."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = _norm(channels)
        self.q, self.k, self.v, self.proj_out = (nn.Conv2d(channels, channels, 1) for _ in range(4))

    def forward(self, features: Any) -> Any:
        normalised = self.norm(features)
        query, key, value = (layer(normalised).flatten(2).transpose(1, 2) for layer in (self.q, self.k, self.v))
        seen = functional.scaled_dot_product_attention(query, key, value)
        return features + self.proj_out(seen.transpose(1, 2).reshape(features.shape))


class _Middle(nn.Module):  # type: ignore[misc]
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.block_1 = _Block(channels, channels)
        self.attn_1 = _Attention(channels)
        self.block_2 = _Block(channels, channels)

    def forward(self, features: Any) -> Any:
        return self.block_2(self.attn_1(self.block_1(features)))


class _Level(nn.Module):  # type: ignore[misc]
    def __init__(self, inputs: int, outputs: int, blocks: int, *, attends: bool) -> None:
        super().__init__()
        self.block = nn.ModuleList(_Block(outputs if number else inputs, outputs) for number in range(blocks))
        self.attn = nn.ModuleList(_Attention(outputs) for _ in range(blocks if attends else 0))

    def forward(self, features: Any) -> Any:
        for number, block in enumerate(self.block):
            features = block(features)
            if len(self.attn):
                features = self.attn[number](features)
        return features


class _Downsample(nn.Module):  # type: ignore[misc]
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, stride=2)

    def forward(self, features: Any) -> Any:
        return self.conv(functional.pad(features, (0, 1, 0, 1)))


class _Upsample(nn.Module):  # type: ignore[misc]
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, features: Any) -> Any:
        return self.conv(functional.interpolate(features, scale_factor=2.0, mode="nearest"))


class _Encoder(nn.Module):  # type: ignore[misc]
    def __init__(self, layout: Layout) -> None:
        super().__init__()
        widths = [layout.width * multiplier for multiplier in layout.multipliers]
        self.conv_in = nn.Conv2d(3, layout.width, 3, padding=1)
        self.down = nn.ModuleList()
        for number, (inputs, outputs) in enumerate(zip([layout.width, *widths], widths, strict=False)):
            level = _Level(inputs, outputs, layout.blocks, attends=number in layout.attention)
            if number < len(widths) - 1:
                level.downsample = _Downsample(outputs)
            self.down.append(level)
        self.mid = _Middle(widths[-1])
        self.norm_out = _norm(widths[-1])
        self.conv_out = nn.Conv2d(widths[-1], layout.latent, 3, padding=1)

    def forward(self, pictures: Any) -> Any:
        features = self.conv_in(pictures)
        for level in self.down:
            features = level(features)
            if hasattr(level, "downsample"):
                features = level.downsample(features)
        return self.conv_out(functional.silu(self.norm_out(self.mid(features))))


class _Decoder(nn.Module):  # type: ignore[misc]
    def __init__(self, layout: Layout) -> None:
        super().__init__()
        widths = [layout.width * multiplier for multiplier in layout.multipliers]
        self.conv_in = nn.Conv2d(layout.latent, widths[-1], 3, padding=1)
        self.mid = _Middle(widths[-1])
        # Level 0 is the finest, as in the encoder; the path runs from the last to the first.
        self.up = nn.ModuleList()
        for number, (inputs, outputs) in enumerate(zip([*widths[1:], widths[-1]], widths, strict=True)):
            level = _Level(inputs, outputs, layout.blocks + 1, attends=number in layout.attention)
            if number:
                level.upsample = _Upsample(outputs)
            self.up.append(level)
        self.norm_out = _norm(widths[0])
        self.conv_out = nn.Conv2d(widths[0], 3, 3, padding=1)

    def forward(self, latents: Any) -> Any:
        features = self.mid(self.conv_in(latents))
        for level in reversed(self.up):
            features = level(features)
            if hasattr(level, "upsample"):
                features = level.upsample(features)
        return self.conv_out(functional.silu(self.norm_out(features)))


def _norm(channels: int) -> Any:
    return nn.GroupNorm(GROUPS, channels, eps=1e-6)


def shapes(network: VqAutoencoder) -> dict[str, tuple[int, ...]]:
    """Names and shapes of a network's weights."""
    return {name: tuple(values.shape) for name, values in network.state_dict().items()}


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
