"""A stored analysis goes on counting who withdrew after it: wherever its numbers are told, that is said."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analysis.findings.__main__ import main
from humanexp.participation.endings import undo_withdrawal
from humanexp.participation.models import Session, SessionState
from humanexp.participation.openings import withdraw_session
from humanexp.results import report, selectors
from humanexp.results.exports import export_study
from humanexp.results.models import AnalysisRun
from humanexp.results.report import document_of
from humanexp.studies.models import Study

pytestmark = pytest.mark.django_db
ONE, TWO = "1 session was withdrawn since", "2 sessions were withdrawn since"


@pytest.fixture
def sessions(study: Study, analysed: AnalysisRun) -> list[Session]:
    """Finished, and not handed in: their people can still take them back."""
    Session.objects.filter(study=study).update(state=SessionState.COMPLETED)
    AnalysisRun.objects.filter(pk=analysed.pk).update(seconds=1)
    return list(Session.objects.filter(study=study).order_by("slot"))


@pytest.mark.parametrize("room", ["dashboard", "methods", "people", "models"])
def test_every_room_says_so(researcher: Client, study: Study, sessions: list[Session], room: str) -> None:
    fixed = room in ("dashboard", "methods")
    address = (
        reverse(f"results:{room}", args=[study.slug]) if fixed else reverse("results:room", args=[study.slug, room])
    )
    assert "withdrawn since" not in researcher.get(address).content.decode()
    for session, told in zip(sessions, (ONE, TWO), strict=False):
        withdraw_session(session=session)
        assert told in researcher.get(address).content.decode()
    undo_withdrawal(session=sessions[0], by=None, reason="It was somebody else.")
    assert ONE in researcher.get(address).content.decode()


@pytest.mark.verify
def test_report_and_exported_findings_say_so(
    researcher: Client, study: Study, analysed: AnalysisRun, sessions: list[Session], tmp_path: Path
) -> None:
    def told() -> tuple[bool, object, object, bool]:
        run = AnalysisRun.objects.get(pk=analysed.pk)
        abstract = document_of(selectors.findings(run), report.report_facts(run)).abstract
        export_study(study, tmp_path)
        downloaded = researcher.get(reverse("results:findings", args=[study.slug])).json()
        return (
            any(ONE in sentence for sentence in abstract),
            json.loads((tmp_path / "findings.json").read_text()).get("sessions_withdrawn_since"),
            downloaded.get("sessions_withdrawn_since"),
            ONE in (tmp_path / "README.md").read_text(),
        )

    assert told() == (False, None, None, False)
    withdraw_session(session=sessions[0])
    assert told() == (True, 1, 1, True)
    assert main([str(tmp_path), "--check"]) == 1, "the tables are without the session"


def test_who_withdrew_before_or_was_never_in_it_is_not_counted(
    study: Study, analysed: AnalysisRun, sessions: list[Session]
) -> None:
    run = AnalysisRun.objects.get(pk=analysed.pk)
    before, unlisted, unanswered, later, half_way, inside = sessions[:6]
    for session in sessions[:6]:
        withdraw_session(session=session)
    assert selectors.withdrawn_since(run) == 6
    Session.objects.filter(pk=half_way.pk).update(completed_at=None)
    Session.objects.filter(pk=before.pk).update(withdrawn_at=run.created_at - timedelta(minutes=1))
    Session.objects.filter(pk=unlisted.pk).update(is_verified=False)
    Session.objects.filter(pk=unanswered.pk).update(cursor=0)
    Session.objects.filter(pk=later.pk).update(opened_at=timezone.now() + timedelta(minutes=1))
    assert selectors.withdrawn_since(run) == 1
