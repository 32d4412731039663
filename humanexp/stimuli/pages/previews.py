"""Pictures that are made when somebody asks for them: one at a visual change, and a preview of a new set."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from analysis.compute import available_cores
from analysis.corruptions import CORRUPTIONS
from analysis.corruptions.registry import Corruption, Picture, apply_corruption
from analysis.generation.files import decode_png, encode_png
from analysis.generation.originals import prepare_original
from analysis.native_size import at_native_size
from analysis.visual_change.targeting import TOLERANCE, PilotMap, Reached, fit_pilot_map, reach_target
from analysis.visual_change.vif import VifReference
from humanexp.core.errors import NotFound
from humanexp.core.storage import current_path
from humanexp.stimuli.models import Framing, Sampling, SourceImage, SourceSet, Stimulus, StimulusSet, framing_named
from humanexp.stimuli.selectors import sets
from humanexp.stimuli.selectors.sets import count_originals, first_original
from humanexp.stimuli.selectors.sources import enlargement_of
from humanexp.stimuli.services.descriptions import Described

#: Steps towards a very small visual change.
_HALVINGS = 14
#: Levels measured on one picture where a set has no pilot map of its own.
_LEVELS = 9


@dataclass(frozen=True)
class PictureAt:
    """What a picture looks like at one visual change, or as near to it as it gets."""

    function: str
    target: float
    visual_change: float
    parameter: float
    unit: str
    is_reached: bool
    #: pictures made and measured for it
    evaluations: int = 0
    #: the PNG, when it was made now
    png: bytes | None = None
    #: the stimulus, when the set's own are shown
    stimulus: Stimulus | None = None
    #: the largest (or smallest) visual change that could be had instead of the target
    limit: float | None = None


def picture_at(stimulus_set: StimulusSet, image: SourceImage, function: str, target: float) -> PictureAt:
    """An original at a visual change in [0, 1]: made now, or of sets of levels the nearest stimulus.

    NotFound for a function that the set lacks.
    """
    if function not in stimulus_set.corruptions:
        raise NotFound(f"The set {stimulus_set.name} holds no stimuli of a function named {function!r}.")
    corruption = CORRUPTIONS.get(function)
    if corruption is None or not _is_made(stimulus_set, corruption):
        return _stored(stimulus_set, image, function, target)
    return _made(stimulus_set, image, corruption, target)


def reach_on(
    picture: Picture,
    sha256: str,
    corruption: Corruption,
    target: float,
    seed: int,
    pilot: PilotMap | None,
    *,
    enlarged: int = 1,
) -> PictureAt:
    """A picture brought to a visual change by one fixed random field; without a pilot map one is made from it."""
    pictured = _Pictured(picture, sha256, picture.shape, enlarged)
    pilot = pilot or _own_pilot(pictured, corruption.name, corruption.version, seed)
    # At every strength the same random field: another direction would be another row of pictures.
    fixed = replace(at_native_size(corruption, enlarged), redraws=1)
    reached = reach_target(picture, _reference(pictured), fixed, target, seed, pilot)
    if target < 2 * TOLERANCE:
        reached = _nearer(reached, picture, _reference(pictured), fixed, target)
    return PictureAt(
        function=corruption.name,
        target=target,
        visual_change=reached.visual_change,
        parameter=reached.parameter,
        unit=corruption.unit,
        is_reached=reached.is_reached,
        evaluations=reached.evaluations,
        png=encode_png(reached.picture),
        limit=None if reached.is_reached else reached.visual_change,
    )


def _nearer(
    reached: Reached, picture: Picture, reference: VifReference, corruption: Corruption, target: float
) -> Reached:
    """The strength halved towards a target so small that it counts as reached by next to no change at all."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        strength = (low + high) / 2
        parameter = corruption.parameter_at(strength)
        made = apply_corruption(corruption, picture, parameter, reached.seed)
        change = reference.visual_change(made)
        if abs(change - target) < abs(reached.visual_change - target):
            reached = replace(reached, picture=made, parameter=parameter, visual_change=change)
        low, high = (strength, high) if change < target else (low, strength)
    return reached


