"""A preview leaves no trace: what is exported afterwards is the same, byte by byte."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from humanexp.console.overview import overview_of
from humanexp.core.models import User
from humanexp.ledger.figures import payment_summary
from humanexp.participation import previews
from humanexp.participation.models import Session
from humanexp.recruiting.watch import sessions_over_time
from humanexp.screening.selectors import current_verdicts
from humanexp.screening.services import judge_session
from humanexp.studies.models import Study
from tests.factories import Tab, collecting_study, make_stimulus_set, new_session
from tests.participation.test_preview import PreviewTab

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("unhurried", "open_gates")]


@pytest.fixture
def study(db: None) -> Study:
    make_stimulus_set()
    return collecting_study()


def answer_all(tab: Tab) -> None:
    for position in range(tab.get("session/").json()["total"]):
        tab.answer(position, "dog")
    assert tab.post("complete/", {}).status_code == 200


def exported(study: Study, folder: Path) -> dict[str, bytes]:
    call_command("export", study.slug, "--to", str(folder), stdout=StringIO())
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def figures(study: Study) -> dict[str, object]:
    page = overview_of(study)
    verdicts = current_verdicts(study)
    return {
        "sessions": page.sessions,
        "accepted": page.accepted,
        "excluded": page.excluded,
        "bars": page.bars,
        "verdicts": {key: (verdict.pk, verdict.accepted) for key, verdict in verdicts.items()},
        "paid": payment_summary(study),
        "over time": [(one.opened, one.completed) for one in sessions_over_time(study)],
    }


@pytest.mark.verify
def test_export_counts_verdicts_and_ledger_are_the_same_before_during_and_after(
    client: Client, study: Study, tmp_path: Path
) -> None:
    session = new_session(study)
    tab = Tab(client, session)
    tab.take_lease()
    answer_all(tab)
    judge_session(Session.objects.get(pk=session.pk))
    before, counted = exported(study, tmp_path / "before"), figures(study)
    assert before["trials.csv"].count(b"\n") > 1

    page = PreviewTab(client, previews.open_preview(study=study, by=User.objects.create_user("anna")))
    page.answer(0, "dog")
    assert exported(study, tmp_path / "during") == before and figures(study) == counted
    for position in range(1, page.get("session/").json()["total"]):
        page.answer(position, "dog")
    assert page.post("complete/", {}).status_code == 200
    assert exported(study, tmp_path / "after") == before and figures(study) == counted
