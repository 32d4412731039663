"""Trials that offer some labels, and none of these: what the page is told, what is taken, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from django.test import Client
from django.utils import translation

from analysis.errors import DesignRefused
from analysis.findings.reproduction import analyse_export
from analysis.labels.files import shipped
from analysis.labels.lists import fault_of
from analysis.own_performance import own_performance
from analysis.study.study import StudyConfiguration
from humanexp.participation.answers import session_rows
from humanexp.participation.models import Session, Trial
from humanexp.participation.previews import issue_preview_handoff, open_preview
from humanexp.results.exports import export_study
from humanexp.results.selectors import findings as findings_of, findings_json
from humanexp.results.services import run_analysis
from humanexp.simulation.observers import DEMO_CURVES, ObserverModel
from humanexp.simulation.participant import options_in
from humanexp.simulation.personas import PERSONAS, TruePicture, personas
from humanexp.stimuli.models import SourceImage
from humanexp.stimuli.services.label_sets import label_set_named, store_labels
from humanexp.studies.models import Study
from humanexp.studies.power import PowerQuestion, planned_study
from humanexp.studies.services import create_study
from tests.factories import Tab, collecting_study, configuration, make_stimulus_set, new_session
from tests.participation.test_labels import DESIGN, PROTOCOL, thirty

DIGITS = shipped("mnist")
SMALL = {**DESIGN, "practice_trials": 4, "gold_trials": 4}

pytestmark = pytest.mark.django_db


def study_of(sessions: int = 4, rules: str = "vcr", **design: object) -> Study:
    labels = label_set_named("mnist")
    make_stimulus_set(labels=labels, per_category=9, per_function=160)
    return collecting_study(protocol=PROTOCOL, rules=rules, design={**SMALL, "sessions": sessions, **design})


def opened(client: Client, study: Study, code: str = "P-1") -> tuple[Session, Tab]:
    session = new_session(study, code)
    tab = Tab(client, session)
    tab.take_lease()
    return session, tab


def test_the_page_is_told_how_many_are_offered_and_with_the_pictures_which(client: Client) -> None:
    session, tab = opened(client, study_of(alternatives=2))
    told = tab.get("session/").json()
    assert told["alternatives"] == {"categorisation": 2}
    choices = told["choices"]["categorisation"]
    assert [choice["name"] for choice in choices] == list(DIGITS.in_grid)
    planned = {trial.position: trial.options for trial in Trial.objects.filter(session=session)}
    reply = tab.get("trials/0-3/pictures/")
    assert options_in(reply["Trial-Options"], choices) == [planned[position] for position in range(4)]
    assert options_in(tab.get("trials/2/stimulus/0/")["Trial-Options"], choices) == [planned[2]]
    assert "Trial-Options" not in tab.get("trials/2/mask/")
    # No further than the pictures: the next block is not told of.
    assert tab.get("trials/4-5/pictures/").status_code == 404


def test_a_study_of_all_labels_tells_nothing_of_options(client: Client) -> None:
    session, tab = opened(client, study_of())
    assert tab.get("session/").json()["alternatives"] == {}
    assert "Trial-Options" not in tab.get("trials/0-3/pictures/")
    assert not any(Trial.objects.filter(session=session).values_list("options", flat=True))
    tab.answer(0, "1")
    assert session_rows(session)[0]["options"] is None


def test_an_answer_that_was_not_offered_is_refused(client: Client) -> None:
    session, tab = opened(client, study_of(alternatives=2))
    first, second = Trial.objects.filter(session=session, position__in=(0, 1)).order_by("position")
    for other in [one for one in DIGITS.ids if one not in first.options] + ["none", "knife"]:
        assert tab.answer(0, other).status_code == 422
    assert tab.answer(0, first.correct_response).json()["feedback"] == {
        "correct": True, "category": first.correct_response,
    }  # fmt: skip
    foil = next(one for one in second.options if one != second.correct_response)
    assert tab.answer(1, foil).json()["feedback"]["correct"] is False
    assert tab.answer(2, "na").status_code == 201
    rows = session_rows(session)
    assert [row["options"] for row in rows[:2]] == [" ".join(first.options), " ".join(second.options)]
    cells = [{name: row[name] or "" for name in ("options", "category", "response")} for row in rows]
    assert [fault_of(one, DIGITS) for one in cells] == [None, None, None]


def test_a_preview_offers_the_same(client: Client) -> None:
    study = study_of(alternatives=3, none_of_these=True)
    preview = open_preview(study=study, by=None)
    token = client.post(
        "/api/v1/preview/handoff/", {"code": issue_preview_handoff(preview=preview)}, content_type="application/json"
    ).json()["token"]
    headers = {"Authorization": f"Bearer {token}", "X-Lease": "tab-00000001"}
    client.post("/api/v1/preview/lease/", {"lease": "tab-00000001"}, content_type="application/json", headers=headers)
    choices = client.get("/api/v1/preview/session/", headers=headers).json()["choices"]["categorisation"]
    reply = client.get("/api/v1/preview/trials/0-1/pictures/", headers=headers)
    offered = options_in(reply["Trial-Options"], choices)
    assert [len(one) for one in offered] == [4, 4] and {one[-1] for one in offered} == {"none"}
    other = next(one for one in DIGITS.ids if one not in offered[0])
    for response, status in ((other, 422), ("none", 201)):
        said = {"position": 0, "response": response}
        reply = client.post("/api/v1/preview/responses/", said, content_type="application/json", headers=headers)
        assert reply.status_code == status


def test_none_of_these_is_the_last_answer_of_the_grid_and_wrong(client: Client) -> None:
    session, tab = opened(client, study_of(none_of_these=True))
    for language, word in (("en", "None of these"), ("de", "Nichts davon")):
        with translation.override(language):
            told = tab.get("session/", **{"Accept-Language": language}).json()
        assert told["choices"]["categorisation"][-1] == {"name": "none", "label": word}
    assert (len(told["choices"]["categorisation"]), told["alternatives"]) == (11, {})
    assert "Trial-Options" not in tab.get("trials/0-3/pictures/")
    assert tab.answer(0, "none").json()["feedback"]["correct"] is False
    row = session_rows(session)[0]
    assert (row["response"], row["correct"], row["options"]) == ("none", False, " ".join((*DIGITS.in_grid, "none")))


def test_a_shuffled_grid_has_none_of_these_last(client: Client) -> None:
    make_stimulus_set(labels=label_set_named("mnist"), per_category=9, per_function=160)
    study = collecting_study(protocol={**PROTOCOL, "grid_order": "shuffled"}, design={**SMALL, "none_of_these": True})
    _, tab = opened(client, study)
    names = [choice["name"] for choice in tab.get("session/").json()["choices"]["categorisation"]]
    assert names[-1] == "none" and sorted(names[:-1]) == sorted(DIGITS.ids) and names[:-1] != list(DIGITS.in_grid)


def test_an_accepted_label_is_no_foil_and_a_competing_one_is(client: Client) -> None:
    make_stimulus_set(labels=label_set_named("mnist"), per_category=9, per_function=160)
    SourceImage.objects.filter(category="1").update(accepted=["1", "7"], competing="4")
    design = {**SMALL, "alternatives": 2, "foils": "competing"}
    session = new_session(collecting_study(protocol=PROTOCOL, design=design))
    ones = Trial.objects.filter(session=session, correct_response="1")
    assert ones and all(set(trial.options) == {"1", "4"} for trial in ones)


def test_chance_power_and_time_follow_what_is_offered() -> None:
    study = study_of(alternatives=2)
    assert study.chance == 0.5
    simulated = planned_study(study, PowerQuestion(people=10))
    assert (simulated.chance, simulated.curve.lower) == (0.5, 0.5)
    store = store_labels(thirty())
    make_stimulus_set("many", labels=store, per_category=4, per_function=160)
    made = create_study(
        configuration=configuration(slug="many", stimuli="many", protocol=PROTOCOL, design={**SMALL, "alternatives": 2})
    )
    assert StudyConfiguration.from_dict(made.configuration).protocol.response_ms == 4000
    assert not any("not yet tried" in note for note in made.plan_notes)


def test_more_alternatives_than_labels_are_refused_with_their_place() -> None:
    make_stimulus_set(labels=label_set_named("mnist"), per_category=9, per_function=160)
    with pytest.raises(DesignRefused, match="are only 10") as refused:
        create_study(configuration=configuration(protocol=PROTOCOL, design={**SMALL, "alternatives": 12}))
    assert list(refused.value.fields) == ["design.alternatives"]


@pytest.mark.parametrize("name", PERSONAS)
def test_scripted_participants_choose_what_is_offered(name: str) -> None:
    persona = personas(ObserverModel(curves=DEMO_CURVES), 1, DIGITS)[name]
    picture = TruePicture(original="3-1", category="3", corruption="none", visual_change=0.0)
    for offered in (["3", "8"], ["8", "3", "none"]):
        answers = [persona.among(offered).answer([picture], participant="P", position=n).response for n in range(60)]
        assert set(answers) <= {*offered, "na"}
    assert persona.among(()) == persona


def test_who_sees_nothing_is_right_in_half_of_two_and_who_sees_all_as_often_as_ever() -> None:
    persona = personas(ObserverModel(curves=DEMO_CURVES, image_sd=0.0, participant_sd=0.0), 1)["careful"]
    for change, share in ((1.0, 0.5), (0.0, 0.97)):
        shown = TruePicture(original="cat-1", category="cat", corruption="gaussian_noise", visual_change=change)
        answers = [persona.among(("dog", "cat")).answer([shown], participant=f"P{n}", position=0) for n in range(3000)]
        assert np.mean([one.response == "cat" for one in answers]) == pytest.approx(share, abs=0.03)


def guessed(client: Client, study: Study, people: int) -> Session:
    """Everybody guesses among what is offered."""
    guesser = personas(ObserverModel(curves=DEMO_CURVES), 5, DIGITS)["random"]
    for number in range(people):
        session, tab = opened(client, study, f"P-{number}")
        for trial in Trial.objects.filter(session=session).select_related("stimulus").order_by("position"):
            shown = TruePicture(original="x", category=trial.correct_response, corruption="none", visual_change=0.0)
            offered = guesser.among(trial.options)
            # Not the session's code, which is drawn anew in every run: the same guesses, and the same intervals.
            said = offered.answer([shown], participant=f"P-{number}", position=trial.position)
            tab.answer(trial.position, said.response)
        assert tab.post("complete/", {}).status_code == 200
    session.refresh_from_db()
    return session


def test_people_who_guess_among_two_are_at_chance_and_not_above_it(client: Client, tmp_path: Path) -> None:
    study = guessed(client, study_of(sessions=10, rules="none", alternatives=2), 10).study
    run = run_analysis(study=study, n_bootstrap=50)
    found = findings_of(run)
    curves = [curve for curve in found.curves if curve.property == "accuracy"]
    assert curves and {curve.chance for curve in curves} == {0.5}
    for curve in curves:
        assert curve.area == pytest.approx(0.5, abs=0.15)
        assert all(low <= 0.5 <= high for low, high in [curve.interval] if curve.interval)
    right = [bool(row["correct"]) for session in study.sessions.all() for row in session_rows(session)]
    assert np.mean(right) == pytest.approx(0.5, abs=3 * 0.5 / np.sqrt(len(right)))

    folder = tmp_path / "export"
    export_study(study, folder)
    assert analyse_export(folder)["curves"] == findings_json(run)["curves"]
    assert "CHOICES = 2" in (folder / "mixed-model" / "mixed_model.py").read_text(encoding="utf-8")


def test_few_of_many_who_guess_among_two_are_told_that_they_are_above_chance() -> None:
    """At a level of .05 at most; taken for guesses among ten labels nearly all of them would be."""
    rng = np.random.default_rng(3)
    told: Mapping[float, list[bool]] = {0.5: [], 0.1: []}
    for _ in range(300):
        changes, right = rng.random(48), rng.random(48) < 0.5
        for chance, found in told.items():
            performance = own_performance(changes.tolist(), right.tolist(), chance=chance)
            found.append(performance is not None and not performance.is_like_guessing)
    assert np.mean(told[0.5]) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)
    assert np.mean(told[0.1]) > 0.9
