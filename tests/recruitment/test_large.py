"""What pages say of a large study is counted once, by indexes: no row of an assignment or a payment is read for it."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from humanexp.core.models import User
from humanexp.ledger.models import Payment
from humanexp.ledger.payments import latest_payments, tally_of
from humanexp.ledger.wages import top_up_plan
from humanexp.participation.models import Participant, Session, SessionState
from humanexp.recruiters.models import Assignment, Campaign, Hit, RecruitedPerson
from humanexp.recruiters.states import AssignmentState
from humanexp.studies.models import Study
from tests.plans import on_sqlite, plan_of, reads, rows_read
from tests.recruitment.studies import make_study

pytestmark = pytest.mark.django_db
PEOPLE = 24
STATES = (SessionState.SUBMITTED, SessionState.COMPLETED, SessionState.OPEN, SessionState.WITHDRAWN, None)


@pytest.fixture
def study() -> Study:
    """Every state of an assignment beside every state of a session, in HITs of three sizes and in none."""
    study, now = make_study(), timezone.now()
    campaign = Campaign.objects.create(
        study=study, environment="marketplace", entry="entry", title="Pictures", description="Pictures",
        reward_cents=100, assignments=PEOPLE, assignments_per_hit=9, estimated_minutes=2, assignment_duration_s=600,
        lifetime_s=86_400, quoted_cents=120 * PEOPLE, cap_cents=200 * PEOPLE, launched_at=now, synced_at=now,
    )  # fmt: skip
    hits = [
        Hit.objects.create(
            campaign=campaign, number=number, environment="marketplace", hit_id=f"H{number}", max_assignments=size
        )
        for number, size in enumerate((9, 9, 6, 12))
    ]
    for number in range(PEOPLE):
        participant = Participant.objects.create(family=study.family, code=f"P-{number}")
        person = RecruitedPerson.objects.create(
            environment="marketplace", worker_id=f"W{number}", family=study.family, participant=participant
        )
        state, session = STATES[number % len(STATES)], None
        if state is not None:
            session = Session.objects.create(
                study=study, participant=participant, code=f"S-{number}", slot=number, state=state, total=3, cursor=3,
                token_nonce=str(number), opened_at=now - timedelta(minutes=5), completed_at=now,
            )  # fmt: skip
        row = Assignment.objects.create(
            environment="marketplace", assignment_id=f"A{number}", campaign=campaign, session=session,
            hit=hits[number % 4] if number % 7 else None, person=person if number % 11 else None,
            state=AssignmentState.values[number % len(AssignmentState.values)], opened_at=now,
        )  # fmt: skip
        Payment.objects.create(
            environment="marketplace", state="confirmed" if number % 3 else "planned", token=f"T{number}",
            kind="reward", assignment=row, campaign=campaign, cause="submission", amount_cents=100 + number,
            fee_cents=20,
        )  # fmt: skip
    return study


@pytest.fixture
def console(client: Client) -> Client:
    client.force_login(User.objects.create_user("root", is_staff=True))
    return client


def test_the_tally_is_what_counting_one_by_one_says(study: Study) -> None:
    tally, finished = tally_of(study), (SessionState.COMPLETED, SessionState.SUBMITTED)
    places: Counter[Any] = Counter()
    known: dict[str, list[int]] = {}
    for row in Assignment.objects.select_related("hit", "session"):
        places[row.hit.max_assignments if row.hit else None, row.state] += 1
        counts = known.setdefault(row.state, [0, 0, 0])
        if row.person_id is not None:
            counts[0] += 1
            counts[1] += row.session is not None
            counts[2] += row.session is not None and row.session.state in finished
    assert {(row.hit_size, row.state): row.count for row in tally.places} == places
    assert {row.state: [row.count, row.begun, row.finished] for row in tally.known} == known


@on_sqlite
def test_the_tally_reads_no_row_of_the_many(study: Study) -> None:
    Hit.objects.update(max_assignments=9)
    Session.objects.update(state=SessionState.SUBMITTED)
    with CaptureQueriesContext(connection) as asked:
        tally_of(study)
    people = [sql for sql in reads(asked, "recruitment_assignment") if "SELECT U0" not in sql]
    assert people and not rows_read(people, "recruitment_assignment")
    payments = reads(asked, "recruitment_call")
    assert payments and not rows_read(payments, "recruitment_call")
    assert not rows_read(payments, "recruitment_assignment")


@pytest.mark.parametrize("page", ["", "monitor/"])
def test_a_page_counts_people_and_payments_once(console: Client, study: Study, page: str) -> None:
    with CaptureQueriesContext(connection) as asked:
        assert console.get(f"/studies/{study.slug}/{page}").status_code == 200
    counts_people = [sql for sql in reads(asked, "recruitment_assignment") if 'AS "in_hits"' in sql]
    assert len(counts_people) == 1
    counts_payments = [sql for sql in reads(asked, "recruitment_call") if "GROUP BY" in sql and "fee_cents" in sql]
    assert len(counts_payments) == 1


@on_sqlite
def test_a_page_of_the_ledger_is_walked_to_and_nothing_is_counted_again(
    console: Client, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("humanexp.ledger.pages.ledger.PAGE_SIZE", 5)
    address = f"/studies/{study.slug}/monitor/ledger/?state=confirmed&page=2"
    with CaptureQueriesContext(connection) as asked:
        page = console.get(address).context["page"]
    confirmed = list(Payment.objects.filter(state="confirmed").order_by("-pk"))
    assert list(page.object_list) == confirmed[5:10] and page.paginator.count == len(confirmed)
    payments = reads(asked, "recruitment_call")
    assert not [sql for sql in payments if "__count" in sql]
    (keys,) = [sql for sql in payments if "LIMIT" in sql and "OFFSET" in sql]
    assert not [step for step in plan_of(keys) if "TEMP B-TREE" in step], "no row is sorted"


def test_payments_that_are_looked_for_are_counted(console: Client, study: Study) -> None:
    page = console.get(f"/studies/{study.slug}/monitor/ledger/?query=P-3").context["page"]
    assert page.paginator.count == len(page.object_list) == 1


def test_the_latest_payments_are_the_newest_of_the_study(study: Study) -> None:
    assert latest_payments(study, 3) == list(Payment.objects.order_by("-pk")[:3])
    assert latest_payments(make_study("other"), 3) == []


@on_sqlite
def test_only_whose_pay_lies_below_the_floor_are_fetched(study: Study) -> None:
    """A hundred cents for five minutes are enough; for an hour they are not."""
    Assignment.objects.update(state=AssignmentState.APPROVED)
    Session.objects.update(state=SessionState.SUBMITTED, active_s=300.0)
    Assignment.objects.filter(session=None).update(person=None)
    worked = Assignment.objects.filter(person__isnull=False)
    slow = worked.order_by("pk")[2]
    Session.objects.filter(pk=slow.session_id).update(active_s=3_600.0)
    with CaptureQueriesContext(connection) as asked:
        plan = top_up_plan(study, floor_cents=725)
    assert [row.assignment for row in plan.rows] == [slow.pk] and worked.count() > 10
    assert not reads(asked, "experiments_response"), "what a job has measured is not measured again"
    (people,) = [sql for sql in reads(asked, "recruitment_assignment") if "experiments_participant" in sql]
    assert f'"id" IN ({slow.pk})' in people
