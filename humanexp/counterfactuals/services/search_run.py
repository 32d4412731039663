"""The job's work: shards of the search, their records into rows, scores at the end."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from django.conf import settings

from analysis.claims.robustness import SCORE_INTERVALS
from analysis.compute import executor, run_in_order_of_completion, setting_for
from analysis.counterfactuals.files import read_picture
from analysis.counterfactuals.intervals import scores_by_class
from analysis.counterfactuals.search_summaries import budget_study
from analysis.counterfactuals.shards import SearchShard, check_before_work, cut_search, search_shard
from humanexp.core.errors import Conflict
from humanexp.core.storage import media_path
from humanexp.counterfactuals.models import Counterfactual, SearchRun
from humanexp.counterfactuals.selectors.searches import records_of, search_originals, search_settings
from humanexp.counterfactuals.services.searching import complete, store_records
from humanexp.jobs.registry import Progress

_SPEED_PICTURES = 32


def run_search(run: SearchRun, progress: Progress) -> None:
    """Search for every picture of a run and complete it; what an earlier attempt finished is not done again."""
    shards = prepare(run)
    total = run.counterfactuals.count()
    done = 0
    progress(done, total, "pictures perturbed")
    with executor(setting_for(settings.COMPUTE, run.device)) as pool:
        outcomes = run_in_order_of_completion(
            pool, search_shard, shards, tick=lambda: progress(done, total, "pictures perturbed")
        )
        with contextlib.closing(outcomes):
            for records in outcomes:
                store_records(run=run, records=records)
                done += len(records)
                progress(done, total, "pictures perturbed")
    finish(run)


def prepare(run: SearchRun) -> list[SearchShard]:
    """Shards of a run, after everything that could refuse it; the digests are stored.

    What people have judged was made with the networks of then: with others a search does not go on.
    """
    ordered, originals = search_settings(run), search_originals(run)
    digests = check_before_work(ordered, originals)
    if run.digests != digests:
        if run.rounds.exists():
            raise Conflict(
                f"The classifier or the generator of {run} is another one than when its first round was made: put the "
                "file back, or search again under another name."
            )
        run.digests = digests
        run.save(update_fields=["digests"])
    return list(cut_search(ordered, originals))


def finish(run: SearchRun) -> None:
    """Score a run whose pictures have all left the search."""
    complete(run=run, scores=_scores(run), facts=_facts(run))


def _scores(run: SearchRun) -> dict[str, Any]:
    found = records_of(run)
    scored = scores_by_class(
        [one.category for one in found],
        clean_correct=[one.clean_correct for one in found],
        valid=[one.valid for one in found],
        counterfactual_correct=[one.counterfactual_correct for one in found],
    )
    points = budget_study(found, range(run.budget + 1)) if any(one.valid for one in found) else []
    return {
        "pooled": scored.pooled.to_dict(),
        "classes": {label: one.to_dict() for label, one in scored.classes.items()},
        "intervals_are": SCORE_INTERVALS,
        "mean_class_oor": scored.mean_class_oor if scored.mean_class_oor == scored.mean_class_oor else None,
        "by_budget": [
            {
                "budget": point.budget,
                "mean_loss": point.mean_loss,
                "mean_steps": point.mean_steps,
                "oor": point.score.oor if point.score.oor == point.score.oor else None,
            }
            for point in points
        ],
    }


def _facts(run: SearchRun) -> dict[str, Any]:
    """Size and speed of the model, on pictures of this search."""
    target = search_settings(run).load_target()
    pictures = _some_originals(list(run.counterfactuals.select_related("source_image", "run")[:_SPEED_PICTURES]))
    target.classifier.predict(pictures[:1])
    started = time.perf_counter()
    target.classifier.predict(pictures)
    elapsed = time.perf_counter() - started
    network: Any = getattr(target.classifier, "forward", None)
    weights = sum(values.numel() for values in network.parameters()) if hasattr(network, "parameters") else None
    return {"weights": weights, "pictures_per_s": len(pictures) / elapsed, "device": run.device}


def _some_originals(rows: Sequence[Counterfactual]) -> Any:
    return np.stack([read_picture(media_path(row.original_file)) for row in rows])
