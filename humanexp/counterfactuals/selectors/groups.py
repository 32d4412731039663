"""Finished searches that can be read together, and what people said of the pictures of a round."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import Count

from analysis.findings.model.comparisons import SearchesTogether
from analysis.study.validation import IS_ONE
from humanexp.core.errors import existing
from humanexp.counterfactuals.models import Round, SearchGroup, SearchRun
from humanexp.participation.answers import iter_trial_rows
from humanexp.screening.selectors import accepted_sessions

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
    """A specification without the folder of its file."""
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
