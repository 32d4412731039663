"""Reads of this app: the leaderboard, the pictures of a search, and finished searches that can be read together."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count

from analysis.claims.robustness import RESAMPLED_INTERVALS
from analysis.classifiers.papers import PaperModel, model_of
from analysis.counterfactuals.files import SearchOriginal, SearchRecord, SearchSettings
from analysis.counterfactuals.search import picture_seeds
from analysis.counterfactuals.specifications import CROWD
from analysis.counterfactuals.summaries import caveats, signed_step_caveats
from analysis.findings.model.comparisons import SearchesTogether
from analysis.study.validation import IS_ONE
from humanexp.core.errors import existing
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.counterfactuals.models import Benchmark, Counterfactual, Round, RoundState, SearchGroup, SearchRun
from humanexp.evaluations.models import EvaluationRun
from humanexp.jobs.models import Job
from humanexp.jobs.selectors import newest_by_subject
from humanexp.ledger.terms import suggested_terms
from humanexp.participation.answers import iter_trial_rows
from humanexp.recruiters import money
from humanexp.recruiters.models import Campaign
from humanexp.recruiters.registry import usual_ground
from humanexp.recruiting.launch import quote
from humanexp.results.selectors import findings, latest_run
from humanexp.results.tables import accuracies_at_levels
from humanexp.screening.selectors import accepted_sessions
from humanexp.studies.selectors import visible_to

#: Only the first showing of a picture counts.
_FIRST_SHOWINGS = frozenset({"main", "consistency_first"})


@dataclass(frozen=True)
class RoundVerdicts:
    """Votes by the key of the original: {"yes", "n", "accepted"}; a tie is no acceptance."""

    by_key: dict[str, dict[str, Any]]

    @property
    def unanswered(self) -> int:
        return sum(not votes["n"] for votes in self.by_key.values())

    @property
    def fewest(self) -> int:
        """Answers to the picture that has fewest."""
        return min((votes["n"] for votes in self.by_key.values()), default=0)


def verdicts_on(one: Round) -> RoundVerdicts:
    """Majority of yes to both questions, per picture."""
    counting = accepted_sessions(one.study)
    yes: Counter[str] = Counter()
    answers: Counter[str] = Counter()
    for row in iter_trial_rows(one.study):
        if row["session"] in counting and row["role"] in _FIRST_SHOWINGS:
            answers[row["stimulus"]] += 1
            yes[row["stimulus"]] += row["response"] == IS_ONE
    return RoundVerdicts(
        {
            key: {"yes": yes[name], "n": answers[name], "accepted": 2 * yes[name] > answers[name]}
            for key, name in one.stimuli.items()
        }
    )


#: From so many models on generators can rank them.
FEWEST_RANKED = 3


@dataclass(frozen=True)
class Group:
    """The newest finished search of each model with each generator, among searches that have all else in common."""

    key: str
    #: newest first; one for each model and generator
    runs: tuple[SearchRun, ...]

    @property
    def first(self) -> SearchRun:
        """Tells what all have in common."""
        return self.runs[0]

    @property
    def run_ids(self) -> list[int]:
        return sorted(run.pk for run in self.runs)

    @cached_property
    def models(self) -> dict[str, str]:
        """Names of the models by digest, in alphabetical order of the names."""
        return _named(self.runs, "classifier", lambda run: run.model_name)

    @cached_property
    def generators(self) -> dict[str, str]:
        """Names of the generators by digest, in alphabetical order of the names."""
        return _named(self.runs, "generator", lambda run: generator_name(run.generator))

    def run_of(self, model: str, generator: str) -> SearchRun | None:
        """The search of a model with a generator, both by digest."""
        wanted = {"classifier": model, "generator": generator}
        return next((run for run in self.runs if wanted.items() <= run.digests.items()), None)

    @property
    def is_transferable(self) -> bool:
        """Whether there is a second model to test pictures on."""
        return len(self.models) > 1


def groups() -> list[Group]:
    """Every group, those with the most searches first."""
    by_key: dict[str, list[SearchRun]] = {}
    finished = SearchRun.objects.filter(completed_at__isnull=False).select_related("source_set")
    for run in finished.annotate(n_pictures=Count("counterfactuals")).order_by("-pk"):
        by_key.setdefault(_key(run, run.n_pictures), []).append(run)
    found = [Group(key, tuple(_newest(runs))) for key, runs in by_key.items()]
    return sorted(found, key=lambda group: (-len(group.models), -len(group.runs), -group.first.pk))


def group_by_key(key: str) -> Group:
    return existing(next((group for group in groups() if group.key == key), None), "There are no such searches.")


def stored(group: Group) -> SearchGroup | None:
    """What was computed of a group, if anything was."""
    return SearchGroup.objects.filter(key=group.key).first()


def result_of(found: SearchGroup | None) -> SearchesTogether:
    """What was computed, as charts read it."""
    return SearchesTogether.model_validate(found.result if found else {}, extra="ignore")


def generator_name(spec: str) -> str:
    """A specification of a generator, or of a classifier, without the folder of its file."""
    kind, _, rest = spec.partition(":")
    main, comma, options = rest.partition(",")
    return f"{kind}:{main.rpartition('/')[2]}{comma}{options}".rstrip(":")


def _newest(runs: Iterable[SearchRun]) -> Iterable[SearchRun]:
    seen: set[tuple[str, str]] = set()
    for run in runs:
        pair = run.digests["classifier"], run.digests["generator"]
        if pair not in seen:
            seen.add(pair)
            yield run


def _key(run: SearchRun, n_pictures: int) -> str:
    """Digest of what makes searches comparable; originals follow from their set and their number."""
    people = [run.population, run.answers_per_picture] if run.is_crowd else []
    same = [
        run.source_set_id, n_pictures, run.size_px, run.greyscale, run.fgsm, run.budget, run.seed,
        run.digests["oracle"], *people,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(same).encode()).hexdigest()[:16]


def _named(runs: Iterable[SearchRun], what: str, name: Callable[[SearchRun], str]) -> dict[str, str]:
    """Names by digest; a name that two digests share is told apart by the newest search of each."""
    newest = {run.digests[what]: run for run in reversed(list(runs))}
    names = [name(run) for run in newest.values()]
    told = {
        digest: name(run) if names.count(name(run)) == 1 else f"{name(run)} ({run.name})"
        for digest, run in newest.items()
    }
    return dict(sorted(told.items(), key=lambda entry: entry[1]))


#: Pictures of a gallery page.
PAGE = 24


@dataclass(frozen=True, kw_only=True)
class LeaderboardRow:
    """One row of the leaderboard; a number that is not known is None."""

    run: SearchRun
    oor: float | None
    oor_low: float | None
    oor_high: float | None
    #: share that the oracle accepted at once
    vr: float | None
    clean: float | None
    #: at the published levels of ImageNet-C
    at_levels: float | None
    vcr: float | None
    hmri: float | None
    pictures_per_s: float | None
    weights: int | None

    @property
    def known(self) -> PaperModel | None:
        """What the papers say of it, where it is one of their networks."""
        return model_of(self.run.classifier)


#: Columns by which the leaderboard is sorted, and whether the largest comes first.
ORDERS: Mapping[str, bool] = {
    "oor": True,
    "vr": True,
    "vcr": True,
    "hmri": True,
    "clean": True,
    "at_levels": True,
    "pictures_per_s": True,
    "weights": False,
}


def leaderboard(user: User | AnonymousUser, *, order: str = "oor") -> list[LeaderboardRow]:
    """Finished searches; what is not known comes last."""
    human, at_levels = _human_scores(user), accuracies_at_levels()
    rows = [_standing(run, human, at_levels) for run in SearchRun.objects.filter(completed_at__isnull=False)]
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
        labels=run.source_set.labels.document if run.source_set.labels else "",
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
    """What a reader of the search should know of its generator and its control."""
    of_generator = caveats(run.generator, run.digests.get("generator", ""), by_people=run.oracle == CROWD)
    return [*of_generator, *signed_step_caveats(run.fgsm)]


def said_of_intervals(run: SearchRun) -> str:
    """How the intervals that are stored with a search's scores came about."""
    return str(run.scores.get("intervals_are", RESAMPLED_INTERVALS))


def _standing(
    run: SearchRun, human: Mapping[str, tuple[float | None, float | None]], at_levels: Mapping[str, float]
) -> LeaderboardRow:
    pooled = run.scores["pooled"]
    low, high = pooled["intervals"]["oor"]
    vcr, hmri = human.get(run.digests.get("classifier", ""), (None, None))
    return LeaderboardRow(
        run=run,
        oor=pooled["oor"],
        oor_low=low,
        oor_high=high,
        vr=pooled.get("vr"),
        clean=pooled["sa"],
        at_levels=at_levels.get(run.digests.get("classifier", "")),
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
