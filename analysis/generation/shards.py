"""Making stimuli: pure shard functions, paths in and paths out, for any executor."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from analysis import opencv as cv2
from analysis.corruptions import find_corruption, load_modules
from analysis.corruptions.registry import NO_CORRUPTION, Corruption, Picture, apply_corruption
from analysis.errors import InvalidInput, PictureRefused, UnknownName
from analysis.generation.files import UNFINISHED, digest, encode_png, is_intact, write_atomically
from analysis.generation.originals import Framing, prepare_original
from analysis.generation.plan import OriginalPlan, StimulusRequest
from analysis.native_size import at_native_size, made_at_native_size
from analysis.original import Original
from analysis.persons.sentinels import SENTINELS, find_sentinel
from analysis.visual_change.targeting import PilotMap, fit_pilot_map, reach_target
from analysis.visual_change.vif import METRIC, METRIC_VERSION, VifReference

#: What the `metric` column says.
METRIC_NAME = f"{METRIC}-{METRIC_VERSION}"
#: Stimuli a shard holds about: half a second of work, which is what a killed process loses and a cancelled job awaits.
SHARD_STIMULI = 16


@dataclass(frozen=True)
class PilotShard:
    """Work of piloting one function."""

    corruption: str
    originals: tuple[Original, ...]
    size_px: int
    seed: int
    framing: Framing = "whole"
    modules: tuple[str, ...] = ()
    enlarged: int = 1


@dataclass(frozen=True)
class Shard:
    """Work of making some stimuli.

    Parameters
    ----------
    plans : tuple of OriginalPlan
    pilots : mapping of str to PilotMap
        One for each function that is asked for with a target.
    size_px : int
        Side of the pictures.
    folder : str
        Where the files go.
    framing : str
        How originals are cut to the square; see `prepare_original`.
    modules : tuple of str
        Modules that register functions of the user's own; see `analysis.corruptions.load_modules`.
    enlarged : int
        How many times pictures are enlarged to be shown; see `analysis.native_size`.
    """

    plans: tuple[OriginalPlan, ...]
    pilots: Mapping[str, PilotMap]
    size_px: int
    folder: str
    framing: Framing = "whole"
    modules: tuple[str, ...] = ()
    enlarged: int = 1

    @property
    def names(self) -> list[str]:
        """Names of the stimuli asked for."""
        return [request.stimulus for plan in self.plans for request in plan.requests]

    def with_digests(self, digests: Mapping[str, str]) -> Shard:
        """Shard that knows the digests of stimuli made earlier, by name."""
        return replace(self, plans=tuple(plan.with_digests(digests) for plan in self.plans)) if digests else self


@dataclass(frozen=True)
class ShardOutcome:
    """Rows of the stimulus table for what was made, how many requests were found done, and what was refused.

    Parameters
    ----------
    refusals : tuple of str
        A sentence for every file of an import that cannot be used, and for every original that makes no sentinel.
    """

    rows: tuple[dict[str, Any], ...]
    found: int
    refusals: tuple[str, ...] = ()

    @property
    def n_done(self) -> int:
        """Stimuli that are there now."""
        return len(self.rows) + self.found


@dataclass(frozen=True)
class MadeStimulus:
    """A stimulus as bytes, with what was measured on them; the seed is the one that was used in the end."""

    png: bytes
    parameter: float
    visual_change: float
    evaluations: int
    is_reached: bool
    seed: int
    reach_low: float | None = None
    reach_high: float | None = None


def fit_pilot_shard(shard: PilotShard) -> PilotMap:
    """Map strength to visual change for one function."""
    _settle_process(shard.modules)
    pictures = [_prepared(original, shard.size_px, shard.framing, shard.enlarged) for original in shard.originals]
    return fit_pilot_map(shard.corruption, pictures, seed=shard.seed, enlarged=shard.enlarged)


def cut_into_shards(
    plans: Iterable[OriginalPlan],
    pilots: Mapping[str, PilotMap],
    *,
    size_px: int,
    folder: Path,
    framing: Framing = "whole",
    modules: Sequence[str] = (),
    enlarged: int = 1,
) -> Iterator[Shard]:
    """Shards of `SHARD_STIMULI` stimuli or somewhat more, one after the other, as the plans come.

    An original with many stimuli is cut into pieces of equal size.
    """
    waiting: list[OriginalPlan] = []
    room = SHARD_STIMULI

    def shard() -> Shard:
        return Shard(tuple(waiting), pilots, size_px, str(folder), framing, tuple(modules), enlarged)

    for plan in plans:
        pieces = math.ceil(len(plan.requests) / SHARD_STIMULI)
        for piece in range(pieces):
            first, last = (len(plan.requests) * end // pieces for end in (piece, piece + 1))
            waiting.append(OriginalPlan(plan.original, plan.requests[first:last]))
            room -= last - first
            if room <= 0:
                yield shard()
                waiting, room = [], SHARD_STIMULI
    if waiting:
        yield shard()


def generate_shard(shard: Shard) -> ShardOutcome:
    """Make and write the stimuli of a shard.

    A request whose file has the digest it had when it was made is left alone, so that a shard that is run again goes on
    where it was stopped; anything made twice has the same bytes.

    Parameters
    ----------
    shard : Shard

    Returns
    -------
    ShardOutcome
        Rows for `analysis.tables.stimuli.STIMULI`, with ``file`` within the shard's folder.

    Raises
    ------
    PictureRefused
        Naming the original that cannot be used.
    StorageFailed
        If a file cannot be written.
    """
    _settle_process(shard.modules)
    folder = Path(shard.folder)
    rows: list[dict[str, Any]] = []
    refusals: list[str] = []
    found = 0
    for plan in shard.plans:
        missing = [request for request in plan.requests if not is_intact(folder / request.file, request.sha256)]
        found += len(plan.requests) - len(missing)
        if not missing:
            continue
        picture, reference = _referenced(plan.original, shard.size_px, shard.framing, shard.enlarged)
        for request in missing:
            try:
                made = make_stimulus(picture, reference, request, shard.pilots, enlarged=shard.enlarged)
            except PictureRefused as error:
                if request.corruption not in SENTINELS:
                    raise
                refusals.append(f"{request.corruption} of {plan.original.key}: {error}")
                continue
            write_atomically(folder / request.file, made.png, beside=folder / UNFINISHED)
            rows.append(stimulus_row(plan.original, request, made, shard.size_px, shard.enlarged))
    return ShardOutcome(tuple(rows), found, tuple(refusals))


def make_stimulus(
    picture: Picture,
    reference: VifReference,
    request: StimulusRequest,
    pilots: Mapping[str, PilotMap],
    *,
    enlarged: int = 1,
) -> MadeStimulus:
    """Make one stimulus.

    Parameters
    ----------
    picture : ndarray of uint8, shape (size_px, size_px, 3)
        The prepared original.
    reference : VifReference
        Of that picture.
    request : StimulusRequest
    pilots : mapping of str to PilotMap
    enlarged : int
        How many times the picture is enlarged; it is corrupted at its native size.

    Returns
    -------
    MadeStimulus
        Visual change is that of the decoded file: `encode_png` refuses to differ from the picture that was measured.

    Raises
    ------
    InvalidInput
        If the function has changed since the request was planned.
    PictureRefused
        If the picture does not lend itself to the family of sentinels.
    """
    if request.corruption == NO_CORRUPTION:
        return MadeStimulus(encode_png(picture), 0.0, 0.0, 0, True, request.seed)
    if request.corruption in SENTINELS:
        shown = make_sentinel(picture, request.corruption, request.version, enlarged)
        change = 0.0 if shown is picture else reference.visual_change(shown)
        return MadeStimulus(encode_png(shown), 0.0, change, 0, True, request.seed)
    corruption = at_native_size(_planned_corruption(request), enlarged)
    if request.parameter is not None:
        corrupted = apply_corruption(corruption, picture, request.parameter, request.seed)
        change = reference.visual_change(corrupted)
        return MadeStimulus(encode_png(corrupted), request.parameter, change, 1, True, request.seed)
    if request.target is None:
        raise InvalidInput(f"The stimulus {request.stimulus} has neither a target nor a parameter.")
    pilot = pilots[request.corruption]
    if pilot.version != request.version:
        raise _changed(request, pilot.version)
    reached = reach_target(picture, reference, corruption, request.target, request.seed, pilot)
    return MadeStimulus(
        png=encode_png(reached.picture),
        parameter=reached.parameter,
        visual_change=reached.visual_change,
        evaluations=reached.evaluations,
        is_reached=reached.is_reached,
        seed=reached.seed,
        reach_low=reached.reach_low,
        reach_high=reached.reach_high,
    )


def make_sentinel(picture: Picture, family: str, version: str, enlarged: int = 1) -> Picture:
    """The prepared original as a sentinel of persons, made at its native size; the same picture where a lab brings it.

    Raises
    ------
    UnknownName
        If the family is not there in this version.
    PictureRefused
        If the picture does not lend itself.
    """
    sentinel = find_sentinel(family)
    if sentinel.version != version:
        raise UnknownName(
            f"Sentinels of the family {family} have changed to version {sentinel.version} since this set was planned "
            f"with version {version}: start a new set."
        )
    return picture if sentinel.make is None else made_at_native_size(sentinel.make, picture, enlarged)


def prepare_reference(
    original: Original, size_px: int, framing: Framing = "whole", enlarged: int = 1
) -> tuple[Picture, VifReference]:
    """Prepared picture of an original, and the reference that other pictures are compared with.

    Raises
    ------
    PictureRefused
        Naming the file: it cannot be read or measured, or is not the one that was imported.
    """
    picture = _prepared(original, size_px, framing, enlarged)
    try:
        return picture, VifReference(picture)
    except PictureRefused as error:
        raise PictureRefused(f"{original.path}: {error} Remove it from the originals.") from error


# The shards of one original come one after the other; a few threads of a Dask worker may each have one.
_referenced = lru_cache(maxsize=4)(prepare_reference)


def _settle_process(modules: Sequence[str]) -> None:
    """One thread of OpenCV: shards run side by side. The user's functions are known from here on."""
    cv2.setNumThreads(1)
    load_modules(modules)


