"""Originals that a network is trained on and tested on, and what training brought on those held out."""

from __future__ import annotations

import hashlib
import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from analysis.arrays import BoolArray, FloatArray
from analysis.classifiers.networks import TorchNetwork
from analysis.errors import InvalidInput, OriginalsOverlap
from analysis.labels.space import LabelSpace


@dataclass(frozen=True, slots=True)
class Split:
    """Names of originals, apart by content."""

    training: frozenset[str]
    evaluation: frozenset[str]


def split_originals(contents: Mapping[str, tuple[str, str]], *, share: float, seed: int) -> Split:
    """Divide originals into those of training and those of evaluation, category by category.

    Parameters
    ----------
    contents : mapping of original to (category, digest)
        Digest of each original's pixels. Originals of one content stay on one side.
    share : float
        Share of training, in (0, 1).
    seed : int

    Returns
    -------
    Split
        The same for the same contents, whatever the originals are called and in whatever order they stand.

    Raises
    ------
    InvalidInput
        If the share is not between 0 and 1, or a category has fewer than two contents.
    """
    if not 0 < share < 1:
        raise InvalidInput(f"The share of training originals lies between 0 and 1, not at {share}.")
    chosen: set[str] = set()
    for category, ordered in _shuffled(contents, f"{seed}"):
        if len(ordered) < 2:
            raise InvalidInput(
                f"The category {category} has one original: training and evaluation need one each. Add pictures, or "
                "evaluate on another set."
            )
        chosen.update(ordered[: min(len(ordered) - 1, max(1, round(share * len(ordered))))])
    training = frozenset(name for name, (_, digest) in contents.items() if digest in chosen)
    split = Split(training, frozenset(contents) - training)
    check_disjoint((contents[name][1] for name in split.training), (contents[name][1] for name in split.evaluation))
    return split


def check_disjoint(training: Iterable[str], evaluation: Iterable[str]) -> None:
    """Refuse originals whose content is on both sides.

    Parameters
    ----------
    training, evaluation : iterable of str
        Digests of the originals' pixels.

    Raises
    ------
    OriginalsOverlap
        Naming how many, and what to do.
    """
    shared = set(training) & set(evaluation)
    if shared:
        raise OriginalsOverlap(
            f"{len(shared)} originals of evaluation are originals of training too, by their content (the first is "
            f"{min(shared)[:12]}...). What a network has learned by heart says nothing: evaluate on other pictures."
        )


