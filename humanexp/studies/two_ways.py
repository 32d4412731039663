"""Two ways to ask whether functions are alike for people, by curves or by same/different trials: what each costs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, Literal

from analysis.errors import InvalidInput
from analysis.figures.table import Column, Table
from analysis.study.design import DiscriminationDesign
from humanexp.studies.facts import trial_ms
from humanexp.studies.models import Study
from humanexp.studies.power import ALPHA, LEAN, WANTED_POWER, planned_answers
from humanexp.studies.selectors import configuration_of
from humanexp.studies.tasks import TASKS

#: The published study of one function: pictures, and people who name each.
PUBLISHED_PICTURES, PUBLISHED_PEOPLE = 2_000, 5
#: A true share right that the published test is planned for: a pair that people plainly tell apart.
PLAINLY = 0.8
#: Plain pairs of a person in a session with nothing else, where the plan compares no pictures.
PLAIN_PAIRS = 16

Means = Literal["curves", "pairs"]


@dataclass(frozen=True, kw_only=True)
class Way:
    """What one way takes of two functions; numbers are None where it is beyond any study."""

    means: Means
    name: str
    #: what can be said afterwards
    shows: str
    people: int | None
    answers: int | None
    #: of trials alone, all people together
    hours: float | None
    #: pay of these hours without fees, in the smallest unit of a currency
    pay_cents: int | None

    @property
    def pay(self) -> str:
        """In whole units of whatever currency the study pays."""
        return "" if self.pay_cents is None else f"{self.pay_cents / 100:,.2f}"


@dataclass(frozen=True, kw_only=True)
class TwoWays:
    """The ways side by side, at the study's own durations and pay."""

    rows: tuple[Way, ...]
    #: seconds of a trial in which a picture is named, and of one in which pictures are compared
    naming_s: float
    comparing_s: float
    hourly_cents: int
    form: str

    @property
    def assumed(self) -> str:
        """On what the rows rest."""
        form = "ABX" if self.form == "abx" else "same/different"
        return (
            f"One pair of functions, trials alone: naming takes {self.naming_s:.1f} s, a {form} trial "
            f"{self.comparing_s:.1f} s, an hour is paid {self.hourly_cents / 100:,.2f} without fees; instructions, "
            f"practice and questions come on top. Power {WANTED_POWER:g} at level {ALPHA:g}. The ways ask different "
            "things: two curves, whether people name pictures equally well; pairs, whether they see which function "
            "changed a picture. The paper's 5.55 hours are its 10,000 answers on one function at 2 s each, its 5 "
            "minutes the published test of pairs that are told apart; a test that finds nothing does not show that "
            "two functions are alike."
        )

    @property
    def table(self) -> Table:
        """For a report: one row a way."""
        return Table(
            "ways",
            "Two ways to find functions that are alike",
            (
                Column("way", "Way"),
                Column("shows", "Shows"),
                Column("people", "People", "count"),
                Column("answers", "Answers", "count"),
                Column("hours", "Hours", "number", 2),
                Column("pay", "Pay", "number", 2),
            ),
            tuple(
                (
                    row.name,
                    row.shows,
                    row.people,
                    row.answers,
                    row.hours,
                    None if row.pay_cents is None else row.pay_cents / 100,
                )
                for row in self.rows
            ),
            (self.assumed,),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self) | {"assumed": self.assumed}


def two_ways(study: Study) -> TwoWays | None:
    """None for studies that judge pictures: these compare no functions."""
    configuration = configuration_of(study)
    if configuration.design.validation is not None:
        return None
    asked, protocol = configuration.design.discrimination or DiscriminationDesign(), configuration.protocol
    task = "abx" if asked.form == "abx" else "discrimination"
    naming_ms, comparing_ms = (trial_ms(TASKS[name], protocol, has_feedback=False) for name in ("categorisation", task))
    hourly = configuration.recruitment.planned_hourly_cents

    def way(means: Means, name: str, shows: str, people: int | None, answers: int | None) -> Way:
        hours = None
        if answers is not None:
            hours = answers * (naming_ms if means == "curves" else comparing_ms) / 3_600_000
        pay = None if hours is None else round(hours * hourly)
        return Way(means=means, name=name, shows=shows, people=people, answers=answers, hours=hours, pay_cents=pay)

    published = 2 * PUBLISHED_PICTURES * PUBLISHED_PEOPLE
    rows = [way("curves", "two curves, as published", "whether 83 % bands overlap", None, published)]
    planned = planned_answers(study)
    if planned is not None:
        answers = 2 * planned.trials_each * planned.people
        shows = "equivalent, different or undecided, by windows of raw answers"
        rows.insert(0, way("curves", "two curves, as this study plans", shows, planned.people, answers))
    rows += _by_pairs(asked, way, has_plan=configuration.design.discrimination is not None)
    return TwoWays(
        rows=tuple(rows),
        naming_s=naming_ms / 1000,
        comparing_s=comparing_ms / 1000,
        hourly_cents=hourly,
        form=asked.form,
    )


def _by_pairs(asked: DiscriminationDesign, way: Callable[..., Way], *, has_plan: bool) -> list[Way]:
    """Same/different or ABX trials of people who each do a session's worth on the one pair."""
    from analysis.similarity.binomial import trials_to_find
    from analysis.similarity.sample_size import PlannedPairs, people_for_equivalence, people_to_detect
    from analysis.similarity.sensitivity import d_prime_of
    from analysis.study.analysis_plan import OBSERVER_MODEL

    plain = asked.sentinels if has_plan else PLAIN_PAIRS
    does = PlannedPairs(asked.trials, plain, form=asked.form, bias=LEAN[asked.form])
    told_apart = d_prime_of(PLAINLY, asked.form, OBSERVER_MODEL)
    rows = []
    sought: tuple[tuple[str, Callable[[], int]], ...] = (
        ("equivalent, where nobody can tell them apart", lambda: people_for_equivalence(does, power=WANTED_POWER)),
        (
            f"different, where people without bias are right in {100 * PLAINLY:.0f} %",
            lambda: people_to_detect(told_apart, does, power=WANTED_POWER, alpha=ALPHA),
        ),
    )
    for shows, count in sought:
        people: int | None = None
        with suppress(InvalidInput):  # beyond any study
            people = count()
        answers = None if people is None else people * (does.trials_each + does.plain_each)
        rows.append(way("pairs", "pairs, by d′", shows, people, answers))
    shows = f"“not random”, where {100 * PLAINLY:.0f} % are right; never alike"
    return [*rows, way("pairs", "pairs, by the published binomial test", shows, None, trials_to_find(PLAINLY))]
