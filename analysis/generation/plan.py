"""Which stimuli are made from which originals: decided before the first one is made, from a seed alone."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from analysis.corruptions import find_corruption
from analysis.corruptions.registry import NO_CORRUPTION
from analysis.design.pairs import PLAIN_VISUAL_CHANGE
from analysis.errors import InvalidInput
from analysis.generation.originals import Framing
from analysis.generation.target_assignment import share_out
from analysis.native_size import native_side
from analysis.original import Original
from analysis.persons.sentinels import find_sentinel
from analysis.visual_change.targeting import PILOT_PICTURES, PilotMap, draw_targets

#: How the strengths of a plan are chosen; see `plan_stimuli`.
Sampling = Literal["even", "uniform", "uniform-parameter", "imagenet-c-levels"]


@dataclass(frozen=True, slots=True)
class StimulusRequest:
    """One stimulus to be made: with a target, or with a parameter, or clean.

    Parameters
    ----------
    stimulus : str
        Its name, a digest of all that determines it.
    corruption, version : str
        ``"none"`` and ``""`` for the clean picture.
    target : float or None
        Wanted visual change, in [0, 1].
    seed : int
        Of the corruption's random field.
    file : str
        Path within the set's folder.
    sha256 : str or None
        Digest of the file made earlier; when the file has it, nothing is made.
    parameter : float or None
        Strength that was fixed in advance, in the corruption's own unit; then there is no target.
    source : str
        File of a picture that was made elsewhere and is taken over.
    """

    stimulus: str
    corruption: str
    version: str
    target: float | None
    seed: int
    file: str
    sha256: str | None = None
    parameter: float | None = None
    source: str = ""


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


@dataclass(frozen=True)
class _Column:
    """Stimuli of one function, those of one original side by side.

    Parameters
    ----------
    starts : ndarray of int, shape (n_originals + 1,)
        Where each original's stimuli begin.
    values : ndarray of float64, shape (count,)
        Targets or parameters, rising within an original.
    draws : ndarray of int, shape (count,)
        Number of the random field among those of original and function.
    has_targets : bool
        Whether the values are targets.
    """

    corruption: str
    version: str
    starts: NDArray[np.int32]
    values: NDArray[np.float64]
    draws: NDArray[np.int32]
    has_targets: bool


class StimulusPlan:
    """All stimuli of a set, as a few numbers each; requests are made while it is walked through.

    Iteration gives one `OriginalPlan` for every original, in order of their keys, then for every one that was brought.
    The length is the number of stimuli, clean ones included; sentinels of persons may be fewer, because not every
    picture lends itself.

    Parameters
    ----------
    originals : sequence of Original
        In order of their keys.
    columns : sequence of _Column
    seed : int
    size_px : int
    framing : str
    person_families : sequence of str
        Families of sentinels of persons (`analysis.persons`) of which every original gets a picture.
    brought : mapping of str to sequence of Original
        By family: originals of which the picture itself is a sentinel, and nothing else is made.
    enlarged : int
        How many times pictures are enlarged to be shown; part of a stimulus' name where it is not 1.
    """

    def __init__(
        self,
        originals: Sequence[Original],
        columns: Sequence[_Column],
        *,
        seed: int,
        size_px: int,
        framing: Framing,
        person_families: Sequence[str] = (),
        brought: Mapping[str, Sequence[Original]] = MappingProxyType({}),
        enlarged: int = 1,
    ) -> None:
        self.originals = tuple(originals)
        self._columns = tuple(columns)
        self._families = tuple(person_families)
        self._brought = {family: tuple(pictures) for family, pictures in brought.items()}
        self._seed = seed
        # What is usual is in no name, so that names stay what they were before it could be otherwise.
        framed = () if framing == "whole" else (framing,)
        self._picture = (size_px, *framed, *(() if enlarged == 1 else (enlarged,)))

    def __len__(self) -> int:
        made = len(self.originals) * (1 + len(self._families)) + sum(len(column.values) for column in self._columns)
        return made + sum(map(len, self._brought.values()))

    def __iter__(self) -> Iterator[OriginalPlan]:
        for index, original in enumerate(self.originals):
            requests = [self._request(original, NO_CORRUPTION, "", None, None, 0)]
            for column in self._columns:
                for place in range(column.starts[index], column.starts[index + 1]):
                    value, draw = float(column.values[place]), int(column.draws[place])
                    target, parameter = (value, None) if column.has_targets else (None, value)
                    field = field_seed(self._seed, original, column.corruption, draw)
                    requests.append(
                        self._request(original, column.corruption, column.version, target, parameter, field)
                    )
            requests += [self._sentinel(original, family) for family in self._families]
            yield OriginalPlan(original, tuple(requests))
        for family, originals in self._brought.items():
            for original in originals:
                yield OriginalPlan(original, (self._sentinel(original, family),))

    def _sentinel(self, original: Original, family: str) -> StimulusRequest:
        return self._request(original, family, find_sentinel(family).version, None, None, 0)

    def _request(
        self,
        original: Original,
        corruption: str,
        version: str,
        target: float | None,
        parameter: float | None,
        seed: int,
    ) -> StimulusRequest:
        strength = (target,) if parameter is None else (target, parameter)
        digest = _hash(original.sha256, corruption, version, *strength, seed, *self._picture, length=8)
        name = stimulus_name(digest)
        return StimulusRequest(
            stimulus=name,
            corruption=corruption,
            version=version,
            target=target,
            seed=seed,
            file=stimulus_file(name),
            parameter=parameter,
        )


def stimulus_name(digest: int) -> str:
    """A name of 64 bits; by its letter in front no spreadsheet, pandas or R takes it for a number and rounds it."""
    return f"s{digest:016x}"


def stimulus_file(name: str) -> str:
    """Where a stimulus of this name lies in its set: not all in one folder."""
    return f"{name[1:3]}/{name}.png"


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


def field_seed(seed: int, original: Original, corruption: str, draw: int) -> int:
    """Seed of the ``draw``-th random field of an original under a function; at most 48 bits."""
    return _hash(seed, "field", original.sha256, corruption, draw)


def plan_stimuli(
    originals: Sequence[Original],
    pilots: Mapping[str, PilotMap],
    *,
    corruptions: Sequence[str] | None = None,
    plain: Sequence[str] = (),
    count: int,
    seed: int,
    size_px: int,
    sampling: Sampling = "even",
    framing: Framing = "whole",
    person_families: Sequence[str] = (),
    brought: Mapping[str, Sequence[Original]] = MappingProxyType({}),
    enlarged: int = 1,
) -> StimulusPlan:
    """Plan the stimuli of every function, and one clean stimulus an original.

    ``"even"``: targets of visual change that fill the range a function reaches. In falling order they go to the
    originals in turn, so that an original's targets lie one in each stretch of the range; functions start at different
    originals, so that an original's targets differ between functions, too. A target above the weakest original's reach
    goes to the next original that was seen to reach it; see `analysis.generation.reach_survey`.

    ``"uniform"``: strengths drawn uniformly over a function's domain, independently of each other: the logarithm of the
    parameter where the domain is logarithmic, as those of all built-in functions are.

    ``"uniform-parameter"``: the parameter itself drawn uniformly over the domain, whatever its scale, as published: VCR
    (Shen et al.), section 3.2 and Algorithm 1, c ~ Uniform(C). The domains are those of this project, not theirs.

    ``"imagenet-c-levels"``: every original at each of the five published levels of ImageNet-C; ``count`` is ignored.

    Parameters
    ----------
    originals : sequence of Original
    pilots : mapping of str to PilotMap
        One for each function; only ``"even"`` and plain functions need them.
    corruptions : sequence of str, optional
        Functions; those of ``pilots`` if left out.
    plain : sequence of str
        Functions of which every original gets one stimulus, at `PLAIN_VISUAL_CHANGE`, whatever the sampling.
    count : int
        Stimuli a function, from 1.
    seed : int
        Same arguments, same plan.
    size_px : int
        Side of the pictures.
    sampling : {"even", "uniform", "uniform-parameter", "imagenet-c-levels"}
    framing : {"whole", "imagenet"}
        How originals are cut to the square; it is part of a stimulus' name.
    person_families, brought, enlarged
        As `StimulusPlan` has them.

    Returns
    -------
    StimulusPlan

    Raises
    ------
    InvalidInput
        Without originals, when fewer than one stimulus is wanted, for an unknown sampling, for a function without pilot
        or without published levels, for levels of pictures that are shown enlarged, or for a factor that
        `analysis.native_size.native_side` refuses.
    """
    names = sorted(set(pilots if corruptions is None else corruptions) - set(plain))
    if not originals:
        raise InvalidInput("There is no original to make stimuli from.")
    if sampling not in get_args(Sampling):
        raise InvalidInput(f"There is no sampling named {sampling!r}; choose from {', '.join(get_args(Sampling))}.")
    native = native_side(size_px, enlarged)
    if enlarged > 1 and sampling == "imagenet-c-levels":
        raise InvalidInput(
            f"The levels of ImageNet-C are published for pictures of 224 px, and mean something else at {native} px: "
            "choose another sampling, or leave the pictures as they are."
        )
    if names and count < 1 and sampling != "imagenet-c-levels":
        raise InvalidInput("At least one stimulus a function must be wanted.")
    order = order_originals(originals, seed)
    keys = sorted(original.key for original in originals)
    rank = {key: index for index, key in enumerate(keys)}
    positions = np.array([rank[original.key] for original in order])
    columns = []
    for number, name in enumerate(names):
        first = round(number * len(order) / len(names))
        if sampling == "even":
            if name not in pilots:
                raise _without_pilot(name)
            columns.append(_even(pilots[name], positions, first, count, seed))
        elif sampling == "imagenet-c-levels":
            columns.append(_levels(name, len(order)))
        else:
            scale: Literal["linear"] | None = "linear" if sampling == "uniform-parameter" else None
            columns.append(_uniform(name, positions, first, count, seed, scale))
    for name in sorted(plain):
        if name not in pilots:
            raise _without_pilot(name)
        columns.append(_alike(pilots[name], len(order)))
    by_key = {original.key: original for original in order}
    return StimulusPlan(
        [by_key[key] for key in keys],
        columns,
        seed=seed,
        size_px=size_px,
        framing=framing,
        person_families=person_families,
        brought=brought,
        enlarged=enlarged,
    )


def _even(pilot: PilotMap, positions: NDArray[Any], first: int, count: int, seed: int) -> _Column:
    targets = draw_targets(count, pilot.reach, np.random.default_rng(_hash(seed, "targets", pilot.corruption)))
    # A target above the reach is met from the reach, within the tolerance.
    takers, draws = share_out(np.minimum(targets, pilot.reach), len(positions), first, _reaches(pilot, len(positions)))
    return _column(pilot.corruption, pilot.version, positions[takers], targets, draws, len(positions), True)


def _alike(pilot: PilotMap, n_originals: int) -> _Column:
    """One target for all originals, which each of them reaches."""
    owners = np.arange(n_originals)
    targets = np.full(n_originals, PLAIN_VISUAL_CHANGE)
    return _column(pilot.corruption, pilot.version, owners, targets, np.zeros(n_originals), n_originals, True)


def _without_pilot(name: str) -> InvalidInput:
    return InvalidInput(f"{name} has no pilot map: measure how its strength maps to visual change first.")


def _reaches(pilot: PilotMap, n_originals: int) -> NDArray[np.float64] | None:
    """What each original is known to reach: its own reach where it was surveyed, else that of the weakest pilot."""
    if not pilot.survey:
        return None
    reaches = np.full(n_originals, pilot.worst_reach)
    known = pilot.survey[:n_originals]
    reaches[: len(known)] = known
    return reaches


def _uniform(
    name: str, positions: NDArray[Any], first: int, count: int, seed: int, scale: Literal["linear"] | None
) -> _Column:
    corruption = find_corruption(name)
    rng = np.random.default_rng(_hash(seed, "parameters", name))
    parameters = np.array([corruption.parameter_at(t, scale=scale) for t in rng.random(count).tolist()])
    places = np.arange(count)
    takers = (first + places) % len(positions)
    return _column(
        name, corruption.version, positions[takers], parameters, places // len(positions), len(positions), False
    )


def _levels(name: str, n_originals: int) -> _Column:
    from analysis.corruptions.imagenet_c import LEVELS

    if name not in LEVELS:
        raise InvalidInput(
            f"ImageNet-C publishes no levels of {name} that are made here; choose from {', '.join(sorted(LEVELS))}."
        )
    levels = np.arange(LEVELS[name].low, LEVELS[name].high + 1)
    owners = np.repeat(np.arange(n_originals), len(levels))
    draws = np.tile(np.arange(len(levels)), n_originals)
    return _column(name, LEVELS[name].version, owners, np.tile(levels, n_originals), draws, n_originals, False)


def _column(
    name: str,
    version: str,
    owners: NDArray[Any],
    values: NDArray[Any],
    draws: NDArray[Any],
    n_originals: int,
    has_targets: bool,
) -> _Column:
    sequence = np.lexsort((values, owners))
    starts = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=n_originals))])
    return _Column(
        corruption=name,
        version=version,
        starts=starts.astype(np.int32),
        values=np.asarray(values, dtype=np.float64)[sequence],
        draws=np.asarray(draws)[sequence].astype(np.int32),
        has_targets=has_targets,
    )


def _hash(*parts: object, length: int = 6) -> int:
    """Whole number from a digest; six bytes pass through every table and JSON unharmed."""
    key = "\x1f".join(map(repr, parts)).encode()
    return int.from_bytes(hashlib.blake2b(key, digest_size=length).digest(), "big")
