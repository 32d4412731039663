"""From a stimulus set and an observer that is asked in words to a table of answers, and one of predictions."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from django.db import transaction
from numpy.typing import NDArray

from analysis.classifiers.shards import Joined, ShownStimulus, read_picture
from analysis.errors import InvalidInput
from analysis.labels.space import LabelSpace
from analysis.observers.port import Answer, Observer
from analysis.observers.questions import AskPlan, ForcedChoice
from humanexp.core import file_store
from humanexp.core.batches import batches_of
from humanexp.core.errors import InvalidRequest
from humanexp.core.models import User, record
from humanexp.core.storage import media_path, relative_to_media
from humanexp.evaluations.chat import MOST_TOKENS, USUAL_TOKENS_IN, Budget, Caps
from humanexp.evaluations.models import EvaluationRun
from humanexp.evaluations.observers import (
    KEPT,
    Decoding,
    check_caps,
    check_may_be_asked,
    is_scored,
    observer_of,
    with_whole_path,
)
from humanexp.evaluations.services.evaluations import check_idle, check_may_predict, complete
from humanexp.evaluations.services.prediction import shown_stimuli
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.registry import Progress
from humanexp.jobs.selectors import latest_for
from humanexp.stimuli.models import StimulusSet
from humanexp.stimuli.selectors.sets import bring_stimuli, stimuli_of_curves

ASK_KIND = "evaluations.ask"
#: Stimuli whose pictures are in memory at once.
_BATCH = 64
#: Questions under way at once.
_AT_ONCE = 8


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What an evaluation would ask for, before anything is sent."""

    stimuli: int
    questions: int
    #: answered in an earlier attempt, or for another set with the same pictures
    known: int

    @property
    def calls(self) -> int:
        return self.questions - self.known

    def sentence(self, caps: Caps) -> str:
        """For whoever starts it."""
        told = f"{self.stimuli} stimuli, {self.questions} questions, {self.known} answered already: {self.calls} calls"
        if caps.price_in or caps.price_out:
            cost = caps.cost_of(self.calls * USUAL_TOKENS_IN, self.calls * MOST_TOKENS)
            told += f", about {cost:.2f} at {USUAL_TOKENS_IN} tokens a question"
        return f"{told}."


def ask(
    *,
    stimulus_set: StimulusSet,
    spec: str,
    plan: AskPlan,
    caps: Caps,
    name: str = "",
    allow_upload: bool = False,
    decoding: Decoding | None = None,
    owner: User | None = None,
    tell: Callable[[str], object] = lambda sentence: None,
) -> tuple[EvaluationRun, Job]:
    """Ask an observer about every stimulus of a set; for the command line alone, because it can cost money.

    Refused before anything is sent: another host than those of OBSERVER_HOSTS, pictures that nobody allowed to leave,
    repeats without noise, and more calls than the cap allows.
    """
    decoding = decoding or Decoding()
    spec = with_whole_path(spec)
    observer = observer_of(spec, decoding)
    check_may_be_asked(spec, allow_upload=allow_upload)
    if stimulus_set.completed_at is None:
        raise InvalidRequest(f"The stimulus set {stimulus_set} is not complete yet: let its job finish first.")
    try:
        plan.check_labels(stimulus_set.source_set.space, is_scored=is_scored(spec))
    except InvalidInput as error:
        raise InvalidRequest(str(error)) from error
    if plan.repeats > 1 and decoding.temperature <= 0:
        raise InvalidRequest("Repeats of a question at temperature 0 are copies: give --temperature, or --repeats 1.")
    check_caps(spec, caps)
    estimate = estimated(stimulus_set, spec, plan, decoding)
    tell(estimate.sentence(caps))
    if caps.most_calls and estimate.calls > caps.most_calls:
        raise InvalidRequest(
            f"{estimate.stimuli} stimuli with {plan.questions_each} questions each are {estimate.calls} calls, more "
            f"than --most-calls {caps.most_calls}: raise it, or ask in fewer wordings and orders."
        )
    return _submitted(stimulus_set, spec, name or observer.name[:80], plan, caps, decoding, owner)


@transaction.atomic
def _submitted(
    stimulus_set: StimulusSet, spec: str, name: str, plan: AskPlan, caps: Caps, decoding: Decoding, owner: User | None
) -> tuple[EvaluationRun, Job]:
    before = check_may_predict(stimulus_set=stimulus_set, name=name, by=None)
    run = before or EvaluationRun.objects.create(
        stimulus_set=stimulus_set, name=name, spec=spec, lab_id=stimulus_set.lab_id, created_by=owner
    )
    asked: dict[str, Any] = {
        "evaluation_id": run.pk,
        "spec": spec,
        "plan": {**asdict(plan), "wordings": list(plan.wordings)},
        "caps": asdict(caps),
        **asdict(decoding),
    }
    under_way = latest_for(run.job_subject, ASK_KIND)
    if under_way is not None and not under_way.is_finished and under_way.parameters == asked:
        return run, under_way
    check_idle(run)
    record(action="ask-observer", subject=f"stimulus set:{stimulus_set.name}", name=run.name, spec=spec)
    return run, jobs.submit(ASK_KIND, subject=run.job_subject, **asked)


def estimated(stimulus_set: StimulusSet, spec: str, plan: AskPlan, decoding: Decoding | None = None) -> Estimate:
    """Count questions, and those whose answers are kept; nothing is sent."""
    observer = observer_of(spec, decoding or Decoding())
    total = stimuli_of_curves(stimulus_set).count()
    known = 0
    bring_stimuli(stimulus_set)
    file_store.bring(KEPT)
    if media_path(KEPT).is_dir():
        for shown in shown_stimuli(stimulus_set):
            picture = read_picture(shown.file, shown.sha256, shown.stimulus)
            questions = plan.questions_for(shown.stimulus, _worded(stimulus_set))
            known += sum(observer.is_known(picture, question) for question in questions)
    return Estimate(stimuli=total, questions=total * plan.questions_each, known=known)


