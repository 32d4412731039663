"""Trials of a published set, by hand: which count, how people are numbered, and that they are read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from analysis.findings.agreement import pictures_of
from analysis.findings.observations import read_trials
from analysis.published_pictures import match_pictures, pictures_of_trials
from analysis.published_trials import read_published_trials
from analysis.sets.set_trials import set_trials
from tests.labels import of_the_sixteen


def trial(participant: str, session: str, position: int, stimulus: str, response: str, **more: Any) -> dict[str, Any]:
    kind, _, number = stimulus.partition("-")
    return {
        "participant": participant, "session": session, "position": position, "task": "categorisation",
        "role": "main", "original": "one" if number < "3" else "two", "stimulus": stimulus, "category": "dog",
        "corruption": kind, "visual_change": 0.0 if kind == "none" else 0.31, "condition": "",
        "response": response, "correct": response == "dog", "rt_ms": 650.4, "accepted": True, "set_aside": False,
    } | more  # fmt: skip


#: Two people; the second has two sessions. `blur-1` and `blur-2` are of one original, in one tenth.
ROWS = [
    trial("P-B", "S-9", 0, "blur-1", "dog"),
    trial("P-B", "S-9", 4, "blur-2", "cat", rt_ms=None),
    trial("P-A", "S-7", 2, "none-3", "na", rt_ms=0.2),
    trial("P-A", "S-8", 1, "blur-1", "dog"),
    trial("P-A", "S-8", 2, "blur-4", "dog", role="gold"),
    trial("P-A", "S-8", 3, "blur-4", "dog", set_aside=True),
    trial("P-C", "S-6", 0, "blur-4", "dog", accepted=False),
]
NAMES = {"blur-1": "p1", "blur-2": "p2", "none-3": "p3"}


@of_the_sixteen
def test_trials_that_count_are_written_and_read_back(tmp_path: Path) -> None:
    frame = pd.DataFrame(ROWS)
    table = set_trials(frame, NAMES, ["P-B", "P-A"])
    columns = ["subj", "session", "trial", "rt", "object_response", "condition", "imagename", "original"]
    assert table[columns].to_numpy().tolist() == [
        ["subject-01", 1, 1, "0.650", "dog", "blur 0.3", "0000_set_s01_p1.png", "one"],
        ["subject-01", 1, 5, "NaN", "cat", "blur 0.3", "0000_set_s01_p2.png", "one"],
        ["subject-02", 1, 3, "NaN", "na", "none", "0000_set_s02_p3.png", "two"],
        ["subject-02", 2, 2, "0.650", "dog", "blur 0.3", "0000_set_s02_p1.png", "one"],
    ]
    assert "options" not in table
    path = tmp_path / "people.csv"
    table.to_csv(path, index=False)
    read = read_published_trials([path], study="blur").trials
    assert read["original"].tolist() == ["one", "one", "two", "one"]
    assert read["stimulus"].tolist() == ["blur 0.3/p1", "blur 0.3/p2", "none/p3", "blur 0.3/p1"]
    matched = match_pictures(pictures_of_trials(read), ["p3.png", "p2.png", "p1.png"], where="pictures")
    assert [(one.original, file) for one, file in matched.files] == [
        ("one", "p1.png"), ("one", "p2.png"), ("two", "p3.png"),
    ]  # fmt: skip
    # Two pictures of one original in one condition stay two pictures.
    seen = read_trials(read.assign(visual_change=float("nan")))
    assert sorted(set(pictures_of(seen).tolist())) == ["blur 0.3/p1", "blur 0.3/p2", "none/p3"]


@of_the_sixteen
def test_an_empty_original_is_the_name_of_the_picture(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    table = set_trials(pd.DataFrame(ROWS), NAMES, ["P-B", "P-A"]).assign(original=["", "one", "", ""])
    table.to_csv(path, index=False)
    assert read_published_trials([path], study="blur").trials["original"].tolist() == ["p1", "one", "p3", "p1"]


def test_what_trials_offered_and_accepted_is_written() -> None:
    rows = [row | {"options": "dog cat", "accepted_labels": "dog", "competing": "cat"} for row in ROWS]
    table = set_trials(pd.DataFrame(rows), NAMES, ["P-B", "P-A"])
    assert set(table["options"]) == {"dog cat"} and set(table["accepted"]) == {"dog"}
    assert set(table["competing"]) == {"cat"}
