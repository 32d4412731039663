"""Which stimuli are made from which originals: decided before the first one is made, from a seed alone."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from analysis.corruptions import NO_CORRUPTION
from analysis.errors import InvalidInput
from analysis.visual_change import PilotMap, draw_targets
from analysis.visual_change.targeting import PILOT_PICTURES


@dataclass(frozen=True, slots=True)
class Original:
    """A labelled picture file: ``key`` is its name in every table, ``sha256`` the digest of its bytes."""

    key: str
    category: str
    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class StimulusRequest:
    """One stimulus to be made.

    Parameters
    ----------
    stimulus : str
        Its name, a digest of all that determines it.
    corruption, version : str
        ``"none"`` and ``""`` for the clean picture.
    target : float or None
        Wanted visual change, in [0, 1]; None for the clean picture.
    seed : int
        Of the corruption's random field.
    file : str
        Path within the set's folder.
    sha256 : str or None
        Digest of the file made earlier; when the file has it, nothing is made.
    """

    stimulus: str
    corruption: str
    version: str
    target: float | None
    seed: int
    file: str
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class OriginalPlan:
    """An original with all stimuli made from it; the clean one comes first."""

    original: Original
    requests: tuple[StimulusRequest, ...]

    def with_digests(self, digests: Mapping[str, str]) -> OriginalPlan:
        """Plan that knows the digests of stimuli made earlier, by name."""
        return replace(
            self,
            requests=tuple(replace(request, sha256=digests.get(request.stimulus)) for request in self.requests),
        )


def order_originals(originals: Sequence[Original], seed: int) -> list[Original]:
    """Originals in random order, with the categories mixed in proportion in every stretch of it."""
    rng = np.random.default_rng(_hash(seed, "order"))
    by_category: dict[str, list[Original]] = {}
    for original in sorted(originals, key=lambda original: original.key):
        by_category.setdefault(original.category, []).append(original)
    placed = []
    for members in by_category.values():
        for place, index in enumerate(rng.permutation(len(members))):
            placed.append(((place + rng.random()) / len(members), members[index]))
    placed.sort(key=lambda pair: pair[0])
    return [original for _, original in placed]


def pilot_originals(originals: Sequence[Original], seed: int) -> list[Original]:
    """The few originals on which strength is mapped to visual change."""
    return order_originals(originals, seed)[:PILOT_PICTURES]


def plan_stimuli(
    originals: Sequence[Original], pilots: Mapping[str, PilotMap], *, count: int, seed: int, size_px: int
) -> list[OriginalPlan]:
    """Plan ``count`` stimuli a function, and one clean stimulus an original.

    Each function's targets fill its reachable range evenly. They are cut, in rising order, into as many stretches as an
    original has stimuli of that function, so that an original's targets lie one in each stretch; functions start at
    different originals, so that an original's targets differ between functions, too.

    Parameters
    ----------
    originals : sequence of Original
    pilots : mapping of str to PilotMap
        One for each function.
    count : int
        Stimuli a function, from 1.
    seed : int
        Same arguments, same plan.
    size_px : int
        Side of the pictures.

    Returns
    -------
    list of OriginalPlan
        One for every original, in order of their keys.

    Raises
    ------
    InvalidInput
        Without originals, or when fewer than one stimulus is wanted.
    """
    if not originals:
        raise InvalidInput("There is no original to make stimuli from.")
    if pilots and count < 1:
        raise InvalidInput("At least one stimulus a function must be wanted.")
    requests: dict[str, list[StimulusRequest]] = {
        original.key: [_request(original, NO_CORRUPTION, "", None, 0, size_px)] for original in originals
    }
    order = order_originals(originals, seed)
    for number, name in enumerate(sorted(pilots)):
        pilot = pilots[name]
        targets = draw_targets(count, pilot.reach, np.random.default_rng(_hash(seed, "targets", name)))
        place = round(number * len(order) / len(pilots))
        for repeat, stretch in enumerate(np.array_split(targets, math.ceil(count / len(order)))):
            for target in stretch.tolist():
                original = order[place % len(order)]
                place += 1
                field_seed = _hash(seed, "field", original.sha256, name, repeat)
                requests[original.key].append(_request(original, name, pilot.version, target, field_seed, size_px))
    return [
        OriginalPlan(original, tuple(requests[original.key]))
        for original in sorted(originals, key=lambda original: original.key)
    ]


def _request(
    original: Original, corruption: str, version: str, target: float | None, seed: int, size_px: int
) -> StimulusRequest:
    name = f"{_hash(original.sha256, corruption, version, target, seed, size_px, length=8):016x}"
    return StimulusRequest(
        stimulus=name, corruption=corruption, version=version, target=target, seed=seed, file=f"{name[:2]}/{name}.png"
    )


def _hash(*parts: object, length: int = 6) -> int:
    """Whole number from a digest; six bytes pass through every table and JSON unharmed."""
    key = "\x1f".join(map(repr, parts)).encode()
    return int.from_bytes(hashlib.blake2b(key, digest_size=length).digest(), "big")