def _prepared(original: Original, size_px: int, framing: Framing, enlarged: int) -> Picture:
    picture = prepare_original(Path(original.path), size_px, framing, enlarged=enlarged)
    if hashlib.sha256(Path(original.path).read_bytes()).hexdigest() != original.sha256:
        raise PictureRefused(
            f"{original.path}: the file is not the one that was imported. Put it back, or import the pictures again "
            "under another name."
        )
    return picture


def _planned_corruption(request: StimulusRequest) -> Corruption:
    try:
        return find_corruption(request.corruption, request.version)
    except UnknownName as error:
        raise _changed(request, find_corruption(request.corruption).version) from error


def _changed(request: StimulusRequest, version: str) -> InvalidInput:
    return InvalidInput(
        f"{request.corruption} has changed to version {version} since this set was planned with version "
        f"{request.version}: start a new set."
    )


def stimulus_row(
    original: Original, request: StimulusRequest, made: MadeStimulus, size_px: int, enlarged: int = 1
) -> dict[str, Any]:
    """Row of a stimulus for `analysis.tables.stimuli.STIMULI`."""
    return {
        "stimulus": request.stimulus,
        "original": original.key,
        "category": original.category,
        "corruption": request.corruption,
        "corruption_version": request.version or None,
        "parameter": made.parameter,
        "seed": made.seed,
        "target": request.target,
        "visual_change": made.visual_change,
        "metric": METRIC_NAME,
        "size_px": size_px,
        "enlarged": enlarged,
        "evaluations": made.evaluations,
        "reached": made.is_reached,
        "reach_low": made.reach_low,
        "reach_high": made.reach_high,
        "sha256": digest(made.png),
        "file": request.file,
    }