def _is_made(stimulus_set: StimulusSet, corruption: Corruption | None) -> bool:
    return corruption is not None and stimulus_set.sampling not in (Sampling.LEVELS, Sampling.IMPORTED)


def _made(stimulus_set: StimulusSet, image: SourceImage, corruption: Corruption, target: float) -> PictureAt:
    picture, sha256 = shown_original(stimulus_set, image)
    stored = stimulus_set.pilots.get(corruption.name)
    is_current = stored is not None and stored.get("version") == corruption.version
    pilot = PilotMap.from_dict(stored) if is_current else None
    known = sets.nearest_of_original(stimulus_set, image, corruption.name, 0.5)
    seed = known[0].seed if known else stimulus_set.seed
    return reach_on(picture, sha256, corruption, target, seed, pilot, enlarged=stimulus_set.enlarged)


def _stored(stimulus_set: StimulusSet, image: SourceImage, function: str, target: float) -> PictureAt:
    nearest = sets.nearest_of_original(stimulus_set, image, function, target)
    if not nearest:
        raise NotFound(f"The set {stimulus_set.name} holds no stimuli of {function} made from {image.key}.")
    stimulus = nearest[0]
    is_reached = abs(stimulus.visual_change - target) <= TOLERANCE
    return PictureAt(
        function=function,
        target=target,
        visual_change=stimulus.visual_change,
        parameter=stimulus.parameter,
        unit="level" if stimulus_set.sampling in (Sampling.LEVELS, Sampling.IMPORTED) else "",
        is_reached=is_reached,
        stimulus=stimulus,
        limit=None if is_reached else stimulus.visual_change,
    )


def shown_original(stimulus_set: StimulusSet, image: SourceImage) -> tuple[Picture, str]:
    """The original as it is shown: the clean stimulus where it is made already, else prepared now."""
    clean = sets.clean_stimulus(stimulus_set, image)
    if clean is not None and current_path(clean.file).is_file():
        return _decoded(str(current_path(clean.file)), clean.sha256), clean.sha256
    framing = stimulus_set.framing
    path = str(current_path(image.file))
    picture = prepared(path, image.sha256, stimulus_set.size_px, framing, stimulus_set.enlarged)
    return picture, f"{image.sha256}-{framing}"


@lru_cache(maxsize=8)
def _decoded(path: str, sha256: str) -> Picture:
    return decode_png(Path(path).read_bytes())


@lru_cache(maxsize=8)
def prepared(path: str, sha256: str, size_px: int, framing: str, enlarged: int = 1) -> Picture:
    """An original's file, which has this digest, cut as it is shown."""
    return prepare_original(Path(path), size_px, framing_named(framing), enlarged=enlarged)


@dataclass(frozen=True)
class _Pictured:
    """A picture that is hashed by its digest, so that what was measured on it can be kept."""

    picture: Picture = field(compare=False)
    sha256: str
    shape: tuple[int, ...]
    enlarged: int


@lru_cache(maxsize=4)
def _reference(pictured: _Pictured) -> VifReference:
    return VifReference(pictured.picture)


@lru_cache(maxsize=256)
def _own_pilot(pictured: _Pictured, name: str, version: str, seed: int) -> PilotMap:
    return fit_pilot_map(name, [pictured.picture], seed=seed, levels=_LEVELS, enlarged=pictured.enlarged)


#: The examples of all functions are changed alike, so that the functions can be compared.
EXAMPLE_CHANGE = 0.6
EXAMPLE_SIZE_PX = 160
#: Visual changes at which the cost of a function is measured.
_MEASURED = (0.3, 0.8)
_LEVELS_OF_IMAGENET_C = 5


@dataclass(frozen=True)
class Estimate:
    """Size, time and disk of a set that is not made yet."""

    stimuli: int
    seconds: float
    bytes: int
    free_bytes: int
    workers: int
    is_cluster: bool

    @property
    def fits(self) -> bool:
        return self.bytes < self.free_bytes


