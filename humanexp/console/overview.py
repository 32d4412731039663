"""What is going on in a study and what waits for its researcher, gathered from every app's selectors."""

from __future__ import annotations

from dataclasses import dataclass, field

from humanexp.console.steps import Step, analysis_step, steps
from humanexp.experiments import selectors as experiments
from humanexp.experiments.answer_bars import Bar, bars
from humanexp.experiments.answer_counts import kept_counts
from humanexp.experiments.models import Origin, Study
from humanexp.jobs import selectors as jobs
from humanexp.jobs.models import Job
from humanexp.recruitment import selectors as recruitment
from humanexp.recruitment.selectors import Figures, Wage
from humanexp.results import selectors as results
from humanexp.results.headline import Headline, headline_of
from humanexp.results.models import AnalysisRun, TrialImport
from humanexp.screening import selectors as screening


@dataclass(frozen=True, kw_only=True)
class Overview:
    study: Study
    sessions: dict[str, int]
    accepted: int
    excluded: dict[str, int]
    flagged: int
    figures: Figures | None
    bars: list[Bar]
    run: AnalysisRun | None
    headline: Headline | None
    trial_import: TrialImport | None
    jobs: list[Job]
    wage: Wage | None = None
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
            figures=None,
            bars=[],
            run=run,
            headline=headline,
            trial_import=trial_import,
            jobs=open_jobs,
            steps=[analysis_step(study, run)],
        )
    _tally, counted = kept_counts(study)
    sessions, tally = experiments.session_counts(study), recruitment.tally_of(study)
    verdicts = screening.verdict_counts(study, finished=sessions["completed"])
    return Overview(
        study=study,
        sessions=sessions,
        accepted=verdicts.accepted,
        excluded=verdicts.reasons,
        flagged=verdicts.flagged,
        figures=recruitment.figures_of(study, tally),
        wage=recruitment.wage_of(study, tally),
        bars=bars(counted.bins) if counted is not None else [],
        run=run,
        headline=headline,
        trial_import=None,
        jobs=open_jobs,
        steps=list(steps(study, sessions=sessions, flagged=verdicts.flagged, run=run, tally=tally)),
    )
