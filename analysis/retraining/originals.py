"""Which originals a network is trained on, and which it is tested on: never the same content."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from analysis.errors import InvalidInput, OriginalsOverlap


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


def _shuffled(contents: Mapping[str, tuple[str, str]], salt: str) -> list[tuple[str, list[str]]]:
    """Contents of each category, in an order that their digests and the salt alone decide."""
    by_category: dict[str, set[str]] = defaultdict(set)
    for category, digest in contents.values():
        by_category[category].add(digest)
    return [
        (category, sorted(digests, key=lambda digest: hashlib.sha256(f"{salt} {digest}".encode()).digest()))
        for category, digests in sorted(by_category.items())
    ]
