"""One picture walks through visual change: each step is made when it is asked for, or looked up where it cannot be."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from analysis.corruptions import CORRUPTIONS
from analysis.corruptions.registry import Corruption, Picture
from analysis.generation.files import decode_png, encode_png
from analysis.generation.originals import prepare_original
from analysis.visual_change.targeting import PilotMap, fit_pilot_map, reach_target
from analysis.visual_change.vif import VifReference
from humanexp.core.errors import NotFound
from humanexp.core.storage import current_path
from humanexp.stimuli.models import Sampling, SourceImage, Stimulus, StimulusSet, framing_named
from humanexp.stimuli.selectors import stimuli
from humanexp.stimuli.selectors.coverage import label_of

#: From visual change 0 to 1, one bin a step.
STEPS = 40
#: Levels measured on one picture where a set has no pilot map of its own.
_LEVELS = 9


@dataclass(frozen=True)
class WalkStep:
    """What a picture looks like at one visual change, or as near to it as it gets."""

    function: str
    step: int
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


@dataclass(frozen=True)
class WalkableFunction:
    name: str
    label: str
    unit: str
    #: steps are made now; else the set's stimuli of this original are shown
    is_made: bool


def walkable_functions(stimulus_set: StimulusSet) -> list[WalkableFunction]:
    """The functions of a set, and whether their steps can be made."""
    known = [(name, CORRUPTIONS.get(name)) for name in stimulus_set.corruptions]
    return [
        WalkableFunction(name, label_of(name), found.unit if found else "", _is_made(stimulus_set, found))
        for name, found in known
    ]


def walk_step(stimulus_set: StimulusSet, image: SourceImage, function: str, step: int) -> WalkStep:
    """One step of a walk; NotFound for a function that the set lacks, or a step outside 0 to STEPS."""
    if function not in stimulus_set.corruptions:
        raise NotFound(f"The set {stimulus_set.name} holds no stimuli of a function named {function!r}.")
    if not 0 <= step <= STEPS:
        raise NotFound(f"A walk has the steps 0 to {STEPS}; there is no step {step}.")
    corruption = CORRUPTIONS.get(function)
    if corruption is None or not _is_made(stimulus_set, corruption):
        return _stored_step(stimulus_set, image, function, step)
    return _made_step(stimulus_set, image, corruption, step)


def reach_on(
    picture: Picture, sha256: str, corruption: Corruption, target: float, seed: int, pilot: PilotMap | None
) -> WalkStep:
    """A picture brought to a visual change by one fixed random field; without a pilot map one is made from it."""
    pictured = _Pictured(picture, sha256, picture.shape)
    pilot = pilot or _own_pilot(pictured, corruption.name, corruption.version, seed)
    # Another direction in the middle of a walk would be another walk.
    fixed = replace(corruption, redraws=1) if hasattr(corruption, "redraws") else corruption
    reached = reach_target(picture, _reference(pictured), fixed, target, seed, pilot)
    return WalkStep(
        function=corruption.name,
        step=round(target * STEPS),
        target=target,
        visual_change=reached.visual_change,
        parameter=reached.parameter,
        unit=corruption.unit,
        is_reached=reached.is_reached,
        evaluations=reached.evaluations,
        png=encode_png(reached.picture),
        limit=None if reached.is_reached else reached.visual_change,
    )


def _is_made(stimulus_set: StimulusSet, corruption: Corruption | None) -> bool:
    return corruption is not None and stimulus_set.sampling in (Sampling.EVEN, Sampling.UNIFORM)


def _made_step(stimulus_set: StimulusSet, image: SourceImage, corruption: Corruption, step: int) -> WalkStep:
    picture, sha256 = _shown_original(stimulus_set, image)
    stored = stimulus_set.pilots.get(corruption.name)
    is_current = stored is not None and stored.get("version") == corruption.version
    pilot = PilotMap.from_dict(stored) if is_current else None
    known = stimuli.nearest_of_original(stimulus_set, image, corruption.name, 0.5)
    seed = known[0].seed if known else stimulus_set.seed
    return reach_on(picture, sha256, corruption, step / STEPS, seed, pilot)


def _stored_step(stimulus_set: StimulusSet, image: SourceImage, function: str, step: int) -> WalkStep:
    target = step / STEPS
    nearest = stimuli.nearest_of_original(stimulus_set, image, function, target)
    if not nearest:
        raise NotFound(f"The set {stimulus_set.name} holds no stimuli of {function} made from {image.key}.")
    stimulus = nearest[0]
    is_reached = abs(stimulus.visual_change - target) <= 0.5 / STEPS
    return WalkStep(
        function=function,
        step=step,
        target=target,
        visual_change=stimulus.visual_change,
        parameter=stimulus.parameter,
        unit="level" if stimulus_set.sampling in (Sampling.LEVELS, Sampling.IMPORTED) else "",
        is_reached=is_reached,
        stimulus=stimulus,
        limit=None if is_reached else stimulus.visual_change,
    )


def _shown_original(stimulus_set: StimulusSet, image: SourceImage) -> tuple[Picture, str]:
    """The original as it is shown: the clean stimulus where it is made already, else prepared now."""
    clean = stimuli.clean_stimulus(stimulus_set, image)
    if clean is not None and current_path(clean.file).is_file():
        return _decoded(str(current_path(clean.file)), clean.sha256), clean.sha256
    framing = stimulus_set.framing
    path = str(current_path(image.file))
    return prepared(path, image.sha256, stimulus_set.size_px, framing), f"{image.sha256}-{framing}"


@lru_cache(maxsize=8)
def _decoded(path: str, sha256: str) -> Picture:
    return decode_png(Path(path).read_bytes())


@lru_cache(maxsize=8)
def prepared(path: str, sha256: str, size_px: int, framing: str) -> Picture:
    """An original's file, which has this digest, cut as it is shown."""
    return prepare_original(Path(path), size_px, framing_named(framing))


@dataclass(frozen=True)
class _Pictured:
    """A picture that is hashed by its digest, so that what was measured on it can be kept."""

    picture: Picture = field(compare=False)
    sha256: str
    shape: tuple[int, ...]


@lru_cache(maxsize=4)
def _reference(pictured: _Pictured) -> VifReference:
    return VifReference(pictured.picture)


@lru_cache(maxsize=256)
def _own_pilot(pictured: _Pictured, name: str, version: str, seed: int) -> PilotMap:
    return fit_pilot_map(name, [pictured.picture], seed=seed, levels=_LEVELS)
