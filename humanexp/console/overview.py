"""What is going on in studies, what waits for their researchers, and what comes next in a first study."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from django.contrib.auth.models import AnonymousUser
from django.urls import reverse
from django.utils.http import urlencode

from humanexp.console.preflight.check import newest_of
from humanexp.console.study_words import WORDS
from humanexp.core.models import User
from humanexp.core.pages.navigation import tab_address
from humanexp.evaluations.selectors import completed_runs
from humanexp.evaluations.specs import offered_specs
from humanexp.jobs.models import Job, JobState
from humanexp.jobs.selectors import latest_for, unfinished
from humanexp.ledger.figures import Figures, figures_of, is_recruiting
from humanexp.ledger.payments import Tally, tally_of
from humanexp.ledger.wages import Wage, wage_of
from humanexp.participation.sessions import session_counts
from humanexp.participation.tallies import Bar, bars, kept_bins
from humanexp.recruiting.alerts import attention
from humanexp.results.headline import Headline, headline_of
from humanexp.results.models import AnalysisRun, TrialImport
from humanexp.results.selectors import findings, latest_run, trial_import_of
from humanexp.screening.selectors import accepted_sessions, verdict_counts
from humanexp.stimuli.selectors.sources import has_pictures
from humanexp.studies.models import Origin, Population, Study, StudyState
from humanexp.studies.selectors import has_stimuli, subject_of, visible_to
from humanexp.studies.waiting import Waiting, in_words


@dataclass(frozen=True)
class Step:
    """Something to do next: a sentence, and where to do it."""

    text: str
    action: str = ""
    url: str = ""
    #: "", good, warn or bad
    tone: str = ""


def next_step(study: Study) -> Step:
    """The first thing to do, for the list of studies; cheaper than the whole overview."""
    run = latest_run(study)
    if study.origin == Origin.IMPORTED:
        return analysis_step(study, run)
    sessions = session_counts(study)
    return next(steps(study, sessions=sessions, flagged=0, run=run))


def steps(
    study: Study,
    *,
    sessions: dict[str, int],
    flagged: int,
    run: AnalysisRun | None,
    tally: Tally | None = None,
) -> Iterator[Step]:
    """What waits for a person, the most urgent first; at least one. Later ones are looked for when asked for."""
    if study.state == StudyState.DRAFT and not sessions["opened"]:
        yield _launch_step(study)
        return
    waiting = _waiting(study, sessions, flagged, run, tally)
    yield next(waiting, Step("Nothing waits for you.", tone="good"))
    yield from waiting


def _waiting(
    study: Study, sessions: dict[str, int], flagged: int, run: AnalysisRun | None, tally: Tally | None
) -> Iterator[Step]:
    for found in attention(study, tally):
        yield Step(found.text, "Look", tab_address("monitor", study.slug), found.severity)
    failed = latest_for(subject_of(study))
    if failed is not None and failed.state == JobState.FAILED:
        yield _step(in_words("failed-job", WORDS), reverse("jobs:job", args=[failed.pk]))
    if flagged:
        yield _step(in_words("flagged", WORDS, count=flagged), tab_address("review", study.slug))
    is_collecting = study.state == StudyState.COLLECTING and is_recruiting(study, tally)
    if sessions["planned"] and sessions["completed"] >= sessions["planned"] and is_collecting:
        yield _step(in_words("all-finished", WORDS), tab_address("recruit", study.slug))
    elif is_collecting and not sessions["opened"]:
        yield Step("Collecting; no one has started yet.", "Monitor", tab_address("monitor", study.slug))
    if study.stimulus_set is not None and not completed_runs(study.stimulus_set).exists():
        yield Step("No model has classified these stimuli yet.", "Evaluate one", reverse("evaluations:classifiers"))
    if sessions["completed"]:
        yield analysis_step(study, run, finished=sessions["completed"])


def _step(found: Waiting, url: str) -> Step:
    return Step(found.text, found.button, url, found.severity)


def _launch_step(study: Study) -> Step:
    """A draft is tried out, then launched."""
    check, newest = reverse("console:preflight", args=[study.slug]), newest_of(study)
    if newest is None:
        return Step("Try everything out before anybody is invited.", "Pre-flight check", check)
    if newest.is_green:
        url = f"{tab_address('recruit', study.slug)}?to={newest.to}"
        return Step("Everything works: invite people.", "Launch", url, "good")
    count = len(newest.faults)
    text = (
        "The pre-flight check found %(n)d thing to put right."
        if count == 1
        else "The pre-flight check found %(n)d things to put right."
    )
    return Step(text % {"n": count}, "Put it right", f"{check}?to={newest.to}", "bad")


def analysis_step(study: Study, run: AnalysisRun | None, finished: int = 0) -> Step:
    url = reverse("results:dashboard", args=[study.slug])
    if run is None:
        return Step("The answers have not been analysed yet.", "Run the analysis", url)
    counted = findings(run).sessions
    then = finished if counted is None or counted.completed is None else counted.completed
    if finished > then:
        new = finished - then
        text = (
            "%(n)d session is newer than the analysis." if new == 1 else "%(n)d sessions are newer than the analysis."
        )
        return Step(text % {"n": new}, "Analyse again", url)
    return Step("The results are up to date.", "Read the results", url, "good")


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
    #: while people may come, the page asks again by itself
    is_recruiting: bool = False

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
    run = latest_run(study)
    headline = headline_of(findings(run)) if run is not None else None
    open_jobs = list(unfinished().filter(subject=subject_of(study)))
    if study.origin == Origin.IMPORTED:
        trial_import = trial_import_of(study)
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
    sessions, tally = session_counts(study), tally_of(study)
    verdicts = verdict_counts(study, finished=sessions["completed"])
    return Overview(
        study=study,
        sessions=sessions,
        accepted=verdicts.accepted,
        excluded=verdicts.reasons,
        flagged=verdicts.flagged,
        figures=figures_of(study, tally),
        wage=wage_of(study, tally),
        bars=bars(kept_bins(study)),
        run=run,
        headline=headline,
        trial_import=None,
        jobs=open_jobs,
        steps=list(steps(study, sessions=sessions, flagged=verdicts.flagged, run=run, tally=tally)),
        is_recruiting=study.state == StudyState.COLLECTING and is_recruiting(study, tally),
    )


@dataclass(frozen=True)
class ListedStudy:
    study: Study
    accepted: int
    planned: int
    trial_import: TrialImport | None
    step: Step


def listed_studies(user: User | AnonymousUser) -> list[ListedStudy]:
    return [_listed(study) for study in visible_to(user)]


def _listed(study: Study) -> ListedStudy:
    if study.origin == Origin.IMPORTED:
        return ListedStudy(study, 0, 0, trial_import_of(study), next_step(study))
    accepted = len(accepted_sessions(study)) if study.frozen_at else 0
    return ListedStudy(study, accepted, study.planned_sessions, None, next_step(study))


@dataclass(frozen=True)
class Stage:
    """One stage of the way: its name, what is done there, and the page where it is done."""

    name: str
    text: str
    action: str
    url: str
    is_done: bool


@dataclass(frozen=True)
class Way:
    stages: list[Stage]
    #: the stage to do next
    now: Stage
    #: a study that scripted participants have answered, to look through
    example: Study | None


def way_of(user: User | AnonymousUser) -> Way | None:
    """How far the researcher's first study with people has come; None once there is a second, or all is done."""
    seen = visible_to(user).filter(origin=Origin.COLLECTED)
    own = list(seen.filter(population=Population.PEOPLE)[:2])
    if len(own) > 1:
        return None
    stages = [*_pictures(), *_stages(next(iter(own), None))]
    now = next((stage for stage in stages if not stage.is_done), None)
    if now is None:
        return None
    scripted = seen.filter(population=Population.SCRIPTED).order_by("-pk")
    return Way(stages, now, next((study for study in scripted[:5] if latest_run(study)), None))


