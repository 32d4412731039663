"""From a stimulus set and an observer that is asked in words to a table of answers, and one of predictions."""

from __future__ import annotations

import hashlib
import json
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from django.db import transaction
from numpy.typing import NDArray

from analysis.classifiers.shards import Joined, read_picture
from analysis.errors import InvalidInput, ObserverUnavailable
from analysis.labels.space import LabelSpace
from analysis.observers.port import Answer, Observer
from analysis.observers.protocol import AskProtocol
from analysis.observers.questions import ForcedChoice
from analysis.observers.schedule import Planned, Purpose, Schedule
from humanexp.core import file_store
from humanexp.core.batches import batches_of
from humanexp.core.errors import InvalidRequest
from humanexp.core.models import User, record
from humanexp.core.storage import media_path, relative_to_media
from humanexp.evaluations.budget import USUAL_TOKENS_IN, Budget, Caps
from humanexp.evaluations.models import EvaluationRun
from humanexp.evaluations.observers import (
    KEPT,
    Machine,
    check_caps,
    check_may_be_asked,
    is_local,
    is_scored,
    observer_of,
    with_whole_path,
)
from humanexp.evaluations.selectors import completed_runs, read_predictions
from humanexp.evaluations.services.evaluations import check_idle, check_may_predict, complete
from humanexp.evaluations.services.prediction import shown_stimuli
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.registry import Progress
from humanexp.jobs.selectors import latest_for
from humanexp.stimuli.models import StimulusSet
from humanexp.stimuli.selectors.sets import bring_stimuli

