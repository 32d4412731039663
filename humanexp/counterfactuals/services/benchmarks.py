"""Finished searches: one frozen as a benchmark, or several read together."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from django.db import transaction

from analysis.compute import executor, run_in_order_of_completion, setting_for
from analysis.counterfactuals.summaries import generator_agreement
from analysis.counterfactuals.transfer import KeptPicture, TransferCell, TransferMatrix, count_cell
from analysis.findings.model.comparisons import RankAgreement, SearchesTogether, Transfer
from humanexp.core import clock, file_store, ownership
from humanexp.core.errors import Conflict, existing
from humanexp.core.models import User, record
from humanexp.core.ownership import Right
from humanexp.core.storage import media_path, write_whole
from humanexp.counterfactuals.models import Benchmark, SearchGroup, SearchRun
from humanexp.counterfactuals.selectors import (
    FEWEST_RANKED,
    Group,
    caveats_of,
    group_by_key,
    records_of,
    search_settings,
    stored,
)
from humanexp.counterfactuals.services.rounds import picture_set
from humanexp.evaluations.specs import SHELF
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.registry import Progress, silent
from humanexp.jobs.selectors import latest_for
from humanexp.stimuli.models import StimulusSet

MANIFEST = "manifest.json"


def freeze(*, run: SearchRun, by: User | None = None) -> Benchmark:
    """Freeze the kept pictures of a finished search with a manifest that holds the digest of every file."""
    ownership.check(by, Right.CHANGE, run)
    if run.completed_at is None:
        raise Conflict(f"The search {run} is not finished yet: let it come to its end first.")
    existing = Benchmark.objects.filter(run=run).first()
    if existing is not None:
        return existing
    kept = [record for record in records_of(run) if record.sha256]
    if not kept:
        raise Conflict(f"The oracle accepted no picture of {run}: there is nothing to freeze.")
    content = json.dumps(_manifest(run, [asdict(record) for record in kept]), indent=1, sort_keys=True).encode()
    write_whole(manifest_path(run), content)
    file_store.publish(f"{run.folder}/{MANIFEST}")
    digest = hashlib.sha256(content).hexdigest()
    with transaction.atomic():
        record(action="freeze-search", subject=f"search:{run.name}", by=by, pictures=len(kept))
        return Benchmark.objects.create(name=run.name, run=run, manifest_sha256=digest, count=len(kept), frozen_by=by)


def as_stimuli(*, benchmark: Benchmark, progress: Progress = silent) -> StimulusSet:
    """The frozen pictures as a stimulus set for human trials; the same again gives the same set."""
    if benchmark.stimulus_set is not None:
        return benchmark.stimulus_set
    run = benchmark.run
    files = {one.source_image.key: one.kept_file for one in run.counterfactuals.select_related("source_image", "run")
             if one.sha256}  # fmt: skip
    made, _names = picture_set(run, f"{benchmark.name}-benchmark", files, step=run.budget, progress=progress)
    benchmark.stimulus_set = made
    benchmark.save(update_fields=["stimulus_set"])
    return made


def manifest_path(run: SearchRun) -> Path:
    return media_path(f"{run.folder}/{MANIFEST}")


def _manifest(run: SearchRun, pictures: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "name": run.name,
        "source_set": run.source_set.name,
        "classifier": run.classifier,
        "generator": run.generator,
        "oracle": run.oracle,
        "digests": run.digests,
        "budget": run.budget,
        "size_px": run.size_px,
        "seed": run.seed,
        "greyscale": run.greyscale,
        "fgsm": run.fgsm,
        "scores": run.scores,
        "caveats": caveats_of(run),
        "pictures": [
            {**picture, "file": f"pictures/{picture['category']}/{picture['key']}.png"} for picture in pictures
        ],
    }


GROUP_KIND = "counterfactuals.transfer"


def run_transfer(group_key: str, progress: Progress) -> dict[str, int]:
    """Test every model on every other's pictures, compare generators, and store both."""
    group = group_by_key(group_key)
    found = existing(stored(group), "There are no such searches.")
    file_store.bring(SHELF, *(run.folder for run in group.runs))
    cells = list(_cells(group))
    correct: dict[tuple[int, ...], int] = {}

    def tell() -> None:
        progress(len(correct), len(cells), "models tested on pictures made against another")

    tell()
    device = next((run.device for run in group.runs if run.device != "cpu"), "cpu")
    with executor(setting_for(settings.COMPUTE, device)) as pool:
        outcomes = run_in_order_of_completion(pool, count_cell, cells, tick=tell)
        with contextlib.closing(outcomes):
            for place, count in outcomes:
                correct[place] = count
                tell()
    result = SearchesTogether(transfer=_matrices(group, correct), agreement=_agreement(group))
    found.run_ids, found.result, found.computed_at = group.run_ids, result.to_json(), clock.now()
    found.save(update_fields=["run_ids", "result", "computed_at"])
    return {"cells": len(cells)}


