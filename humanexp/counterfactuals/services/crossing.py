"""Networks tested on the counterfactuals of several searches, also those that were not searched: the crossed tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from analysis.counterfactuals.files import SearchSettings
from analysis.counterfactuals.port import Target
from analysis.counterfactuals.score import ScoreWithIntervals, score_with_intervals
from analysis.counterfactuals.transfer import KeptPicture, named_kept, named_originals
from analysis.errors import ClassifierUnavailable
from humanexp.core import file_store
from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.counterfactuals.models import SearchRun
from humanexp.counterfactuals.selectors import records_of, search_originals, search_settings
from humanexp.counterfactuals.services.searches import default_model_name
from humanexp.evaluations.specs import SHELF, from_shelf
from humanexp.jobs.registry import Progress, silent
from humanexp.stimuli.selectors.sets import bring_originals


@dataclass(frozen=True)
class Crossed:
    """A network on the counterfactuals of one search."""

    run: SearchRun
    tested: str
    classifier: str
    scores: ScoreWithIntervals

    def to_dict(self) -> dict[str, Any]:
        return {
            "search": self.run.name,
            "made_against": self.run.model_name,
            "generator": self.run.generator,
            "tested": self.tested,
            "classifier": self.classifier,
            **self.scores.to_dict(),
        }


def cross(runs: Sequence[SearchRun], classifiers: Sequence[str], progress: Progress = silent) -> list[Crossed]:
    """Test the models of these searches, and further ones, on the counterfactuals of each search.

    Clean pictures are all originals, prepared as a search of the tested network would: on its own counterfactuals a
    model has the scores of its search.
    """
    _check_alike(runs)
    file_store.bring(SHELF, *(run.folder for run in runs))
    bring_originals(runs[0].source_set)
    tested = _tested(runs, classifiers)
    originals = search_originals(runs[0])
    records = {run.pk: records_of(run) for run in runs}
    found = []
    for place, (name, settings, target) in enumerate(tested):
        progress(place, len(tested), "networks tested")
        clean = named_originals(target, settings, originals)
        for run in runs:
            valid = np.array([one.valid for one in records[run.pk]])
            kept = [KeptPicture(one.key, one.category, one.sha256) for one in records[run.pk] if one.valid]
            right = np.zeros(len(valid), bool)
            folder = search_settings(run).folder
            right[valid] = named_kept(target, folder, kept, batch=settings.batch)
            scores = score_with_intervals(clean_correct=clean, valid=valid, counterfactual_correct=right)
            found.append(Crossed(run, name, settings.classifier, scores))
    progress(len(tested), len(tested), "networks tested")
    return sorted(found, key=lambda one: list(runs).index(one.run))


def _tested(runs: Sequence[SearchRun], classifiers: Sequence[str]) -> list[tuple[str, SearchSettings, Target]]:
    """Each network once, with its name: those of the searches first."""
    asked = [(run.model_name, search_settings(run), run.digests["classifier"]) for run in runs]
    own = search_settings(runs[0])
    for classifier in classifiers:
        spec = from_shelf(classifier)
        asked.append((default_model_name(spec), replace(own, classifier=spec, allow_code=True), ""))
    found: dict[str, tuple[str, SearchSettings, Target]] = {}
    for name, settings, digest in asked:
        target = settings.load_target()
        if digest and target.digest != digest:
            raise ClassifierUnavailable(
                f"{settings.classifier} is not the network that was searched: put its file back, or search again."
            )
        taken = {known for known, _settings, _target in found.values()}
        found.setdefault(
            target.digest, (f"{name} ({settings.classifier})" if name in taken else name, settings, target)
        )
    return list(found.values())


def _check_alike(runs: Sequence[SearchRun]) -> None:
    """Refuse what is not finished, and searches of other pictures: accuracies would not be of the same originals."""
    unfinished = next((run for run in runs if run.completed_at is None), None)
    if unfinished is not None:
        raise Conflict(f"The search {unfinished} is not finished yet: let it come to its end first.")
    first, *others = runs
    own = _pictures(first)
    for run in others:
        if _pictures(run) != own:
            raise InvalidRequest(
                f"{run} was not made of the same pictures as {first}: set, number, size and controls are the same in "
                "searches that are crossed.",
                fields={"search": run.name},
            )


def _pictures(run: SearchRun) -> tuple[object, ...]:
    keys = tuple(run.counterfactuals.order_by("place").values_list("source_image__key", flat=True))
    return run.source_set_id, run.size_px, run.greyscale, run.fgsm, keys