ASK_KIND = "evaluations.ask"
#: Stimuli whose pictures are in memory at once.
_BATCH = 64
#: Value of every pixel of a grey picture.
_GREY = 128
#: Questions under way at once.
AT_ONCE = 8
#: Questions that may stay without an answer, as a number and as a share of all, before nothing is made of the others.
_MOST_ERRORS = (5, 0.02)


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What an evaluation would ask for, before anything is sent."""

    stimuli: int
    questions: int
    #: answered in an earlier attempt, or for another set with the same pictures
    known: int
    #: of a reply; 0 where the model writes none
    most_tokens: int
    purposes: dict[Purpose, int]
    #: shown with a question
    pictures: int = 1

    @property
    def calls(self) -> int:
        return self.questions - self.known

    @property
    def tokens_in(self) -> int:
        return self.calls * USUAL_TOKENS_IN * self.pictures

    @property
    def tokens_out(self) -> int:
        """At most."""
        return self.calls * self.most_tokens

    def sentence(self, caps: Caps) -> str:
        """For whoever starts it."""
        told = f"{self.stimuli} stimuli, {self.questions} questions, {self.known} answered already: {self.calls} calls"
        if self.most_tokens:
            told += f". About {self.tokens_in:,} tokens of questions, and at most {self.tokens_out:,} of replies"
        if caps.price_in or caps.price_out:
            cost = caps.cost_of(self.tokens_in, self.tokens_out)
            told += f": about {cost:.2f} at {USUAL_TOKENS_IN * self.pictures} tokens a question"
        return f"{told}."


def ask(
    *,
    stimulus_set: StimulusSet,
    spec: str,
    protocol: AskProtocol,
    caps: Caps,
    name: str = "",
    allow_upload: bool = False,
    machine: Machine | None = None,
    owner: User | None = None,
    tell: Callable[[str], object] = lambda sentence: None,
) -> tuple[EvaluationRun, Job]:
    """Ask an observer about every stimulus of a set; for the command line alone, because it can cost money.

    Refused before anything is sent: another host than those of OBSERVER_HOSTS, pictures that nobody allowed to leave,
    repeats without noise, and more calls than the cap allows.
    """
    machine, plan = machine or Machine(), protocol.plan
    spec = with_whole_path(spec)
    observer = observer_of(spec, protocol, machine)
    check_may_be_asked(spec, allow_upload=allow_upload)
    if stimulus_set.completed_at is None:
        raise InvalidRequest(f"The stimulus set {stimulus_set} is not complete yet: let its job finish first.")
    try:
        plan.check_labels(stimulus_set.source_set.space, is_scored=is_scored(spec))
    except InvalidInput as error:
        raise InvalidRequest(str(error)) from error
    if max(plan.repeats, plan.consistency[1]) > 1 and protocol.temperature <= 0:
        raise InvalidRequest("Repeats of a question at temperature 0 are copies: give --temperature, or --repeats 1.")
    check_caps(spec, caps)
    try:
        estimate = estimated(stimulus_set, spec, protocol, machine)
    except InvalidInput as error:  # alternatives that cannot be drawn
        raise InvalidRequest(str(error)) from error
    tell(estimate.sentence(caps))
    if caps.most_calls and estimate.calls > caps.most_calls:
        each = f" with {plan.questions_each} questions each" if protocol.is_custom else ""
        raise InvalidRequest(
            f"{estimate.stimuli} stimuli{each} are {estimate.calls} calls, more than --most-calls {caps.most_calls}: "
            "raise it, or ask in fewer wordings and orders."
        )
    return _submitted(stimulus_set, spec, name or observer.name[:80], protocol, caps, machine, owner)


@transaction.atomic
def _submitted(
    stimulus_set: StimulusSet, spec: str, name: str, protocol: AskProtocol, caps: Caps, machine: Machine,
    owner: User | None,
) -> tuple[EvaluationRun, Job]:  # fmt: skip
    before = check_may_predict(stimulus_set=stimulus_set, name=name, by=None)
    run = before or EvaluationRun.objects.create(
        stimulus_set=stimulus_set, name=name, spec=spec, lab_id=stimulus_set.lab_id, created_by=owner
    )
    asked: dict[str, Any] = {
        "evaluation_id": run.pk,
        "spec": spec,
        "protocol": protocol.to_json(),
        "caps": asdict(caps),
        **asdict(machine),
    }
    under_way = latest_for(run.job_subject, ASK_KIND)
    if under_way is not None and not under_way.is_finished and under_way.parameters == asked:
        return run, under_way
    check_idle(run)
    record(action="ask-observer", subject=f"stimulus set:{stimulus_set.name}", name=run.name, spec=spec)
    return run, jobs.submit(ASK_KIND, subject=run.job_subject, **asked)


def estimated(stimulus_set: StimulusSet, spec: str, protocol: AskProtocol, machine: Machine | None = None) -> Estimate:
    """Count questions, and those whose answers are kept; nothing is sent."""
    observer = observer_of(spec, protocol, machine or Machine())
    schedule = _schedule(stimulus_set, protocol)
    known = 0
    bring_stimuli(stimulus_set)
    file_store.bring(KEPT)
    if media_path(KEPT).is_dir():
        for batch in batches_of(_BATCH, schedule.everything()):
            known += sum(observer.is_known(picture, one.question) for one, picture in _with_pictures(batch))
    return Estimate(
        stimuli=len(schedule.stimuli), questions=schedule.total, known=known,
        most_tokens=0 if is_scored(spec) else protocol.most_tokens,
        purposes=schedule.counts,
    )  # fmt: skip


def _schedule(stimulus_set: StimulusSet, protocol: AskProtocol) -> Schedule:
    plan, space = protocol.plan, stimulus_set.source_set.space
    foils = _foils(stimulus_set, plan.foils) if plan.foils else {}
    n_labels = plan.alternatives or len(space)
    return Schedule(plan, list(shown_stimuli(stimulus_set)), _worded(stimulus_set), n_labels, foils)


def _foils(stimulus_set: StimulusSet, name: str) -> dict[str, str]:
    """The wrong answer that a run gave, by stimulus; none where it was right or answered with no label of the set."""
    run = completed_runs(stimulus_set).filter(name=name).first()
    if run is None:
        there = ", ".join(one.name for one in completed_runs(stimulus_set)) or "none"
        raise InvalidRequest(
            f"--foils {name}: no classifier of this name has answered {stimulus_set} yet (there are: {there}). "
            "Evaluate it on these pictures first, or leave out --foils, and all foils are drawn."
        )
    table = read_predictions(run)
    wrong = table[~table["correct"] & stimulus_set.source_set.space.known(table["response"].astype(str))]
    if wrong.empty:
        raise InvalidRequest(
            f"--foils {name}: its answers hold no wrong label of {stimulus_set.source_set.space.name}. Leave out "
            "--foils, and all foils are drawn."
        )
    return {str(key): str(label) for key, label in zip(wrong["stimulus"], wrong["response"], strict=True)}


def _with_pictures(batch: Sequence[Planned]) -> Iterator[tuple[Planned, NDArray[np.uint8]]]:
    """Questions with what is shown, each picture read once for all questions about it that follow each other."""
    last, picture = None, np.empty(0, dtype=np.uint8)
    for one in batch:
        of = one.shown or one.trial
        if of != last:
            last, picture = of, read_picture(of.file, of.sha256, of.stimulus)
        yield one, picture if one.shown is not None else np.full_like(picture, _GREY)


def _worded(stimulus_set: StimulusSet) -> LabelSpace | None:
    """Labels of the pictures, by whose words they are asked for; None for the default, whose words are its ids."""
    labels = stimulus_set.source_set.labels
    return labels.space if labels is not None else None


def ask_about_set(
    run: EvaluationRun, spec: str, protocol: AskProtocol, caps: Caps, machine: Machine, progress: Progress
) -> None:
    """Ask all questions and complete the run. What an earlier attempt was told is not asked again."""
    check_may_be_asked(spec, allow_upload=True)
    folder = media_path(run.folder)
    folder.mkdir(parents=True, exist_ok=True)
    budget = Budget(folder / "calls.jsonl", caps, protocol.most_tokens)
    observer = observer_of(spec, protocol, machine, budget)
    space = _worded(run.stimulus_set)
    schedule = _schedule(run.stimulus_set, protocol)
    among = f" {space.identity} {space.presentation}" if space else ""
    among += f" {sorted(schedule.foils.items())}" if schedule.foils else ""
    digest = hashlib.sha256(f"{observer.digest} {protocol.digest}{among}".encode()).hexdigest()
    answers, predictions = (folder / f"{kind}-{digest[:16]}.parquet" for kind in ("answers", "predictions"))
    bring_stimuli(run.stimulus_set)
    total = len(schedule.stimuli)
    file_store.bring(KEPT, run.folder)
    try:
        joined = _written(run, observer, schedule, answers, predictions, progress)
    finally:  # whoever goes on is not to pay once more for what was answered
        file_store.publish(KEPT, run.folder)
    complete(
        run=run,
        joined=joined,
        predictions_file=predictions,
        answers_file=relative_to_media(answers),
        spec=spec,
        device=machine.device if is_local(spec) else "",
        rule="",
        own_labels=False,
        classifier_digest=digest,
        preprocessing=observer.preprocessing,
        versions=dict(observer.versions),
        asking={
            **asdict(protocol.plan),
            "temperature": protocol.temperature,
            "thinking": protocol.thinking,
            "protocol": protocol.to_json(),
            "is_repeatable": observer.is_repeatable,
            "is_scored": is_scored(spec),
            "calls": budget.calls,
            "cost": round(budget.cost, 4),
            "summary": _summary(answers),
            "n_labels": len(run.stimulus_set.source_set.space),
            "foiled": len(schedule.foils),
        },
    )
    progress(total, total, f"{run.name}: questions answered")


def _written(
    run: EvaluationRun, observer: Observer, schedule: Schedule, answers: Path, predictions: Path, progress: Progress
) -> Joined:
    """Write both tables batch by batch, whole or not at all."""
    import pyarrow as pa
    from pyarrow import parquet

    from analysis.tables.stimuli import PREDICTIONS
    from analysis.tables.trials import ANSWERS

    tables = {answers: ANSWERS, predictions: PREDICTIONS}
    unfinished = {path: path.with_name(f".{path.name}.{time.monotonic_ns()}") for path in tables}
    total, count, n_clean, n_clean_right, errors = len(schedule.stimuli), 0, 0, 0, 0
    n_labels = schedule.n_labels
    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(AT_ONCE))
        writers: dict[Path, Any] = {}
        for batch in batches_of(_BATCH, schedule.early()):
            deque(_rows(run, batch, observer, pool), maxlen=0)
        for batch in _batches(schedule):
            progress(min(count, total - 1), total, f"{run.name}: stimuli asked about")
            rows = list(_rows(run, batch, observer, pool))
            standing = [_prediction(row, n_labels) for row in rows if row["purpose"] == "trial"]
            for path, schema in tables.items():
                frame = schema.frame(rows if path == answers else standing)
                table = pa.Table.from_pandas(frame, preserve_index=False)
                if path not in writers:
                    writers[path] = stack.enter_context(parquet.ParquetWriter(unfinished[path], table.schema))
                writers[path].write_table(table)
            count += len(standing)
            n_clean += sum(row["corruption"] == "none" for row in standing)
            n_clean_right += sum(row["corruption"] == "none" and row["correct"] for row in standing)
            errors += sum(row["kind"] == "error" for row in rows)
            if too_many_errors(errors, schedule.total):
                raise ObserverUnavailable(
                    f"{errors} of the first questions got no answer. Answers so far are kept: start the evaluation "
                    "again later, and it asks only what is missing."
                )
    for path, written in unfinished.items():
        written.replace(path)
    with predictions.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return Joined(count, n_clean, n_clean_right, n_labels, 0.0, sha256)


def too_many_errors(errors: int, questions: int) -> bool:
    """Whether so many questions got no answer that nothing is made of the others."""
    return errors > max(_MOST_ERRORS[0], _MOST_ERRORS[1] * questions)


def _batches(schedule: Schedule) -> Iterator[list[Planned]]:
    """All questions about some stimuli at a time; those of the end come when all others are answered."""
    for stimuli in batches_of(_BATCH, schedule.stimuli):
        yield [one for trial in stimuli for one in schedule.about(trial)]
    yield from (list(batch) for batch in batches_of(_BATCH, schedule.late()))


def _rows(
    run: EvaluationRun, batch: Sequence[Planned], observer: Observer, pool: ThreadPoolExecutor
) -> Iterator[dict[str, Any]]:
    """A row a question, in the order given."""
    asked = list(_with_pictures(batch))
    found = pool.map(lambda one: observer.answer(one[1], one[0].question), asked)
    for (planned, _picture), answer in zip(asked, found, strict=True):
        yield _row(run.name, planned, answer)


def _row(name: str, planned: Planned, answer: Answer) -> dict[str, Any]:
    trial, question = planned.trial, planned.question
    return {
        "classifier": name,
        "stimulus": trial.stimulus,
        "original": trial.original,
        "category": trial.category,
        "corruption": trial.corruption,
        "visual_change": trial.visual_change,
        "wording": question.wording,
        "order": question.order,
        "repeat": question.repeat,
        "shown": " ".join(question.labels),
        "response": answer.label,
        "correct": trial.is_right(answer.label),
        **answer_columns(answer),
        "purpose": planned.purpose,
        "pictured": _pictured(planned),
        **_scores(question, answer),
    }


def answer_columns(answer: Answer) -> dict[str, Any]:
    """Columns of what became of a question, whatever it asked."""
    return {
        "kind": answer.kind,
        "text": answer.text,
        "tokens_in": answer.tokens_in,
        "tokens_out": answer.tokens_out,
        "tokens_thought": answer.tokens_thought,
        "tokens_picture": answer.tokens_picture,
        "finish_reason": answer.finish_reason or None,
        "server_model": answer.model or None,
        "fingerprint": answer.fingerprint,
        "granted": json.dumps(answer.granted, sort_keys=True) if answer.granted else None,
        "answered_at": answer.answered_at or None,
    }


def _pictured(planned: Planned) -> str | None:
    """What was shown, where it is not the trial's own picture."""
    if planned.shown is None:
        return "grey"
    return planned.shown.stimulus if planned.shown != planned.trial else None


def _scores(question: ForcedChoice, answer: Answer) -> dict[str, Any]:
    """What only a model that scores labels says: nothing of one that writes."""
    scores = answer.scores
    if scores is None:
        return {"scores": None, "mass": None, "confidence": None}
    named = question.labels.index(answer.label) if answer.kind == "label" else None
    return {
        "scores": " ".join(map(repr, scores.log_probabilities)),
        "mass": min(1.0, scores.mass) if scores.is_finite else None,
        "confidence": None if named is None else min(1.0, float(scores.shares()[named])),
    }


def _prediction(row: dict[str, Any], n_labels: int) -> dict[str, Any]:
    """The first question's answer stands for the stimulus; no answer is wrong, as a person's miss is."""
    kept = ("classifier", "stimulus", "original", "category", "corruption", "visual_change", "response", "correct")
    return {key: row[key] for key in (*kept, "confidence")} | {"label_space": n_labels}


def _summary(answers: Path) -> dict[str, Any]:
    import pandas as pd

    from analysis.observers.summary import summarise

    return asdict(summarise(pd.read_parquet(answers)))
