"""Predicting shards: each picture is read once, whatever the number of networks that look at it."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis import freed_memory
from analysis.classifiers.networks import BATCH, TorchNetwork, is_accelerator
from analysis.classifiers.port import Classifier, RecordedPredictions, decided, seen_by
from analysis.classifiers.shards import (
    SHARD_STIMULI,
    PredictionShard,
    ShownStimulus,
    held,
    prediction_rows,
    read_ahead,
    write_shard,
)
from analysis.errors import InvalidInput

#: Shards of the same stimuli, one a network.
Group = tuple[PredictionShard, ...]


def predict_shards(
    groups: Iterable[Group], *, threads: int = 1, tick: Callable[[int], None] | None = None
) -> Generator[Group, None, None]:
    """Predict groups of shards, and yield each once all its files are written; files that are there are left alone.

    While the networks look at a batch, `threads` read the next ones, also those of the next group. What is in memory
    does not depend on the number of groups. On a processor a network's predictions are those of its own run, to the
    bit, whatever other networks look at the same pictures.

    Parameters
    ----------
    groups : iterable of tuples of PredictionShard
        The shards of a group have the same stimuli, and all shards one device.
    threads : int
        That read and decode pictures.
    tick : callable, optional
        Called after every batch with the number of its stimuli; what it raises ends the work.

    Raises
    ------
    PictureRefused
        If a stimulus's file is gone or is not the one that was measured and shown.
    ClassifierUnavailable, TableRefused
        If a classifier cannot be loaded or does not answer as it should.
    """
    under_way: list[_SharedBatch] = []

    def batches() -> Iterator[Sequence[ShownStimulus]]:
        for group in groups:
            for batch in _batches(group):
                under_way.append(batch)
                yield batch.stimuli if batch.needs_pictures else ()

    queue = iter(groups)
    if not (first := next(queue, ())):
        return
    groups, device = chain([first], queue), first[0].asked.device
    is_pinned = device.startswith("cuda")
    with _Desk(is_apart=is_accelerator(device)) as desk:
        with closing(read_ahead(batches(), threads=threads, is_pinned=is_pinned)) as pictures:
            for shown in pictures:
                batch = under_way.pop(0)
                desk.take(batch, _answers(batch, shown))
                if tick:
                    tick(len(batch.stimuli))
                yield from desk.finished()
        yield from desk.rest()


def predict_group(group: Group) -> list[Path]:
    """Predict the shards of a group in this process; for executors. Returns their files."""
    with freed_memory.kept():
        for _ in predict_shards([group]):
            pass
    return [shard.path for shard in group]


@dataclass(frozen=True, slots=True)
class _SharedBatch:
    """Stimuli that are read together, and the shards of the group that still need predictions for them."""

    group: Group
    shards: tuple[PredictionShard, ...]
    stimuli: Sequence[ShownStimulus]
    classifiers: Sequence[Classifier | RecordedPredictions]
    is_last: bool

    @property
    def needs_pictures(self) -> bool:
        return any(isinstance(classifier, Classifier) for classifier in self.classifiers)


def _batches(group: Group) -> Iterator[_SharedBatch]:
    """Pictures are read 64 at a time for a processor, a shard at a time for an accelerator."""
    stimuli = group[0].stimuli
    if any(shard.stimuli != stimuli for shard in group[1:]):
        raise InvalidInput("The shards of a group are about the same stimuli, in the same order.")
    if len({one.enlarged for one in stimuli}) > 1:
        raise InvalidInput("The stimuli of a shard are enlarged alike.")
    if len({shard.path for shard in group}) < len(group):
        raise InvalidInput("Two shards of a group have one file: give each network its own folder.")
    shards = tuple(shard for shard in group if not shard.is_done)
    if not shards:
        yield _SharedBatch(group, (), (), (), is_last=True)
        return
    classifiers = held([shard.asked for shard in group])
    wanted = [one for shard, one in zip(group, classifiers, strict=True) if shard in shards]
    size = SHARD_STIMULI if is_accelerator(group[0].asked.device) else BATCH
    for start in range(0, max(1, len(stimuli)), size):
        chosen = stimuli[start : start + size]
        yield _SharedBatch(group, shards, chosen, wanted, is_last=start + size >= len(stimuli))


#: What each classifier says about a batch, and in how many seconds: None where its answers are on record.
_Answers = list[tuple[NDArray[Any] | None, float]]


def _answers(batch: _SharedBatch, pictures: NDArray[np.uint8]) -> _Answers:
    found: _Answers = []
    enlarged = batch.stimuli[0].enlarged if batch.stimuli else 1
    for classifier in batch.classifiers:
        started = time.perf_counter()
        seen = seen_by(classifier, pictures, enlarged)
        values = None if isinstance(classifier, RecordedPredictions) else _probabilities(classifier, seen)
        found.append((values, time.perf_counter() - started))
    return found


def _probabilities(classifier: Classifier, pictures: NDArray[np.uint8]) -> NDArray[Any]:
    """A torch network finds itself how many pictures it takes at once; others get 64."""
    if isinstance(classifier, TorchNetwork) or len(pictures) <= BATCH:
        return np.asarray(classifier.predict(pictures))
    parts = [classifier.predict(pictures[start : start + BATCH]) for start in range(0, len(pictures), BATCH)]
    return np.concatenate(parts)


@dataclass(slots=True)
class _Desk:
    """Decides and writes; while an accelerator computes, in a thread apart, a few batches behind."""

    is_apart: bool
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="rows"))
    _behind: list[tuple[_SharedBatch, Future[None]]] = field(default_factory=list)
    _rows: dict[Path, list[dict[str, Any]]] = field(default_factory=dict)
    _seconds: dict[Path, float] = field(default_factory=dict)

    def __enter__(self) -> _Desk:
        return self

    def __exit__(self, *_error: object) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def take(self, batch: _SharedBatch, answers: _Answers) -> None:
        if self.is_apart:
            self._behind.append((batch, self._pool.submit(self._write, batch, answers)))
            return
        self._write(batch, answers)
        done: Future[None] = Future()
        done.set_result(None)
        self._behind.append((batch, done))

    def finished(self, *, most_behind: int = 2) -> Iterator[Group]:
        """Groups whose files are there; waits only for what is more than a few batches behind."""
        while self._behind and (self._behind[0][1].done() or len(self._behind) > most_behind):
            batch, future = self._behind.pop(0)
            future.result()
            if batch.is_last:
                yield batch.group

    def rest(self) -> Iterator[Group]:
        yield from self.finished(most_behind=0)

    def _write(self, batch: _SharedBatch, answers: _Answers) -> None:
        for shard, classifier, (values, seconds) in zip(batch.shards, batch.classifiers, answers, strict=True):
            started, path = time.perf_counter(), shard.path
            names = [one.stimulus for one in batch.stimuli]
            decisions = decided(classifier, names, values, shard.asked.how)
            rows = self._rows.setdefault(path, [])
            rows.extend(prediction_rows(shard.name, batch.stimuli, decisions))
            taken = self._seconds.get(path, 0.0) + seconds + time.perf_counter() - started
            self._seconds[path] = taken
            if batch.is_last:
                write_shard(shard, self._rows.pop(path), self._seconds.pop(path))
