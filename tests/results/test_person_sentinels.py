"""Sentinels of persons in results: they move no verdict, curve, rule or pay; they are exported, counted and scored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.findings.analysing import analyse
from analysis.findings.model.findings import Findings
from analysis.findings.reproduction import analyse_export
from analysis.labels.files import default_labels
from analysis.tables import SCHEMAS
from analysis.tables.stimuli import PREDICTIONS
from humanexp.console.scripted_participants import true_pictures
from humanexp.core import clock
from humanexp.core.storage import media_path
from humanexp.evaluations.models import EvaluationRun
from humanexp.participation.models import Response, Session
from humanexp.participation.openings import mark_submitted
from humanexp.results.exports import export_study
from humanexp.results.selectors import flow_of
from humanexp.results.tables import analysis_settings, analysis_tables, predictions_of
from humanexp.screening.models import Verdict
from humanexp.screening.services import judge_session
from humanexp.simulation.observers import DEMO_CURVES, ObserverModel
from humanexp.simulation.personas import personas
from humanexp.stimuli.selectors.sets import stimuli_of_curves
from humanexp.studies.models import Study
from tests.factories import add_sentinels, collecting_study, make_stimulus_set, new_session
from tests.results.collected import RECEIVED_AT, TIMING

pytestmark = pytest.mark.django_db
PEOPLE, SESSIONS_EACH, MACHINES = 20, 4, 2
QUICK: dict[str, Any] = {"n_bootstrap": 2, "sensitivity": False}
DESIGN = {"main_trials": 16, "practice_trials": 4, "consistency_pairs": 2, "gold_trials": 5}


def a_study(*, sessions: int, each: int = 1, design: dict[str, Any] | None = None) -> Study:
    return collecting_study(
        spec=4,
        slug="who",
        title="who",
        stimuli="who",
        max_sessions_per_worker=each,
        design=DESIGN | {"sessions": sessions, "persons": {"per_session": 4}} | (design or {}),
    )


def answered(study: Study, code: str, persona: Any, sentinel: Any = None) -> Session:
    """A session answered by a persona; its sentinels as `sentinel(trial)` says, where it is given."""
    truth = true_pictures(study)
    session = new_session(study, code)
    rows = []
    for trial in session.trials.select_related("stimulus").order_by("position"):
        said = persona.answer([truth[trial.stimulus.sha256]], participant=code, position=trial.position)
        response = sentinel(trial) if sentinel is not None and trial.role == "person" else said.response
        rt_ms = 90.0 if sentinel is not None and trial.role == "person" else said.rt_ms
        rows.append(
            Response(
                session=session,
                trial=trial,
                position=trial.position,
                response=response,
                correct=response == trial.correct_response,
                rt_ms=rt_ms,
                timing=TIMING,
                timing_ok=True,
                received_at=RECEIVED_AT,
            )
        )
    Response.objects.bulk_create(rows)
    now = clock.now()
    Session.objects.filter(pk=session.pk).update(
        state="completed", cursor=len(rows), completed_at=now, pictures_fetched=f"{(1 << len(rows)) - 1:x}"
    )
    session.refresh_from_db()
    judge_session(session)
    return session


def evaluated(study: Study, names: tuple[str, ...] = ("resnet50", "vit", "convnext")) -> None:
    """Answers of models to everything that models are asked about: of cue conflicts they mostly name the texture."""
    assert study.stimulus_set is not None
    for number, name in enumerate(names):
        rng = np.random.default_rng(number)
        rows: list[dict[str, object]] = []
        for one in stimuli_of_curves(study.stimulus_set).select_related("source_image"):
            category, drawn = one.source_image.category, rng.random()
            said = category if drawn < 0.9 - 0.8 * one.visual_change else str(rng.choice(default_labels().ids))
            if one.corruption == "cue_conflict":
                texture = one.source_image.key.split("-")[2].rstrip("0123456789")
                said = texture if drawn < 0.6 else category if drawn < 0.8 else str(rng.choice(default_labels().ids))
            rows.append(
                {
                    "classifier": name,
                    "stimulus": one.key,
                    "original": one.source_image.key,
                    "category": category,
                    "corruption": one.corruption,
                    "visual_change": one.visual_change,
                    "response": said,
                    "correct": said == category,
                    "confidence": 0.5,
                    "label_space": 16,
                }
            )
        path = f"predictions/{study.slug}-{name}.parquet"
        media_path(path).parent.mkdir(parents=True, exist_ok=True)
        PREDICTIONS.write(PREDICTIONS.frame(rows), media_path(path))
        EvaluationRun.objects.create(
            stimulus_set=study.stimulus_set, name=name, spec=name, predictions_file=path, completed_at=clock.now()
        )


def kinds(seed: int = 1) -> dict[str, Any]:
    return personas(ObserverModel(curves=DEMO_CURVES), seed)


def found(study: Study) -> Findings:
    return analyse(**analysis_tables(study), **analysis_settings(study), study=study.slug, seed=7, **QUICK)


def always_wrong(trial: Any) -> str:
    return next(one for one in default_labels().ids if one != trial.correct_response)


def without_counts(findings: Findings) -> dict[str, Any]:
    told = findings.to_json()
    for name in ("persons", "data_digest"):
        told.pop(name, None)
    return told


@pytest.fixture
def two_ways(db: None) -> Study:
    """Eight sessions; `answer_again` gives their sentinels another answer."""
    add_sentinels(make_stimulus_set("who", per_category=9), families=("high_pass", "silhouette"))
    study = a_study(sessions=8, design={"persons": {"per_session": 4, "families": ["cue_conflict", "high_pass"]}})
    honest = kinds()["careful"]
    for number in range(8):
        answered(study, f"P-{number}", honest)
    evaluated(study, ("resnet50",))
    return study


@pytest.mark.verify
def test_wrong_sentinels_change_no_curve_no_rule_and_no_verdict_to_the_bit(two_ways: Study) -> None:
    before = without_counts(found(two_ways))
    verdicts = [(one.accepted, one.reasons, one.flags, one.evidence) for one in Verdict.objects.order_by("session_id")]
    stored = Response.objects.filter(trial__role="person").select_related("trial")
    assert stored.count() == 32
    for one in stored:
        one.response, one.correct, one.rt_ms, one.timing_ok = always_wrong(one.trial), False, 40.0, False
        one.timing = {**TIMING, "n_long_frames": 9}
        one.save()
    for session in Session.objects.filter(study=two_ways):
        judge_session(session)
    again = Verdict.objects.filter(is_current=True).order_by("session_id")
    assert [(one.accepted, one.reasons, one.flags, one.evidence) for one in again] == verdicts
    assert all(accepted for accepted, *_ in verdicts)
    assert without_counts(found(two_ways)) == before
    assert {curve["corruption"] for curve in before["curves"]} == {"gaussian_blur", "gaussian_noise", "uniform_noise"}
    assert not [name for name in ("cue_conflict", "high_pass") if name in json.dumps(before)]


@pytest.mark.verify
def test_they_are_counted_in_the_flow_and_in_the_trials(two_ways: Study) -> None:
    findings = found(two_ways)
    assert findings.trials is not None and findings.trials.persons == 32
    assert findings.trials.rows == Response.objects.count()
    last = flow_of(findings)[-1]
    assert [(one.label, one.count) for one in last.left] == [("answers to sentinels of persons, in no curve", 32)]
    assert last.count == findings.trials.in_accepted_sessions


@pytest.mark.verify
def test_the_export_has_them_with_their_mark_and_gives_the_same_findings(two_ways: Study, tmp_path: Path) -> None:
    export_study(two_ways, tmp_path)
    trials = SCHEMAS["trials"].read(tmp_path / "trials.csv")
    mine = trials[trials["role"] == "person"]
    assert len(mine) == 32 and set(mine["corruption"]) == {"cue_conflict", "high_pass"}
    files = {path.name for path in (tmp_path / "model-vs-human").iterdir()}
    assert files == {"clean", "gaussian-blur", "gaussian-noise", "uniform-noise"}
    predictions = SCHEMAS["predictions"].read(tmp_path / "predictions.csv")
    assert (predictions["corruption"] == "cue_conflict").sum() == 24
    described = json.loads((tmp_path / "datapackage.json").read_text())
    (role,) = [
        field
        for resource in described["resources"]
        if resource["path"] == "trials.csv"
        for field in resource["schema"]["fields"]
        if field["name"] == "role"
    ]
    assert "sentinel of persons" in role["description"]
    again = analyse_export(tmp_path)
    assert again["trials"]["persons"] == 32


def test_a_study_that_does_not_ask_for_them_knows_nothing_of_their_pictures(two_ways: Study) -> None:
    other = collecting_study(spec=4, slug="plain", title="plain", stimuli="who", design=DESIGN | {"sessions": 2})
    families = {"cue_conflict", "high_pass", "silhouette"}
    assert not families & set(predictions_of(other)["corruption"])
    assert families & set(predictions_of(two_ways)["corruption"]) == {"cue_conflict", "high_pass"}


@pytest.mark.verify
def test_machines_are_found_over_several_sessions_and_people_are_not(db: None) -> None:
    """End to end: planned, answered by personas, evaluated, analysed. Of people alone at most one is flagged."""
    add_sentinels(make_stimulus_set("who", per_category=12, per_function=900), conflicts=40)
    study = a_study(sessions=PEOPLE * SESSIONS_EACH, each=SESSIONS_EACH)
    evaluated(study)
    honest, machine = kinds()["careful"], kinds()["vision-language"]
    names = [f"P-{number:02d}" for number in range(PEOPLE)]
    machines = set(names[:MACHINES])
    for code in names:
        for _ in range(SESSIONS_EACH):
            session = answered(study, code, machine if code in machines else honest)
            mark_submitted(session=session, at=clock.now())
    persons = found(study).persons
    assert persons is not None
    assert (persons.scored, persons.sentinels, persons.families) == (PEOPLE, 16, ("cue_conflict",))
    assert machines <= set(persons.flagged)
    assert len(set(persons.flagged) - machines) <= 1
    assert persons.share_interval[0] <= MACHINES / PEOPLE <= persons.share_interval[1]


@pytest.mark.verify
def test_of_people_alone_few_are_flagged(db: None) -> None:
    add_sentinels(make_stimulus_set("who", per_category=9, per_function=400))
    study = a_study(sessions=30)
    evaluated(study)
    for number in range(30):
        answered(study, f"P-{number:02d}", kinds()["average"])
    persons = found(study).persons
    assert persons is not None and persons.scored == 30
    # At most 1 % of honest people by the model: of 30, more than two happens in 0.3 % of studies.
    assert persons.flagged_people <= 2