def hold_out(contents: Mapping[str, tuple[str, str]], *, share: float, seed: int) -> frozenset[str]:
    """Training originals that are not trained on but tell when to stop, from every category alike.

    Parameters
    ----------
    contents : mapping of original to (category, digest)
        Of the training originals. Originals of one content stay on one side.
    share : float
        In [0, 0.5].
    seed : int

    Returns
    -------
    frozenset of str
        The same for the same contents. Two contents at least, where there are four; none of one content.
    """
    placed = [
        ((place + 0.5) / len(ordered), digest)
        for _, ordered in _shuffled(contents, f"{seed} held out")
        for place, digest in enumerate(ordered)
    ]
    ordered_all = list(dict.fromkeys(digest for _, digest in sorted(placed)))
    count = max(round(share * len(ordered_all)), min(2, len(ordered_all) // 2)) if share else 0
    chosen = set(ordered_all[:count])
    return frozenset(name for name, (_, digest) in contents.items() if digest in chosen)


def sample_evenly(contents: Mapping[str, tuple[str, str]], *, count: int, seed: int) -> frozenset[str]:
    """So many originals, of every category alike as far as it has enough.

    Parameters
    ----------
    contents : mapping of original to (category, digest)
    count : int
        Originals that are wanted.
    seed : int

    Returns
    -------
    frozenset of str
        The same for the same contents. No content twice.

    Raises
    ------
    InvalidInput
        If there are fewer contents.
    """
    ordered = [digests for _, digests in _shuffled(contents, f"{seed} sample")]
    turns = [digest for row in itertools.zip_longest(*ordered) for digest in row if digest is not None]
    chosen = set(list(dict.fromkeys(turns))[:count])
    if count < 1 or len(chosen) < count:
        raise InvalidInput(f"There are {len(chosen)} different originals, and {count} are asked for: ask for fewer.")
    first = {digest: name for name, (_, digest) in sorted(contents.items(), reverse=True)}
    return frozenset(first[digest] for digest in chosen)


def sample_as(contents: Mapping[str, tuple[str, str]], *, counts: Mapping[str, int], seed: int) -> frozenset[str]:
    """So many originals of each category.

    Parameters
    ----------
    contents : mapping of original to (category, digest)
    counts : mapping of category to int
        Originals that are wanted; of categories that are not named, none.
    seed : int

    Returns
    -------
    frozenset of str
        The same for the same contents. No content twice.

    Raises
    ------
    InvalidInput
        If a category has fewer contents.

    Notes
    -----
    ImageNet-D, supplement, section 2: two training sets with the same number of images of each category.
    """
    ordered = dict(_shuffled(contents, f"{seed} sample"))
    for category, wanted in sorted(counts.items()):
        if (there := len(ordered.get(category, ()))) < wanted:
            raise InvalidInput(
                f"There are {there} different originals of {category}, and {wanted} are asked for: ask for fewer."
            )
    chosen = {digest for category, wanted in counts.items() for digest in ordered.get(category, ())[:wanted]}
    first = {digest: name for name, (_, digest) in sorted(contents.items(), reverse=True)}
    return frozenset(first[digest] for digest in chosen)


def _shuffled(contents: Mapping[str, tuple[str, str]], salt: str) -> list[tuple[str, list[str]]]:
    """Contents of each category, in an order that their digests and the salt alone decide."""
    by_category: dict[str, set[str]] = defaultdict(set)
    for category, digest in contents.values():
        by_category[category].add(digest)
    return [
        (category, sorted(digests, key=lambda digest: hashlib.sha256(f"{salt} {digest}".encode()).digest()))
        for category, digests in sorted(by_category.items())
    ]


#: Stimuli that go through the network at once.
_BATCH = 64


class Examples(Protocol):
    """Pictures with categories, fetched a batch at a time."""

    @property
    def space(self) -> LabelSpace:
        """Labels of the pictures."""
        ...

    def __len__(self) -> int: ...

    def batch(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Pictures, shape (n, h, w, 3), and their places in the ids of `space`, shape (n,), of these examples."""
        ...


@runtime_checkable
class PairedExamples(Examples, Protocol):
    """Examples each of which has a partner that shows the same: an original and its counterfactual."""

    def partners(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Numbers of the partners of these examples, shape (n,)."""
        ...


class HeldOut(Examples, Protocol):
    """Examples that are not trained on, each with the name of its original."""

    @property
    def original_names(self) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True)
class Epoch:
    """A point of the validation curve.

    Attributes
    ----------
    epoch : int
        Epochs that were trained; 0 is the network as it was given.
    loss : float
        Mean cross-entropy of the labels' scores on held-out stimuli, in nats.
    right : float
        Share of held-out stimuli that are named right.
    gain : float
        Share right minus that of epoch 0.
    standard_error : float
        Of the gain, over originals; infinite for a single one.
    """

    epoch: int
    loss: float
    right: float
    gain: float
    standard_error: float

    @property
    def is_better(self) -> bool:
        """Whether the gain is more than its standard error: else it may be chance."""
        return self.gain > self.standard_error

    def to_dict(self) -> dict[str, Any]:
        """Plain values; a standard error that does not exist is None."""
        return {**asdict(self), "standard_error": self.standard_error if np.isfinite(self.standard_error) else None}


@dataclass(frozen=True, slots=True)
class Looked:
    """Loss of every held-out stimulus and whether it was named right, each of shape (n,)."""

    losses: FloatArray
    right: BoolArray


def look(network: TorchNetwork, examples: Examples) -> Looked:
    """Show a network every example; its weights and torch's random numbers stay as they are."""
    import torch

    losses, right = [], []
    with torch.inference_mode():
        for start in range(0, len(examples), _BATCH):
            pictures, categories = examples.batch(np.arange(start, min(start + _BATCH, len(examples))))
            batch = torch.from_numpy(pictures).to(network.device).permute(0, 3, 1, 2).float().div_(255)
            scores = network.label_logits(batch, examples.space)
            targets = torch.from_numpy(categories).to(network.device)
            losses.append(torch.nn.functional.cross_entropy(scores, targets, reduction="none").cpu().numpy())
            right.append((scores.argmax(dim=1) == targets).cpu().numpy())
    return Looked(np.concatenate(losses).astype(np.float64), np.concatenate(right))


def epoch_of(number: int, found: Looked, before: Looked, original_names: Sequence[str]) -> Epoch:
    """The point of an epoch.

    Parameters
    ----------
    number : int
    found, before : Looked
        Of the same stimuli after this epoch, and before training.
    original_names : sequence of str
        Original of every stimulus.

    Notes
    -----
    Stimuli of an original are alike, so the standard error is that of a mean over clusters of unequal size: with the
    sum ``d_i`` of differences and the number ``m_i`` of stimuli of original ``i`` of ``G``, it is
    ``sqrt(G / (G - 1) * sum((d_i - m_i * gain)**2)) / sum(m_i)`` (Cochran 1977, "Sampling techniques", section 6.3).
    """
    _, clusters = np.unique(np.asarray(original_names), return_inverse=True)
    change = found.right.astype(np.float64) - before.right
    gain, sizes = float(change.mean()), np.bincount(clusters)
    residuals = np.bincount(clusters, weights=change) - sizes * gain
    n = len(sizes)
    spread = float(np.sqrt(n / (n - 1) * np.sum(residuals**2)) / len(change)) if n > 1 else float("inf")
    return Epoch(number, float(found.losses.mean()), float(found.right.mean()), gain, spread)


def kept_epoch(curve: Sequence[Epoch]) -> int:
    """The epoch whose weights are kept: of those that are better than no training, the one with the lowest loss.

    Where none is better, it is 0, the network as it was given.
    """
    return min((one for one in curve if one.is_better), key=lambda one: one.loss, default=curve[0]).epoch


def is_over(curve: Sequence[Epoch], patience: int) -> bool:
    """Whether the last ``patience`` epochs brought no lower loss."""
    lowest = min(curve, key=lambda one: one.loss)
    return curve[-1].epoch - lowest.epoch >= patience
