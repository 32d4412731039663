"""Reads of this app: the leaderboard, and the pictures of a search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AnonymousUser

from analysis.claims.robustness import RESAMPLED_INTERVALS
from analysis.counterfactuals.files import SearchOriginal, SearchRecord, SearchSettings
from analysis.counterfactuals.search import picture_seeds
from analysis.counterfactuals.specifications import CROWD
from analysis.counterfactuals.summaries import caveats
from humanexp.core.errors import existing
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.counterfactuals.models import Benchmark, Counterfactual, Round, RoundState, SearchRun
from humanexp.evaluations.models import EvaluationRun
from humanexp.jobs.models import Job
from humanexp.jobs.selectors import newest_by_subject
from humanexp.ledger.terms import suggested_terms
from humanexp.recruiters import money
from humanexp.recruiters.models import Campaign
from humanexp.recruiters.registry import usual_ground
from humanexp.recruiting.launch import quote
from humanexp.results.selectors import findings, latest_run
from humanexp.studies.selectors import visible_to

#: Pictures of a gallery page.
PAGE = 24


@dataclass(frozen=True, kw_only=True)
class LeaderboardRow:
    """One row of the leaderboard; a number that is not known is None."""

    run: SearchRun
    oor: float | None
    oor_low: float | None
    oor_high: float | None
    clean: float | None
    vcr: float | None
    hmri: float | None
    pictures_per_s: float | None
    weights: int | None


#: Columns by which the leaderboard is sorted, and whether the largest comes first.
ORDERS: Mapping[str, bool] = {
    "oor": True,
    "vcr": True,
    "hmri": True,
    "clean": True,
    "pictures_per_s": True,
    "weights": False,
}


def leaderboard(user: User | AnonymousUser, *, order: str = "oor") -> list[LeaderboardRow]:
    """Finished searches; what is not known comes last."""
    human = _human_scores(user)
    rows = [_standing(run, human) for run in SearchRun.objects.filter(completed_at__isnull=False)]
    key = order if order in ORDERS else "oor"

    def place(row: LeaderboardRow) -> tuple[bool, float]:
        value = getattr(row, key)
        return value is None, 0.0 if value is None else (-value if ORDERS[key] else value)

    return sorted(rows, key=place)


def under_way() -> list[tuple[SearchRun, Job | None]]:
    """Searches without scores, each with its newest job: one that failed or was cancelled is here, too."""
    runs = list(SearchRun.objects.filter(completed_at=None))
    jobs = newest_by_subject([run.job_subject for run in runs])
    return [(run, jobs.get(run.job_subject)) for run in runs]


def search_by_name(name: str) -> SearchRun:
    return existing(
        SearchRun.objects.select_related("source_set").filter(name=name).first(), f"There is no search {name!r}."
    )


@dataclass(frozen=True)
class RoundRow:
    """A round, and what it would cost in a rehearsal at the suggested reward; None once it is judged."""

    round: Round
    estimate_cents: int | None


def rounds_of(run: SearchRun) -> list[RoundRow]:
    return [
        RoundRow(one, _estimate_cents(one) if one.state == RoundState.OPEN else None)
        for one in run.rounds.select_related("study", "run")
    ]


def _estimate_cents(one: Round) -> int:
    terms = suggested_terms(one.study)
    price = quote(to=usual_ground(), assignments=one.study.planned_sessions, reward_cents=terms.reward_cents)
    return price.total_cents


def committed_sums(run: SearchRun) -> dict[str, int]:
    """Quoted cost of everything that was published for the search, by currency."""
    campaigns = Campaign.objects.filter(study__counterfactual_round__run=run)
    return money.summed((campaign.currency, campaign.quoted_cents) for campaign in campaigns)


def round_of(run: SearchRun, step: int) -> Round:
    return existing(
        run.rounds.select_related("study", "run").filter(step=step).first(),
        f"The search {run} has no round of step {step}.",
    )


def benchmark_of(run: SearchRun) -> Benchmark | None:
    return Benchmark.objects.select_related("run", "stimulus_set").filter(run=run).first()


#: Which pictures a gallery shows.
SHOWN: Mapping[str, Mapping[str, Any]] = {
    "all": {},
    "valid": {"valid": True},
    "fooled": {"valid": True},
    "refused": {"valid": False},
}


#: How pages call them.
CHOICES = (("all", "All"), ("valid", "Accepted"), ("fooled", "Model fooled"), ("refused", "Refused at once"))


def gallery(run: SearchRun, *, shown: str, page: int) -> tuple[list[Counterfactual], int]:
    """Pictures of a page and how many there are; "fooled" are those that the model no longer names."""
    rows = run.counterfactuals.select_related("source_image", "run").filter(**SHOWN.get(shown, {}))
    if shown == "fooled":
        fooled = [one for one in rows if one.response != one.category]
        return fooled[page * PAGE : (page + 1) * PAGE], len(fooled)
    return list(rows[page * PAGE : (page + 1) * PAGE]), rows.count()


def has_begun(run: SearchRun) -> bool:
    """Whether any picture of it has been looked at."""
    return run.counterfactuals.exclude(clean_response="").exists()


def counterfactual_by_pk(pk: int) -> Counterfactual:
    return existing(
        Counterfactual.objects.select_related("source_image", "run").filter(pk=pk).first(), "There is no such picture."
    )


def search_settings(run: SearchRun) -> SearchSettings:
    """A run as the science house knows it."""
    return SearchSettings(
        classifier=run.classifier,
        generator=run.generator,
        oracle=run.oracle,
        folder=str(media_path(run.folder)),
        budget=run.budget,
        batch=run.batch,
        size_px=run.size_px,
        greyscale=run.greyscale,
        fgsm=run.fgsm,
        device=run.device,
        allow_code=run.may_run_code,
    )


def search_originals(run: SearchRun) -> list[SearchOriginal]:
    """Originals of a run, in their order, each with its seed."""
    rows = list(run.counterfactuals.select_related("source_image"))
    seeds = picture_seeds(run.seed, [row.place for row in rows])
    return [
        SearchOriginal(
            key=row.source_image.key,
            category=row.source_image.category,
            path=str(media_path(row.source_image.file)),
            sha256=row.source_image.sha256,
            seed=seed,
        )
        for row, seed in zip(rows, seeds, strict=True)
    ]


def records_of(run: SearchRun) -> list[SearchRecord]:
    """The rows of a run as records."""
    return [
        SearchRecord(
            key=row.source_image.key,
            category=row.category,
            valid=bool(row.valid),
            accepted_steps=row.accepted_steps,
            ending=row.ending,
            clean_response=row.clean_response,
            clean_loss=float(row.clean_loss or 0.0),
            losses=tuple(row.losses),
            responses=tuple(row.responses),
            oracle_responses=tuple(row.oracle_responses),
            sha256=row.sha256,
        )
        for row in run.counterfactuals.select_related("source_image")
    ]


def caveats_of(run: SearchRun) -> list[str]:
    """What a reader of the search should know of its generator."""
    return caveats(run.generator, run.digests.get("generator", ""), by_people=run.oracle == CROWD)


def said_of_intervals(run: SearchRun) -> str:
    """How the intervals that are stored with a search's scores came about."""
    return str(run.scores.get("intervals_are", RESAMPLED_INTERVALS))


