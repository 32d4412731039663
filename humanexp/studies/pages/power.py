"""What the page of power shows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from analysis.claims import corruptions, models, recruiters
from analysis.figures.page import to_plotly
from humanexp.studies.models import PowerEstimate

if TYPE_CHECKING:
    from analysis.figures.value import Figure
    from analysis.power.sizes import SizeReport
    from analysis.power.study import PlannedStudy, PowerReport


@dataclass(frozen=True)
class SizeRow:
    """One simulated size: shares with the intervals that the number of runs leaves open."""

    report: PowerReport
    is_planned: bool

    @property
    def interval(self) -> tuple[float, float]:
        return self.report.interval(self.report.different)


@dataclass(frozen=True)
class PowerPage:
    """A complete estimate in words, rows and figures."""

    estimate: PowerEstimate
    is_outdated: bool

    @cached_property
    def found(self) -> SizeReport:
        from analysis.power.sizes import SizeReport

        return SizeReport.from_dict(self.estimate.report)

    @cached_property
    def planned(self) -> PlannedStudy:
        from analysis.power.study import PlannedStudy

        return PlannedStudy.from_dict(self.estimate.planned)

    @property
    def rows(self) -> list[SizeRow]:
        return [SizeRow(one, one.people == self.found.planned.people) for one in self.found.sizes]

    @property
    def answer(self) -> SizeRow:
        """The study as it is planned."""
        return SizeRow(self.found.planned, True)

    @property
    def on_equal_corruptions(self) -> str:
        """How often nothing is seen where nothing differs, and how often something."""
        alike = self.found.alike
        low, high = alike.interval(alike.equivalent)
        return corruptions.planned_words(
            people=alike.people, equivalent=alike.equivalent, low=low, high=high, different=alike.different
        )

    @property
    def on_models(self) -> tuple[str, ...]:
        """How often a model like people would match, and a worse one differ; empty in estimates of earlier versions."""
        found = self.found.models
        if found is None:
            return ()
        return models.planned_words(
            people=found.people,
            corruptions=found.functions,
            answers=found.answers,
            matches=found.matches,
            own_matches=found.own_matches,
            matches_one=found.matches_one,
            own_matches_one=found.own_matches_one,
            gap=found.gap,
            gap_differs=found.gap_differs,
        )

    @property
    def on_recruiters(self) -> str:
        """What it takes to tell the crowds of several recruiters apart; empty where one is planned."""
        found = self.found.recruiters
        if found is None:
            return ""
        return recruiters.planned_sentence(
            people=found.people,
            difference=found.difference,
            power=found.power,
            planned=found.planned,
            reached=found.reached,
        )

    @property
    def believed(self) -> dict[str, float]:
        """The first curve in numbers (templates would call a curve)."""
        curve = self.planned.curve
        return {**asdict(curve), "area": curve.area}

    @cached_property
    def power_figure(self) -> dict[str, Any]:
        from analysis.power.sizes import power_figure

        return _drawn(power_figure(self.found))

    @cached_property
    def believed_figure(self) -> dict[str, Any]:
        from analysis.power.sizes import believed_figure

        curve = self.planned.curve
        return _drawn(believed_figure(curve, curve.lowered(self.found.planned.difference)))


def power_page(estimate: PowerEstimate | None) -> PowerPage | None:
    """Of a complete estimate; outdated once the plan is another one."""
    if estimate is None:
        return None
    return PowerPage(estimate, estimate.plan_digest != estimate.study.plan_digest)


def _drawn(figure: Figure) -> dict[str, Any]:
    return {**to_plotly(figure), "description": figure.description}
