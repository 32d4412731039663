"""What goes into an analysis, read from the database."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.findings.analysing import analyse
from analysis.findings.reproduction import analyse_export
from analysis.reporting.plan import FrozenPlan, deviations
from analysis.tables.stimuli import PREDICTIONS
from humanexp.core import clock
from humanexp.core.storage import media_path
from humanexp.evaluations.models import EvaluationRun
from humanexp.participation.models import Session, SessionState
from humanexp.results import selectors, tables
from humanexp.results.exports import export_study
from humanexp.results.services import freeze_analysis_plan, run_analysis, study_snapshot
from humanexp.screening.services import judge_study
from humanexp.stimuli.models import Sampling, Stimulus, StimulusSet
from humanexp.studies.models import Study
from tests.results.collected import CORRUPTIONS, SESSIONS, make_predictions

pytestmark = pytest.mark.django_db


def make_levels(study: Study, name: str = "tiny net") -> StimulusSet:
    """The five levels of the study's originals, and a classifier's predictions on them: right up to level 3."""
    levels = StimulusSet.objects.create(
        name="levels",
        source_set=study.stimulus_set.source_set,
        corruptions=list(CORRUPTIONS),
        count_per_corruption=0,
        sampling=Sampling.LEVELS,
        completed_at=clock.now(),
    )
    images = list(levels.source_set.images.all()[:20])
    rows = [(corruption, level, image) for corruption in CORRUPTIONS for level in range(1, 6) for image in images]
    Stimulus.objects.bulk_create(
        Stimulus(
            stimulus_set=levels,
            key=f"{corruption}-{level}-{image.key}",
            source_image=image,
            corruption=corruption,
            parameter=level,
            seed=number,
            visual_change=level / 10,
            sha256=f"{number:064d}",
            file=f"{number}.png",
        )
        for number, (corruption, level, image) in enumerate(rows)
    )
    relative = "evaluations/levels.parquet"
    path = media_path(relative)
    path.parent.mkdir(parents=True, exist_ok=True)
    PREDICTIONS.write(
        PREDICTIONS.frame(
            {
                "classifier": name,
                "stimulus": f"{corruption}-{level}-{image.key}",
                "original": image.key,
                "category": image.category,
                "corruption": corruption,
                "visual_change": level / 10,
                "response": image.category if level <= 3 else "na",
                "correct": level <= 3,
                "label_space": 16,
            }
            for corruption, level, image in rows
        ),
        path,
    )
    EvaluationRun.objects.create(
        stimulus_set=levels, name=name, spec="python:tests", predictions_file=relative, completed_at=clock.now()
    )
    return levels


@pytest.mark.verify
def test_levels_of_the_same_originals_stand_beside_the_areas(study: Study, tmp_path: Path) -> None:
    make_predictions(study)
    assert tables.level_predictions_of(study) is None
    make_levels(study)
    found = tables.level_predictions_of(study)
    assert found is not None and sorted(set(found["level"])) == [1, 2, 3, 4, 5] and len(found) == 200
    settings = {"seed": 7, "n_bootstrap": 0, "sensitivity": False}
    numbers = analyse(**tables.analysis_tables(study), study=study.slug, **settings).to_json()
    (model,) = numbers["levels"]["models"]
    assert model["fixed_accuracy"] == pytest.approx(0.6)
    assert [one["b"]["levels"][0]["n"] for one in numbers["levels"]["coverage"]["functions"]] == [20, 20]
    export_study(study, tmp_path)
    again = analyse_export(tmp_path, n_bootstrap=0)
    assert again["levels"] == numbers["levels"] and again["data_digest"] == numbers["data_digest"]


def test_sessions_tell_how_far_they_came_and_why_they_do_not_count(study: Study) -> None:
    judge_study(study)
    first, second, *_ = Session.objects.filter(study=study).order_by("pk")
    Session.objects.filter(pk=second.pk).update(state=SessionState.OPEN, cursor=3, submitted_at=None, completed_at=None)
    table = tables.sessions_of(study)
    assert table is not None and len(table) == SESSIONS
    rows = table.set_index("session").to_dict("index")
    assert rows[first.code]["state"] == "submitted" and bool(rows[first.code]["accepted"])
    assert rows[first.code]["participant"] == first.participant.code
    assert rows[first.code]["rule_set"].startswith("none ")
    assert rows[second.code]["state"] == "open" and rows[second.code]["answered"] == 3
    assert rows[second.code]["accepted"] is not True


def test_answers_come_in_chunks_that_together_are_the_table(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = tables.trials_of(study)
    monkeypatch.setattr(tables, "CHUNK", 7)
    chunks = list(tables.trial_chunks(study))
    assert max(len(chunk) for chunk in chunks) == 7
    assert tables.trials_of(study).equals(whole)


@pytest.mark.verify
def test_what_the_study_decided_about_its_analysis_is_done_and_planned(study: Study) -> None:
    make_predictions(study)
    named = {"title": study.title, "stimuli": study.stimulus_set.name}
    decided = {"margin": 0.06, "level": 0.9, "borrow": {"uniform_noise": "gaussian_blur"}}
    study.configuration = named | {"analysis": decided}
    study.save(update_fields=["configuration"])
    plan = freeze_analysis_plan(study=study)
    found = selectors.findings(run_analysis(study=study, n_bootstrap=0))
    assert found.settings.margin == 0.06 and found.curves[0].level == 0.9
    assert [entry.corruption for entry in found.comparisons if entry.borrowed] == ["uniform_noise"] * 2
    frozen = FrozenPlan(plan.content, plan.digest)
    done = [one.what for one in deviations(frozen, found, snapshot=study_snapshot(study))]
    # Only the refits of this quick run.
    assert done == ["bootstrap refits per resampled unit"]
