"""A small collected study of real rows: stimuli without files, answered sessions, a classifier's predictions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from analysis.labels.files import default_labels
from analysis.study.rules import load_rule_set
from analysis.tables.stimuli import PREDICTIONS
from analysis.timing.rules import TIMING_RULE, timing_ok
from humanexp.core import clock
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.evaluations.models import EvaluationRun
from humanexp.participation.models import Participant, Response, Session, SessionState, Trial
from humanexp.stimuli.models import Stimulus, StimulusSet
from humanexp.studies.models import Study, StudyFamily, StudyState
from tests.factories import make_stimulus_set, no_png

CORRUPTIONS = ("gaussian_blur", "uniform_noise")
PER_CATEGORY, PER_CORRUPTION, SESSIONS, TRIALS_EACH = 4, 80, 8, 20

#: The same in every test: findings are compared by the digest of the rows.
RECEIVED_AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
TIMING = {
    "t_refresh_median_ms": 16.67,
    "frames_target": 12,
    "frames_shown": 12,
    "dur_stim_ms": 200.0,
    "dur_stim_taken_ms": 200.4,
    "max_frame_gap_ms": 16.7,
    "n_long_frames": 0,
    "visible_whole_trial": True,
    "focused_whole_trial": True,
    "decode_ok": True,
    "resized": False,
}


def human_rate(visual_change: float) -> float:
    return 0.95 if visual_change < 0.7 else 0.95 - 2.5 * (visual_change - 0.7)


def make_stimuli(name: str) -> StimulusSet:
    return make_stimulus_set(
        name, per_category=PER_CATEGORY, per_function=PER_CORRUPTION, functions=CORRUPTIONS, plain=(), picture=no_png
    )


def make_study(by: User | None = None, slug: str = "blur", stimulus_set: StimulusSet | None = None) -> Study:
    """A study with eight submitted sessions, on stimuli of its own unless others are given."""
    stimulus_set = stimulus_set or make_stimuli(f"{slug}-pictures")
    study = Study.objects.create(
        family=StudyFamily.objects.create(slug=slug),
        slug=slug,
        title="Blur and noise: how far behind people?",
        state=StudyState.COLLECTING,
        stimulus_set=stimulus_set,
        planned_sessions=10,
        rule_set=load_rule_set("none").to_dict(),
        created_by=by,
        seed=7,
    )
    rng = np.random.default_rng(1)
    clean = list(stimulus_set.stimuli.filter(corruption="none").select_related("source_image"))
    corrupted = list(stimulus_set.stimuli.exclude(corruption="none").select_related("source_image"))
    rng.shuffle(corrupted)
    shown = [
        [*corrupted[number * TRIALS_EACH : (number + 1) * TRIALS_EACH], *clean[number::SESSIONS][:6]]
        for number in range(SESSIONS)
    ]
    answer(study, shown, rng)
    return study


def answer(study: Study, shown: Sequence[Sequence[Stimulus]], rng: np.random.Generator) -> None:
    """A submitted session of somebody else for each list of stimuli, right as often as `human_rate` says."""
    now = clock.now()
    trials: list[Trial] = []
    responses: list[Response] = []
    for number, stimuli in enumerate(shown):
        participant = Participant.objects.create(family=study.family, code=f"P-TEST{number}")
        session = Session.objects.create(
            study=study,
            participant=participant,
            code=f"S-{study.slug}-{number}",
            slot=number,
            state=SessionState.SUBMITTED,
            token_nonce=str(number),
            cursor=len(stimuli),
            total=len(stimuli),
            opened_at=now - timedelta(minutes=9),
            completed_at=now,
            submitted_at=now,
        )
        for position, stimulus in enumerate(stimuli):
            category = stimulus.source_image.category
            right = bool(rng.random() < human_rate(stimulus.visual_change))
            other = default_labels().ids[(default_labels().ids.index(category) + 1) % len(default_labels())]
            trial = Trial(
                session=session,
                position=position,
                block=0,
                task="categorisation",
                role="clean" if stimulus.corruption == "none" else "main",
                stimulus=stimulus,
                correct_response=category,
                mask_seed=0,
            )
            trials.append(trial)
            responses.append(
                Response(
                    session=session,
                    trial=trial,
                    position=position,
                    response=category if right else other,
                    correct=right,
                    rt_ms=700.0,
                    timing=TIMING,
                    timing_ok=timing_ok(TIMING),
                    timing_rule=TIMING_RULE,
                    received_at=RECEIVED_AT,
                )
            )
    Trial.objects.bulk_create(trials)
    Response.objects.bulk_create(responses)


def make_predictions(study: Study, name: str = "tiny net", *, loses_from: float = 0.4) -> EvaluationRun:
    """A classifier that is right below a visual change and wrong above it."""
    rows = []
    for stimulus in study.stimulus_set.stimuli.select_related("source_image"):
        category = stimulus.source_image.category
        right = stimulus.visual_change < loses_from
        rows.append(
            {
                "classifier": name,
                "stimulus": stimulus.key,
                "original": stimulus.source_image.key,
                "category": category,
                "corruption": stimulus.corruption,
                "visual_change": stimulus.visual_change,
                "response": category
                if right
                else default_labels().ids[(default_labels().ids.index(category) + 3) % len(default_labels())],
                "correct": right,
                "confidence": 0.5,
                "label_space": 16,
            }
        )
    relative = f"evaluations/{study.slug}-{name.replace(' ', '-')}.parquet"
    path = media_path(relative)
    path.parent.mkdir(parents=True, exist_ok=True)
    PREDICTIONS.write(PREDICTIONS.frame(rows), path)
    return EvaluationRun.objects.create(
        stimulus_set=study.stimulus_set,
        name=name,
        spec="python:tests",
        predictions_file=relative,
        count=len(rows),
        completed_at=clock.now(),
    )