def _worded(stimulus_set: StimulusSet) -> LabelSpace | None:
    """Labels of the pictures, by whose words they are asked for; None for the default, whose words are its ids."""
    labels = stimulus_set.source_set.labels
    return labels.space if labels is not None else None


def ask_about_set(
    run: EvaluationRun, spec: str, plan: AskPlan, caps: Caps, decoding: Decoding, progress: Progress
) -> None:
    """Ask all questions and complete the run. What an earlier attempt was told is not asked again."""
    check_may_be_asked(spec, allow_upload=True)
    folder = media_path(run.folder)
    folder.mkdir(parents=True, exist_ok=True)
    budget = Budget(folder / "calls.jsonl", caps, MOST_TOKENS)
    observer = observer_of(spec, decoding, budget)
    space = _worded(run.stimulus_set)
    among = f" {space.identity} {space.presentation}" if space else ""
    digest = hashlib.sha256(f"{observer.digest} {plan!r}{among}".encode()).hexdigest()
    answers, predictions = (folder / f"{kind}-{digest[:16]}.parquet" for kind in ("answers", "predictions"))
    total = stimuli_of_curves(run.stimulus_set).count()
    bring_stimuli(run.stimulus_set)
    file_store.bring(KEPT, run.folder)
    try:
        joined = _written(run, observer, plan, answers, predictions, progress, total)
    finally:  # whoever goes on is not to pay once more for what was answered
        file_store.publish(KEPT, run.folder)
    complete(
        run=run,
        joined=joined,
        predictions_file=predictions,
        answers_file=relative_to_media(answers),
        spec=spec,
        device=decoding.device if is_scored(spec) else "",
        rule="",
        own_labels=False,
        classifier_digest=digest,
        preprocessing=observer.preprocessing,
        versions=dict(observer.versions),
        asking={
            **asdict(plan),
            "temperature": decoding.temperature,
            "is_repeatable": observer.is_repeatable,
            "is_scored": is_scored(spec),
            "calls": budget.calls,
            "cost": round(budget.cost, 4),
            "summary": _summary(answers),
        },
    )
    progress(total, total, f"{run.name}: questions answered")


def _written(
    run: EvaluationRun, observer: Observer, plan: AskPlan, answers: Path, predictions: Path, progress: Progress,
    total: int,
) -> Joined:  # fmt: skip
    """Write both tables batch by batch, whole or not at all."""
    import pyarrow as pa
    from pyarrow import parquet

    from analysis.tables.stimuli import PREDICTIONS
    from analysis.tables.trials import ANSWERS

    tables = {answers: ANSWERS, predictions: PREDICTIONS}
    unfinished = {path: path.with_name(f".{path.name}.{time.monotonic_ns()}") for path in tables}
    count = n_clean = n_clean_right = 0
    n_labels = len(run.stimulus_set.source_set.space)
    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(_AT_ONCE))
        writers: dict[Path, Any] = {}
        for batch in batches_of(_BATCH, shown_stimuli(run.stimulus_set)):
            progress(min(count, total - 1), total, f"{run.name}: stimuli asked about")
            rows = list(_rows(run, batch, observer, plan, pool))
            standing = [_prediction(row, n_labels) for row in rows if row["is_first"]]
            for path, schema in tables.items():
                frame = schema.frame(rows if path == answers else standing)
                table = pa.Table.from_pandas(frame, preserve_index=False)
                if path not in writers:
                    writers[path] = stack.enter_context(parquet.ParquetWriter(unfinished[path], table.schema))
                writers[path].write_table(table)
            count += len(standing)
            n_clean += sum(row["corruption"] == "none" for row in standing)
            n_clean_right += sum(row["corruption"] == "none" and row["correct"] for row in standing)
    for path, written in unfinished.items():
        written.replace(path)
    with predictions.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return Joined(count, n_clean, n_clean_right, n_labels, 0.0, sha256)


def _rows(
    run: EvaluationRun, batch: Sequence[ShownStimulus], observer: Observer, plan: AskPlan, pool: ThreadPoolExecutor
) -> Iterator[dict[str, Any]]:
    """A row a question, those of a stimulus together and its first question first."""
    asked: list[tuple[ShownStimulus, NDArray[np.uint8], ForcedChoice]] = []
    space = _worded(run.stimulus_set)
    for shown in batch:
        picture = read_picture(shown.file, shown.sha256, shown.stimulus)
        asked.extend((shown, picture, question) for question in plan.questions_for(shown.stimulus, space))
    found = pool.map(lambda one: observer.answer(one[1], one[2]), asked)
    last = ""
    for (shown, _picture, question), answer in zip(asked, found, strict=True):
        yield _row(run.name, shown, question, answer) | {"is_first": shown.stimulus != last}
        last = shown.stimulus


def _row(name: str, shown: ShownStimulus, question: ForcedChoice, answer: Answer) -> dict[str, Any]:
    return {
        "classifier": name,
        "stimulus": shown.stimulus,
        "original": shown.original,
        "category": shown.category,
        "corruption": shown.corruption,
        "visual_change": shown.visual_change,
        "wording": question.wording,
        "order": question.order,
        "repeat": question.repeat,
        "shown": " ".join(question.labels),
        "kind": answer.kind,
        "response": answer.label,
        "correct": shown.is_right(answer.label),
        "text": answer.text,
        "tokens_in": answer.tokens_in,
        "tokens_out": answer.tokens_out,
        "fingerprint": answer.fingerprint,
        **_scores(question, answer),
    }


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