def _pictures() -> Iterator[Stage]:
    yield Stage(
        "Pictures",
        "A folder or a zip archive with a subfolder for each category. Each picture is checked.",
        "Import pictures",
        reverse("stimuli:new_source"),
        has_pictures(),
    )
    yield Stage(
        "Stimuli",
        "Choose corruptions and a number. Pictures are made over the whole range of visible change.",
        "Make a stimulus set",
        reverse("stimuli:new"),
        has_stimuli(),
    )


def _stages(study: Study | None) -> Iterator[Stage]:
    """What belongs to one study; without one, every address but that of the form is empty."""
    yield Stage(
        "Study",
        "Start from the rehearsal: two short sessions with everything in them.",
        "Make the first study",
        f"{reverse('studies:new')}?start=rehearsal",
        study is not None,
    )
    slug = study.slug if study is not None else ""
    is_launched = study is not None and study.state != StudyState.DRAFT
    newest = newest_of(study) if study is not None and not is_launched else None
    yield Stage(
        "Pre-flight",
        "A scripted participant takes the study in a browser before anybody is invited.",
        "Try it out",
        reverse("console:preflight", args=[slug]) if slug else "",
        is_launched or (newest is not None and newest.is_green),
    )
    finished = session_counts(study)["completed"] if study is not None and is_launched else 0
    yield Stage(
        "People",
        "Open a link and take the study yourself, or invite people.",
        "Invite people" if not is_launched else "Watch it",
        tab_address("monitor" if is_launched else "recruit", slug) if slug else "",
        finished > 0,
    )
    shown = study.stimulus_set if study is not None else None
    yield Stage(
        "A network",
        "It classifies the same pictures. One is there; others come by name or as a file.",
        "Evaluate a model",
        _evaluation_address(shown.pk) if shown is not None else "",
        shown is not None and completed_runs(shown).exists(),
    )
    yield Stage(
        "Results",
        "Curves of people and network on one axis, with intervals.",
        "Run the analysis",
        tab_address("results", slug) if slug else "",
        finished > 0 and study is not None and latest_run(study) is not None,
    )


def _evaluation_address(stimulus_set: int) -> str:
    offered = offered_specs()
    filled = {"stimulus_set": stimulus_set} | ({"spec": offered[0]} if offered else {})
    return f"{reverse('evaluations:new')}?{urlencode(filled)}"
