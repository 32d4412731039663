from __future__ import annotations

import pytest

from analysis.timing.rules import is_set_aside

SEEN = {"visible_whole_trial": True, "focused_whole_trial": True, "last_input_ms": 1500.0, "input_watched_ms": 800.0}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, False),
        ({"visible_whole_trial": False}, True),
        ({"focused_whole_trial": False}, True),
        # Nothing was moved or pressed from the first fixation until 10 s into the question.
        ({"last_input_ms": -1.0, "input_watched_ms": 10_000.0}, True),
        ({"last_input_ms": None, "input_watched_ms": 10_000.0}, True),
        ({"last_input_ms": 0.0, "input_watched_ms": 10_000.0}, False),
        ({"last_input_ms": 9_900.0, "input_watched_ms": 10_000.0}, False),
        # A window of 4 s that nobody answered is no reason, and a page that stopped looking earlier is none, either.
        ({"last_input_ms": None, "input_watched_ms": 4_000.0}, False),
        ({"last_input_ms": -1.0, "input_watched_ms": 9_999.0}, False),
    ],
)
def test_only_who_could_not_see_or_was_not_there(changes, expected):
    assert is_set_aside({**SEEN, **changes}) is expected


def test_what_nobody_measured_is_no_reason():
    assert is_set_aside({}) is False
    assert is_set_aside({"visible_whole_trial": None, "last_input_ms": -5.0}) is False
