"""The review of a large study asks indexes who does not count, and looks for a page of sessions, not for all."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from humanexp.core.models import User
from humanexp.experiments.models import Session, SessionState, Study
from humanexp.screening import review, selectors
from humanexp.screening.models import Verdict
from tests.plans import on_sqlite, plan_of, reads, rows_read
from tests.results.collected import make_study

pytestmark = pytest.mark.django_db
LISTS = ("", "accepted", "excluded", "flagged", "unjudged", "timing", "gold trials failed", selectors.BY_HAND, "none")


@pytest.fixture
def study() -> Study:
    """Judged once, twice, by hand or not at all; listed or not; withdrawn."""
    study = make_study(by=None)
    Verdict.objects.all().delete()
    user = User.objects.create_user("ada")
    for number, session in enumerate(study.sessions.order_by("pk")):
        state = SessionState.WITHDRAWN if number == 1 else SessionState.SUBMITTED
        Session.objects.filter(pk=session.pk).update(state=state, is_verified=number != 2)
        verdicts: list[tuple[bool, list[str], list[str], Any]] = [
            (False, ["timing"], ["favourite answer"], None),
            (True, [], ["favourite answer"], None),
            (False, ["gold trials failed", "timing"], [], None),
            (False, [], ["favourite answer"], user),
        ]
        for accepted, reasons, flags, by in verdicts[: number % 5]:
            Verdict.objects.create(
                session=session, accepted=accepted, reasons=reasons, flags=flags, rule_set="vcr", rule_version="1",
                decided_by=by, written_reason="Seen." if by else "", decided_at=timezone.now(),
            )  # fmt: skip
    return study


def test_the_counts_are_those_of_the_latest_verdicts(study: Study) -> None:
    latest = list(selectors.latest_verdicts(study))
    counts = selectors.verdict_counts(study)
    assert counts.judged == len(latest) < counts.finished
    assert counts.accepted == sum(one.accepted for one in latest)
    assert counts.flagged == sum(bool(one.flags) and not one.is_by_person for one in latest)
    assert counts.by_hand == sum(one.is_by_person for one in latest) > 0
    assert sum(selectors.excluded_counts(study).values()) == counts.excluded > 0


@pytest.mark.parametrize("shown", LISTS)
def test_a_list_has_as_many_sessions_as_the_page_says(study: Study, shown: str) -> None:
    found = review.review_of(study, shown=shown)
    assert found.found == review.sessions_shown(study, shown).count() == len(found.rows)


@on_sqlite
def test_no_count_of_the_review_reads_all_verdicts_or_sessions(study: Study) -> None:
    with CaptureQueriesContext(connection) as asked:
        review.review_of(study)
    counts = [sql for table in ("screening_verdict", "experiments_session") for sql in reads(asked, table)]
    counts = [sql for sql in counts if "COUNT(" in sql]
    assert len(counts) == 4
    assert not rows_read(counts, "experiments_session")
    steps = rows_read(counts, "screening_verdict")
    assert all("verdict_excluded" in step for step in steps), "those who do not count are few"


@on_sqlite
@pytest.mark.parametrize("shown", ["excluded", "flagged", "timing"])
def test_a_page_of_a_narrowed_list_is_not_sorted_out_of_all_sessions(study: Study, shown: str) -> None:
    with CaptureQueriesContext(connection) as asked:
        review.review_of(study, shown=shown)
    pages = [sql for sql in reads(asked, "experiments_session") if "LIMIT 25" in sql]
    assert len(pages) == 1
    assert not [step for step in plan_of(pages[0]) if "LIST SUBQUERY" in step]
