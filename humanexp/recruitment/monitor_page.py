"""What the monitor shows: where people are, what it costs, what waits, and which pictures have how many answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from humanexp.experiments import selectors as experiment_selectors
from humanexp.experiments.answer_bars import bars
from humanexp.experiments.answer_counts import AnswerCounts, BinCount, answer_counts
from humanexp.experiments.models import Study
from humanexp.jobs import selectors as jobs
from humanexp.jobs.models import Job
from humanexp.recruitment import selectors
from humanexp.recruitment.charts import columns
from humanexp.recruitment.models import Hit, SenderLease
from humanexp.recruitment.selectors import Progress, totals
from humanexp.recruitment.states import HitState

#: Rows of a table on the page; the rest is counted.
SHOWN = 25
RECENT = 5


@dataclass(frozen=True, kw_only=True)
class Step:
    """How many came so far, and how many of the step before did not."""

    label: str | Promise
    count: int
    share: float
    lost: int


@dataclass(frozen=True, kw_only=True)
class Published:
    """HITs on their way to the recruiter."""

    done: int
    of: int

    @property
    def is_under_way(self) -> bool:
        return self.done < self.of


def figures(study: Study) -> dict[str, Any]:
    tally = selectors.tally_of(study)
    progress = selectors.progress(study, tally)
    payable, payable_cents = totals.payable_sum(study)
    return {
        "study": study,
        "progress": progress,
        "steps": steps(study, progress),
        "published": published(study),
        "jobs": list(_jobs(study)),
        "attention": selectors.attention(study, tally),
        "liability": selectors.liability(study, tally),
        "wage": selectors.wage_estimate(study),
        "unmatched": selectors.unmatched(study)[:SHOWN],
        "not_submitted": selectors.finished_not_submitted(study)[:SHOWN],
        "waiting": selectors.waiting_payments(study)[:SHOWN],
        "proposed": selectors.proposed_rejections(study)[:SHOWN],
        "rejected": selectors.rejections(study),
        "recent": selectors.latest_payments(study, RECENT),
        "chart": columns(selectors.sessions_over_time(study)),
        "refused_calls": experiment_selectors.refused_calls(study),
        "payable": payable,
        "payable_cents": payable_cents,
    }


def steps(study: Study, progress: Progress) -> list[Step]:
    """From the first click to the money; what happens here and what the recruiter lists stand apart."""
    finished = experiment_selectors.session_counts(study)["completed"]
    counts = [
        (_("Began"), progress.opened),
        (_("Finished here"), finished),
        (_("Submitted there"), progress.listed),
        (_("Approved"), progress.approved),
    ]
    most = max(1, *(count for _label, count in counts))
    before = [counts[0][1], *(count for _label, count in counts)]
    return [
        Step(label=label, count=count, share=count / most, lost=max(0, previous - count))
        for (label, count), previous in zip(counts, before, strict=False)
    ]


def published(study: Study) -> Published:
    hits = Hit.objects.filter(campaign__study=study).exclude(state=HitState.CANCELLED)
    return Published(done=hits.exclude(state=HitState.PLANNED).count(), of=hits.count())


def accounts_of(study: Study) -> QuerySet[SenderLease]:
    """With the recruiters that the study uses."""
    return SenderLease.objects.filter(environment__in=study.campaigns.values("environment"))


def _jobs(study: Study) -> QuerySet[Job]:
    """Long things of this study that go on now."""
    return jobs.unfinished().filter(subject__in=[f"study:{study.pk}", f"study:{study.slug}"])


def answers(study: Study) -> dict[str, Any]:
    counts: AnswerCounts = answer_counts(study)
    return {"study": study, "counts": counts, "bars": bars(counts.bins), "thin": thinnest(counts.bins)}


def thinnest(bins: Sequence[BinCount], *, shown: int = 5) -> list[BinCount]:
    """Where answers are missing most, as a share of the plan."""
    missing = [found for found in bins if found.answered < found.planned]
    return sorted(missing, key=lambda found: (found.answered / found.planned, found.corruption, found.low))[:shown]
