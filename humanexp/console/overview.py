"""What is going on in a study and what waits for its researcher, gathered from every app's selectors."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from humanexp.console.steps import Step, analysis_step, steps
from humanexp.experiments import selectors as experiments
from humanexp.experiments.models import Origin, Study
from humanexp.jobs import selectors as jobs
from humanexp.jobs.models import Job
from humanexp.recruitment import selectors as recruitment
from humanexp.recruitment.selectors import Progress
from humanexp.results import selectors as results
from humanexp.results.headline import Headline, headline_of
from humanexp.results.models import AnalysisRun, TrialImport
from humanexp.screening import selectors as screening


@dataclass(frozen=True)
class Bar:
    """Answers in one bin of visual change, all corruptions together, and where its rectangle stands in a 0-100 box."""

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


@dataclass(frozen=True, kw_only=True)
class Overview:
    study: Study
    sessions: dict[str, int]
    accepted: int
    excluded: dict[str, int]
    flagged: int
    money: Progress | None
    bars: list[Bar]
    run: AnalysisRun | None
    headline: Headline | None
    trial_import: TrialImport | None
    jobs: list[Job]
    steps: list[Step] = field(default_factory=list)

    @property
    def excluded_total(self) -> int:
        return sum(self.excluded.values())

    @property
    def answered(self) -> int:
        return sum(bar.answered for bar in self.bars)

    @property
    def planned_answers(self) -> int:
        return sum(bar.planned for bar in self.bars)

    @property
    def thinnest(self) -> Bar | None:
        """The planned bin with the smallest share of its answers."""
        planned = [bar for bar in self.bars if bar.planned]
        return min(planned, key=lambda bar: bar.answered / bar.planned, default=None)


def overview_of(study: Study) -> Overview:
    run = results.latest_run(study)
    headline = headline_of(results.findings(run)) if run is not None else None
    open_jobs = list(jobs.unfinished().filter(subject=results.subject_of(study)))
    if study.origin == Origin.IMPORTED:
        trial_import = results.trial_import_of(study)
        return Overview(
            study=study,
            sessions={},
            accepted=0,
            excluded={},
            flagged=0,
            money=None,
            bars=[],
            run=run,
            headline=headline,
            trial_import=trial_import,
            jobs=open_jobs,
            steps=[analysis_step(study, run)],
        )
    verdicts = screening.current_verdicts(study).values()
    flagged = sum(1 for verdict in verdicts if verdict.flags and not verdict.is_by_person)
    sessions = experiments.session_counts(study)
    money = recruitment.progress(study)
    accepted = sum(1 for verdict in verdicts if verdict.accepted)
    return Overview(
        study=study,
        sessions=sessions,
        accepted=accepted,
        excluded=screening.excluded_counts(study),
        flagged=flagged,
        money=money,
        bars=_bars(study),
        run=run,
        headline=headline,
        trial_import=None,
        jobs=open_jobs,
        steps=list(steps(study, sessions=sessions, flagged=flagged, run=run)),
    )


def _bars(study: Study) -> list[Bar]:
    """Planned and stored answers by bin of visual change, summed over corruptions."""
    planned: defaultdict[tuple[float, float], int] = defaultdict(int)
    answered: defaultdict[tuple[float, float], int] = defaultdict(int)
    for part in experiments.progress_by_bin(study):
        place = (part["low"], part["high"])
        planned[place] += part["planned"]
        answered[place] += part["answered"]
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
