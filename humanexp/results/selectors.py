"""Reads of analysis runs, and which sessions and trials an analysis counts, with the flow to answers on curves."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from django.db.models import QuerySet
from pydantic import BaseModel, ConfigDict, JsonValue, field_validator

from analysis.acceptance.rules import PRACTICE_NOT_PASSED
from analysis.findings.model.findings import Findings
from analysis.findings.model.people import AskedObserver, Exclusion, Flow, SessionCounts
from analysis.labels.space import NO_ANSWER
from humanexp.core.errors import InputRefused, NotFound, existing
from humanexp.core.storage import media_path
from humanexp.jobs.models import Job
from humanexp.jobs.selectors import latest_for, unfinished
from humanexp.participation.models import Session
from humanexp.participation.sessions import taken_back
from humanexp.results.models import AnalysisPlan, AnalysisRun, Report, TrialImport
from humanexp.stimuli.models import Stimulus
from humanexp.studies.models import Study
from humanexp.studies.selectors import subject_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class SelfReport:
    """The answer to a question of the start page that keeps a session."""

    question: str
    answer: str
    #: to follow "people who report"
    words: str


#: What can be chosen, by its name in addresses. None of them ever excludes anybody by itself. VCR (section 4.4) would
#: have people with a basic knowledge of corruptions say which are alike.
SELF_REPORTS = {
    "sight": SelfReport("sight", "yes", "normal or corrected sight"),
    "colour_sight": SelfReport("colour_sight", "yes", "normal colour sight"),
    "corruption_knowledge": SelfReport("corruption_knowledge", "no", "no knowledge of image corruptions"),
    "knows_corruptions": SelfReport("corruption_knowledge", "yes", "knowledge of image corruptions"),
}
CLEAN = "none"


class Selection(BaseModel):
    """A choice of sessions and trials; without arguments it is the planned one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    #: count sessions that the rules excluded, too
    all_sessions: bool = False
    #: only trials whose timing record is in order
    timing_ok: bool = False
    #: leave out answers that did not come in time, instead of counting them as wrong
    drop_misses: bool = False
    #: only people who reported so: names of `SELF_REPORTS`
    self_reports: tuple[str, ...] = ()
    #: only these corruptions; empty = all
    corruptions: tuple[str, ...] = ()

    @field_validator("self_reports")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        unknown = [name for name in names if name not in SELF_REPORTS]
        if unknown:
            raise InputRefused(f"There is no self-report called {unknown[0]!r}; there are {', '.join(SELF_REPORTS)}.")
        if len({SELF_REPORTS[name].question for name in names}) < len(set(names)):
            raise InputRefused("No person reports both knowledge of image corruptions and none: choose one of them.")
        return names

    @property
    def is_whole(self) -> bool:
        """Whether nothing was chosen: all that the study's rules count."""
        return self == Selection()

    def to_dict(self) -> dict[str, JsonValue]:
        """What was chosen, as JSON; `model_validate` is the inverse."""
        return self.model_dump(mode="json", exclude_defaults=True)

    @property
    def sentences(self) -> list[str]:
        """What was chosen, in words; empty where nothing was."""
        corruptions = ", ".join(name.replace("_", " ") for name in self.corruptions)
        said = (
            (self.all_sessions, "excluded sessions count too"),
            (self.timing_ok, "only trials whose timing is in order"),
            (self.drop_misses, "misses are left out"),
            *((True, f"only people who report {SELF_REPORTS[name].words}") for name in self.self_reports),
            (self.corruptions, f"only {corruptions}"),
        )
        return [sentence for is_chosen, sentence in said if is_chosen]

    def of_trials(self, trials: pd.DataFrame, reports: Mapping[str, Mapping[str, JsonValue]]) -> pd.DataFrame:
        """The chosen rows of a table of trials; `reports` are the self-reports by session."""
        keep = trials["session"].notna()
        for name in self.self_reports:
            asked = SELF_REPORTS[name]
            chosen = {session for session, report in reports.items() if report.get(asked.question) == asked.answer}
            keep &= trials["session"].isin(chosen)
        if self.timing_ok:
            keep &= trials["timing_ok"].fillna(False).astype(bool)
        if self.drop_misses:
            keep &= trials["response"] != NO_ANSWER
        trials = trials.loc[keep & self._of_corruptions(trials)].reset_index(drop=True)
        return trials.assign(accepted=True) if self.all_sessions else trials

    def of_predictions(self, predictions: pd.DataFrame) -> pd.DataFrame:
        """The chosen rows of a table of predictions."""
        return predictions.loc[self._of_corruptions(predictions)].reset_index(drop=True)

    def _of_corruptions(self, table: pd.DataFrame) -> pd.Series[bool]:
        if not self.corruptions:
            return table["corruption"].notna()
        return table["corruption"].isin([*self.corruptions, CLEAN])


