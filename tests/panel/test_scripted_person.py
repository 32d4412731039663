"""A scripted person of the panel: a place once it is open, the ids in the address, and back with the code."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from humanexp.simulation.participant import Panellist, ParticipationFailed
from tests.panel.server import CODE


def test_takes_a_place_and_comes_back_with_the_code(lab: Any) -> None:
    study = lab.draft()
    lab.transition(study, "PUBLISH")  # it opens a second later
    person = Panellist(site=lab.panel.url)
    person.join()
    address = person.start(study)
    ids = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    assert ids["STUDY_ID"] == study and person.start(study) == address
    person.come_back(f"{lab.panel.url}/submissions/complete?cc={CODE}")
    found = lab.submission(ids["SESSION_ID"])
    assert (found["participant"], found["status"]) == (ids["PROLIFIC_PID"], "AWAITING REVIEW")


def test_says_when_there_is_no_place(lab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("humanexp.simulation.participant.OPENS_S", 0.0)
    person = Panellist(site=lab.panel.url)
    person.join()
    with pytest.raises(ParticipationFailed, match="no place"):
        person.start(lab.draft())
