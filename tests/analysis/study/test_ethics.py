"""The blocks of consent: which are needed, what is refused, and what earlier studies keep."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import InvalidInput
from analysis.study.ethics import REQUIRED, Ethics, missing_blocks
from analysis.study.study import StudyConfiguration
from tests.labels import of_the_sixteen

STORED = json.loads((Path(__file__).parent / "stored.json").read_text())["studies"]
WHOLE = {name: f"Our {name}." for name in REQUIRED["people"]}


def study(ethics: dict[str, Any], **settings: Any) -> StudyConfiguration:
    return StudyConfiguration.from_file_values({"title": "A", "stimuli": "b", "ethics": ethics, **settings})


@pytest.mark.parametrize("name", REQUIRED["people"])
def test_people_need_every_block_that_is_required_and_scripts_none(name: str) -> None:
    without = Ethics.from_dict({**WHOLE, name: "  "})
    assert missing_blocks(without, "people") == [name]
    assert missing_blocks(Ethics.from_dict(WHOLE), "people") == missing_blocks(without, "scripted") == []


@of_the_sixteen
def test_only_what_is_stated_is_stored_and_a_study_without_blocks_is_stored_as_before() -> None:
    assert study({"purpose": "To see."}).to_dict()["ethics"] == {"purpose": "To see."}
    assert "ethics" not in study({}).to_dict()
    for stored in STORED.values():
        assert "ethics" not in StudyConfiguration.from_dict(stored["configuration"]).to_dict()


def test_a_file_with_blocks_is_written_and_read_again() -> None:
    made = study({**WHOLE, "minimum_age": 16, "translations": {"de": dict.fromkeys(WHOLE, "Unser.")}})
    assert StudyConfiguration.from_toml(made.to_toml()) == made
    assert StudyConfiguration.from_dict(made.to_dict()).digest() == made.digest()
    assert made.ethics.texts_in("de").purpose == "Unser." and made.ethics.texts_in("en").purpose == "Our purpose."


@pytest.mark.parametrize(
    ("ethics", "place", "sentence"),
    [
        ({"approved_until": "31.12.2026"}, "ethics.approved_until", "must be a day like 2027-03-31, not '31.12.2026'"),
        ({"approved_until": "2026-02-30"}, "ethics.approved_until", "must be a day like 2027-03-31"),
        ({"minimum_age": 0}, "ethics.minimum_age", "a whole number from 1 to 99"),
        ({"purpos": "To see."}, "ethics.purpos", "[ethics] has no setting 'purpos'"),
        (
            {"purpose": "To see.", "translations": {"de": {"storage": "Hier."}}},
            "ethics.translations.de.purpose",
            "[ethics.translations.de] has no 'purpose'",
        ),
        ({"translations": {"de": {"risks": "Licht."}}}, "ethics.translations.de.risks", "alone has 'risks'"),
        ({"translations": {"en": {}}}, "ethics.translations.en", "takes tags of languages other than 'en', not 'en'"),
        ({"translations": {"german": {}}}, "ethics.translations.german", "takes tags of languages"),
    ],
)
def test_what_makes_no_sense_is_refused_at_its_place(ethics: dict[str, Any], place: str, sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        study(ethics)
    assert sentence in refused.value.fields[place]
