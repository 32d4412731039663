"""The timing page: the certificate of a study's pictures, as a column chart and a table of participants."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.timing import TimingCertificate, certify
from analysis.timing.certificate import EDGES, TimingSummary
from humanexp.experiments import selectors as experiments
from humanexp.experiments.models import Study
from humanexp.experiments.tasks import TASKS

WIDTH, HEIGHT, GAP = 640.0, 120.0, 3.0
#: A column with any presentation at all can be seen.
LEAST = 3.0


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
    certificate: TimingCertificate
    columns: tuple[Column, ...]
    most: int
    #: worst first
    participants: list[tuple[str, TimingSummary]]
    view_box: str = f"0 0 {WIDTH:g} {HEIGHT:g}"


def certificate_of(study: Study) -> TimingCertificate:
    """Every timed answer of a study that was not taken back, practice included: the screen knows no practice."""
    timed = {name for name, task in TASKS.items() if task.is_timed}
    return certify(row for row in experiments.trial_rows(study) if row["task"] in timed)


def timing_page(study: Study) -> TimingPage:
    certificate = certificate_of(study)
    return TimingPage(
        certificate=certificate,
        columns=_columns(certificate.all.histogram),
        most=max(certificate.all.histogram),
        participants=sorted(
            certificate.participants.items(),
            key=lambda entry: (1.0 if entry[1].ok_share is None else entry[1].ok_share, entry[0]),
        ),
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
