"""What the monitor shows: where people are, what it costs, what waits, and which pictures have how many answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from humanexp.jobs import selectors as jobs
from humanexp.jobs.models import Job
from humanexp.participation import selectors as participation_selectors
from humanexp.participation.answer_coverage import BinCount, bars, kept_counts
from humanexp.recruitment import selectors
from humanexp.recruitment.models import Assignment, RecruiterAccount
from humanexp.recruitment.selectors import Funnel, Owed, Why
from humanexp.recruitment.selectors.timeline import OpenedBin
from humanexp.recruitment.states import AssignmentState, HitState
from humanexp.studies.models import Study

#: Rows of a table on the page; the rest is counted.
SHOWN = 25
RECENT = 5


@dataclass(frozen=True, kw_only=True)
class Step:
    """How many came so far, and how many of the step before did not."""

    label: str | Promise
    count: int
    share: float
    fewer: int


@dataclass(frozen=True, kw_only=True)
class Way:
    """The steps of those who came through a recruiter, or by a link."""

    funnel: Funnel
    steps: tuple[Step, ...]


def figures(study: Study) -> dict[str, Any]:
    tally = selectors.tally_of(study)
    found = selectors.figures_of(study, tally)
    owed = selectors.owed(study)
    payable = selectors.payable(owed)
    attention = selectors.attention(study, tally)
    kinds, rejected = {one.kind for one in attention}, tally.people([AssignmentState.REJECTED])
    return {
        "study": study,
        "figures": found,
        "pay": [(money, selectors.wage_of(study, tally, money.currency)) for money in found.moneys],
        "ways": [way_of(funnel) for funnel in found.funnels],
        "published": published(tally),
        "jobs": list(_jobs(study)),
        "attention": attention,
        "held": held_rows(owed),
        "held_beside": max(0, sum(row.hold is not None for row in owed) - SHOWN),
        # asked for where there are any, as was counted above
        "waiting": selectors.waiting_payments(study)[:SHOWN] if any(money.waiting for money in found.moneys) else [],
        "proposed": selectors.proposed_rejections(study)[:SHOWN] if "proposal" in kinds else [],
        "rejected": selectors.rejections(study, SHOWN) if rejected else [],
        "rejected_beside": max(0, rejected - SHOWN),
        "recent": selectors.latest_payments(study, RECENT),
        "refused_calls": participation_selectors.refused_calls(study),
        "payable": len(payable),
        "payable_sums": selectors.sums_of(payable),
    }


@dataclass(frozen=True, kw_only=True)
class HeldRow:
    """Somebody who is owed money and is not simply paid, and who it is."""

    owed: Owed
    assignment: Assignment


def held_rows(owed: Sequence[Owed]) -> list[HeldRow]:
    """As many as a page shows, in the order of the list."""
    held = [row for row in owed if row.hold is not None][:SHOWN]
    people = Assignment.objects.select_related("person__participant", "session", "campaign")
    found = people.in_bulk([row.assignment for row in held])
    return [HeldRow(owed=row, assignment=found[row.assignment]) for row in held]


@dataclass(frozen=True, kw_only=True)
class OwedLine:
    """Of one reason: how many people, and what it comes to in each currency."""

    label: str | Promise
    people: int
    sums: dict[str, int]


def owed_lines(rows: Sequence[Owed]) -> list[OwedLine]:
    """By what it is owed for."""
    found = ((why, [row for row in rows if row.why is why]) for why in Why)
    return [OwedLine(label=why.label, people=len(some), sums=selectors.sums_of(some)) for why, some in found if some]


def way_of(funnel: Funnel) -> Way:
    """From the first click to the end of it: by a link nothing is submitted and nobody is paid."""
    counts = [(_("Began"), funnel.began), (_("Finished here"), funnel.finished)]
    if funnel.pays:
        counts += [(_("Submitted there"), funnel.submitted), (_("Approved"), funnel.approved)]
    before = [funnel.began, *(count for _label, count in counts)]
    steps = (
        Step(label=label, count=count, share=count / max(1, funnel.began), fewer=previous - count)
        for (label, count), previous in zip(counts, before, strict=False)
    )
    return Way(funnel=funnel, steps=tuple(steps))


def published(tally: selectors.Tally) -> dict[str, int]:
    """HITs that the recruiter has, of those that it is to have."""
    wanted = [row for row in tally.hits if row.state != HitState.CANCELLED]
    done = sum(row.count for row in wanted if row.state != HitState.PLANNED)
    return {"done": done, "of": sum(row.count for row in wanted)}


def accounts_of(study: Study) -> QuerySet[RecruiterAccount]:
    """With the recruiters that the study uses."""
    return RecruiterAccount.objects.filter(environment__in=study.campaigns.values("environment"))


def _jobs(study: Study) -> QuerySet[Job]:
    """Long things of this study that go on now."""
    return jobs.unfinished().filter(subject__in=[f"study:{study.pk}", f"study:{study.slug}"])


def answers(study: Study) -> dict[str, Any]:
    tally, counts = kept_counts(study)
    bins = counts.bins if counts is not None else ()
    return {
        "study": study,
        "chart": columns(selectors.sessions_over_time(study)),
        "tally": tally,
        "counts": counts,
        "bars": bars(bins),
        "thin": thinnest(bins),
    }


def thinnest(bins: Sequence[BinCount], *, shown: int = 5) -> list[BinCount]:
    """Where answers are missing most, as a share of the plan."""
    missing = [found for found in bins if found.answered < found.planned]
    return sorted(missing, key=lambda found: (found.answered / found.planned, found.corruption, found.low))[:shown]


WIDTH, HEIGHT, GAP = 640.0, 120.0, 3.0


@dataclass(frozen=True, kw_only=True)
class Column:
    x: float
    width: float
    opened_y: float
    opened_height: float
    completed_y: float
    completed_height: float
    start: datetime
    opened: int
    completed: int


@dataclass(frozen=True, kw_only=True)
class Columns:
    columns: tuple[Column, ...]
    most: int
    view_box: str = f"0 0 {WIDTH:g} {HEIGHT:g}"


def columns(bins: Sequence[OpenedBin]) -> Columns | None:
    """One column a bin: begun, and inside it finished. None when there is nothing to show."""
    most = max((max(b.opened, b.completed) for b in bins), default=0)
    if not most:
        return None
    width = WIDTH / len(bins)

    def height(count: int) -> float:
        return round(HEIGHT * count / most, 2)

    return Columns(
        most=most,
        columns=tuple(
            Column(
                x=round(number * width + GAP / 2, 2),
                width=round(width - GAP, 2),
                opened_y=HEIGHT - height(b.opened),
                opened_height=height(b.opened),
                completed_y=HEIGHT - height(b.completed),
                completed_height=height(b.completed),
                start=b.start,
                opened=b.opened,
                completed=b.completed,
            )
            for number, b in enumerate(bins)
        ),
    )
