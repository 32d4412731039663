"""Lists of labels in cells: what they say, and every contradiction that is refused."""

from __future__ import annotations

import pytest

from analysis.labels.files import shipped
from analysis.labels.lists import fault_of, labels_offered, right_among

SPACE = shipped("entry16")


def fault(**cells: str) -> str:
    found = fault_of({"category": "cat", "response": "dog", **cells}, SPACE, none_offered=False)
    return "" if found is None else f"{found[0]}: {found[1]}"


@pytest.mark.parametrize(
    "cells",
    [
        {},
        {"options": "cat dog"},
        {"options": "cat dog none", "response": "none"},
        {"options": "cat dog", "response": "na"},
        {"accepted_labels": "cat bear", "competing": "dog elephant"},
        {"accepted_labels": "bear", "options": "bear dog"},
    ],
)
def test_what_agrees_with_itself_passes(cells: dict[str, str]) -> None:
    assert fault(**cells) == ""


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"options": "cat horse"}, "options: 'horse' is none of the labels of entry16"),
        ({"options": "cat,dog"}, "options: 'cat,dog' is none"),
        ({"options": "cat cat dog"}, "options: 'cat cat dog' names a label twice"),
        ({"options": "cat"}, "options: 'cat' leaves nothing to choose"),
        ({"options": "cat none", "response": "none"}, "options: 'cat none' leaves nothing to choose"),
        ({"options": "cat bear"}, "response: 'dog' is not among the options"),
        ({"options": "cat bear", "response": "none"}, "response: 'none' is not among the options"),
        ({"response": "none"}, "response: 'none' was answered, and the study does not offer it"),
        ({"options": "dog bear"}, "category: 'cat' is not among the options"),
        ({"options": "dog bear", "accepted_labels": "cat"}, "accepted_labels: none of cat is among the options"),
        ({"options": "dog bear", "accepted_labels": "dog bear"}, "accepted_labels: every one of the options"),
        ({"accepted_labels": "none"}, "accepted_labels: 'none' is none of the labels"),
        ({"competing": "cat"}, "competing: 'cat' is right there, too"),
        ({"competing": "bear", "accepted_labels": "bear"}, "competing: 'bear' is right there, too"),
    ],
)
def test_contradictions_are_refused(cells: dict[str, str], said: str) -> None:
    assert fault(**cells).startswith(said)


def test_how_many_are_right_of_those_offered() -> None:
    assert labels_offered("cat dog none") == ("cat", "dog")
    assert [right_among("", ""), right_among("cat dog", ""), right_among("", "cat dog bear")] == [1, 1, 3]
    assert right_among("cat dog oven", "cat dog bear") == 2
