from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from analysis.counterfactuals.walked_latents import Latents
from analysis.retraining.training import Recipe
from humanexp.core import file_store
from humanexp.counterfactuals.models import Round, RoundState, SearchRun
from humanexp.counterfactuals.services import rounds, searches, sparse_submodels, training
from humanexp.counterfactuals.services.benchmarks import GROUP_KIND, run_transfer
from humanexp.counterfactuals.services.rounds import start_round
from humanexp.counterfactuals.services.searches import run_search
from humanexp.counterfactuals.services.sparse_submodels import fit_sparse
from humanexp.counterfactuals.services.training import train_and_test
from humanexp.evaluations.specs import SHELF
from humanexp.jobs.registry import Progress, handler
from humanexp.stimuli.selectors.sets import bring_originals


@handler(searches.SEARCH_KIND, title="Counterfactuals are searched")
def search(progress: Progress, *, run_id: int) -> dict[str, Any]:
    """Search for counterfactuals; with people as the oracle, make the pictures of the first round."""
    run = SearchRun.objects.select_related("source_set").get(pk=run_id)
    with _files_of(run):
        if run.is_crowd:
            rounds.open_first(run, progress)
            return {"rounds": run.rounds.count()}
        run_search(run, progress)
    return {"oor": run.scores["pooled"]["oor"], "n_valid": run.scores["pooled"]["n_valid"]}


@handler(searches.ROUND_KIND, title="A round is judged")
def go_on(progress: Progress, *, round_id: int) -> dict[str, Any]:
    """Take people's verdicts on a round, and make the pictures of the next one."""
    judged = Round.objects.select_related("run__source_set", "study").get(pk=round_id)
    with _files_of(judged.run):
        following = rounds.go_on(judged, progress)
    return {"next_step": following.opened.step if following.opened else None, "waits": following.waits}


@handler(GROUP_KIND, title="Models are tested on each other's pictures")
def transfer(progress: Progress, *, group_key: str) -> dict[str, Any]:
    """Test every model of a group of searches on the pictures made against the others."""
    return dict(run_transfer(group_key, progress))


@handler(sparse_submodels.SPARSE_KIND, title="A sparse submodel is fitted")
def sparse(
    progress: Progress, *, run_id: int, out: str, strength: float, seed: int, latents: Latents = "encoder"
) -> dict[str, Any]:
    """Fit the latent dimensions that a finished search used."""
    run = SearchRun.objects.select_related("source_set").get(pk=run_id)
    with _files_of(run):
        return fit_sparse(run=run, out=Path(out), strength=strength, seed=seed, latents=latents, progress=progress)


@handler(training.TRAIN_KIND, title="A network is trained on counterfactuals")
def train(progress: Progress, *, training_id: int, test_id: int, out: str, recipe: dict[str, Any]) -> dict[str, Any]:
    """Train on one search, test on another."""
    runs = SearchRun.objects.select_related("source_set__labels").in_bulk([training_id, test_id])
    learned, tested = runs[training_id], runs[test_id]
    with _files_of(learned), _files_of(tested):
        return train_and_test(training=learned, test=tested, out=Path(out), recipe=Recipe(**recipe), progress=progress)


@handler("counterfactuals.look", title="Rounds are looked at", every_s=60)
def look(progress: Progress) -> dict[str, Any]:
    """Go on with every round that has all its judgements."""
    begun = 0
    waiting = list(Round.objects.select_related("run", "study").filter(state=RoundState.OPEN))
    for number, one in enumerate(waiting):
        progress(number, len(waiting), "rounds looked at")
        begun += start_round(one=one, only_complete=True) is not None
    return {"begun": begun}


@contextmanager
def _files_of(run: SearchRun) -> Iterator[None]:
    """Here for the time of the block; whatever it comes to, the next machine finds what was made."""
    file_store.bring(SHELF, run.folder)
    bring_originals(run.source_set)
    try:
        yield
    finally:
        file_store.publish(run.folder)