def function_example(source_set: SourceSet, function: str) -> bytes:
    """A small picture of the set under a function, as PNG."""
    if function not in CORRUPTIONS:
        raise NotFound(f"There is no corruption function named {function!r}.")
    path, sha256 = _first_picture(source_set)
    small = enlargement_of(source_set)
    # Examples of small pictures are as large as whole pixels allow.
    size_px, enlarged = (EXAMPLE_SIZE_PX, 1) if small is None else (small.size_px, small.enlarged)
    return _example(path, sha256, function, CORRUPTIONS[function].version, size_px, enlarged)


def estimate(described: Described) -> Estimate:
    """Measure one picture at two visual changes under each function, and multiply."""
    path, sha256 = _first_picture(described.source_set)
    originals = count_originals(described.source_set)
    each = _LEVELS_OF_IMAGENET_C * originals if described.sampling == Sampling.LEVELS else described.count
    seconds, size = 0.0, 0.0

    def cost_of(name: str) -> _Cost:
        version, size_px = CORRUPTIONS[name].version, described.size_px
        return _cost(path, sha256, name, version, size_px, described.framing, described.enlarged)

    for name in described.functions:
        cost = cost_of(name)
        is_even = described.sampling == Sampling.EVEN
        seconds += each * (cost.seconds if is_even else cost.seconds / max(1, cost.evaluations))
        size += each * cost.bytes + originals * cost.clean_bytes / len(described.functions)
    for name in described.plain_functions:
        cost = cost_of(name)
        seconds += originals * cost.seconds
        size += originals * cost.bytes
    # Sentinels take little time; their files are about as large as clean pictures.
    sentinels = originals * len(described.person_families)
    sentinels += count_originals(described.cue_conflicts) if described.cue_conflicts is not None else 0
    size += sentinels * cost_of(described.functions[0]).clean_bytes
    workers = _processes(settings.COMPUTE)
    return Estimate(
        stimuli=originals * (1 + len(described.plain_functions)) + each * len(described.functions) + sentinels,
        seconds=seconds / workers,
        bytes=round(size),
        free_bytes=shutil.disk_usage(settings.MEDIA_ROOT).free,
        workers=workers,
        is_cluster=settings.COMPUTE.startswith("dask"),
    )


def _processes(setting: str) -> int:
    """Processes that work at the same time; what a cluster has is not asked."""
    kind, _, number = setting.partition(":")
    if kind != "processes":
        return 1
    return min(int(number), available_cores()) if number.isdecimal() and int(number) else available_cores()


@dataclass(frozen=True)
class _Cost:
    """Of one stimulus, on average."""

    seconds: float
    bytes: float
    evaluations: float
    clean_bytes: int


def _first_picture(source_set: SourceSet) -> tuple[str, str]:
    image = first_original(source_set)
    return str(current_path(image.file)), image.sha256


@lru_cache(maxsize=128)
def _example(path: str, sha256: str, function: str, version: str, size_px: int, enlarged: int) -> bytes:
    picture = prepared(path, sha256, size_px, Framing.WHOLE, enlarged)
    return reach_on(picture, sha256, CORRUPTIONS[function], EXAMPLE_CHANGE, 1, None, enlarged=enlarged).png or b""


@lru_cache(maxsize=256)
def _cost(path: str, sha256: str, function: str, version: str, size_px: int, framing: str, enlarged: int) -> _Cost:
    """The pilot is left out: it is made once a set."""
    picture = prepared(path, sha256, size_px, framing, enlarged)

    def reach(change: float) -> PictureAt:
        return reach_on(picture, sha256, CORRUPTIONS[function], change, 1, None, enlarged=enlarged)

    reach(_MEASURED[0])
    started = time.perf_counter()
    steps = [reach(change) for change in _MEASURED]
    seconds = (time.perf_counter() - started) / len(steps)
    return _Cost(
        seconds=seconds,
        bytes=sum(len(step.png or b"") for step in steps) / len(steps),
        evaluations=sum(step.evaluations for step in steps) / len(steps),
        clean_bytes=len(encode_png(picture)),
    )
