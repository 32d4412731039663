"""Whether sessions with a longer answer window count is fixed in the plan; their number is told either way."""

from __future__ import annotations

import pytest

from analysis.findings.sensitivity import inclusion_flow
from humanexp.core import clock
from humanexp.participation.models import SetUp
from humanexp.results import tables
from humanexp.results.selectors import flow_of
from humanexp.results.services import run_analysis
from humanexp.screening.services import judge_study
from humanexp.studies.models import Study
from tests.results.collected import SESSIONS

pytestmark = pytest.mark.django_db


def with_plan(study: Study, **plan: bool) -> Study:
    study.configuration = {"title": "t", "stimuli": "s", "spec": 4, "analysis": plan}
    study.save(update_fields=["configuration"])
    for session in study.sessions.order_by("pk")[:2]:
        SetUp.objects.create(session=session, answer_window_ms=8000, stored_at=clock.now())
    judge_study(study)
    return study


def test_they_count_unless_the_plan_says_otherwise(study: Study) -> None:
    with_plan(study)
    table = tables.sessions_of(study)
    assert table["answer_window_ms"].notna().sum() == 2 and table["accepted"].all()
    flow = inclusion_flow(table)
    assert (flow.accepted, flow.longer_window, flow.excluded) == (SESSIONS, 2, ())
    assert tables.trials_of(study)["accepted"].all()


def test_where_the_plan_leaves_them_out_no_curve_has_them_and_the_flow_says_so(study: Study) -> None:
    with_plan(study, count_longer_windows=False)
    trials, summary = tables.trials_of(study), tables.session_summary(study)
    out = {session.code for session in study.sessions.order_by("pk")[:2]}
    assert set(trials.loc[~trials["accepted"], "session"]) == out
    assert (summary["accepted"], summary["excluded"]) == (SESSIONS - 2, {"longer answer window": 2})
    flow = inclusion_flow(tables.sessions_of(study))
    assert (flow.accepted, flow.longer_window) == (SESSIONS - 2, 2)
    assert [(one.reason, one.n) for one in flow.excluded] == [("longer answer window", 2)]


@pytest.mark.verify
def test_pages_and_methods_state_their_number(study: Study) -> None:
    from analysis.reporting.methods import _participants
    from humanexp.results.selectors import findings

    found = findings(run_analysis(study=with_plan(study, count_longer_windows=False), n_bootstrap=20))
    told = " ".join(_participants(found, None, scripted=False))
    assert "In 2 finished sessions the participant had asked for a longer time" in told
    left = [(one.label, one.count) for step in flow_of(found) for one in step.left]
    assert ("longer answer window", 2) in left
