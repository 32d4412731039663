"""A study that is open for participants, and somebody who has agreed to take part in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from humanexp.participation.models import Session
from humanexp.studies.models import Study
from tests.browser import studies


@pytest.fixture
def study(transactional_db: None, own_media: None, drawings: Path) -> Study:
    """A short study that is open for participants."""
    return studies.make_study(drawings, design=studies.short_design())


@pytest.fixture
def session(study: Study) -> Session:
    """Somebody has agreed to take part in it."""
    return studies.open_session(study)


@pytest.fixture(autouse=True)
def without_guards(unhurried, open_gates):
    """Participants click as fast as Chromium draws, and campaigns are launched for their pages."""
