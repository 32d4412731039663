"""The review of a large study asks indexes who does not count, and looks for a page of sessions, not for all."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from humanexp.core.models import User
from humanexp.participation.models import Session, SessionState
from humanexp.screening import selectors
from humanexp.screening.models import Verdict
from humanexp.screening.pages import review
from humanexp.screening.services import append_verdict
from humanexp.studies.models import Study
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
            append_verdict(
                session=session, accepted=accepted, reasons=reasons, flags=flags, rule_set="vcr", rule_version="1",
                decided_by=by, written_reason="Seen." if by else "",
            )  # fmt: skip
    gone = study.sessions.order_by("pk")[3]
    gone.verdicts.all().delete(), gone.delete()
    return study


def plainly_latest(study: Study) -> list[Verdict]:
    """Of every finished session that counts the last verdict, told one by one."""
    finished = study.sessions.filter(is_verified=True, state__in=[SessionState.COMPLETED, SessionState.SUBMITTED])
    given = [session.verdicts.order_by("pk").last() for session in finished.order_by("pk")]
    return sorted((one for one in given if one is not None), key=lambda one: one.pk)


def test_the_counts_are_those_of_the_latest_verdicts(study: Study) -> None:
    latest = plainly_latest(study)
    counts = selectors.verdict_counts(study)
    assert list(selectors.latest_verdicts(study)) == latest
    assert counts.judged == len(latest) < counts.finished
    assert counts.accepted == sum(one.accepted for one in latest)
    assert counts.flagged == sum(bool(one.flags) and not one.is_by_person for one in latest)
    assert counts.by_hand == sum(one.is_by_person for one in latest) > 0
    reasons = Counter(one.reasons[0] if one.reasons else selectors.BY_HAND for one in latest if not one.accepted)
    assert selectors.excluded_counts(study) == counts.reasons == dict(reasons.most_common())
    assert counts.excluded == sum(not one.accepted for one in latest) > 0


def test_who_takes_the_answers_back_is_in_no_count_from_then_on(study: Study) -> None:
    before = selectors.verdict_counts(study)
    counted = next(one for one in plainly_latest(study) if one.accepted)
    Session.objects.filter(pk=counted.session_id).update(state=SessionState.WITHDRAWN)
    after = selectors.verdict_counts(study)
    assert (after.finished, after.accepted) == (before.finished - 1, before.accepted - 1)


def test_a_later_verdict_takes_the_mark(study: Study) -> None:
    first = plainly_latest(study)[0]
    second = append_verdict(session=first.session, accepted=True, rule_set="vcr", rule_version="2")
    assert selectors.verdicts_on([first.session]) == {first.session_id: second}
    assert list(first.session.verdicts.filter(is_current=True)) == [second]


@pytest.mark.parametrize("shown", LISTS)
def test_a_list_has_as_many_sessions_as_the_page_says(study: Study, shown: str) -> None:
    found = review.review_of(study, shown=shown)
    assert found.page.paginator.count == review.sessions_shown(study, shown).count() == len(found.rows)


@on_sqlite
def test_no_count_of_the_review_reads_all_verdicts_or_sessions(study: Study) -> None:
    with CaptureQueriesContext(connection) as asked:
        review.review_of(study)
    counts = [sql for table in ("screening_verdict", "experiments_session") for sql in reads(asked, table)]
    counts = [sql for sql in counts if "COUNT(" in sql]
    few = [sql for sql in counts if "IN (SELECT" in sql]
    many = [sql for sql in counts if sql not in few]
    assert (len(many), len(few)) == (2, 2)
    assert not rows_read(counts, "experiments_session") and not rows_read(many, "screening_verdict")
    assert all("session_id=?" in step for step in rows_read(few, "screening_verdict")), "of sessions that do not count"
    assert not [step for sql in many for step in plan_of(sql) if "CORRELATED" in step or "TEMP B-TREE" in step]


@on_sqlite
@pytest.mark.parametrize("shown", ["excluded", "flagged", "timing"])
def test_a_page_of_a_narrowed_list_is_not_sorted_out_of_all_sessions(study: Study, shown: str) -> None:
    with CaptureQueriesContext(connection) as asked:
        review.review_of(study, shown=shown)
    pages = [sql for sql in reads(asked, "experiments_session") if "LIMIT 25" in sql]
    assert len(pages) == 1
    assert not [step for step in plan_of(pages[0]) if "LIST SUBQUERY" in step]
