"""What is going on in a study and what waits for its researcher, gathered from every app's selectors."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from humanexp.core import navigation
from humanexp.evaluations import selectors as evaluations
from humanexp.experiments import selectors as experiments
from humanexp.experiments.models import Origin, Study, StudyState
from humanexp.jobs import selectors as jobs
from humanexp.jobs.models import Job, JobState
from humanexp.recruitment import selectors as recruitment
from humanexp.recruitment.selectors import Progress
from humanexp.results import selectors as results
from humanexp.results.headline import Headline, headline_of
from humanexp.results.models import AnalysisRun, TrialImport
from humanexp.screening import selectors as screening


@dataclass(frozen=True)
class Step:
    """Something to do next: a sentence, and where to do it."""

    text: str
    action: str = ""
    url: str = ""
    #: "", good, warn or bad
    tone: str = ""


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
            steps=[_analysis_step(study, run)],
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
        steps=_steps(study, sessions, flagged, len(verdicts), run),
    )


def next_step(study: Study) -> Step:
    """The first thing to do, for the list of studies; cheaper than the whole overview."""
    run = results.latest_run(study)
    if study.origin == Origin.IMPORTED:
        return _analysis_step(study, run)
    sessions = experiments.session_counts(study)
    return _steps(study, sessions, 0, sessions["completed"], run)[0]


def _steps(study: Study, sessions: dict[str, int], flagged: int, judged: int, run: AnalysisRun | None) -> list[Step]:
    """What waits for a person, the most urgent first; at least one."""
    steps = [Step(found.text, _("Look"), _tab("monitor", study), found.tone) for found in recruitment.attention(study)]
    failed = jobs.latest_for(results.subject_of(study))
    if failed is not None and failed.state == JobState.FAILED:
        steps.append(Step(_("A job has failed."), _("See why"), reverse("jobs:job", args=[failed.pk]), "bad"))
    if study.state == StudyState.DRAFT and not sessions["opened"]:
        steps.append(Step(_("The study is ready: recruit its participants."), _("Recruit"), _tab("recruit", study)))
    if flagged:
        text = ngettext("%(n)d session is flagged: look at it.", "%(n)d sessions are flagged: look at them.", flagged)
        steps.append(Step(text % {"n": flagged}, _("Review"), _tab("review", study), "warn"))
    if sessions["planned"] and sessions["completed"] >= sessions["planned"] and study.state == StudyState.COLLECTING:
        steps.append(
            Step(_("Every planned session is finished."), _("Stop collecting"), _tab("recruit", study), "good")
        )
    elif study.state == StudyState.COLLECTING and not sessions["opened"]:
        steps.append(Step(_("Collecting; nobody has started yet."), _("Monitor"), _tab("monitor", study)))
    if study.stimulus_set is not None and not evaluations.completed_runs(study.stimulus_set).exists():
        url = reverse("evaluations:classifiers")
        steps.append(Step(_("No model has classified these stimuli yet."), _("Evaluate one"), url))
    if sessions["completed"]:
        steps.append(_analysis_step(study, run, finished=sessions["completed"]))
    return steps or [Step(_("Nothing waits for you."), tone="good")]


def _analysis_step(study: Study, run: AnalysisRun | None, finished: int = 0) -> Step:
    url = reverse("results:dashboard", args=[study.slug])
    if run is None:
        return Step(_("The answers have not been analysed yet."), _("Run the analysis"), url)
    then = results.findings(run).get("sessions", {}).get("completed", finished)
    if finished > then:
        new = finished - then
        text = ngettext("%(n)d session is newer than the analysis.", "%(n)d sessions are newer than the analysis.", new)
        return Step(text % {"n": new}, _("Analyse again"), url)
    return Step(_("The results are up to date."), _("Read the results"), url, "good")


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


def _tab(key: str, study: Study) -> str:
    """Address of a room of the study; empty when no app offers it."""
    tabs = {tab.key: tab for tab in navigation.study_tabs(imported=study.origin == Origin.IMPORTED)}
    return reverse(tabs[key].url_name, args=[study.slug]) if key in tabs else ""
