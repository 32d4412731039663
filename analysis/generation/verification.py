"""Are the stimuli on the disk those of the table, and does making them again give the same?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from analysis.corruptions import corrupt, load_modules
from analysis.corruptions.registry import Picture
from analysis.errors import PictureRefused, UnknownName
from analysis.generation.files import decode_png, digest, encode_png
from analysis.generation.originals import Framing
from analysis.generation.shards import make_sentinel, prepare_reference
from analysis.native_size import enlarge, native_pixels
from analysis.original import Original
from analysis.persons.sentinels import SENTINELS
from analysis.visual_change.vif import VifReference

#: On another kind of processor a pixel may round the other way; more than that is another picture.
PIXEL_TOLERANCE = 1
CHANGE_TOLERANCE = 1e-3

_NAMES_KEPT = 20


@dataclass(frozen=True)
class Named:
    """How many stimuli something was found of, and the names of the first ones."""

    count: int = 0
    names: tuple[str, ...] = ()

    @classmethod
    def one(cls, name: str) -> Named:
        """A single stimulus."""
        return cls(1, (name,))

    def plus(self, other: Named) -> Named:
        """Sum of two findings."""
        return Named(self.count + other.count, (self.names + other.names)[:_NAMES_KEPT]) if other.count else self


@dataclass(frozen=True)
class StimulusRecord:
    """What the table says about a stimulus; ``path`` is where its file should be."""

    stimulus: str
    corruption: str
    version: str
    parameter: float
    seed: int
    visual_change: float
    sha256: str
    path: str


@dataclass(frozen=True)
class VerificationShard:
    """Stimuli of one original.

    Parameters
    ----------
    original : Original
    records : tuple of StimulusRecord
    size_px : int
    framing : str
    is_imported : bool
        The stimuli were not made here: digest and visual change are compared, but none is made again.
    modules : tuple of str
        Modules that register functions of the user's own.
    enlarged : int
        How many times pictures are enlarged to be shown.
    """

    original: Original
    records: tuple[StimulusRecord, ...]
    size_px: int
    framing: Framing = "whole"
    is_imported: bool = False
    modules: tuple[str, ...] = ()
    enlarged: int = 1


@dataclass(frozen=True)
class Verification:
    """What was found.

    Parameters
    ----------
    checked : int
    identical : int
        Made again with the same bytes.
    missing, altered : Named
        Stimuli whose file is gone, or has other bytes than when it was made.
    different : Named
        Stimuli that come out differently by more than the tolerances, whose file shows another visual change, or whose
        pixels are not enlarged as the set says.
    outdated : Named
        Stimuli of a version of their function that this program does not have any more: only digest and visual change
        were compared.
    largest_pixel_difference : int
        Between file and picture made again, in levels of 255.
    largest_change_difference : float
        Between the stored visual change and that of the file.
    """

    checked: int = 0
    identical: int = 0
    missing: Named = Named()
    altered: Named = Named()
    different: Named = Named()
    outdated: Named = Named()
    largest_pixel_difference: int = 0
    largest_change_difference: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether every file is there, untouched, and can be made again within the tolerances."""
        return not (self.missing.count or self.altered.count or self.different.count)

    def merged(self, others: Iterable[Verification]) -> Verification:
        """Sum of this and other findings."""
        total = {field.name: getattr(self, field.name) for field in fields(self)}
        for other in others:
            for name, value in total.items():
                found = getattr(other, name)
                if isinstance(value, Named):
                    total[name] = value.plus(found)
                else:
                    total[name] = max(value, found) if name.startswith("largest") else value + found
        return Verification(**total)


def verify_shard(shard: VerificationShard) -> Verification:
    """Compare the files of one original with the table, and with the same stimuli made again.

    Raises
    ------
    PictureRefused
        If the original cannot be read any more, or is another one.
    """
    load_modules(shard.modules)
    picture, reference = prepare_reference(shard.original, shard.size_px, shard.framing, shard.enlarged)
    return Verification().merged(_verify(record, picture, reference, shard) for record in shard.records)


def _verify(
    record: StimulusRecord, picture: Picture, reference: VifReference, shard: VerificationShard
) -> Verification:
    name = Named.one(record.stimulus)
    try:
        stored = Path(record.path).read_bytes()
    except FileNotFoundError:
        return Verification(checked=1, missing=name)
    is_altered = digest(stored) != record.sha256
    try:
        shown = decode_png(stored)
        change = abs(reference.visual_change(shown) - record.visual_change)
    except PictureRefused:
        return Verification(checked=1, altered=name)
    again = None if shard.is_imported else _made_again(record, picture, shard.enlarged)
    pixels = int(np.abs(shown.astype(np.int16) - again).max()) if again is not None else 0
    is_enlarged = np.array_equal(enlarge(native_pixels(shown, shard.enlarged), shard.enlarged), shown)
    is_different = pixels > PIXEL_TOLERANCE or change > CHANGE_TOLERANCE or not is_enlarged
    return Verification(
        checked=1,
        identical=int(again is not None and pixels == 0 and encode_png(again) == stored),
        altered=name if is_altered else Named(),
        different=name if is_different and not is_altered else Named(),
        outdated=name if again is None and not shard.is_imported else Named(),
        largest_pixel_difference=pixels,
        largest_change_difference=change,
    )


def _made_again(record: StimulusRecord, picture: Picture, enlarged: int) -> Picture | None:
    try:
        if record.corruption in SENTINELS:
            return make_sentinel(picture, record.corruption, record.version, enlarged)
        native, version = native_pixels(picture, enlarged), record.version or None
        return enlarge(corrupt(native, record.corruption, record.parameter, record.seed, version=version), enlarged)
    except UnknownName:
        return None
