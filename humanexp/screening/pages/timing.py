"""The timing page: the certificate of a study's pictures, as a column chart and a table of participants."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from pydantic import JsonValue

from analysis.timing.certificate import EDGES, TimingSummary
from analysis.timing.rules import TIMING_RULE
from humanexp.jobs.registry import Progress
from humanexp.participation.tallies import Counted, Kind, Tally, tally_of
from humanexp.screening.selectors import certificate_of
from humanexp.studies.models import Study

WIDTH, HEIGHT, GAP = 640.0, 120.0, 3.0
#: A column with any presentation at all can be seen.
LEAST = 3.0
#: Participants in the page's table; all of them are in the file.
SHOWN = 100


@dataclass(frozen=True, kw_only=True)
class Column:
    """Presentations whose departure lies in one bin, in the units of the chart's view box."""

    x: float
    y: float
    width: float
    height: float
    low: float
    high: float
    count: int
    is_within: bool


@dataclass(frozen=True, kw_only=True)
class TimingPage:
    tally: Tally
    rule: str
    #: None: a large study that was not counted yet
    all: TimingSummary | None = None
    columns: tuple[Column, ...] = ()
    most: int = 0
    #: worst first
    participants: list[tuple[str, TimingSummary]] = field(default_factory=list)
    #: those in the file alone
    others: int = 0
    view_box: str = f"0 0 {WIDTH:g} {HEIGHT:g}"


def _counted(study: Study, report: Progress) -> Counted:
    certificate = certificate_of(study, report)
    people = sorted(
        certificate.participants.items(),
        key=lambda entry: (1.0 if entry[1].ok_share is None else entry[1].ok_share, entry[0]),
    )
    whole = {"study": study.slug, **certificate.to_json()}
    return Counted(
        content={
            "rule": certificate.rule,
            "all": _kept(certificate.all),
            "participants": [[code, _kept(summary)] for code, summary in people[:SHOWN]],
            "people": len(people),
        },
        whole=json.dumps(whole, indent=2, allow_nan=False).encode(),
    )


def _kept(summary: TimingSummary) -> dict[str, JsonValue]:
    return summary.model_dump(mode="json", exclude={"ok_share"})


TIMING = Kind(name="timing", count=_counted, url_name="screening:timing")


def timing_page(study: Study) -> TimingPage:
    tally = tally_of(study, TIMING.name)
    if tally.content is None:
        return TimingPage(tally=tally, rule=TIMING_RULE)
    everybody = TimingSummary.model_validate(tally.content["all"], extra="ignore")
    people = [
        (code, TimingSummary.model_validate(summary, extra="ignore")) for code, summary in tally.content["participants"]
    ]
    return TimingPage(
        tally=tally,
        rule=tally.content["rule"],
        all=everybody,
        columns=_columns(everybody.histogram),
        most=max(everybody.histogram),
        participants=people,
        others=tally.content["people"] - len(people),
    )


def _columns(histogram: tuple[int, ...]) -> tuple[Column, ...]:
    most = max(histogram) or 1
    width = WIDTH / len(histogram)
    columns = []
    for place, count in enumerate(histogram):
        low, high = EDGES[place], EDGES[place + 1]
        height = max(LEAST, round(HEIGHT * count / most, 2)) if count else 0.0
        columns.append(
            Column(
                x=round(place * width + GAP / 2, 2),
                y=HEIGHT - height,
                width=round(width - GAP, 2),
                height=height,
                low=low,
                high=high,
                count=count,
                is_within=abs(low + high) / 2 < 0.5,
            )
        )
    return tuple(columns)
