"""Fine-tuning any torch classifier on pictures with categories; interrupted, it goes on after its last epoch."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from analysis.classifiers.networks import TorchNetwork, frozen, weights_digest
from analysis.errors import InvalidInput

#: Called after every step with steps done, steps in all, and the epoch's mean loss so far.
Tell = Callable[[int, int, float], None]


class Examples(Protocol):
    """Pictures with categories, fetched a batch at a time."""

    def __len__(self) -> int: ...

    def batch(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Pictures, shape (n, h, w, 3), and their places in `CATEGORIES`, shape (n,), of these examples."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How to train: stochastic gradient descent, as published.

    Attributes
    ----------
    epochs, batch : int
    learning_rate, momentum : float
        VCR experiment 3: 5 epochs, 0.001, 0.9.
    seed : int
        Of the order of examples and of the network's own dropping out.
    """

    epochs: int = 5
    learning_rate: float = 0.001
    momentum: float = 0.9
    batch: int = 32
    seed: int = 0

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.batch < 1 or self.seed < 0:
            raise InvalidInput(f"Training takes at least one epoch and a batch of one, and no negative seed: {self}.")
        if not self.learning_rate > 0 or not 0 <= self.momentum < 1:
            raise InvalidInput(f"A learning rate is above 0 and a momentum in [0, 1): {self}.")


@dataclass(frozen=True, slots=True)
class Retrained:
    """The network after training, and what training took."""

    network: TorchNetwork
    recipe: Recipe
    #: mean loss of each epoch
    losses: tuple[float, ...]
    seconds: float


def fine_tune(
    network: TorchNetwork,
    examples: Examples,
    recipe: Recipe | None = None,
    *,
    checkpoint: Path | None = None,
    tell: Tell | None = None,
) -> Retrained:
    """Train a copy of a network further; the one that was given stays as it is.

    The loss is the cross-entropy of the 16-way scores (`TorchNetwork.category_logits`), so that networks with 16, 1,000
    or own labels learn the same task. Where a module allows it, batch normalisation and dropping out train along; an
    exported program keeps them as they were exported.

    Parameters
    ----------
    network : TorchNetwork
    examples : Examples
    recipe : Recipe, optional
        The published one by default.
    checkpoint : Path, optional
        File that holds weights and optimiser after every epoch. What it holds of this very training is not done again;
        resumed or not, the result is the same.
    tell : callable, optional
        What it raises ends the training.

    Raises
    ------
    InvalidInput
        If there are no examples, or the loss is no number.
    """
    import torch

    recipe = recipe or Recipe()
    if not len(examples):
        raise InvalidInput("There are no stimuli to train on.")
    trained = _copied(network.forward).requires_grad_(True)
    if not _is_exported(trained):
        trained.train()
    learner = replace(network, forward=trained)
    optimiser = torch.optim.SGD(trained.parameters(), lr=recipe.learning_rate, momentum=recipe.momentum)
    identity = repr((network.digest, asdict(recipe), len(examples)))
    losses, seconds = _resumed(checkpoint, identity, trained, optimiser, network.device)
    steps = -(-len(examples) // recipe.batch)
    with torch.random.fork_rng(devices=[network.device] if network.device.startswith("cuda") else []):
        for epoch in range(len(losses), recipe.epochs):
            torch.manual_seed(recipe.seed * 100_003 + epoch)
            order = np.random.default_rng([recipe.seed, epoch]).permutation(len(examples))
            started, total = time.perf_counter(), 0.0
            for step in range(steps):
                chosen = order[step * recipe.batch : (step + 1) * recipe.batch]
                total += _step(learner, optimiser, *examples.batch(chosen)) * len(chosen)
                seen = min((step + 1) * recipe.batch, len(examples))
                if tell is not None:
                    tell(epoch * steps + step + 1, recipe.epochs * steps, total / seen)
            losses.append(total / len(examples))
            seconds += time.perf_counter() - started
            if checkpoint is not None:
                _save(checkpoint, identity, trained, optimiser, losses, seconds)
    ready = frozen(trained, network.device) if not _is_exported(trained) else trained.requires_grad_(False)
    digest = weights_digest(trained.state_dict(), also=str(network.inputs))
    result = replace(network, name=f"{network.name} retrained", forward=ready, digest=digest)
    return Retrained(result, recipe, tuple(losses), seconds)


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


def _copied(module: Any) -> Any:
    with warnings.catch_warnings():
        # torch's own way of copying an exported program uses a name that it deprecates.
        warnings.simplefilter("ignore", FutureWarning)
        return copy.deepcopy(module)


def _is_exported(module: Any) -> bool:
    """Whether the module comes from torch.export, whose mode is fixed."""
    import torch

    return isinstance(module, torch.fx.GraphModule)


def _save(path: Path, identity: str, module: Any, optimiser: Any, losses: list[float], seconds: float) -> None:
    import torch

    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{time.monotonic_ns()}")
    state = {"identity": identity, "weights": module.state_dict(), "optimiser": optimiser.state_dict()}
    torch.save({**state, "losses": losses, "seconds": seconds}, unfinished)
    unfinished.replace(path)


def _resumed(path: Path | None, identity: str, module: Any, optimiser: Any, device: str) -> tuple[list[float], float]:
    """Losses and seconds of the epochs that a checkpoint of this very training holds, whose state is taken over."""
    import torch

    if path is None or not path.is_file():
        return [], 0.0
    state = torch.load(path, map_location=device, weights_only=True)
    if state["identity"] != identity:
        return [], 0.0
    module.load_state_dict(state["weights"])
    optimiser.load_state_dict(state["optimiser"])
    return list(state["losses"]), float(state["seconds"])
