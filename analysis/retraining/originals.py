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
    by_category: dict[str, set[str]] = defaultdict(set)
    for category, digest in contents.values():
        by_category[category].add(digest)
    chosen: set[str] = set()
    for category, digests in sorted(by_category.items()):
        if len(digests) < 2:
            raise InvalidInput(
                f"The category {category} has one original: training and evaluation need one each. Add pictures, or "
                "evaluate on another set."
            )
        ordered = sorted(digests, key=lambda digest: hashlib.sha256(f"{seed} {digest}".encode()).digest())
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