@dataclass(frozen=True)
class Leaving:
    """Sessions that leave the flow at a step."""

    label: str
    count: int
    #: reason by which the sessions can be listed; empty where they cannot
    shown: str = ""


@dataclass(frozen=True)
class Step:
    """A box of the flow: how many, of what, and who left before it."""

    label: str
    count: int
    unit: str
    left: tuple[Leaving, ...] = field(default=())
    #: what became of those who left
    left_label: str = ""

    @property
    def left_total(self) -> int:
        return sum(one.count for one in self.left)


def flow_of(findings: Findings, *, all_count: bool = False) -> list[Step]:
    """Steps from sessions that were opened to answers that stand in the curves; empty for imported trials.

    `all_count`: the analysis counts excluded sessions, too; they are told, and nobody leaves.
    """
    flow = findings.flow or _of_counts(findings.sessions)
    if flow is None:
        return []
    sessions = "sessions"
    excluded = tuple(Leaving(one.reason, one.n, one.reason) for one in flow.excluded)
    steps = [
        Step("opened", flow.opened, sessions),
        Step(
            "finished",
            flow.finished,
            sessions,
            left_label="left",
            left=_some(
                Leaving("under way", flow.unfinished - flow.left),
                Leaving("left before the end, answers kept", flow.left),
                Leaving("withdrawn", flow.withdrawn),
                Leaving("not listed by the recruiter", flow.unverified),
                Leaving("practice not passed", flow.practice_not_passed, PRACTICE_NOT_PASSED),
            ),
        ),
        Step(
            "count",
            flow.finished - flow.unjudged if all_count else flow.accepted,
            sessions,
            left_label="left",
            left=(*_some(Leaving("not judged yet", flow.unjudged)), *(() if all_count else excluded)),
        ),
    ]
    if findings.trials:
        persons = _some(Leaving("answers to sentinels of persons, in no curve", findings.trials.persons))
        steps.append(Step("stand in the curves", findings.trials.in_accepted_sessions, "answers", persons))
    return steps


def asked_flow_of(one: AskedObserver) -> list[Step]:
    """Steps from trials that a model was asked about to those that it answered; the others stay, as wrong answers."""
    trials, unit = one.trials, "trials"
    return [
        Step("asked", trials.asked, unit),
        Step(
            "answered with a label",
            trials.answered,
            unit,
            left_label="without a label, counted as wrong",
            left=_some(
                Leaving("refused", trials.refused),
                Leaving("unreadable", trials.unreadable),
                Leaving("empty, or labels that score alike", trials.missed),
                Leaving("of a label that was not offered", trials.outside),
                Leaving("errors of the server", trials.errors),
            ),
        ),
    ]


def _some(*leaving: Leaving) -> tuple[Leaving, ...]:
    return tuple(one for one in leaving if one.count)


def _of_counts(sessions: SessionCounts | None) -> Flow | None:
    """The flow from the counts alone, as older analyses stored them."""
    if sessions is None or sessions.under_way is None or sessions.completed is None:
        return None
    judged = sessions.accepted + sum(sessions.excluded.values())
    return Flow(
        opened=sessions.opened,
        finished=sessions.completed,
        submitted=sessions.submitted or 0,
        withdrawn=sessions.withdrawn,
        unfinished=sessions.under_way,
        unjudged=max(0, sessions.completed - judged),
        accepted=sessions.accepted,
        excluded=tuple(Exclusion(reason=reason, n=count) for reason, count in sessions.excluded.items()),
    )


def withdrawn_sentence(count: int) -> str:
    """What stands wherever the numbers of an earlier analysis do; empty where nobody has withdrawn since."""
    if not count:
        return ""
    told = (
        "%(count)s session was withdrawn since: this analysis was made with it."
        if count == 1
        else "%(count)s sessions were withdrawn since: this analysis was made with them."
    )
    return told % {"count": count}


#: Job kinds of an analysis and of a report.
ANALYSE, REPORT = "results.analyse", "results.report"


