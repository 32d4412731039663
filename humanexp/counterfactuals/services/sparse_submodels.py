"""The latent dimensions that a finished search used, found by a sparse regression and written to a file."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings

from analysis.compute import executor, run_in_order_of_completion, setting_for
from analysis.counterfactuals.files import SearchRecord
from analysis.counterfactuals.shards import cut_search
from analysis.counterfactuals.sparse_submodel import PUBLISHED_STRENGTH, SparseSubmodel, fit_sparse_submodel
from analysis.counterfactuals.walked_latents import Latents, Walk, WalkedLatents, check_walkable, walk_again
from humanexp.core import file_store, ownership
from humanexp.core.errors import Conflict, InputRefused
from humanexp.core.models import User
from humanexp.core.ownership import Right
from humanexp.core.storage import media_path
from humanexp.counterfactuals.models import SearchRun
from humanexp.counterfactuals.selectors import records_of, search_originals, search_settings
from humanexp.evaluations.programs import check_file
from humanexp.evaluations.specs import SHELF
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.registry import Progress

SPARSE_KIND = "counterfactuals.sparse"
SUFFIX = ".npy"
_WRITTEN = "the selected dimensions are written as an array of numpy"


def start_sparse(
    *,
    run: SearchRun,
    out: Path,
    strength: float = PUBLISHED_STRENGTH,
    seed: int = 0,
    latents: Latents = "encoder",
    by: User | None = None,
) -> Job:
    """Queue the fit of a submodel to a finished search; refused before anything is walked again."""
    ownership.check(by, Right.READ, run)
    check_file(out, SUFFIX, what=_WRITTEN, beside=(".json",))
    if run.completed_at is None:
        raise Conflict(f"The search {run} is not finished yet: let it come to its end first.")
    if strength <= 0:
        raise InputRefused(f"The strength is above 0, not {strength}.")
    check_walkable(search_settings(run).load_generator())
    return jobs.start(
        SPARSE_KIND,
        subject=run.job_subject,
        by=by,
        run_id=run.pk,
        out=str(out.resolve()),
        strength=strength,
        seed=seed,
        latents=latents,
    )


def fit_sparse(
    *, run: SearchRun, out: Path, strength: float, seed: int, latents: Latents, progress: Progress
) -> dict[str, Any]:
    """Walk the search again, shard by shard, fit, and write dimensions and report; what was walked stays walked."""
    check_file(out, SUFFIX, what=_WRITTEN, beside=(".json",))
    settings_of, originals = search_settings(run), search_originals(run)
    records = {record.key: record for record in records_of(run)}
    walks = [
        Walk(shard, tuple(records[original.key] for original in shard.originals))
        for shard in cut_search(settings_of, originals)
    ]
    parts: list[WalkedLatents] = []

    def tell() -> None:
        progress(len(parts), len(walks) + 1, "parts of the search walked again")

    tell()
    with executor(setting_for(settings.COMPUTE, run.device)) as pool:
        outcomes = run_in_order_of_completion(pool, walk_again, walks, tick=tell)
        with contextlib.closing(outcomes):
            for part in outcomes:
                parts.append(part)
                tell()
    # In an order that does not depend on which part came first.
    walked = WalkedLatents.joined(sorted(parts, key=lambda part: part.before.tobytes()))
    progress(len(walks), len(walks) + 1, "the regression is fitted")
    before, after = walked.taken(latents, check_walkable(settings_of.load_generator()))
    made = fit_sparse_submodel(before, after, strength=strength, seed=seed)
    report = {**_report(run, made, walked, list(records.values())), "latents": latents}
    _write(out, made, report)
    progress(len(walks) + 1, len(walks) + 1, "submodel fitted")
    return report


def _report(run: SearchRun, made: SparseSubmodel, walked: WalkedLatents, records: list[SearchRecord]) -> dict[str, Any]:
    return {
        "search": run.name,
        "source_set": run.source_set.name,
        "classifier": run.classifier,
        "generator": run.generator,
        "digests": run.digests,
        "pictures": len(records),
        "walked": len(walked),
        "as_kept": walked.n_as_kept,
        "share": made.share,
        "selected": int(made.dimensions.sum()),
        "dimensions": int(made.dimensions.size),
        "test_score": made.test_score,
        "strength": made.strength,
        "n_train": made.n_train,
        "n_test": made.n_test,
        "seconds": made.seconds,
    }


def _write(out: Path, made: SparseSubmodel, report: dict[str, Any]) -> None:
    """Each file whole, the dimensions, which a search reads, last."""
    buffer = io.BytesIO()
    np.save(buffer, made.dimensions, allow_pickle=False)
    for path, content in (
        (out.with_suffix(".json"), (json.dumps(report, indent=1) + "\n").encode()),
        (out, buffer.getvalue()),
    ):
        unfinished = path.with_name(f".{path.name}.unfinished")
        unfinished.write_bytes(content)
        unfinished.replace(path)
    if out.parent == media_path(SHELF):
        file_store.publish(f"{SHELF}/{out.name}", f"{SHELF}/{out.with_suffix('.json').name}")