def _standing(run: SearchRun, human: Mapping[str, tuple[float | None, float | None]]) -> LeaderboardRow:
    pooled = run.scores["pooled"]
    low, high = pooled["intervals"]["oor"]
    vcr, hmri = human.get(run.digests.get("classifier", ""), (None, None))
    return LeaderboardRow(
        run=run,
        oor=pooled["oor"],
        oor_low=low,
        oor_high=high,
        clean=pooled["sa"],
        vcr=vcr,
        hmri=hmri,
        pictures_per_s=run.facts.get("pictures_per_s"),
        weights=run.facts.get("weights"),
    )


def _human_scores(user: User | AnonymousUser) -> dict[str, tuple[float | None, float | None]]:
    """Mean area and mean HMRI of accuracy over corruptions, by the digest of the model, from the newest analyses."""
    scores: dict[str, tuple[float | None, float | None]] = {}
    for study in visible_to(user).filter(analysis_runs__isnull=False).distinct().order_by("pk"):
        run = latest_run(study)
        if run is None or study.stimulus_set_id is None:
            continue
        found = findings(run)
        for name, digest in EvaluationRun.objects.filter(
            stimulus_set_id=study.stimulus_set_id, completed_at__isnull=False
        ).values_list("name", "classifier_digest"):
            areas = [curve.area for curve in found.curves if (curve.population, curve.property) == (name, "accuracy")]
            indices = [one.hmri for one in found.comparisons if (one.classifier, one.property) == (name, "accuracy")]
            if areas or indices:
                scores[digest] = _mean(areas), _mean(indices)
    return scores


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
