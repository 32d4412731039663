"""Are the stimuli on the disk those of the table, and does making them again give the same?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.corruptions import corrupt
from analysis.errors import PictureRefused
from analysis.generation.originals import prepare_original
from analysis.generation.plan import Original
from analysis.generation.shards import decode_png, digest, encode_png
from analysis.visual_change import VifReference

#: On another kind of processor a pixel may round the other way; more than that is another picture.
PIXEL_TOLERANCE = 1
CHANGE_TOLERANCE = 1e-3


@dataclass(frozen=True)
class StimulusRecord:
    """What the table says about a stimulus; ``path`` is where its file should be."""

    stimulus: str
    corruption: str
    parameter: float
    seed: int
    visual_change: float
    sha256: str
    path: str


@dataclass(frozen=True)
class VerificationShard:
    """Stimuli of one original."""

    original: Original
    records: tuple[StimulusRecord, ...]
    size_px: int


@dataclass(frozen=True)
class Verification:
    """What was found.

    Parameters
    ----------
    checked : int
    identical : int
        Made again with the same bytes.
    missing, altered : tuple of str
        Stimuli whose file is gone, or has other bytes than when it was made.
    different : tuple of str
        Stimuli that come out differently by more than the tolerances.
    largest_pixel_difference : int
        Between file and picture made again, in levels of 255.
    largest_change_difference : float
        Between the stored visual change and that of the file.
    """

    checked: int = 0
    identical: int = 0
    missing: tuple[str, ...] = ()
    altered: tuple[str, ...] = ()
    different: tuple[str, ...] = ()
    largest_pixel_difference: int = 0
    largest_change_difference: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether every file is there, untouched, and can be made again within the tolerances."""
        return not (self.missing or self.altered or self.different)

    def merged(self, others: Iterable[Verification]) -> Verification:
        """Sum of this and other findings."""
        total = self
        for other in others:
            total = Verification(
                checked=total.checked + other.checked,
                identical=total.identical + other.identical,
                missing=total.missing + other.missing,
                altered=total.altered + other.altered,
                different=total.different + other.different,
                largest_pixel_difference=max(total.largest_pixel_difference, other.largest_pixel_difference),
                largest_change_difference=max(total.largest_change_difference, other.largest_change_difference),
            )
        return total


def verify_shard(shard: VerificationShard) -> Verification:
    """Compare the files of one original with the table, and with the same stimuli made again.

    Raises
    ------
    PictureRefused
        If the original cannot be read any more.
    """
    picture = prepare_original(Path(shard.original.path), shard.size_px)
    reference = VifReference(picture)
    return Verification().merged(_verify(record, picture, reference) for record in shard.records)


def _verify(record: StimulusRecord, picture: np.ndarray, reference: VifReference) -> Verification:
    name = (record.stimulus,)
    try:
        stored = Path(record.path).read_bytes()
    except FileNotFoundError:
        return Verification(checked=1, missing=name)
    again = corrupt(picture, record.corruption, record.parameter, record.seed)
    is_altered = digest(stored) != record.sha256
    if not is_altered and encode_png(again) == stored:
        difference = abs(reference.visual_change(again) - record.visual_change)
        return Verification(
            checked=1,
            identical=1,
            different=name if difference > CHANGE_TOLERANCE else (),
            largest_change_difference=difference,
        )
    try:
        shown = decode_png(stored)
        pixels = int(np.abs(shown.astype(int) - again).max())
        change = abs(reference.visual_change(shown) - record.visual_change)
    except (PictureRefused, ValueError):
        return Verification(checked=1, altered=name)
    is_different = pixels > PIXEL_TOLERANCE or change > CHANGE_TOLERANCE
    return Verification(
        checked=1,
        altered=name if is_altered else (),
        different=name if is_different and not is_altered else (),
        largest_pixel_difference=pixels,
        largest_change_difference=change,
    )
