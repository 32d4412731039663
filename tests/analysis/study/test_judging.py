"""The words of a study's own for the two questions of a validation, and its numbered instructions."""

from __future__ import annotations

from typing import Any

import pytest

from analysis.errors import InvalidInput
from analysis.study.study import StudyConfiguration

JUDGED = {"design": {"validation": {}}}
WORDS = {
    "shows": "Can you recognize it ({label})?",
    "usable": "Can it be used as one ({label})?",
    "instructions": ["Look.", "Say."],
}


def study(**more: Any) -> StudyConfiguration:
    return StudyConfiguration.from_file_values({"title": "A", "stimuli": "b", **JUDGED, **more})


def test_a_study_that_words_nothing_is_stored_as_ever() -> None:
    stored = study().to_dict()
    assert "judging" not in stored
    assert isinstance(stored["design"], dict) and "absent" not in stored["design"]["validation"]
    assert study(judging={}).digest() == study().digest()


def test_words_and_absence_come_back_from_the_file() -> None:
    asked = study(judging=WORDS, design={"validation": {"absent": "other-labels"}})
    again = StudyConfiguration.from_toml(asked.to_toml())
    assert again == asked and again.digest() == asked.digest()
    assert again.to_dict()["judging"] == WORDS
    assert again.design.validation is not None and again.design.validation.absent == "other-labels"


@pytest.mark.parametrize(
    ("judging", "sentence"),
    [
        ({"shows": "Is it a {lable}?"}, r"judging.shows has \{lable\}, and the only placeholder is \{label\}"),
        ({"usable": "{}"}, "judging.usable has {}, and the only placeholder"),
        ({"usable": "  "}, "judging.usable is blank: write a question, or leave it out"),
        ({"shows": "x" * 401}, "judging.shows must be text of at most 400 characters"),
        ({"instructions": ["Look.", " "]}, "judging.instructions.2 is blank"),
        ({"instructions": ["Find a {label}."]}, "judging.instructions.1 has {label}, but instructions are the same"),
        ({"instructions": ["Look."] * 13}, "judging.instructions must be a list of at most 12 texts"),
        ({"instructions_shown": True}, "judging.instructions_shown needs `instructions`"),
        ({"instructions": "Look."}, "judging.instructions must be a list"),
        (
            {"rules": ["Look."]},
            r"\[judging\] has no setting 'rules'; it has: instructions, instructions_shown, shows, usable",
        ),
        ("Look.", r"\[judging\] must be a table"),
    ],
)
def test_words_that_cannot_be_shown_are_refused(judging: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        study(judging=judging)


def test_words_for_questions_that_are_not_asked_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"\[judging\] words the questions of a validation, and this study has none"):
        study(judging={"shows": "Is it a {label}?"}, design={})


def test_a_refusal_names_file_and_line() -> None:
    text = 'title = "A"\nstimuli = "b"\n[design.validation]\n[judging]\nshows = "A {lable}?"\n'
    with pytest.raises(InvalidInput, match="own.toml, line 5: judging.shows has {lable}"):
        StudyConfiguration.from_toml(text, source="own.toml")


def test_words_of_labels_that_no_study_names_say_what_to_write() -> None:
    with pytest.raises(InvalidInput, match=r'name them: labels = "NAME"'):
        study(wanted={"kettle": {"definition": "A kettle."}})
