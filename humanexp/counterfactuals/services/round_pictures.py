"""Counterfactual pictures as stimuli: files and rows of a stimulus set, with clean pictures beside them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from analysis.corruptions.registry import NO_CORRUPTION
from analysis.counterfactuals.shards import Proposal
from analysis.generation.files import UNFINISHED, decode_png, digest, encode_png, write_atomically
from analysis.generation.originals import prepare_original
from analysis.generation.shards import METRIC_NAME
from analysis.visual_change.vif import VifReference
from humanexp.core.storage import media_path
from humanexp.counterfactuals.models import SearchRun
from humanexp.jobs.registry import Progress
from humanexp.stimuli import services as stimuli
from humanexp.stimuli.models import Framing, Sampling, SourceImage, StimulusSet

#: The `corruption` column of pictures that a search made.
COUNTERFACTUAL = "counterfactual"
#: Originals beside the judged ones, for practice and sentinels.
_MOST_BESIDE = 64
#: A session of validation has four new pictures or more.
_FEWEST = 4


def make_stimuli(
    run: SearchRun, proposals: Sequence[Proposal], progress: Progress
) -> tuple[StimulusSet, dict[str, str]]:
    """Stimulus set of a round, and the stimulus of each proposal by the key of its original.

    The last pictures of a search are too few for a session: kept pictures that have left are shown again beside them,
    and nobody counts what is said of those.
    """
    step = proposals[0].step
    files = {proposal.key: f"{run.folder}/{proposal.file}" for proposal in proposals}
    for one in run.counterfactuals.select_related("source_image", "run").exclude(source_image__key__in=files):
        if len(files) >= _FEWEST:
            break
        files[one.source_image.key] = one.kept_file if one.sha256 else one.original_file
    return picture_set(run, f"{run.name}-step-{step}", files, step=step, progress=progress)


def picture_set(
    run: SearchRun, name: str, files: Mapping[str, str], *, step: int, progress: Progress
) -> tuple[StimulusSet, dict[str, str]]:
    """A complete stimulus set of pictures by the key of their original, with clean pictures of these and others."""
    made = StimulusSet.objects.filter(name=name, source_set=run.source_set).first() or _described(run, name)
    names = {key: f"{COUNTERFACTUAL}-{number:05d}" for number, key in enumerate(sorted(files), start=1)}
    if made.completed_at is not None:
        return made, names
    images = _images(run, files)
    rows = []
    for number, image in enumerate(images, start=1):
        progress(number, len(images), "pictures measured")
        rows += _rows(run, name, image, files.get(image.key), names.get(image.key, ""), number, step)
    stimuli.store_stimuli(stimulus_set=made, folder=f"stimuli/{name}", rows=rows)
    stimuli.complete_stimulus_set(stimulus_set=made)
    return made, names


def _described(run: SearchRun, name: str) -> StimulusSet:
    stimuli.freeze_source_set(source_set=run.source_set)
    return StimulusSet.objects.create(
        name=name,
        source_set=run.source_set,
        corruptions=[COUNTERFACTUAL],
        sampling=Sampling.IMPORTED,
        framing=Framing.WHOLE,
        count_per_corruption=0,
        size_px=run.size_px,
        metric=METRIC_NAME,
        lab_id=run.lab_id,
        created_by=run.created_by,
    )


def _images(run: SearchRun, files: Mapping[str, str]) -> list[SourceImage]:
    shown = list(run.source_set.images.filter(key__in=files).order_by("key"))
    searched = run.counterfactuals.values("source_image_id")
    others = run.source_set.images.exclude(pk__in=searched)
    # Pictures that classifiers found easy come first: positive sentinels are drawn from them.
    beside = sorted(others, key=lambda image: (not image.is_agreed, image.key))[:_MOST_BESIDE]
    return [*shown, *sorted(beside, key=lambda image: image.key)]


def _rows(
    run: SearchRun, name: str, image: SourceImage, file: str | None, stimulus: str, number: int, step: int
) -> list[dict[str, Any]]:
    """The clean picture of an original and, where there is one, its counterfactual."""
    folder = media_path(f"stimuli/{name}")
    clean = prepare_original(media_path(image.file), run.size_px)
    png = encode_png(clean)
    clean_name = f"none-{number:05d}"
    write_atomically(folder / f"{clean_name}.png", png, beside=folder / UNFINISHED)
    rows = [_row(clean_name, image, NO_CORRUPTION, "", digest(png), visual_change=0.0)]
    if file is not None:
        content = media_path(file).read_bytes()
        changed = max(0.0, 1.0 - VifReference(clean).vif(decode_png(content)))
        write_atomically(folder / f"{stimulus}.png", content, beside=folder / UNFINISHED)
        version = run.digests.get("generator", "")[:20]
        row = _row(stimulus, image, COUNTERFACTUAL, version, digest(content), visual_change=min(1.0, changed))
        rows.append({**row, "parameter": float(step), "seed": run.seed})
    shutil.rmtree(folder / UNFINISHED, ignore_errors=True)
    return rows


def _row(
    stimulus: str, image: SourceImage, corruption: str, version: str, sha256: str, *, visual_change: float
) -> dict[str, Any]:
    return {
        "stimulus": stimulus,
        "original": image.key,
        "corruption": corruption,
        "corruption_version": version,
        "parameter": 0.0,
        "seed": 0,
        "target": None,
        "visual_change": visual_change,
        "evaluations": 0,
        "reached": True,
        "sha256": sha256,
        "file": f"{stimulus}.png",
    }
