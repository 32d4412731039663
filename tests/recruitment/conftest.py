from __future__ import annotations

import pytest

from humanexp.studies.models import Study
from tests.recruitment.studies import make_study


@pytest.fixture
def study(transactional_db: None) -> Study:
    """Transactional: a recruiter is never called inside a transaction, so the test must not be one."""
    return make_study()


@pytest.fixture(autouse=True)
def without_guards(unhurried, open_gates):
    """Nearly every test launches a campaign or answers a session; the gates are tested with the pre-flight check."""