def _cells(group: Group) -> Iterator[TransferCell]:
    """What is not known yet: a search tells how its own model does on its pictures."""
    of_model = {run.digests["classifier"]: run for run in group.runs}
    for run in group.runs:
        kept = _kept(run)
        for column, tested in enumerate(group.models):
            if kept and tested != run.digests["classifier"]:
                yield TransferCell(
                    place=(run.pk, column), folder=str(media_path(run.folder)), kept=kept,
                    tested=search_settings(of_model[tested]), digest=tested,
                )  # fmt: skip


def _kept(run: SearchRun) -> tuple[KeptPicture, ...]:
    rows = run.counterfactuals.select_related("source_image").exclude(sha256="")
    return tuple(KeptPicture(row.source_image.key, row.category, row.sha256) for row in rows)


def _matrices(group: Group, correct: Mapping[tuple[int, ...], int]) -> tuple[Transfer, ...]:
    """A matrix for each generator: rows the models it was searched against, columns all models."""
    told = []
    for generator, name in group.generators.items():
        rows = {model: run for model in group.models if (run := group.run_of(model, generator))}
        counts = [
            [
                _own_correct(run) if tested == model else correct.get((run.pk, column), 0)
                for column, tested in enumerate(group.models)
            ]
            for model, run in rows.items()
        ]
        matrix = TransferMatrix(
            tuple(group.models[model] for model in rows),
            tuple(group.models.values()),
            np.array(counts, np.int64),
            tuple(run.scores["pooled"]["n_valid"] for run in rows.values()),
        )
        told.append(
            Transfer(
                generator=name,
                made_against=matrix.made_against,
                tested=matrix.tested,
                correct=tuple(map(tuple, matrix.correct.tolist())),
                n_valid=matrix.n_valid,
                intervals=tuple(
                    tuple(None if n == 0 else (ends[0], ends[1]) for ends in row)
                    for n, row in zip(matrix.n_valid, matrix.intervals().tolist(), strict=True)
                ),
            )
        )
    return tuple(told)


def _own_correct(run: SearchRun) -> int:
    return sum(one.valid and one.counterfactual_correct for one in records_of(run))


def _agreement(group: Group) -> tuple[RankAgreement, ...]:
    """Rank correlations of OOR for the pairs of generators that have three models or more in common."""
    told = []
    for pair in itertools.combinations(_oor(group).items(), 2):
        first, second = (oor for _generator, oor in pair)
        if sum(model in second for model in first) >= FEWEST_RANKED:
            (found,) = generator_agreement(dict(pair))
            told.append(RankAgreement(pair=found.pair, rho=_plain(found.rho), tau=_plain(found.tau), n=found.n))
    return tuple(told)


def _oor(group: Group) -> dict[str, dict[str, float]]:
    """OOR by the names of generator and model; what has none is left out."""
    return {
        generator: {
            model: run.scores["pooled"]["oor"]
            for digest, model in group.models.items()
            if (run := group.run_of(digest, key)) and run.scores["pooled"]["oor"] is not None
        }
        for key, generator in group.generators.items()
    }


def _plain(value: float) -> float | None:
    return value if value == value else None


def start_transfer(*, group: Group, by: User | None = None) -> Job:
    """Queue the tests of every model on the pictures made against the others; one under way is left alone."""
    for run in group.runs:
        ownership.check(by, Right.READ, run)
    if not group.is_transferable:
        raise Conflict("Pictures are tested on other models: search against a second one first.")
    found, _created = SearchGroup.objects.get_or_create(key=group.key)
    job = latest_for(found.job_subject, GROUP_KIND)
    if job is not None and not job.is_finished:
        return job
    return jobs.submit(GROUP_KIND, subject=found.job_subject, by=by, group_key=group.key)
