"""What a new set would look like and take, measured on one of its pictures before it is started."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from functools import lru_cache

from django.conf import settings

from analysis.compute import available_cores
from analysis.corruptions import CORRUPTIONS
from analysis.generation.files import encode_png
from humanexp.core.errors import NotFound
from humanexp.core.storage import current_path
from humanexp.stimuli.models import Framing, Sampling, SourceSet
from humanexp.stimuli.pages.strength_sweep import prepared, reach_on
from humanexp.stimuli.selectors.stimuli import count_originals, first_original
from humanexp.stimuli.services.generation import Described

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
    return _example(path, sha256, function, CORRUPTIONS[function].version)


def estimate(described: Described) -> Estimate:
    """Measure one picture at two visual changes under each function, and multiply."""
    path, sha256 = _first_picture(described.source_set)
    originals = count_originals(described.source_set)
    each = _LEVELS_OF_IMAGENET_C * originals if described.sampling == Sampling.LEVELS else described.count
    seconds, size = 0.0, 0.0

    def cost_of(name: str) -> _Cost:
        return _cost(path, sha256, name, CORRUPTIONS[name].version, described.size_px, described.framing)

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
def _example(path: str, sha256: str, function: str, version: str) -> bytes:
    picture = prepared(path, sha256, EXAMPLE_SIZE_PX, Framing.WHOLE)
    return reach_on(picture, sha256, CORRUPTIONS[function], EXAMPLE_CHANGE, 1, None).png or b""


@lru_cache(maxsize=256)
def _cost(path: str, sha256: str, function: str, version: str, size_px: int, framing: str) -> _Cost:
    """The pilot is left out: it is made once a set."""
    picture = prepared(path, sha256, size_px, framing)
    reach_on(picture, sha256, CORRUPTIONS[function], _MEASURED[0], 1, None)
    started = time.perf_counter()
    steps = [reach_on(picture, sha256, CORRUPTIONS[function], change, 1, None) for change in _MEASURED]
    seconds = (time.perf_counter() - started) / len(steps)
    return _Cost(
        seconds=seconds,
        bytes=sum(len(step.png or b"") for step in steps) / len(steps),
        evaluations=sum(step.evaluations for step in steps) / len(steps),
        clean_bytes=len(encode_png(picture)),
    )
