"""Pictures that were corrupted elsewhere, as in ImageNet-C: decoded, measured against their originals, kept as PNG.

Hendrycks and Dietterich (2019), "Benchmarking neural network robustness to common corruptions and perturbations": 15
functions and 4 for validation, five levels each, JPEG files of quality 85. The damage of that JPEG is part of the
picture that people and networks get, so it is part of the visual change that is measured.
"""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from analysis.corruptions import CORRUPTIONS
from analysis.corruptions.registry import NO_CORRUPTION, Picture
from analysis.errors import PictureRefused
from analysis.generation.files import UNFINISHED, encode_png, is_intact, write_atomically
from analysis.generation.originals import Framing, prepare_original, read_picture
from analysis.generation.plan import OriginalPlan, StimulusRequest, stimulus_file, stimulus_name
from analysis.generation.shards import SHARD_STIMULI, MadeStimulus, Shard, ShardOutcome, stimulus_row
from analysis.original import Original
from analysis.visual_change.vif import VifReference, grey

#: Version of every function that was not applied here.
IMPORTED_VERSION = "imagenet-c"
#: Published levels, the weakest first.
LEVELS: tuple[int, ...] = (1, 2, 3, 4, 5)

#: The published functions by name, in the published order, with their names for people.
PUBLISHED_FUNCTIONS: Mapping[str, str] = {
    "gaussian_noise": "Gaussian noise",
    "shot_noise": "Shot noise",
    "impulse_noise": "Impulse noise",
    "defocus_blur": "Defocus blur",
    "glass_blur": "Glass blur",
    "motion_blur": "Motion blur",
    "zoom_blur": "Zoom blur",
    "snow": "Snow",
    "frost": "Frost",
    "fog": "Fog",
    "brightness": "Brightness",
    "contrast": "Contrast",
    "elastic_transform": "Elastic transform",
    "pixelate": "Pixelation",
    "jpeg_compression": "JPEG compression",
    "speckle_noise": "Speckle noise",
    "gaussian_blur": "Gaussian blur",
    "spatter": "Spatter",
    "saturate": "Saturation",
}

#: Grey levels of a picture's weakest version correlate with those of another picture by .33 at most, with those of its
#: own original by .84 at least (58 photographs; noise, blur and brightness).
LEAST_LIKENESS = 0.5


def function_label(name: str) -> str:
    """Name for people of a corruption function, registered here or not."""
    if name in CORRUPTIONS:
        return CORRUPTIONS[name].label
    return PUBLISHED_FUNCTIONS.get(name) or name.replace("_", " ").capitalize()


@dataclass(frozen=True)
class Likeness:
    """How like its original a set's weakest level is, as median correlation of grey levels over some originals.

    Parameters
    ----------
    framing : str
        How the originals were cut.
    n : int
        Originals that were looked at.
    correlation : float
        With the original cut that way.
    other_correlation : float
        With the original cut the other way.
    """

    framing: Framing
    n: int
    correlation: float
    other_correlation: float

    @property
    def refusal(self) -> str:
        """What is wrong and what to do, where the pictures cannot have been made from these originals, cut that way."""
        other = _other(self.framing)
        if max(self.correlation, self.other_correlation) < LEAST_LIKENESS:
            return (
                f"The pictures do not show their originals: grey levels of the weakest level correlate with the "
                f"original by {self.correlation:.2f} only (median of {self.n} originals; {LEAST_LIKENESS} is the "
                "least). Check that the set of pictures holds the originals of these files under the same file names."
            )
        if self.other_correlation > self.correlation:
            return (
                f"The pictures are cut another way: grey levels of the weakest level correlate with the original by "
                f"{self.correlation:.2f} with the framing {self.framing}, and by {self.other_correlation:.2f} with the "
                f"framing {other} (median of {self.n} originals). Import them with the framing {other}."
            )
        return ""


def plan_import(
    original: Original,
    sources: Iterable[tuple[str, int, str]],
    *,
    size_px: int,
    framing: Framing,
    digests: Mapping[str, str],
) -> OriginalPlan:
    """Plan the clean picture of an original, and its corrupted ones.

    Parameters
    ----------
    original : Original
    sources : iterable of (str, int, str)
        Function, level and path of each corrupted picture.
    size_px : int
        Side of the pictures.
    framing : {"imagenet", "whole"}
        How the original is cut.
    digests : mapping of str to str
        Digests of stimuli made earlier, by name.
    """
    wanted = [(NO_CORRUPTION, 0, original.path), *sorted(sources)]
    requests = []
    for corruption, level, source in wanted:
        determined_by = (IMPORTED_VERSION, original.sha256, corruption, level, size_px, framing)
        key = "\x1f".join(map(str, determined_by)).encode()
        name = stimulus_name(int.from_bytes(hashlib.blake2b(key, digest_size=8).digest()))
        requests.append(
            StimulusRequest(
                stimulus=name,
                corruption=corruption,
                version=IMPORTED_VERSION if level else "",
                target=None,
                seed=0,
                file=stimulus_file(name),
                sha256=digests.get(name),
                parameter=float(level),
                source=source,
            )
        )
    return OriginalPlan(original, tuple(requests))


