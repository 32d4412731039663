"""Studies among other labels than the 16: what the page shows, what it takes, and what the analysis makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from django.test import Client
from django.utils import translation

from analysis.findings.reproduction import analyse_export
from analysis.labels.files import labels_of_words, read_labels_file, shipped
from analysis.labels.space import Label, LabelSpace
from analysis.study.study import StudyConfiguration
from humanexp.core.errors import InputRefused
from humanexp.participation.answers import session_rows
from humanexp.participation.models import Response, Session, Trial
from humanexp.results.exports import export_study
from humanexp.results.pages.dashboard import question_of
from humanexp.results.selectors import findings as findings_of, findings_json
from humanexp.results.services import run_analysis
from humanexp.screening.services import judge_session
from humanexp.simulation.observers import DEMO_CURVES, ObserverModel
from humanexp.simulation.personas import TruePicture, personas
from humanexp.stimuli.models import SourceImage
from humanexp.stimuli.services.label_sets import label_set_named, store_labels
from humanexp.studies.services import create_study
from humanexp.studies.tasks import question
from tests.factories import SIZE_PX, Tab, collecting_study, configuration, make_stimulus_set, new_session

PROTOCOL = {"name": "vcr", "size_px": SIZE_PX, "fixation_ms": 0, "stimulus_ms": 1, "mask_ms": 0}
DESIGN = {"sessions": 4, "main_trials": 16, "practice_trials": 4, "consistency_pairs": 1, "negative_trials": 0}
ICON = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 2"><rect width="1" height="1"/></svg>'

pytestmark = pytest.mark.django_db


def digits() -> LabelSpace:
    return shipped("mnist")


def germans() -> LabelSpace:
    return labels_of_words("obst", ("Apfel", "Birne", "Quitte", "Pflaume", "Kirsche"), "de")


def thirty() -> LabelSpace:
    return LabelSpace(name="thirty", labels=tuple(Label(id=f"thing-{n:02d}") for n in range(30)))


def drawn() -> LabelSpace:
    labels = tuple(Label(id=one, words={"en": one.title()}, icon=f"{one}.svg") for one in ("fork", "spoon", "bowl"))
    return LabelSpace(name="kitchen", labels=labels, drawings={f"{one.id}.svg": ICON for one in labels})


SPACES = {"digits": digits, "germans": germans, "thirty": thirty, "drawn": drawn}


def study_of(space: LabelSpace, **design: object):  # noqa: ANN201
    labels = label_set_named(space.name) if space.name == "mnist" else store_labels(space)
    assert labels is not None
    per_category = max(3, 96 // len(space))
    make_stimulus_set(labels=labels, per_category=per_category, per_function=160)
    return collecting_study(protocol=PROTOCOL, design={**DESIGN, **design})


@pytest.mark.parametrize("name", list(SPACES))
def test_a_page_shows_the_labels_in_their_grid_and_takes_no_other_answer(client: Client, name: str) -> None:
    space = SPACES[name]()
    study = study_of(space)
    session = new_session(study)
    tab = Tab(client, session)
    tab.take_lease()
    with translation.override("de"):
        told = tab.get("session/", **{"Accept-Language": "de"}).json()
    choices = told["choices"]["categorisation"]
    assert [choice["name"] for choice in choices] == list(space.in_grid)
    assert [choice["label"] for choice in choices] == [space[one].word("de") for one in space.in_grid]
    assert told["columns"] == ({"categorisation": 3} if name == "digits" else {})
    assert all(choice.get("icon", "").startswith("data:image/svg+xml;base64,") for choice in choices) is (
        name == "drawn"
    )
    first = Trial.objects.get(session=session, position=0)
    for other in ("knife", "thing-99", "none", "Apfel"):
        assert tab.answer(0, other).status_code == 422
    assert tab.answer(0, first.correct_response).json()["feedback"]["correct"] is True
    wrong = next(one for one in space.ids if one != Trial.objects.get(session=session, position=1).correct_response)
    assert tab.answer(1, wrong).json()["feedback"]["correct"] is False


def answered(client: Client, space: LabelSpace) -> Session:
    study = study_of(space)
    for number in range(3):
        session = new_session(study, f"P-{number}")
        tab = Tab(client, session)
        tab.take_lease()
        for trial in Trial.objects.filter(session=session).order_by("position"):
            tab.answer(trial.position, trial.correct_response if trial.position % 5 else space.ids[0])
        assert tab.post("complete/", {}).status_code == 200
        session.refresh_from_db()
    return session


def test_chance_and_answers_of_an_analysis_are_those_of_the_labels(client: Client) -> None:
    session = answered(client, digits())
    assert judge_session(session).accepted in (True, False)
    run = run_analysis(study=session.study, n_bootstrap=50)
    findings = findings_of(run)
    assert findings.labels.identity == digits().identity
    assert question_of(session.study, findings).task == "Which of 10 categories?"
    assert {curve.chance for curve in findings.curves if curve.property == "accuracy"} == {0.1}
    assert set(Response.objects.filter(session=session).values_list("response", flat=True)) <= set(digits().ids)


def test_people_choose_among_at_most_thirty_labels() -> None:
    make_stimulus_set(labels=label_set_named("imagenet1000"), per_category=1, per_function=1500)
    with pytest.raises(InputRefused, match=r"among 2 to 30 labels, and the pictures of pictures have 1,000 \(imagenet"):
        create_study(configuration=configuration(protocol=PROTOCOL, design=DESIGN))


def test_a_study_of_other_labels_than_its_pictures_is_refused() -> None:
    study_of(digits())
    with pytest.raises(
        InputRefused, match="about the labels cifar10, and the pictures of pictures are called by those of"
    ):
        create_study(configuration=configuration(slug="other", protocol=PROTOCOL, design=DESIGN, labels="cifar10"))
    create_study(configuration=configuration(slug="same", protocol=PROTOCOL, design=DESIGN, labels="mnist"))


def test_more_labels_than_sixteen_take_longer_and_are_said_to_be_untried() -> None:
    study = study_of(thirty())
    stored = StudyConfiguration.from_dict(study.configuration)
    assert stored.protocol.response_ms == 4000 + 14 * 150
    assert any("not yet tried with people" in note for note in study.plan_notes)
    own: Mapping[str, object] = {**PROTOCOL, "response_ms": 3000}
    kept = create_study(configuration=configuration(slug="kept", protocol=own, design=DESIGN))
    assert StudyConfiguration.from_dict(kept.configuration).protocol.response_ms == 3000


def test_a_label_of_ones_own_is_asked_for_by_its_word_definition_and_page() -> None:
    pear = Label(id="pear", words={"en": "Pear"}, definition="A fruit.", page="https://example.org/pear")
    space = LabelSpace(name="fruits", labels=(pear, Label(id="plum", words={"en": "Plum"})))
    asked = question("pear", {}, space)
    assert (asked["label"], asked["definition"], asked["link"]) == ("Pear", "A fruit.", "https://example.org/pear")
    assert asked["questions"][0] == "Does the picture show this: Pear?"


@pytest.mark.parametrize("name", ["careful", "random", "one-button", "network", "assisted", "careless"])
def test_scripted_participants_answer_among_the_labels(name: str) -> None:
    persona = personas(ObserverModel(curves=DEMO_CURVES), 1, germans())[name]
    picture = TruePicture(original="apfel-1", category="apfel", corruption="none", visual_change=0.0)
    answers = {persona.answer([picture], participant="P", position=n).response for n in range(40)}
    assert answers <= {*germans().responses}


def test_every_accepted_label_is_right_and_stands_in_the_table(client: Client) -> None:
    study = study_of(digits())
    SourceImage.objects.update(accepted=["1", "7"], competing="4")
    session = new_session(study)
    tab = Tab(client, session)
    tab.take_lease()
    told = {one: tab.answer(n, one).json()["feedback"]["correct"] for n, one in enumerate(("1", "7", "4", "0"))}
    assert told == {"1": True, "7": True, "4": False, "0": False}
    row = session_rows(session)[0]
    assert (row["accepted_labels"], row["competing"], row["correct"]) == ("1 7", "4", True)


def test_an_export_carries_the_labels_and_their_number(client: Client, tmp_path: Path) -> None:
    session = answered(client, germans())
    folder, run = tmp_path / "export", run_analysis(study=session.study, n_bootstrap=20)
    export_study(session.study, folder)
    stored, again = findings_json(run), analyse_export(folder)
    assert again["labels"] == stored["labels"]
    assert again["curves"] == stored["curves"]
    assert read_labels_file(folder / "labels.toml").identity == germans().identity
    assert "CHOICES = 5" in (folder / "mixed-model" / "mixed_model.py").read_text(encoding="utf-8")
    assert "guess rate of 1/5" in (folder / "README.md").read_text(encoding="utf-8")
