"""How many answers the pictures of a study have so far, and as bars. The database counts: there may be millions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Count, Q

from humanexp.jobs.registry import Progress
from humanexp.participation.models import Response, counting
from humanexp.participation.tallies import Counted, Kind, Tally, content_of, tally_of
from humanexp.stimuli.models import Stimulus
from humanexp.studies.models import Study
from humanexp.studies.plans import plan_head

#: Bins of visual change in which progress is shown.
BINS = 10
#: Answers that enter curves: main trials that are no pairs, and the first showing of what is shown twice.
_COUNTED = Q(trial__role="main", trial__second_stimulus=None) | Q(trial__role="consistency_first")


@dataclass(frozen=True, kw_only=True)
class BinCount:
    """Answers on one corruption in one bin of visual change."""

    corruption: str
    low: float
    high: float
    planned: int
    answered: int


@dataclass(frozen=True, kw_only=True)
class AnswerCounts:
    """Answers by bin, and how they are spread over pictures."""

    bins: tuple[BinCount, ...]
    #: how many pictures have so many answers: (answers, pictures), the fewest answers first; none is not in it
    spread: tuple[tuple[int, int], ...]

    @classmethod
    def from_dict(cls, kept: dict[str, Any]) -> AnswerCounts:
        return cls(
            bins=tuple(BinCount(**found) for found in kept["bins"]),
            spread=tuple((number, pictures) for number, pictures in kept["spread"]),
        )

    @property
    def answers(self) -> int:
        return sum(number * pictures for number, pictures in self.spread)

    @property
    def pictures(self) -> int:
        return sum(pictures for _number, pictures in self.spread)


def answer_counts(study: Study) -> AnswerCounts:
    """Of the sessions that count; what others answered, nobody can analyse."""
    stored = Response.objects.filter(_COUNTED, counting("session"), session__study=study).exclude(set_aside=True)
    by_picture = dict(stored.order_by().values_list("trial__stimulus").annotate(n=Count("pk")))
    answered: Counter[tuple[str, int]] = Counter()
    pictures = Stimulus.objects.filter(stimulus_set_id=study.stimulus_set_id)
    for pk, corruption, change in pictures.values_list("pk", "corruption", "visual_change").iterator():
        if pk in by_picture:
            answered[corruption, min(BINS - 1, int(change * BINS))] += by_picture[pk]
    strata = plan_head(study)["summary"]["strata"] if study.plan_file else {}
    return AnswerCounts(
        bins=tuple(
            BinCount(
                corruption=corruption,
                low=number / BINS,
                high=(number + 1) / BINS,
                planned=planned,
                answered=answered[corruption, number],
            )
            for corruption, counts in strata.items()
            for number, planned in enumerate(counts)
        ),
        spread=tuple(sorted(Counter(by_picture.values()).items())),
    )


def _counted(study: Study, report: Progress) -> Counted:
    counts = asdict(answer_counts(study))
    report(1, 1)
    return Counted(content=counts)


ANSWERS = Kind(name="answers", count=_counted, url_name="recruitment:answers")


def kept_counts(study: Study) -> tuple[Tally, AnswerCounts | None]:
    """As they were last counted."""
    tally = tally_of(study, ANSWERS.name)
    return tally, AnswerCounts.from_dict(tally.content) if tally.content is not None else None


def kept_bins(study: Study) -> tuple[BinCount, ...]:
    """The same without the age of the count; none where nothing was counted."""
    content = content_of(study, ANSWERS.name)
    return AnswerCounts.from_dict(content).bins if content is not None else ()


@dataclass(frozen=True, kw_only=True)
class Bar:
    """Answers in one bin of visual change, all corruptions together, and where its rectangle is in a 0-100 box."""

    low: float
    high: float
    planned: int
    answered: int
    x: float
    width: float
    planned_height: float
    answered_height: float

    @property
    def planned_y(self) -> float:
        return 100 - self.planned_height

    @property
    def answered_y(self) -> float:
        return 100 - self.answered_height


def bars(bins: Iterable[BinCount]) -> list[Bar]:
    """One bar a bin, summed over corruptions; the tallest is as high as the box."""
    planned: Counter[tuple[float, float]] = Counter()
    answered: Counter[tuple[float, float]] = Counter()
    for found in bins:
        planned[found.low, found.high] += found.planned
        answered[found.low, found.high] += found.answered
    tallest = max([*planned.values(), *answered.values(), 1])
    return [
        Bar(
            low=low,
            high=high,
            planned=planned[low, high],
            answered=answered[low, high],
            x=100 * low + 0.5,
            width=100 * (high - low) - 1,
            planned_height=100 * planned[low, high] / tallest,
            answered_height=100 * answered[low, high] / tallest,
        )
        for low, high in sorted(planned)
    ]
