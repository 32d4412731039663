"""From the comparisons that people are planned to answer and a model in words to a table of its answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Any

import numpy as np
from django.db import transaction
from numpy.typing import NDArray

from analysis.classifiers.shards import Joined, ShownStimulus, read_picture
from analysis.design.plan import PlannedTrial
from analysis.errors import ObserverUnavailable
from analysis.findings.model_discrimination import comparison_summary
from analysis.labels.space import NO_ANSWER
from analysis.observers.comparisons import (
    ANSWERS,
    QUESTIONS,
    TASKS,
    Compared,
    Comparison,
    comparison_text,
    with_questions,
)
from analysis.observers.port import Answer
from analysis.observers.protocol import AskProtocol
from analysis.observers.questions import AskPlan
from humanexp.core import file_store
from humanexp.core.batches import batches_of
from humanexp.core.errors import InvalidRequest
from humanexp.core.models import User, record
from humanexp.core.storage import media_path, relative_to_media, write_whole
from humanexp.evaluations.budget import Budget, Caps
from humanexp.evaluations.models import EvaluationRun
from humanexp.evaluations.observers import (
    KEPT,
    Machine,
    check_caps,
    check_may_be_asked,
    check_may_compare,
    is_local,
    is_scored,
    observer_of,
    with_whole_path,
)
from humanexp.evaluations.services.asked_observers import AT_ONCE, Estimate, answer_columns, too_many_errors
from humanexp.evaluations.services.evaluations import check_idle, check_may_predict, complete
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.registry import Progress
from humanexp.stimuli.models import StimulusSet
from humanexp.stimuli.selectors.sets import bring_stimuli

COMPARE_KIND = "evaluations.compare"
_BATCH = 64
#: The comparisons of a run, below its folder.
_PLAN = "comparisons.json"


def compare(
    *,
    stimulus_set: StimulusSet,
    study: str,
    trials: Sequence[PlannedTrial],
    spec: str,
    protocol: AskProtocol,
    caps: Caps,
    name: str = "",
    allow_upload: bool = False,
    machine: Machine | None = None,
    owner: User | None = None,
    tell: Callable[[str], object] = lambda sentence: None,
) -> tuple[EvaluationRun, Job]:
    """Let a model answer the planned comparisons of a study, each once; for the command line alone.

    Parameters
    ----------
    study : str
        Slug of the study.
    trials : sequence of PlannedTrial
        Its comparisons; those of practice are left out, and each is asked once however many people get it.
    protocol : AskProtocol
        Decoding and seed; the questions are those of `analysis.observers.comparisons`.

    Raises
    ------
    InvalidRequest
        Before anything is written: for what `ask` refuses, for a model that takes one picture a question, for options
        of questions about one picture, and for a name under which something else has answered.
    """
    machine, spec = machine or Machine(), with_whole_path(spec)
    observer = observer_of(spec, protocol, machine)
    check_may_be_asked(spec, allow_upload=allow_upload)
    if protocol.is_custom and protocol.plan != AskPlan(seed=protocol.plan.seed):
        raise InvalidRequest(
            "--wordings, --orders, --repeats, --letters, --alternatives and --foils are of questions about one "
            "picture: leave them out. A comparison has one wording, and its two words change places by the seed."
        )
    wanted = list(
        dict.fromkeys((one.task, one.role, one.stimuli, one.correct_response) for one in trials if _is_asked(one))
    )
    if not wanted:
        raise InvalidRequest(f"The study {study} plans no comparisons: leave out --task.")
    pictures = max(len(stimuli) for _, _, stimuli, _ in wanted)
    check_may_compare(spec, observer, Comparison("same-different", ("same", "different")), pictures)
    check_caps(spec, caps)
    plan = [{"task": task, "role": role, "stimuli": stimuli, "right": right} for task, role, stimuli, right in wanted]
    questions = list(_questions(stimulus_set, plan, protocol))
    file_store.bring(KEPT)
    known = sum(observer.is_known(_pictures(one), question) for one, question in questions)
    estimate = Estimate(
        stimuli=len({key for _, _, stimuli, _ in wanted for key in stimuli}), questions=len(questions), known=known,
        most_tokens=0 if is_scored(spec) else protocol.most_tokens, purposes={"trial": len(questions)},
        pictures=pictures,
    )  # fmt: skip
    tell(estimate.sentence(caps))
    if caps.most_calls and estimate.calls > caps.most_calls:
        raise InvalidRequest(
            f"{len(questions)} comparisons are {estimate.calls} calls, more than --most-calls {caps.most_calls}: raise "
            "it."
        )
    task = TASKS[wanted[0][0]]
    called = name or f"{observer.name[:60]} ({task})"
    return _submitted(stimulus_set, study, task, spec, called, protocol, caps, machine, owner, plan)


def _is_asked(trial: PlannedTrial) -> bool:
    return trial.task in TASKS and trial.role in ("main", "negative")


@transaction.atomic
def _submitted(
    stimulus_set: StimulusSet, study: str, task: str, spec: str, name: str, protocol: AskProtocol, caps: Caps,
    machine: Machine, owner: User | None, plan: list[dict[str, Any]],
) -> tuple[EvaluationRun, Job]:  # fmt: skip
    run = check_may_predict(stimulus_set=stimulus_set, name=name, by=None)
    if run is not None and run.asking.get("study") != study:
        raise InvalidRequest(f"{name} has answered something else about these pictures: give another --name.")
    if run is None:
        run = EvaluationRun.objects.create(
            stimulus_set=stimulus_set, name=name, spec=spec, lab_id=stimulus_set.lab_id, created_by=owner,
            asking={"task": task, "study": study},
        )  # fmt: skip
    check_idle(run)
    file = f"{run.folder}/{_PLAN}"
    write_whole(media_path(file), json.dumps(plan).encode())
    file_store.publish(file)
    record(action="ask-observer", subject=f"study:{study}", study=study, name=run.name, spec=spec)
    asked = {
        "evaluation_id": run.pk,
        "spec": spec,
        "protocol": protocol.to_json(),
        "caps": asdict(caps),
        **asdict(machine),
    }
    return run, jobs.submit(COMPARE_KIND, subject=run.job_subject, study=study, **asked)


def _questions(
    stimulus_set: StimulusSet, plan: Sequence[dict[str, Any]], protocol: AskProtocol
) -> Iterator[tuple[Compared, Comparison]]:
    """Planned comparisons with their pictures and questions."""
    columns = ("key", "source_image__key", "source_image__category", "corruption", "visual_change", "file", "sha256")
    known: dict[str, ShownStimulus] = {}
    for keys in batches_of(_BATCH, dict.fromkeys(key for one in plan for key in one["stimuli"])):
        for key, original, category, corruption, change, file, sha256 in stimulus_set.stimuli.filter(
            key__in=keys
        ).values_list(*columns):
            known[key] = ShownStimulus(key, original, category, corruption, change, str(media_path(file)), sha256)
    bring_stimuli(stimulus_set)
    trials = [
        Compared(one["task"], one["role"], tuple(known[key] for key in one["stimuli"]), one["right"]) for one in plan
    ]
    return with_questions(trials, seed=protocol.plan.seed)


def _pictures(trial: Compared) -> NDArray[np.uint8]:
    return np.stack([read_picture(one.file, one.sha256, one.stimulus) for one in trial.shown])


def answer_comparisons(
    run: EvaluationRun, study: str, spec: str, protocol: AskProtocol, caps: Caps, machine: Machine, progress: Progress
) -> None:
    """Ask all questions and complete the run. What an earlier attempt was told is not asked again."""
    from analysis.tables.comparisons import COMPARISONS
    from analysis.tables.stimuli import PREDICTIONS

    check_may_be_asked(spec, allow_upload=True)
    folder = media_path(run.folder)
    file_store.bring(KEPT, run.folder)
    plan_file = (folder / _PLAN).read_bytes()
    observer = observer_of(spec, protocol, machine, Budget(folder / "calls.jsonl", caps, protocol.most_tokens))
    questions = list(_questions(run.stimulus_set, json.loads(plan_file), protocol))
    task = questions[0][0].form
    decided = [observer.digest, protocol.digest, QUESTIONS[task], hashlib.sha256(plan_file).hexdigest()]
    digest = hashlib.sha256(json.dumps(decided).encode()).hexdigest()
    rows: list[dict[str, Any]] = []
    try:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for batch in batches_of(_BATCH, questions):
                progress(min(len(rows), len(questions) - 1), len(questions), f"{run.name}: comparisons answered")
                found = pool.map(lambda one: observer.answer(_pictures(one[0]), one[1]), batch)
                for (trial, question), answer in zip(batch, found, strict=True):
                    rows.append(_row(run.name, len(rows), trial, question, answer))
                errors = sum(row["kind"] == "error" for row in rows)
                if too_many_errors(errors, len(questions)):
                    raise ObserverUnavailable(
                        f"{errors} of the first questions got no answer. Answers so far are kept: start it again "
                        "later, and it asks only what is missing."
                    )
    finally:  # whoever goes on is not to pay once more for what was answered
        file_store.publish(KEPT, run.folder)
    table = COMPARISONS.frame(rows)
    answers, predictions = (folder / f"{kind}-{digest[:16]}.parquet" for kind in ("comparisons", "predictions"))
    for path, frame in ((answers, table), (predictions, PREDICTIONS.frame([]))):
        frame.to_parquet(path, index=False)
    asking = {
        "task": task,
        "study": study,
        "prompt": QUESTIONS[task],
        "digest": digest,
        "seed": protocol.plan.seed,
        "temperature": protocol.temperature,
        "thinking": protocol.thinking,
        "most_tokens": protocol.most_tokens,
        "is_repeatable": observer.is_repeatable,
        "is_scored": is_scored(spec),
        "summary": asdict(comparison_summary(table)),
    }
    complete(
        run=run,
        joined=Joined(len(rows), 0, 0, 2, 0.0, hashlib.sha256(predictions.read_bytes()).hexdigest()),
        predictions_file=predictions,
        answers_file=relative_to_media(answers),
        spec=spec,
        device=machine.device if is_local(spec) else "",
        rule="",
        own_labels=False,
        classifier_digest=digest,
        preprocessing=observer.preprocessing,
        versions=dict(observer.versions),
        asking=asking | {"methods": comparison_text(run.name, asking)},
    )
    progress(len(rows), len(rows), f"{run.name}: comparisons answered")


def _row(name: str, position: int, trial: Compared, question: Comparison, answer: Answer) -> dict[str, Any]:
    response = ANSWERS[trial.form][answer.label] if answer.kind == "label" else NO_ANSWER
    row: dict[str, Any] = {
        "classifier": name,
        "position": position,
        "task": trial.task,
        "role": trial.role,
        "visual_change": trial.shown[0].visual_change,
        "shown": " ".join(question.labels),
        "response": response,
        "correct": response == trial.right,
        **answer_columns(answer),
    }
    for place, prefix in enumerate(("", "second_", "third_")):
        one = trial.shown[place] if place < len(trial.shown) else None
        for column in ("original", "stimulus", "corruption"):
            row[f"{prefix}{column}"] = getattr(one, column) if one is not None else None
    return row
