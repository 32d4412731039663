"""Training a small network from nothing on clean pictures of their native size, such as CIFAR-10 and MNIST."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.classifiers.grey import grey_input
from analysis.classifiers.networks import TorchNetwork, frozen, weights_digest
from analysis.classifiers.preprocessing import Preprocessing, check_images
from analysis.errors import InvalidInput
from analysis.labels.space import LabelSpace

#: Sides of pictures that the network takes; larger ones are for networks of photographs.
SMALLEST_PX, LARGEST_PX = 16, 96
#: Channels of the three stages: about 262,000 weights.
_WIDTHS = (24, 48, 96)
#: Of the steps, those in which the learning rate rises.
_WARM_UP = 0.15
#: Pictures that differ less between their channels than this share of levels are grey.
_GREY = 0.01
_LEVELS = 255

#: Called after every step with steps done, steps in all, and the epoch's mean loss so far.
Tell = Callable[[int, int, float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRecipe:
    """How to train from nothing: stochastic gradient descent with a rate that rises, and falls as a cosine to 0.

    Attributes
    ----------
    epochs, batch : int
    learning_rate, momentum, weight_decay : float
        The highest rate; Nesterov's momentum; decay of weights, not of the normalisation's.
    label_smoothing : float
        Share of the target that is spread evenly over all labels, in [0, 1).
    shift_px : int
        Most pixels by which a picture is moved in either direction; its border is continued.
    flips : bool or None
        Whether pictures are mirrored; None: where they have colours. A mirrored digit is none.
    grey : bool
        Whether the network has one channel, and sees every picture in grey (OOR paper, appendix F).
    seed : int
        Of first weights, order, shifts and mirroring.
    """

    epochs: int = 20
    batch: int = 64
    learning_rate: float = 0.1
    momentum: float = 0.9
    weight_decay: float = 1e-3
    label_smoothing: float = 0.1
    shift_px: int = 3
    flips: bool | None = None
    grey: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.batch < 2 or self.seed < 0 or self.shift_px < 0:
            raise InvalidInput(f"Training takes at least one epoch, a batch of two, and no negative seed: {self}.")
        if not self.learning_rate > 0 or not 0 <= self.momentum < 1 or self.weight_decay < 0:
            raise InvalidInput(f"A learning rate is above 0, momentum in [0, 1), weight decay at least 0: {self}.")
        if not 0 <= self.label_smoothing < 1:
            raise InvalidInput(f"Label smoothing lies in [0, 1), not at {self.label_smoothing}.")


@dataclass(frozen=True, slots=True)
class Trained:
    """A network that was trained from nothing, and what that took.

    Attributes
    ----------
    network : TorchNetwork
        Its outputs are called by the ids of the labels, in their order.
    losses : tuple of float
        Mean loss of each epoch.
    seconds : float
    n_weights : int
    flips : bool
        Whether pictures were mirrored.
    """

    network: TorchNetwork
    losses: tuple[float, ...]
    seconds: float
    n_weights: int
    flips: bool


def train_small_network(
    pictures: NDArray[np.uint8],
    labels: Sequence[str],
    space: LabelSpace,
    recipe: TrainingRecipe | None = None,
    *,
    name: str = "small network",
    tell: Tell | None = None,
) -> Trained:
    """Train a small residual network from nothing, with the cross-entropy over the labels.

    Parameters
    ----------
    pictures : ndarray of uint8, shape (n, s, s, 3)
        Square, of one side from 16 to 96 px.
    labels : sequence of str
        Ids, one a picture; every label of the space has a picture.
    space : LabelSpace
    recipe : TrainingRecipe, optional
    name : str
        Of the network.
    tell : callable, optional
        What it raises ends the training.

    Returns
    -------
    Trained
        The same, to the bit, for the same pictures, seed, machine and number of threads.

    Raises
    ------
    InvalidInput
        If pictures and labels do not fit together, a label has no picture, or the loss is no number.
    """
    import torch

    recipe = recipe or TrainingRecipe()
    targets = _checked(pictures, labels, space)
    flips = has_colours(pictures) if recipe.flips is None else recipe.flips
    inputs = _inputs_of(pictures)
    started = time.perf_counter()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        module: Any = small_network(len(space), channels=1 if recipe.grey else 3)
        if recipe.grey:
            module = grey_input(module, inputs, channels=1)
        losses = _trained(module, inputs, pictures, targets, recipe, flips=flips, name=name, tell=tell)
    seconds = time.perf_counter() - started
    forward = frozen(module, "cpu")
    network = TorchNetwork(
        name=name,
        labels=space.ids,
        digest=weights_digest(forward.state_dict(), also=str(inputs)),
        inputs=inputs,
        forward=forward,
    )
    n_weights = sum(weights.numel() for weights in module.parameters())
    return Trained(network, tuple(losses), seconds, n_weights, flips)


def has_colours(pictures: NDArray[np.uint8]) -> bool:
    """Whether the pictures have colours, in the mean over all of them."""
    values = pictures.astype(np.int16)
    return bool(np.abs(values[..., :1] - values[..., 1:]).mean() > _GREY * _LEVELS)


def small_network(n_outputs: int, *, channels: int = 3) -> Any:
    """A residual network of three stages, for square pictures from 16 px on, with weights as torch draws them."""
    from torch import nn

    first, second, third = _WIDTHS
    return nn.Sequential(
        *_convolution(channels, first),
        *_convolution(first, second, stride=2),
        _residual()(second),
        *_convolution(second, third, stride=2),
        _residual()(third),
        nn.AdaptiveMaxPool2d(1),
        nn.Flatten(),
        nn.Linear(third, n_outputs),
    )


def _convolution(inputs: int, outputs: int, stride: int = 1) -> list[Any]:
    from torch import nn

    return [nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]


def _residual() -> Any:
    """The class of a block that adds two convolutions to its input; torch is imported only where it is needed."""
    from torch import nn

    class Residual(nn.Module):  # type: ignore[misc]
        def __init__(self, channels: int) -> None:
            super().__init__()
            self.change = nn.Sequential(*_convolution(channels, channels), *_convolution(channels, channels))

        def forward(self, given: Any) -> Any:
            return given + self.change(given)

    return Residual


def _checked(pictures: NDArray[np.uint8], labels: Sequence[str], space: LabelSpace) -> NDArray[np.int64]:
    """Places of the labels in the ids of the space."""
    check_images(pictures)
    n, height, width, _ = pictures.shape
    if not n or n != len(labels):
        raise InvalidInput(f"There are {n} pictures and {len(labels)} labels: give one label a picture.")
    if height != width or not SMALLEST_PX <= height <= LARGEST_PX:
        raise InvalidInput(
            f"The small network takes square pictures of {SMALLEST_PX} to {LARGEST_PX} px, not {width} x {height}."
        )
    strange = sorted(set(labels) - set(space.ids))
    if strange:
        raise InvalidInput(f"{strange[0]!r} is none of the {len(space)} labels of {space.name}.")
    missing = [one for one in space.ids if one not in set(labels)]
    if missing:
        raise InvalidInput(
            f"{len(missing)} labels of {space.name} have no picture, the first is {missing[0]}: what a network has "
            "never seen it cannot learn to name. Import pictures of every label."
        )
    return space.places_of(labels)


def _inputs_of(pictures: NDArray[np.uint8]) -> Preprocessing:
    """Native size, and mean and standard deviation of each channel over all pictures."""
    values = pictures.reshape(-1, 3)
    mean = (values.mean(axis=0, dtype=np.float64) / _LEVELS).round(4)
    std = np.maximum((values.std(axis=0, dtype=np.float64) / _LEVELS).round(4), 0.05)
    return Preprocessing(pictures.shape[1], tuple(mean.tolist()), tuple(std.tolist()))


def _trained(
    module: Any, inputs: Preprocessing, pictures: NDArray[np.uint8], targets: NDArray[np.int64],
    recipe: TrainingRecipe, *, flips: bool, name: str, tell: Tell | None,
) -> list[float]:  # fmt: skip
    import torch

    shown = torch.from_numpy(np.ascontiguousarray(pictures.transpose(0, 3, 1, 2)))
    answers = torch.from_numpy(targets)
    every: list[Any] = list(module.parameters())
    decayed = [weights for weights in every if weights.ndim > 1]
    others = [weights for weights in every if weights.ndim == 1]
    optimiser = torch.optim.SGD(
        [{"params": decayed, "weight_decay": recipe.weight_decay}, {"params": others, "weight_decay": 0.0}],
        lr=recipe.learning_rate,
        momentum=recipe.momentum,
        nesterov=recipe.momentum > 0,
    )
    # A last batch of one picture has no variance to be normalised by.
    bounds = [(at, at + recipe.batch) for at in range(0, len(pictures), recipe.batch) if len(pictures) - at > 1]
    total = recipe.epochs * len(bounds)
    losses: list[float] = []
    module.train()
    for epoch in range(recipe.epochs):
        rng = np.random.default_rng([recipe.seed, epoch])
        order, summed, seen = rng.permutation(len(pictures)), 0.0, 0
        for step, (start, stop) in enumerate(bounds, start=epoch * len(bounds)):
            chosen = torch.from_numpy(order[start:stop])
            moved = _moved(shown[chosen].float().div_(_LEVELS), rng, recipe.shift_px, flips=flips)
            for group in optimiser.param_groups:
                group["lr"] = recipe.learning_rate * _rate((step + 1) / total)
            loss = torch.nn.functional.cross_entropy(
                module(inputs.apply_to_tensor(moved)), answers[chosen], label_smoothing=recipe.label_smoothing
            )
            value = float(loss.detach())
            if not math.isfinite(value):
                raise InvalidInput(f"The loss of {name} is no number any more: take a smaller learning rate.")
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            summed, seen = summed + value * len(chosen), seen + len(chosen)
            if tell is not None:
                tell(step + 1, total, summed / seen)
        losses.append(summed / seen)
    module.eval()
    return losses


def _rate(done: float) -> float:
    """Share of the highest learning rate after a share of the steps."""
    if done < _WARM_UP:
        return done / _WARM_UP
    return 0.5 * (1.0 + math.cos(math.pi * (done - _WARM_UP) / (1.0 - _WARM_UP)))


def _moved(pictures: Any, rng: np.random.Generator, shift_px: int, *, flips: bool) -> Any:
    """Each picture moved by its own whole number of pixels, and where asked every second one mirrored."""
    import torch

    n, _, height, width = pictures.shape
    padded = torch.nn.functional.pad(pictures, (shift_px,) * 4, mode="replicate") if shift_px else pictures
    down, right = (torch.from_numpy(rng.integers(0, 2 * shift_px + 1, n)) for _ in range(2))
    rows = down[:, None] + torch.arange(height)
    columns = right[:, None] + torch.arange(width)
    if flips:
        is_mirrored = torch.from_numpy(rng.random(n) < 0.5)
        columns = torch.where(is_mirrored[:, None], columns.flip(1), columns)
    at = torch.arange(n)[:, None, None]
    return padded.permute(0, 2, 3, 1)[at, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2).contiguous()
