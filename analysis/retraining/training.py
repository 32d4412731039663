"""Fine-tuning any torch classifier on pictures with categories; interrupted, it goes on after its last epoch."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.classifiers.networks import TorchNetwork, frozen, weights_digest
from analysis.errors import ClassifierUnavailable, InvalidInput
from analysis.retraining.checkpoint import Standing, resumed, save
from analysis.retraining.held_out import Epoch, Examples, HeldOut, Looked, epoch_of, is_over, kept_epoch, look

#: Called after every step with steps done, steps in all, and the epoch's mean loss so far.
Tell = Callable[[int, int, float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How to train: stochastic gradient descent, as published.

    Attributes
    ----------
    epochs, batch : int
    learning_rate, momentum : float
        VCR experiment 3: 5 epochs, 0.001, 0.9.
    held_out : float
        Share of the training originals that `hold_out` takes from training, in [0, 0.5]; 0 for none.
    patience : int
        Training ends after so many epochs without a lower loss on held-out stimuli.
    seed : int
        Of the order of examples, and of what is held out.
    """

    epochs: int = 5
    learning_rate: float = 0.001
    momentum: float = 0.9
    batch: int = 32
    held_out: float = 0.2
    patience: int = 2
    seed: int = 0

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.batch < 1 or self.seed < 0:
            raise InvalidInput(f"Training takes at least one epoch and a batch of one, and no negative seed: {self}.")
        if not self.learning_rate > 0 or not 0 <= self.momentum < 1:
            raise InvalidInput(f"A learning rate is above 0 and a momentum in [0, 1): {self}.")
        if not 0 <= self.held_out <= 0.5 or self.patience < 1:
            raise InvalidInput(f"The share held out lies between 0 and 0.5, and the patience is 1 or more: {self}.")


@dataclass(frozen=True, slots=True)
class Retrained:
    """The network after training, and what training took.

    Attributes
    ----------
    network : TorchNetwork
    recipe : Recipe
    losses : tuple of float
        Mean loss of each epoch on what was trained on.
    seconds : float
    curve : tuple of Epoch
        How the network did on held-out stimuli before training and after each epoch; empty without any.
    kept : int
        The epoch whose weights `network` has; 0 where no epoch was better than the network as it was given.
    """

    network: TorchNetwork
    recipe: Recipe
    losses: tuple[float, ...]
    seconds: float
    curve: tuple[Epoch, ...]
    kept: int


def fine_tune(
    network: TorchNetwork,
    examples: Examples,
    recipe: Recipe | None = None,
    *,
    held_out: HeldOut | None = None,
    checkpoint: Path | None = None,
    tell: Tell | None = None,
) -> Retrained:
    """Train a copy of a network further; the one that was given stays as it is.

    The loss is the cross-entropy of the 16-way scores (`TorchNetwork.category_logits`), so that networks with 16, 1,000
    or own labels learn the same task. The module stays in evaluation mode, as an exported program must: batch
    normalisation keeps its statistics and nothing drops out, so that one network learns alike through every adapter.

    Parameters
    ----------
    network : TorchNetwork
    examples : Examples
    recipe : Recipe, optional
        The published one by default.
    held_out : HeldOut, optional
        Stimuli of other originals. With them, training ends early and the epoch of `kept_epoch` is kept; without, the
        last one is.
    checkpoint : Path, optional
        File that holds weights and optimiser after every epoch. What it holds of this very training is not done again;
        resumed or not, the result is the same.
    tell : callable, optional
        What it raises ends the training.

    Raises
    ------
    InvalidInput
        If there are no examples, or the loss is no number.
    ClassifierUnavailable
        If what the network computes with has no weights to train.
    """
    import torch

    recipe = recipe or Recipe()
    if not len(examples):
        raise InvalidInput("There are no stimuli to train on.")
    held_out = held_out if held_out is not None and len(held_out) else None
    learner = _learner(network)
    trained: Any = learner.forward
    given = _state(trained)
    optimiser = torch.optim.SGD(trained.parameters(), lr=recipe.learning_rate, momentum=recipe.momentum)
    identity = repr((network.digest, asdict(recipe), len(examples), len(held_out or ())))
    before = None if held_out is None else look(learner, held_out)
    standing = resumed(checkpoint, identity, trained, optimiser, network.device)
    if held_out is not None and before is not None and not standing.curve:
        standing.curve.append(epoch_of(0, before, before, held_out.original_names))
    for epoch in range(len(standing.losses), recipe.epochs):
        if standing.curve and is_over(standing.curve, recipe.patience):
            break
        started = time.perf_counter()
        standing.losses.append(_epoch(learner, optimiser, examples, recipe, epoch, tell))
        if held_out is not None and before is not None:
            _validate(learner, held_out, before, standing)
        standing.seconds += time.perf_counter() - started
        if checkpoint is not None:
            save(checkpoint, identity, trained, optimiser, standing)
    if standing.curve:
        trained.load_state_dict(standing.best or given)
    kept = kept_epoch(standing.curve) if standing.curve else len(standing.losses)
    result = replace(
        network,
        name=f"{network.name} retrained",
        forward=trained.requires_grad_(False) if _is_exported(trained) else frozen(trained, network.device),
        digest=weights_digest(trained.state_dict(), also=str(network.inputs)),
    )
    return Retrained(result, recipe, tuple(standing.losses), standing.seconds, tuple(standing.curve), kept)


