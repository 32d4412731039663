"""ImageNet-D's validation with three objects of a lab's own, from the preset to the table of agreement."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from analysis.errors import AnalysisError
from analysis.labels.files import parse_labels
from analysis.study.study import StudyConfiguration
from humanexp.core.errors import InputRefused
from humanexp.jobs import runner
from humanexp.participation.models import Session
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.screening.selectors import current_verdicts
from humanexp.stimuli.services.label_sets import store_labels
from humanexp.studies.models import Study
from humanexp.studies.presets import preset, values_of
from humanexp.studies.services import create_study
from humanexp.studies.tasks import question
from tests.factories import SIZE_PX, make_stimulus_set

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("unhurried", "open_gates")]

OBJECTS = """
name = "household"

[labels.backpack]
words = { en = "Backpack" }
definition = "A bag with two straps that is carried on the back."
page = "https://en.wikipedia.org/wiki/Backpack"

[labels.broom]
words = { en = "Broom" }
definition = "A brush on a long handle, for sweeping floors."
page = "https://en.wikipedia.org/wiki/Broom"

[labels.kettle]
words = { en = "Kettle" }
definition = "A pot with a spout and a handle, in which water is boiled."
page = "https://en.wikipedia.org/wiki/Kettle"
"""
STATED = {"shown": "clean", "answers_per_picture": 6, "absent": "other-labels"}


@pytest.fixture
def pictures(live_server: Any, settings: Any) -> None:
    settings.PUBLIC_URL = live_server.url
    make_stimulus_set(labels=store_labels(parse_labels(OBJECTS)), per_category=18, per_function=48)


def study_of(slug: str, **changes: Any) -> Study:
    values = {
        **values_of(preset("imagenet-d"), stimuli="pictures"),
        "slug": slug,
        "labels": "household",
        "population": "scripted",
        "protocol": {"name": "vcr", "size_px": SIZE_PX},
        "design": {"sessions": 12, "validation": STATED},
        "wanted": {"kettle": {"definition": "A vessel for boiling water.", "link": "https://lab.example/kettle"}},
        **changes,
    }
    return create_study(configuration=StudyConfiguration.from_dict(values))


def rehearsed(study: Study, mix: str, target: Path) -> dict[str, Any]:
    """Twelve scripted participants through the whole study; the findings."""
    publish(study=study, terms=LaunchTerms(to="link", assignments=12))
    call_command("simulate", study.slug, "--participants", "12", "--mix", mix, "--seed", "3", stdout=StringIO())
    runner.run_waiting()
    said = StringIO()
    call_command("analyse", study.slug, "--bootstrap", "0", "--json", str(target), stdout=said)
    found: dict[str, Any] = {**json.loads(target.read_text()), "said": said.getvalue()}
    return found


@pytest.mark.usefixtures("one_at_a_time", "pictures")
def test_three_objects_from_the_preset_to_the_table_of_agreement(tmp_path: Path) -> None:
    study = study_of("objects")
    found = rehearsed(study, "careful=0.75,yes-sayer=0.25", tmp_path / "careful.json")
    yes_sayers = [
        session.pk
        for session in Session.objects.filter(study=study)
        if set(session.responses.values_list("response", flat=True)) == {"yes-yes"}
    ]
    verdicts = current_verdicts(study)
    assert len(yes_sayers) == 3 and not any(verdicts[pk].accepted for pk in yes_sayers)
    overall, labels = found["validation"]["overall"], found["validation"]["labels"]
    assert (overall["people"], overall["qualified"]) == (12, sum(one.accepted for one in verdicts.values()))
    assert [one["wanted"] for one in labels] == ["backpack", "broom", "kettle"]
    assert sum(one["pictures"] for one in labels) == len(found["validation"]["images"])
    assert all(one["agreement"] > 0.8 for one in labels)
    assert overall["agreement"] > 0.85 > overall["agreement_by_guessing_upper"]
    assert "Agreement of qualified people" in found["said"] and "if everybody guessed" in found["said"]

    # What people read is ImageNet-D's with the words of the labels, and of the study where it has its own.
    asked = question("kettle", study.configuration, study.space)
    assert (asked["definition"], asked["link"]) == ("A vessel for boiling water.", "https://lab.example/kettle")
    assert asked["questions"][1] == "Can the object in the image be used as the desired object (Kettle)?"


@pytest.mark.usefixtures("one_at_a_time", "pictures")
def test_people_who_answer_at_random_are_screened_and_agree_as_by_guessing(tmp_path: Path) -> None:
    screened = rehearsed(study_of("screened"), "random=1", tmp_path / "screened.json")
    assert screened["sessions"]["accepted"] <= 1
    trusted = rehearsed(study_of("trusted", rules="none", seed=2), "random=1", tmp_path / "trusted.json")
    overall = trusted["validation"]["overall"]
    assert overall["qualified"] == 12
    assert overall["agreement"] <= overall["agreement_by_guessing_upper"]
    assert "agree no more than people who guess may" in " ".join(trusted["said"].split())


@pytest.mark.usefixtures("pictures")
@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"design": {"sessions": 12, "validation": {"answers_per_picture": 6}}}, "household have no groups"),
        ({"wanted": {"sofa": {"definition": "A sofa."}}}, "words a label that the pictures of pictures do not have"),
        ({"labels": "cifar10", "wanted": {}}, "which mean something else"),
    ],
)
def test_what_does_not_fit_the_objects_is_refused(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises((AnalysisError, InputRefused), match=sentence):
        study_of("refused", **changes)
    assert not Study.objects.exists()


@pytest.mark.usefixtures("pictures")
def test_the_design_page_lists_what_is_asked_of_each_object(admin_client: Any) -> None:
    study_of("objects")
    page = admin_client.get("/studies/objects/design/").content.decode()
    for told in (
        "Can you recognize the desired object (Broom) in the image?",
        "A brush on a long handle, for sweeping floors.",
        "A vessel for boiling water.",
        "https://lab.example/kettle",
        "you&#x27;ll complete two practice tasks",
    ):
        assert told in page
    assert "No definition is shown" not in page
    stated = OBJECTS.replace('definition = "A brush on a long handle, for sweeping floors."\n', "")
    store_labels(parse_labels(stated))
    again = study_of("undefined")
    assert any(note.startswith("No definition is shown of broom: people read the words") for note in again.plan_notes)