def runs(study: Study) -> QuerySet[AnalysisRun]:
    return AnalysisRun.objects.filter(study=study)


def latest_run(study: Study) -> AnalysisRun | None:
    """The newest analysis as planned: runs with another choice of sessions or trials stand beside it."""
    return runs(study).filter(selection={}).first()


def run_of(study: Study, pk: str) -> AnalysisRun:
    """One of the study's runs, by its number as it stands in an address."""
    run = runs(study).filter(pk=pk).first() if pk.isdecimal() else None
    return existing(run, f"This study has no analysis {pk!r}.")


def run_with(study: Study, selection: Selection) -> AnalysisRun | None:
    """The newest run with this choice, if it is no older than the newest planned one."""
    planned = latest_run(study)
    found = runs(study).filter(selection=selection.to_dict()).first()
    return found if found and (planned is None or found.created_at >= planned.created_at) else None


def other_choices(study: Study) -> list[AnalysisRun]:
    """The newest run of every choice that is not the planned one, the newest first."""
    newest: dict[Selection, AnalysisRun] = {}
    for run in runs(study).exclude(selection={}):
        newest.setdefault(Selection.model_validate(run.selection), run)
    return list(newest.values())


def withdrawn_since(run: AnalysisRun) -> int:
    """Sessions that the run was made with, and whose people took them back since.

    An analysis looks at sessions that were finished: who gave up half way was never in it.
    """
    began_at = run.created_at - timedelta(seconds=run.seconds)
    withdrawn = taken_back(run.study, since=began_at, opened_before=run.created_at)
    return withdrawn.filter(completed_at__lt=run.created_at).count()


def self_reports(study: Study) -> dict[str, dict[str, JsonValue]]:
    """What participants said of their sight and knowledge, by session."""
    reported = Session.objects.filter(study=study).values_list("code", "environment")
    return {code: environment.get("self_report") or {} for code, environment in reported}


def plan_of(study: Study) -> AnalysisPlan | None:
    return AnalysisPlan.objects.filter(study=study).select_related("frozen_by").first()


def latest_report(run: AnalysisRun) -> Report | None:
    return Report.objects.filter(run=run).first()


def report_job(study: Study) -> Job | None:
    """The newest job that writes a report on this study."""
    return latest_for(subject_of(study), REPORT)


def analyses_under_way(study: Study) -> list[Job]:
    return list(unfinished().filter(subject=subject_of(study), kind=ANALYSE))


def findings(run: AnalysisRun) -> Findings:
    """What the run found."""
    with _found_again(run):
        return _read(run.findings_file)


def findings_json(run: AnalysisRun) -> dict[str, JsonValue]:
    """The same as it is stored: also what other versions wrote into it."""
    with _found_again(run):
        content: dict[str, JsonValue] = json.loads(media_path(run.findings_file).read_bytes())
    return content


@contextmanager
def _found_again(run: AnalysisRun) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise NotFound(
            f"The findings of analysis {run.pk} are gone from {run.findings_file}. Run the analysis again."
        ) from None


@lru_cache(maxsize=16)
def _read(findings_file: str) -> Findings:
    return Findings.read(media_path(findings_file).read_bytes())


def trial_import_of(study: Study) -> TrialImport | None:
    return TrialImport.objects.filter(study=study).first()


def analysis_job(study: Study) -> Job | None:
    """The newest job that analyses this study."""
    return latest_for(subject_of(study), ANALYSE)


def stimuli_of_pictures(study: Study, names: Sequence[str]) -> dict[str, Stimulus]:
    """The stimulus behind each picture that the findings name, as far as the study has it."""
    if study.stimulus_set_id is None:
        return {}
    keys = dict(zip(names, names, strict=True))
    trial_import = TrialImport.objects.filter(study=study).exclude(pictures_file="").first()
    if trial_import is not None:
        import pandas as pd

        table = pd.read_parquet(media_path(trial_import.pictures_file), columns=["stimulus", "key"])
        known = table[table["stimulus"].isin(keys)]
        keys = dict(zip(known["stimulus"].astype(str), known["key"].astype(str), strict=True))
    found = {
        one.key: one
        for one in Stimulus.objects.filter(
            stimulus_set_id=study.stimulus_set_id, key__in=list(keys.values())
        ).select_related("stimulus_set")
    }
    return {name: found[key] for name, key in keys.items() if key in found}