def _learner(network: TorchNetwork) -> TorchNetwork:
    """A copy whose weights ask for gradients, in evaluation mode."""
    import torch

    if not isinstance(network.forward, torch.nn.Module):
        raise ClassifierUnavailable(
            f"{network.name} computes with a function instead of a torch module: there are no weights to train."
        )
    with warnings.catch_warnings():
        # torch's own way of copying an exported program uses a name that it deprecates.
        warnings.simplefilter("ignore", FutureWarning)
        trained = copy.deepcopy(network.forward).requires_grad_(True)
    return replace(network, forward=trained if _is_exported(trained) else trained.eval())


def _epoch(
    learner: TorchNetwork, optimiser: Any, examples: Examples, recipe: Recipe, epoch: int, tell: Tell | None
) -> float:
    """Train on every example once, in the epoch's own order; returns the mean loss."""
    order = np.random.default_rng([recipe.seed, epoch]).permutation(len(examples))
    steps, total = -(-len(examples) // recipe.batch), 0.0
    for step in range(steps):
        chosen = order[step * recipe.batch : (step + 1) * recipe.batch]
        total += _step(learner, optimiser, *examples.batch(chosen)) * len(chosen)
        if tell is not None:
            seen = min((step + 1) * recipe.batch, len(examples))
            tell(epoch * steps + step + 1, recipe.epochs * steps, total / seen)
    return total / len(examples)


def _validate(learner: TorchNetwork, held_out: HeldOut, before: Looked, standing: Standing) -> None:
    """Add a point to the curve, and remember the weights where this epoch is the one to keep so far."""
    number = len(standing.losses)
    standing.curve.append(epoch_of(number, look(learner, held_out), before, held_out.original_names))
    if kept_epoch(standing.curve) == number:
        standing.best = _state(learner.forward)


def _state(module: Any) -> dict[str, Any]:
    """A copy of the module's weights and buffers."""
    return {name: values.detach().clone() for name, values in module.state_dict().items()}


def _step(learner: TorchNetwork, optimiser: Any, pictures: NDArray[np.uint8], categories: NDArray[np.int64]) -> float:
    import torch

    batch = torch.from_numpy(pictures).to(learner.device).permute(0, 3, 1, 2).float().div_(255)
    targets = torch.from_numpy(categories).to(learner.device)
    loss = torch.nn.functional.cross_entropy(learner.category_logits(batch), targets)
    value = float(loss.detach())
    if not np.isfinite(value):
        raise InvalidInput(f"The loss of {learner.name} is no number any more ({value}): take a smaller learning rate.")
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    return value


def _is_exported(module: Any) -> bool:
    """Whether the module comes from torch.export, whose mode is fixed."""
    import torch

    return isinstance(module, torch.fx.GraphModule)
