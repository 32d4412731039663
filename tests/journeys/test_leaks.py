"""Whether anything but the pixels tells a trial's role or category: a classifier is trained on it, and has to fail."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from analysis.corruptions import CORRUPTIONS, corrupt
from analysis.examples.pictures import draw
from analysis.generation.files import encode_png
from analysis.labels.files import default_labels
from analysis.study.study import StudyConfiguration
from humanexp.core.storage import media_path
from humanexp.participation.openings import open_session, participant_for
from humanexp.stimuli.models import SourceImage, SourceSet, Stimulus, StimulusSet
from humanexp.studies import services
from humanexp.studies.models import Study
from tests.journeys.eavesdropping import (
    ELSEWHERE,
    REPEATED,
    SIZE,
    Heard,
    add_repetitions,
    columns,
    held_out_scores,
    listen,
    upper_bound,
)

FUNCTIONS = ("gaussian_blur", "gaussian_noise", "uniform_noise")
ROLES = ("gold", "negative", "clean", "consistency_first", "consistency_second")

pytestmark = pytest.mark.usefixtures("unhurried")


def make_stimuli(size_px: int, per_category: int, per_function: int) -> StimulusSet:
    """Drawn pictures, truly corrupted and written as stimuli are; their order in visual change is the parameter's."""
    source = SourceSet.objects.create(name="drawn")
    made = StimulusSet.objects.create(
        name="leaks",
        source_set=source,
        corruptions=list(FUNCTIONS),
        count_per_corruption=per_function,
        size_px=size_px,
        metric="vif-1",
        completed_at="2026-01-01T00:00:00Z",
    )
    drawings = {
        (category, k): draw(category, k, size_px) for category in default_labels().ids for k in range(per_category)
    }
    images = SourceImage.objects.bulk_create(
        SourceImage(
            source_set=source,
            key=f"{category}-{k}",
            category=category,
            file=f"leaks/{category}-{k}.png",
            sha256=hashlib.sha256(pixels.tobytes()).hexdigest(),
        )
        for (category, k), pixels in drawings.items()
    )
    pictures = list(drawings.values())
    rows = [("none", number, 0.0, 0.0) for number in range(len(images))]
    for function in FUNCTIONS:
        for k in range(per_function):
            change = (k + 0.5) / per_function
            rows.append((function, (7 * k) % len(images), change, CORRUPTIONS[function].parameter_at(change)))
    stimuli = []
    for number, (function, image, change, parameter) in enumerate(rows):
        pixels = pictures[image] if function == "none" else corrupt(pictures[image], function, parameter, number)
        content, path = encode_png(pixels), media_path(f"leaks/{size_px}-{number:05d}.png")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        stimuli.append(
            Stimulus(
                stimulus_set=made,
                key=f"{function}-{number:05d}",
                source_image=images[image],
                corruption=function,
                corruption_version="1",
                parameter=parameter,
                seed=number,
                visual_change=change,
                sha256=hashlib.sha256(content).hexdigest(),
                file=f"leaks/{path.name}",
            )
        )
    Stimulus.objects.bulk_create(stimuli)
    return made


def make_study(size_px: int, **design: int) -> Study:
    configuration = StudyConfiguration.from_dict(
        {
            "title": "What is heard",
            "stimuli": "leaks",
            "rules": "none",
            "protocol": {"name": "vcr", "size_px": size_px},
            "design": {"practice_trials": 2, "answers_per_stimulus": 40, **design},
        }
    )
    return services.start_collecting(study=services.create_study(configuration=configuration))


def listen_to_all(study: Study, sessions: int) -> list[Heard]:
    answers = np.random.default_rng(3)
    heard = []
    for number in range(sessions):
        participant = participant_for(family=study.family, code=f"P-{number:04d}")
        heard += listen(open_session(study=study, participant=participant), answers)
    add_repetitions(heard)
    return heard


@dataclass
class Told:
    """How well a feature set tells one thing: AUC on sessions that were not learned from, and its upper bound."""

    of: str
    auc: float
    upper: float

    def __str__(self) -> str:
        return f"{self.of}: AUC {self.auc:.3f}, upper 95 % bound {self.upper:.3f}"


def roles_told(heard: list[Heard], names: list[str] | None = None) -> dict[str, Told]:
    """Each role against main trials, and all sentinels together."""
    result = {}
    for role in (*ROLES, "any sentinel"):
        wanted = ("gold", "negative", "consistency_second") if role == "any sentinel" else (role,)
        chosen = [trial for trial in heard if trial.role in ("main", *wanted)]
        table, _ = columns(chosen, names)
        target, sessions = truth(chosen, lambda trial, wanted=wanted: trial.role in wanted)
        result[role] = Told(role, *upper_bound([(held_out_scores(table, target, sessions), target)], sessions))
    return result


def categories_told(heard: list[Heard], names: list[str] | None = None) -> Told:
    """Every category against the others, the sixteen questions on average."""
    table, _ = columns(heard, names)
    answered = []
    for category in default_labels().ids:
        target, sessions = truth(heard, lambda trial, category=category: trial.category == category)
        answered.append((held_out_scores(table, target, sessions), target))
    return Told("category", *upper_bound(answered, sessions, draws=100))


def truth(heard, is_target):
    return np.array([is_target(trial) for trial in heard]), np.array([trial.session for trial in heard])


def check(heard: list[Heard], limit: float) -> None:
    told = {**roles_told(heard), "category": categories_told(heard)}
    assert not [str(known) for known in told.values() if known.upper > limit]
    # The same classifier finds what is there: sizes tell clean pictures, contents tell what comes again.
    assert roles_told(heard, [SIZE])["clean"].auc > 0.6
    assert roles_told(heard, [REPEATED])["consistency_second"].auc > 0.99


def check_counts(heard: list[Heard]) -> None:
    """Who sees that a picture is clean does not know a gold by that."""
    for session in {trial.session for trial in heard}:
        roles = Counter(trial.role for trial in heard if trial.session == session)
        assert roles["clean"] >= roles["gold"] > 0


def report(heard: list[Heard]) -> str:
    lines = [f"{len(heard)} trials of {len({trial.session for trial in heard})} sessions"]
    for title, names in (
        ("all but sizes and repeated contents", None),
        ("sizes of files", [SIZE]),
        ("contents that came before in the session", [REPEATED]),
        ("contents of how many sessions", [ELSEWHERE]),
    ):
        lines += [
            title,
            *(f"  {known}" for known in (*roles_told(heard, names).values(), categories_told(heard, names))),
        ]
    return "\n".join(lines)


@pytest.mark.verify
@pytest.mark.django_db
def test_nothing_but_pixels_tells_a_role_or_a_category():
    """Few sessions, so the bound is wide; two hundred are in the slow test."""
    make_stimuli(32, per_category=6, per_function=160)
    heard = listen_to_all(make_study(32, sessions=30, main_trials=20), 30)
    check_counts(heard)
    check(heard, limit=0.65)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.django_db
def test_two_hundred_sessions_tell_nothing(tmp_path: Path):
    make_stimuli(224, per_category=8, per_function=300)
    heard = listen_to_all(make_study(224, sessions=200, main_trials=40), 200)
    told = report(heard)
    (tmp_path / "told.txt").write_text(told)
    check_counts(heard)
    check(heard, limit=0.55)
