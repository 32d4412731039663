"""From a stimulus set and a classifier to a table of predictions, in shards so that an interrupted run goes on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from django.conf import settings

from analysis.classifiers import Classifier, RecordedPredictions, rehearse, shards
from analysis.classifiers.shards import (
    Asked,
    PredictionShard,
    ShownStimulus,
    hold,
    join_shards,
    predict_shard,
    versions,
)
from analysis.compute import AnyExecutor, executor, run_in_order_of_completion, setting_for
from analysis.errors import PictureRefused
from humanexp.core.batches import batches_of
from humanexp.core.storage import media_path
from humanexp.evaluations.models import EvaluationRun
from humanexp.evaluations.services.evaluations import complete
from humanexp.evaluations.specs import located
from humanexp.jobs.registry import Progress
from humanexp.stimuli.models import StimulusSet
from humanexp.stimuli.selectors import stimuli_of_curves

#: From so many shards on, child processes pay for loading the network once more each.
MANY_SHARDS = 8


def predict_stimulus_set(run: EvaluationRun, asked: Asked, progress: Progress) -> None:
    """Predict every stimulus of the run's set and complete the run; nothing is written before all could be read."""
    classifier = replace(asked, spec=located(asked.spec)).load()
    asked = replace(asked, digest=classifier.digest)
    hold(replace(asked, spec=located(asked.spec)), classifier)
    total = stimuli_of_curves(run.stimulus_set).count()
    rehearse(classifier, run.stimulus_set.size_px, asked.rule, own_labels=asked.own_labels)
    _check_complete(run.stimulus_set, classifier, asked)
    folder = media_path(f"{run.folder}/{classifier.digest[:16]}")
    folder.mkdir(parents=True, exist_ok=True)
    parts = _predicted(run, asked, folder, total, progress)
    progress(max(0, total - 1), total, f"{run.name}: writing the predictions")
    # What the run holds already stays as it is until all is there: the same network may have decided by another rule.
    path = folder / f"predictions-{asked.rule}{'-own' if asked.own_labels else ''}.parquet"
    joined = join_shards(parts, path)
    complete(
        run=run,
        asked=asked,
        joined=joined,
        predictions_file=path,
        preprocessing=classifier.preprocessing,
        versions=versions(classifier),
    )
    for part in parts:
        part.unlink(missing_ok=True)
    progress(total, total, f"{run.name}: pictures classified")


def shown_stimuli(
    stimulus_set: StimulusSet, *, own_labels: bool = False, corruptions: list[str] | None = None
) -> Iterator[ShownStimulus]:
    """Stimuli of a set in the order of their names, read a few hundred at a time.

    `corruptions` leaves only these functions, and the clean pictures.
    """
    label = "source_image__wnid" if own_labels else "source_image__category"
    columns = ("key", "source_image__key", label, "corruption", "visual_change", "file", "sha256")
    rows = stimuli_of_curves(stimulus_set).order_by("key")
    if corruptions is not None:
        rows = rows.filter(corruption__in=["none", *corruptions])
    last = ""
    while batch := list(rows.filter(key__gt=last).values_list(*columns)[: shards.SHARD_STIMULI]):
        last = batch[-1][0]
        for key, original, category, corruption, visual_change, file, sha256 in batch:
            yield ShownStimulus(key, original, category, corruption, visual_change, str(media_path(file)), sha256)


def _shards(run: EvaluationRun, asked: Asked, folder: Path) -> Iterator[PredictionShard]:
    for stimuli in batches_of(shards.SHARD_STIMULI, shown_stimuli(run.stimulus_set, own_labels=asked.own_labels)):
        yield PredictionShard(replace(asked, spec=located(asked.spec)), run.name, tuple(stimuli), str(folder))


def _predicted(run: EvaluationRun, asked: Asked, folder: Path, total: int, progress: Progress) -> list[Path]:
    """Files of all shards, in order; those that an earlier attempt finished are taken as they are."""
    parts: list[Path] = []
    done = 0

    def unfinished() -> Iterator[PredictionShard]:
        nonlocal done
        for shard in _shards(run, asked, folder):
            parts.append(shard.path)
            if shard.is_done:
                done += len(shard.stimuli)
            else:
                yield shard

    def tell() -> None:
        progress(min(done, total - 1), total, f"{run.name}: pictures classified")

    with _pool(asked, total) as pool:
        finished = run_in_order_of_completion(pool, predict_shard, unfinished(), tick=tell)
        with contextlib.closing(finished):
            for _path in finished:
                done = min(total, done + shards.SHARD_STIMULI)
                tell()
    return parts


def _pool(asked: Asked, total: int) -> AnyExecutor:
    """Where shards are predicted: in this process, unless there are many and the network computes on the processor."""
    is_worth_it = total >= MANY_SHARDS * shards.SHARD_STIMULI and not asked.spec.startswith("table:")
    wanted = settings.COMPUTE if is_worth_it or settings.COMPUTE.startswith("dask:") else "serial"
    return executor(setting_for(wanted, asked.device))


def _check_complete(stimulus_set: StimulusSet, classifier: Classifier | RecordedPredictions, asked: Asked) -> None:
    """Refuse, before anything is written, what cannot be predicted whole: a file is gone, or a row is missing."""
    for batch in batches_of(shards.SHARD_STIMULI, shown_stimuli(stimulus_set)):
        if isinstance(classifier, RecordedPredictions):
            classifier.predictions([one.stimulus for one in batch], asked.rule, own_labels=asked.own_labels)
            continue
        gone = next((one for one in batch if not Path(one.file).is_file()), None)
        if gone is not None:
            raise PictureRefused(
                f"The stimulus {gone.stimulus} has no file {gone.file}: make the set again from the same description "
                "and seed."
            )
