"""Making stimuli: pure shard functions, paths in and paths out, for any executor."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from analysis.corruptions import NO_CORRUPTION, find_corruption
from analysis.corruptions.registry import Picture
from analysis.errors import InvalidInput, PictureRefused
from analysis.generation.originals import prepare_original
from analysis.generation.plan import Original, OriginalPlan, StimulusRequest
from analysis.visual_change import METRIC, METRIC_VERSION, PilotMap, VifReference, fit_pilot_map, reach_target

#: What the `metric` column says.
METRIC_NAME = f"{METRIC}-{METRIC_VERSION}"
#: Stimuli a shard holds about: a second or less of work, which is what a killed process loses.
SHARD_STIMULI = 32

# Fast rather than small: 1.5 ms instead of 3.5 ms, at about a fifth more bytes.
_PNG_PARAMETERS = [
    cv2.IMWRITE_PNG_COMPRESSION, 1,
    cv2.IMWRITE_PNG_STRATEGY, cv2.IMWRITE_PNG_STRATEGY_RLE,
    cv2.IMWRITE_PNG_FILTER, cv2.IMWRITE_PNG_FILTER_SUB,
]  # fmt: skip


@dataclass(frozen=True)
class PilotShard:
    """Work of piloting one function."""

    corruption: str
    originals: tuple[Original, ...]
    size_px: int
    seed: int


@dataclass(frozen=True)
class Shard:
    """Work of making the stimuli of some originals.

    Parameters
    ----------
    plans : tuple of OriginalPlan
    pilots : mapping of str to PilotMap
        One for each function that is asked for.
    size_px : int
        Side of the pictures.
    folder : str
        Where the files go.
    """

    plans: tuple[OriginalPlan, ...]
    pilots: Mapping[str, PilotMap]
    size_px: int
    folder: str

    @property
    def n_stimuli(self) -> int:
        """Stimuli asked for."""
        return sum(len(plan.requests) for plan in self.plans)


@dataclass(frozen=True)
class ShardOutcome:
    """Rows of the stimulus table for what was made, and how many requests were found done."""

    rows: tuple[dict[str, Any], ...]
    found: int
    elapsed_s: float


@dataclass(frozen=True)
class MadeStimulus:
    """A stimulus as bytes, with what was measured on them."""

    png: bytes
    parameter: float
    visual_change: float
    evaluations: int
    is_reached: bool


def fit_pilot_shard(shard: PilotShard) -> PilotMap:
    """Map strength to visual change for one function."""
    pictures = [prepare_original(Path(original.path), shard.size_px) for original in shard.originals]
    return fit_pilot_map(shard.corruption, pictures, seed=shard.seed)


def cut_into_shards(
    plans: Sequence[OriginalPlan], pilots: Mapping[str, PilotMap], *, size_px: int, folder: Path
) -> Iterator[Shard]:
    """Shards of about `SHARD_STIMULI` stimuli; all stimuli of an original stay together."""
    waiting: list[OriginalPlan] = []
    for plan in plans:
        waiting.append(plan)
        if sum(len(one.requests) for one in waiting) >= SHARD_STIMULI:
            yield Shard(tuple(waiting), pilots, size_px, str(folder))
            waiting = []
    if waiting:
        yield Shard(tuple(waiting), pilots, size_px, str(folder))


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
        Rows for `analysis.tables.STIMULI`, with ``file`` within the shard's folder.

    Raises
    ------
    PictureRefused
        Naming the original that cannot be used.
    """
    started = time.perf_counter()
    folder = Path(shard.folder)
    rows: list[dict[str, Any]] = []
    found = 0
    for plan in shard.plans:
        missing = [request for request in plan.requests if not _is_made(folder / request.file, request.sha256)]
        found += len(plan.requests) - len(missing)
        if not missing:
            continue
        picture = prepare_original(Path(plan.original.path), shard.size_px)
        reference = _reference(picture, plan.original)
        for request in missing:
            made = make_stimulus(picture, reference, request, shard.pilots)
            write_atomically(folder / request.file, made.png)
            rows.append(_row(plan.original, request, made, shard.size_px))
    return ShardOutcome(tuple(rows), found, time.perf_counter() - started)


def make_stimulus(
    picture: Picture, reference: VifReference, request: StimulusRequest, pilots: Mapping[str, PilotMap]
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

    Returns
    -------
    MadeStimulus
        Visual change is that of the decoded file: `encode_png` refuses to differ from the picture that was measured.
    """
    if request.corruption == NO_CORRUPTION or request.target is None:
        return MadeStimulus(encode_png(picture), 0.0, 0.0, 0, True)
    corruption, pilot = find_corruption(request.corruption), pilots[request.corruption]
    if not corruption.version == request.version == pilot.version:
        raise InvalidInput(
            f"{corruption.name} has changed to version {corruption.version} since this set was planned with version "
            f"{request.version}: start a new set."
        )
    reached = reach_target(picture, reference, corruption, request.target, request.seed, pilot)
    return MadeStimulus(
        encode_png(reached.picture), reached.parameter, reached.visual_change, reached.evaluations, reached.is_reached
    )


def encode_png(picture: Picture) -> bytes:
    """PNG file without metadata; the same picture gives the same bytes.

    Raises
    ------
    PictureRefused
        If the file does not decode to the same pixels.
    """
    encoded, buffer = cv2.imencode(".png", cv2.cvtColor(picture, cv2.COLOR_RGB2BGR), _PNG_PARAMETERS)
    png = buffer.tobytes() if encoded else b""
    if not np.array_equal(decode_png(png), picture):
        raise PictureRefused("The picture does not survive being written as PNG.")
    return png


def decode_png(png: bytes) -> Picture:
    """Picture in a PNG file, shape (h, w, 3).

    Raises
    ------
    PictureRefused
        If the bytes are no picture.
    """
    pixels = cv2.imdecode(np.frombuffer(png, dtype=np.uint8), cv2.IMREAD_COLOR) if png else None
    if pixels is None:
        raise PictureRefused("The bytes are no picture.")
    return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB), dtype=np.uint8)


def digest(content: bytes) -> str:
    """SHA-256 in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def write_atomically(path: Path, content: bytes) -> None:
    """Write beside the path, then rename: a reader, or a killed process, leaves the whole file or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    temporary.write_bytes(content)
    os.replace(temporary, path)


def _is_made(path: Path, sha256: str | None) -> bool:
    if sha256 is None:
        return False
    try:
        return digest(path.read_bytes()) == sha256
    except FileNotFoundError:
        return False


def _reference(picture: Picture, original: Original) -> VifReference:
    try:
        return VifReference(picture)
    except PictureRefused as error:
        raise PictureRefused(f"{original.path}: {error} Remove it from the originals.") from error


def _row(original: Original, request: StimulusRequest, made: MadeStimulus, size_px: int) -> dict[str, Any]:
    return {
        "stimulus": request.stimulus,
        "original": original.key,
        "category": original.category,
        "corruption": request.corruption,
        "corruption_version": request.version or None,
        "parameter": made.parameter,
        "seed": request.seed,
        "target": request.target,
        "visual_change": made.visual_change,
        "metric": METRIC_NAME,
        "size_px": size_px,
        "evaluations": made.evaluations,
        "reached": made.is_reached,
        "sha256": digest(made.png),
        "file": request.file,
    }
