"""Where the participants of a study are: how far each is, where people stop, how well pictures were timed, on what.

Everything is counted by the database, whatever the number of sessions; only the rows of one page are read. What takes
every answer is counted by jobs.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.core.paginator import Page

from humanexp.core.pages.navigation import tab_address
from humanexp.participation.pages.live.activity import Activity, Step, counts_by_standing, groups_of, steps_of
from humanexp.participation.pages.live.figures import Figures, kept_figures
from humanexp.participation.pages.live.rows import SessionRow, page_of
from humanexp.participation.tallies import Tally
from humanexp.studies.models import Study

__all__ = ["LivePage", "Standing", "live_page"]

#: From so many sessions on, the page asks less often.
MANY = 2000


@dataclass(frozen=True, kw_only=True)
class LivePage:
    #: sessions by standing
    counts: dict[Activity, int]
    steps: list[Step]
    tally: Tally
    #: None: a large study that was not counted yet
    figures: Figures | None
    rows: Page[SessionRow]
    #: which standing the rows are of; None = all
    shown: Activity | None
    #: address of the study's timing certificate; empty where there is none
    certificate: str

    @property
    def begun(self) -> int:
        return sum(self.counts.values())

    @property
    def every_s(self) -> int:
        """How often the page asks: ten thousand sessions take half a second to be counted."""
        return 10 if self.begun < MANY else 30

    @property
    def under_way(self) -> int:
        return self.counts[Activity.UNDER_WAY]

    @property
    def unpractised(self) -> int:
        """Whose session ended with the practice."""
        return sum(step.unpractised for step in self.steps)

    @property
    def unqualified(self) -> int:
        return sum(step.unqualified for step in self.steps)

    @property
    def finished(self) -> int:
        """Who came to the end of the task."""
        return self.counts[Activity.FINISHED] - self.unpractised - self.unqualified

    @property
    def lost(self) -> int:
        """Who has left, or is not heard of any more."""
        return self.counts[Activity.LEFT] + self.counts[Activity.SILENT]

    @property
    def lost_share(self) -> float:
        return self.lost / self.begun if self.begun else 0.0


def live_page(study: Study, *, show: str = "", number: str = "1") -> LivePage:
    """The page of a study; `show` is a standing or nothing, `number` a page of its sessions."""
    shown = Activity(show) if show in Activity.values else None
    tally, figures = kept_figures(study)
    groups = groups_of(study)
    counts = counts_by_standing(groups)
    count = sum(counts.values()) if shown is None else counts[shown]
    return LivePage(
        counts=counts,
        steps=steps_of(groups),
        tally=tally,
        figures=figures,
        rows=page_of(study, shown=shown, number=number, count=count),
        shown=shown,
        certificate=tab_address("timing", study.slug),
    )
