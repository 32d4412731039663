"""Fine-tuning any torch classifier on pictures with categories, and what a reader should be warned of."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.classifiers.networks import TorchNetwork, frozen, weights_digest
from analysis.errors import ClassifierUnavailable, InvalidInput
from analysis.retraining.held_out import (
    Epoch,
    Examples,
    HeldOut,
    Looked,
    PairedExamples,
    epoch_of,
    is_over,
    kept_epoch,
    look,
)

#: Twenty a category. On 144 drawings, training to the last epoch lost (docs/fidelity.md); more were not measured.
FEW_ORIGINALS = 320
#: Below so many originals held out, they hardly show whether training helps.
FEW_HELD_OUT = 30


def warnings_before(*, trained_on: int, held_out: int, share: float) -> list[str]:
    """What can be said before anything is trained.

    Parameters
    ----------
    trained_on, held_out : int
        Originals.
    share : float
        Share of the training originals that was to be held out.
    """
    said = []
    if trained_on < FEW_ORIGINALS:
        said.append(
            f"The network is trained on {trained_on} originals, fewer than {FEW_ORIGINALS}. So few are soon learned by "
            "heart, and the network can get worse on other pictures. Train on more originals."
        )
    if not share:
        said.append(
            "No originals are held out from training, so nothing stops a training that makes the network worse. Set "
            "the share held out above 0."
        )
    elif held_out < FEW_HELD_OUT:
        said.append(
            f"{held_out} originals are held out from training, fewer than {FEW_HELD_OUT}. So few hardly show whether "
            "training helps. Use a set with more originals."
        )
    return said


def warnings_after(made: Retrained) -> list[str]:
    """What the validation curve says."""
    if not made.curve or made.kept:
        return []
    return [
        "On the held-out originals, no epoch raised the share right by more than its standard error. The weights are "
        "those from before training."
    ]


@dataclass(slots=True)
class TrainingState:
    """What has been trained, beside weights and optimiser.

    Attributes
    ----------
    losses : list of float
        Mean training loss of each epoch.
    seconds : float
    curve : list of Epoch
        Epoch 0 first; empty without held-out stimuli.
    best : dict, optional
        State of the module at the epoch that would be kept; None as long as that is epoch 0.
    """

    losses: list[float] = field(default_factory=list)
    seconds: float = 0.0
    curve: list[Epoch] = field(default_factory=list)
    best: dict[str, Any] | None = None


def save(path: Path, identity: str, module: Any, optimiser: Any, standing: TrainingState) -> None:
    """Write the whole file or nothing."""
    import torch

    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{time.monotonic_ns()}")
    state = {"identity": identity, "weights": module.state_dict(), "optimiser": optimiser.state_dict()}
    told = {"losses": standing.losses, "seconds": standing.seconds, "best": standing.best}
    torch.save({**state, **told, "curve": [asdict(one) for one in standing.curve]}, unfinished)
    unfinished.replace(path)


def resumed(path: Path | None, identity: str, module: Any, optimiser: Any, device: str) -> TrainingState:
    """Where a checkpoint of this very training stands; its weights and its optimiser are taken over."""
    import torch

    if path is None or not path.is_file():
        return TrainingState()
    state = torch.load(path, map_location=device, weights_only=True)
    if state["identity"] != identity:
        return TrainingState()
    module.load_state_dict(state["weights"])
    optimiser.load_state_dict(state["optimiser"])
    return TrainingState(
        list(state["losses"]), float(state["seconds"]), [Epoch(**one) for one in state["curve"]], state["best"]
    )


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
    decay, decay_every : float, int
        The learning rate is multiplied by ``decay`` after every ``decay_every`` epochs, as torch's StepLR does; 0
        epochs: it stays the same, as the VCR paper prints. The authors' program has 0.1 and 7.
    patience : int
        Training ends after so many epochs without a lower loss on held-out stimuli.
    seed : int
        Of the order of examples, and of what is held out.
    consistency : float
        Weight of the squared l2 norm between the logits of an example and those of its partner, which is added to the
        loss of each; 0 for none. Wang, Huang, Wu and Xing (2020), arXiv 2011.13052, which the OOR paper takes for
        training on counterfactuals (appendix E); it states no weight.
    """

    epochs: int = 5
    learning_rate: float = 0.001
    momentum: float = 0.9
    batch: int = 32
    held_out: float = 0.2
    patience: int = 2
    seed: int = 0
    decay: float = 0.1
    decay_every: int = 0
    consistency: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.decay <= 1 or self.decay_every < 0:
            raise InvalidInput(f"The learning rate decays by a factor in (0, 1] after every 0 or more epochs: {self}.")
        if self.epochs < 1 or self.batch < 1 or self.seed < 0:
            raise InvalidInput(f"Training takes at least one epoch and a batch of one, and no negative seed: {self}.")
        if not self.learning_rate > 0 or not 0 <= self.momentum < 1:
            raise InvalidInput(f"A learning rate is above 0 and a momentum in [0, 1): {self}.")
        if not 0 <= self.held_out <= 0.5 or self.patience < 1:
            raise InvalidInput(f"The share held out lies between 0 and 0.5, and the patience is 1 or more: {self}.")
        if not 0 <= self.consistency < float("inf"):
            raise InvalidInput(f"The weight of consistency is 0 or more: {self}.")

    def rate(self, epoch: int) -> float:
        """Learning rate of an epoch, counted from 0."""
        return self.learning_rate * self.decay ** (epoch // self.decay_every if self.decay_every else 0)


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

    The loss is the cross-entropy of the scores of the labels of the examples (`TorchNetwork.label_logits`), so that
    networks with 16, 1,000 or own outputs learn the same task; `Recipe.consistency` adds to it. The module stays in
    evaluation mode, as an exported program must: batch normalisation keeps its statistics and nothing drops out, so
    that one network learns alike through every adapter.

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
        If there are no examples, they have no partners for a consistency loss, or the loss is no number.
    ClassifierUnavailable
        If what the network computes with has no weights to train.
    """
    import torch

    recipe = recipe or Recipe()
    if not len(examples):
        raise InvalidInput("There are no stimuli to train on.")
    if recipe.consistency and not isinstance(examples, PairedExamples):
        raise InvalidInput("A consistency loss needs pairs, such as originals and their counterfactuals.")
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
        for group in optimiser.param_groups:
            group["lr"] = recipe.rate(epoch)
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
        total += _step(learner, optimiser, examples, chosen, recipe.consistency) * len(chosen)
        if tell is not None:
            seen = min((step + 1) * recipe.batch, len(examples))
            tell(epoch * steps + step + 1, recipe.epochs * steps, total / seen)
    return total / len(examples)


def _validate(learner: TorchNetwork, held_out: HeldOut, before: Looked, standing: TrainingState) -> None:
    """Add a point to the curve, and remember the weights where this epoch is the one to keep so far."""
    number = len(standing.losses)
    standing.curve.append(epoch_of(number, look(learner, held_out), before, held_out.original_names))
    if kept_epoch(standing.curve) == number:
        standing.best = _state(learner.forward)


def _state(module: Any) -> dict[str, Any]:
    """A copy of the module's weights and buffers."""
    return {name: values.detach().clone() for name, values in module.state_dict().items()}


def _step(
    learner: TorchNetwork, optimiser: Any, examples: Examples, chosen: NDArray[np.int64], consistency: float
) -> float:
    import torch

    outputs, targets = _outputs(learner, examples, chosen)
    loss = torch.nn.functional.cross_entropy(outputs, targets)
    if consistency and isinstance(examples, PairedExamples):
        others, _ = _outputs(learner, examples, examples.partners(chosen))
        loss = loss + consistency * (outputs - others).square().sum(dim=1).mean()
    value = float(loss.detach())
    if not np.isfinite(value):
        raise InvalidInput(f"The loss of {learner.name} is no number any more ({value}): take a smaller learning rate.")
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    return value


def _outputs(learner: TorchNetwork, examples: Examples, chosen: NDArray[np.int64]) -> tuple[Any, Any]:
    """Logits of these examples, and what is right."""
    import torch

    pictures, categories = examples.batch(chosen)
    batch = torch.from_numpy(pictures).to(learner.device).permute(0, 3, 1, 2).float().div_(255)
    return learner.label_logits(batch, examples.space), torch.from_numpy(categories).to(learner.device)


def _is_exported(module: Any) -> bool:
    """Whether the module comes from torch.export, whose mode is fixed."""
    import torch

    return isinstance(module, torch.fx.GraphModule)
