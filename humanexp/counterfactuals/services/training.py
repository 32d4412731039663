"""A network trained further on a search's originals and their counterfactuals, and tested on another search's."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from analysis.classifiers.networks import require_gradients
from analysis.counterfactuals.files import read_picture
from analysis.counterfactuals.retraining import LabelledPictures, TwoByTwo, retrain_on_counterfactuals
from analysis.retraining.training import Recipe
from humanexp.core import ownership
from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.core.models import User
from humanexp.core.ownership import Right
from humanexp.core.storage import media_path
from humanexp.counterfactuals.models import SearchRun
from humanexp.counterfactuals.selectors import search_settings
from humanexp.evaluations.programs import check_out, write_network
from humanexp.evaluations.services.training_material import check_may_train, check_same_labels
from humanexp.evaluations.specs import check_trainable
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.registry import Progress

TRAIN_KIND = "counterfactuals.train"


def start_training(*, training: SearchRun, test: SearchRun, out: Path, recipe: Recipe, by: User | None = None) -> Job:
    """Queue a training on one search and the test on another one; refused before anything is trained."""
    check_out(out)
    check_trainable(training.classifier)
    for run, said in ((training, "trained on"), (test, "tested on")):
        ownership.check(by, Right.READ, run)
        if run.completed_at is None:
            raise Conflict(f"The search {run}, which is {said}, is not finished yet: let it come to its end first.")
        if not run.counterfactuals.exclude(sha256="").exists():
            raise Conflict(f"The oracle accepted no picture of {run}: there is nothing to be {said}.")
    check_may_train(training.source_set, field="training")
    check_same_labels(training.source_set, test.source_set, field="test")
    if training.digests["classifier"] != test.digests["classifier"]:
        raise InvalidRequest(
            f"{test} was searched against {test.model_name}, and {training} against {training.model_name}: test on "
            "counterfactuals of the same model.",
            fields={"test": f"against {training.model_name}"},
        )
    return jobs.start(
        TRAIN_KIND,
        subject=training.job_subject,
        by=by,
        training_id=training.pk,
        test_id=test.pk,
        out=str(out.resolve()),
        recipe=asdict(recipe),
    )


def train_and_test(
    *, training: SearchRun, test: SearchRun, out: Path, recipe: Recipe, progress: Progress
) -> dict[str, Any]:
    """Train, test before and after on originals and counterfactuals, and write network and table.

    An interrupted training goes on after its last epoch.
    """
    check_out(out)
    network = require_gradients(search_settings(training).load_target().classifier)
    learned, tested = labelled_pictures(training), labelled_pictures(test)
    total = recipe.epochs * -(-len(learned) // recipe.batch) + 1

    def tell(done: int, _total: int, loss: float) -> None:
        progress(min(done, total - 1), total, f"training, loss {loss:.3f}")

    folder = media_path(f"{training.folder}/training")
    checkpoint = folder / f"{out.stem}.pt"
    made = retrain_on_counterfactuals(network, learned, tested, recipe, checkpoint=checkpoint, tell=tell)
    report = table_of(made, training, test, recipe, n_trained=len(learned.labels))
    write_network(made.network, out, retrained_from=training.classifier, **report)
    shutil.rmtree(folder, ignore_errors=True)
    progress(total, total, "network trained and tested")
    return report


def labelled_pictures(run: SearchRun) -> LabelledPictures:
    """Originals of a search that have a counterfactual, and these."""
    rows = list(run.counterfactuals.select_related("source_image", "run").exclude(sha256=""))
    originals, kept = (
        np.stack([read_picture(media_path(file)) for file in files])
        for files in ([row.original_file for row in rows], [row.kept_file for row in rows])
    )
    return LabelledPictures(originals, kept, tuple(row.category for row in rows), run.source_set.space)


def table_of(made: TwoByTwo, training: SearchRun, test: SearchRun, recipe: Recipe, *, n_trained: int) -> dict[str, Any]:
    """Plain values: accuracy before and after, on originals and on counterfactuals, and their ratio."""
    rows = {}
    for name, (originals, counterfactuals) in zip(("before", "after"), made.accuracy.tolist(), strict=True):
        ratio = counterfactuals / originals if originals else None
        rows[name] = {"originals": originals, "counterfactuals": counterfactuals, "ratio": ratio}
    return {
        "training": training.name,
        "test": test.name,
        **rows,
        "trained_on": n_trained,
        "tested_on": made.n,
        "recipe": asdict(recipe),
        "seconds": made.seconds,
        "kept_epoch": made.kept,
        "curve": [one.to_dict() for one in made.curve],
    }


def written_table(out: Path) -> dict[str, Any]:
    """What was written with a network."""
    told: dict[str, Any] = json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))["provenance"]
    return told
