from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.results.models import AnalysisRun
from humanexp.results.services import run_analysis
from humanexp.screening.services import judge_study
from humanexp.studies.models import Study
from tests.results.collected import make_predictions, make_study


@pytest.fixture
def user(db: None) -> User:
    return User.objects.create_user("lab")


@pytest.fixture
def researcher(client: Client, user: User) -> Client:
    client.force_login(user)
    return client


@pytest.fixture
def study(user: User) -> Study:
    return make_study(by=user)


#: Facts of the one analysis that this test run computes: the same rows have the same findings.
_computed: dict[str, Any] = {}


@pytest.fixture
def analysed(study: Study) -> AnalysisRun:
    make_predictions(study)
    if _computed and media_path(_computed["findings_file"]).exists():
        judge_study(study)
        return AnalysisRun.objects.create(study=study, **_computed)
    run = run_analysis(study=study, n_bootstrap=20)
    for name in ("version", "seed", "data_digest", "findings_file", "n_bootstrap", "trials", "seconds"):
        _computed[name] = getattr(run, name)
    return run