def cut_into_import_shards(
    plans: Iterable[OriginalPlan], *, size_px: int, framing: Framing, folder: Path
) -> Iterator[Shard]:
    """Shards of about `SHARD_STIMULI` pictures; all pictures of an original stay together."""
    waiting: list[OriginalPlan] = []
    for plan in plans:
        waiting.append(plan)
        if sum(len(one.requests) for one in waiting) >= SHARD_STIMULI:
            yield Shard(tuple(waiting), {}, size_px, str(folder), framing)
            waiting = []
    if waiting:
        yield Shard(tuple(waiting), {}, size_px, str(folder), framing)


def import_shard(shard: Shard) -> ShardOutcome:
    """Decode, check, measure and write the pictures of a shard.

    A request whose file has the digest it had when it was made is left alone, so that a shard that is run again goes on
    where it was stopped. A file that cannot be used gives a sentence and no row; the others are taken over.

    Parameters
    ----------
    shard : Shard
        Of `cut_into_import_shards`.

    Returns
    -------
    ShardOutcome
        Rows for `analysis.tables.stimuli.STIMULI`, with ``file`` within the shard's folder.

    Raises
    ------
    StorageFailed
        If a file cannot be written.
    """
    rows: list[dict[str, Any]] = []
    refusals: list[str] = []
    found = 0
    folder = Path(shard.folder)
    for plan in shard.plans:
        missing = [request for request in plan.requests if not is_intact(folder / request.file, request.sha256)]
        found += len(plan.requests) - len(missing)
        if not missing:
            continue
        try:
            original = prepare_original(Path(plan.original.path), shard.size_px, shard.framing, colours="stored")
            reference = VifReference(original)
        except PictureRefused as error:
            refusals.append(f"{plan.original.key}: {error}")
            continue
        for request in missing:
            try:
                picture = original if request.corruption == NO_CORRUPTION else _read(request.source, shard.size_px)
            except PictureRefused as error:
                refusals.append(str(error))
                continue
            made = _measured(picture, request, reference)
            write_atomically(folder / request.file, made.png, beside=folder / UNFINISHED)
            rows.append(stimulus_row(plan.original, request, made, shard.size_px))
    return ShardOutcome(tuple(rows), found, tuple(refusals))


def measure_likeness(plans: Sequence[OriginalPlan], *, size_px: int, framing: Framing) -> Likeness:
    """Compare the weakest pictures of some originals with these originals, cut in both ways.

    Of an original's functions, the one that leaves most of it speaks for it. Single files that cannot be used are left
    to `import_shard`, which names them all.

    Raises
    ------
    PictureRefused
        Where none of the pictures can be read; says why the first cannot.
    """
    own, others = [], []
    refusal = "There is no picture to be compared with its original."
    for plan in plans:
        corrupted = [request for request in plan.requests if request.version]
        weakest = min((request.parameter or 0.0 for request in corrupted), default=0.0)
        pictures = []
        for request in corrupted:
            if request.parameter == weakest:
                try:
                    pictures.append(_read(request.source, size_px))
                except PictureRefused as error:
                    refusal = str(error)
        correlations = [
            _best_correlation(Path(plan.original.path), pictures, size_px, one) for one in (framing, _other(framing))
        ]
        if correlations[0] is not None:
            own.append(correlations[0])
            others.append(-1.0 if correlations[1] is None else correlations[1])
    if not own:
        raise PictureRefused(refusal)
    return Likeness(framing, len(own), statistics.median(own), statistics.median(others))


def _other(framing: Framing) -> Framing:
    return "whole" if framing == "imagenet" else "imagenet"


def _best_correlation(path: Path, pictures: Sequence[Picture], size_px: int, framing: Framing) -> float | None:
    try:
        original = grey(prepare_original(path, size_px, framing, colours="stored")).astype(np.float64).ravel()
    except PictureRefused:
        return None
    found = []
    for picture in pictures:
        levels = grey(picture).astype(np.float64).ravel()
        if levels.std() > 0 and original.std() > 0:
            found.append(float(np.corrcoef(original, levels)[0, 1]))
    return max(found, default=None)


def _read(source: str, size_px: int) -> Picture:
    picture = read_picture(Path(source), colours="stored")
    height, width = picture.shape[:2]
    if (height, width) != (size_px, size_px):
        raise PictureRefused(
            f"{source}: {width} x {height} px, but the pictures of this set have {size_px} x {size_px} px; scaling a "
            "corrupted picture would change the corruption. Import pictures of another size as another set."
        )
    return picture


def _measured(picture: Picture, request: StimulusRequest, reference: VifReference) -> MadeStimulus:
    is_clean = request.corruption == NO_CORRUPTION
    return MadeStimulus(
        png=encode_png(picture),
        parameter=request.parameter or 0.0,
        visual_change=0.0 if is_clean else reference.visual_change(picture),
        evaluations=0 if is_clean else 1,
        is_reached=True,
        seed=request.seed,
    )
