from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from humanexp.core.models import AuditEvent, User
from humanexp.experiments.models import Study
from humanexp.jobs.models import Job
from humanexp.recruitment import services
from humanexp.recruitment.charts import columns
from humanexp.recruitment.models import Assignment, Campaign, Payment, SenderLease
from humanexp.recruitment.selectors import OpenedBin
from humanexp.recruitment.services.people import person_for
from humanexp.recruitment.states import AssignmentState, WriteState
from tests.recruitment.studies import Visitor, make_study

pytestmark = pytest.mark.django_db
WORKER = "AWORKER1SECRET"


@pytest.fixture
def researcher() -> User:
    return User.objects.create_user("ada", password="x")


@pytest.fixture
def study(researcher: User) -> Study:
    study = make_study()
    study.memberships.create(user=researcher, role="owner")
    return study


@pytest.fixture
def console(researcher: User) -> Client:
    client = Client()
    client.force_login(researcher)
    return client


@pytest.fixture
def launched(study: Study) -> Campaign:
    return services.publish(study=study, to="marketplace", assignments=4, reward_cents=120, cap_cents=1_000)


@pytest.fixture
def submission(launched: Campaign) -> Callable[..., Assignment]:
    """A listed submission, as `sync` stores it."""

    def make(evidence: str = "receipt", **facts: Any) -> Assignment:
        person = person_for(environment="marketplace", worker_id=WORKER, family=launched.study.family)
        return Assignment.objects.create(
            campaign=launched,
            hit=launched.hits.first(),
            environment="marketplace",
            assignment_id="A1",
            person=person,
            state=AssignmentState.SUBMITTED,
            evidence=evidence,
            submitted_at=timezone.now(),
            auto_approves_at=timezone.now() + timedelta(days=3),
            **facts,
        )

    return make


def terms(**changes: Any) -> dict[str, Any]:
    return {
        "to": "marketplace",
        "assignments": "5",
        "reward": "1.20",
        "assignments_per_hit": "9",
        "title": "Pictures",
        "description": "Say what you see.",
        "keywords": "pictures",
        "estimated_minutes": "8",
        "approval_days": "3",
        "contact": "lab@example.org",
        "shown_total": "720",
        **changes,
    }


def test_pages_are_for_those_who_may_see_the_study(study: Study, console: Client, client: Client) -> None:
    other = Client()
    other.force_login(User.objects.create_user("grace", password="x"))
    for page in ("recruit", "monitor", "monitor/ledger"):
        path = f"/studies/{study.slug}/{page}/"
        assert console.get(path).status_code == 200
        assert other.get(path).status_code == 404
        assert client.get(path).status_code == 302
    for action in ("recruit/stop", "monitor/sync"):
        path = f"/studies/{study.slug}/{action}/"
        assert other.post(path).status_code == 404
        assert console.get(path).status_code == 405


class TestRecruit:
    def test_the_exact_cost_stands_beside_the_launch(self, study: Study, console: Client) -> None:
        page = console.get(f"/studies/{study.slug}/recruit/price/", terms())
        assert b"$7.20" in page.content
        assert b"$9.00 an hour, if it takes 8 minutes" in page.content
        assert b'name="shown_total" value="720"' in page.content
        large = console.get(f"/studies/{study.slug}/recruit/price/", terms(assignments="20", assignments_per_hit="20"))
        assert b"$33.60" in large.content  # 40 % from ten assignments on
        link = console.get(f"/studies/{study.slug}/recruit/price/", terms(to="link"))
        assert b"no money goes through a plain link" in link.content

    def test_an_account_with_too_little_money_is_named(self, study: Study, console: Client) -> None:
        SenderLease.objects.create(environment="marketplace", balance_cents=500, balance_at=timezone.now())
        page = console.get(f"/studies/{study.slug}/recruit/price/", terms())
        assert b"$5.00, 0\xc2\xa0minutes ago" in page.content
        assert b"does not hold enough" in page.content

    def test_an_amount_that_is_none_has_no_price_and_no_button(self, study: Study, console: Client) -> None:
        page = console.get(f"/studies/{study.slug}/recruit/price/", terms(reward="free"))
        assert b"Launch for" not in page.content

    def test_launching_at_the_price_that_was_shown(self, study: Study, console: Client, researcher: User) -> None:
        reply = console.post(f"/studies/{study.slug}/recruit/", terms())
        assert reply.status_code == 302
        campaign = Campaign.objects.get()
        assert (campaign.quoted_cents, campaign.assignments, campaign.reward_cents) == (720, 5, 120)
        assert (campaign.created_by, campaign.contact) == (researcher, "lab@example.org")
        assert Job.objects.filter(kind="recruitment.send").count() == 1
        page = console.get(f"/studies/{study.slug}/recruit/")
        assert f'data-copy="http://127.0.0.1:8000/take/{campaign.entry}/"'.encode() in page.content
        assert b"This study is recruiting" in page.content

    def test_a_price_that_has_changed_is_shown_before_anything_is_launched(self, study: Study, console: Client) -> None:
        reply = console.post(f"/studies/{study.slug}/recruit/", terms(assignments="6"))
        assert reply.status_code == 409
        assert b"The cost is 8.64 dollars, not 7.20" in reply.content
        assert b'name="shown_total" value="864"' in reply.content
        assert not Campaign.objects.exists()

    def test_real_money_is_typed(self, study: Study, console: Client, settings: Any) -> None:
        settings.PUBLIC_URL = "https://lab.example"
        path = f"/studies/{study.slug}/recruit/"
        asked = console.get(f"{path}price/", terms(to="production"))
        assert b"This is real money. Type 7.20 to confirm." in asked.content
        assert console.post(path, terms(to="production")).status_code == 409
        assert console.post(path, terms(to="production", confirm_total="7.21")).status_code == 409
        assert not Campaign.objects.exists()
        assert console.post(path, terms(to="production", confirm_total="7.20")).status_code == 302

    def test_a_refusal_is_shown_with_what_was_typed(self, study: Study, console: Client) -> None:
        too_many = console.post(f"/studies/{study.slug}/recruit/", terms(assignments="99", shown_total="14256"))
        assert too_many.status_code == 409
        assert b"24 free sessions, fewer than the 99" in too_many.content
        nameless = console.post(f"/studies/{study.slug}/recruit/", terms(title=""))
        assert nameless.status_code == 422
        assert b"This field is required" in nameless.content
        assert not Campaign.objects.exists()

    def test_stopping(self, launched: Campaign, console: Client, researcher: User) -> None:
        assert console.post(f"/studies/{launched.study.slug}/recruit/stop/").status_code == 302
        launched.refresh_from_db()
        assert launched.state == "stopped"  # nothing had been sent
        assert AuditEvent.objects.get(action="stop").by == researcher


class TestMonitor:
    def test_before_anything_it_says_what_to_do(self, study: Study, console: Client) -> None:
        page = console.get(f"/studies/{study.slug}/monitor/")
        assert b"Nobody has been invited yet" in page.content

    def test_the_figures(
        self, launched: Campaign, submission: Callable[..., Assignment], console: Client, settings: Any
    ) -> None:
        settings.MARKETPLACE_URL = "http://localhost:8001"
        someone = Visitor(launched, worker_id="ASOMEONE", assignment_id="A2", submit_to="http://localhost:8001")
        assert someone.open().status_code == 201
        submission()
        page = console.get(f"/studies/{launched.study.slug}/monitor/").content
        assert b"1 person has submitted, of 4 places." in page
        assert b"1 is not paid yet: $1.44 with fees." in page
        assert b"1 under way, 0 returned or given up" in page
        assert b"Sessions over time" in page
        assert b"<style" not in page
        assert b"style=" not in page

    def test_htmx_gets_the_figures_alone(self, launched: Campaign, console: Client) -> None:
        partial = console.get(f"/studies/{launched.study.slug}/monitor/", headers={"HX-Request": "true"})
        assert b"<html" not in partial.content
        assert b"Begun" in partial.content

    def test_paying_everyone(
        self, launched: Campaign, submission: Callable[..., Assignment], console: Client, researcher: User
    ) -> None:
        submission()
        path = f"/studies/{launched.study.slug}/monitor/"
        assert b"Pay 1 person: $1.44 with fees" in console.get(f"{path}settle/").content
        assert not Payment.objects.exists()
        for _ in range(2):
            assert console.post(f"{path}settle/").status_code == 302
        payment = Payment.objects.get()
        assert (payment.cost_cents, payment.created_by) == (144, researcher)
        page = console.get(path).content
        assert b"Nobody waits for money from you." in page
        assert b"Nobody waits for money" in console.get(f"{path}settle/").content
        assert payment.assignment.person.participant.code.encode() in page

    def test_no_worker_id_on_any_page_but_the_submissions_own(
        self, launched: Campaign, submission: Callable[..., Assignment], console: Client
    ) -> None:
        row = submission("unknown")
        study = f"/studies/{launched.study.slug}"
        assert b"no session of ours" in console.get(f"{study}/monitor/").content
        services.clear(assignment=row, by=User.objects.get())
        pages = [f"{study}/monitor/", f"{study}/monitor/ledger/", f"{study}/recruit/"]
        for path in pages:
            assert WORKER.encode() not in console.get(path).content, path
        assert WORKER.encode() in console.get(f"{study}/assignments/{row.pk}/").content

    def test_a_refused_payment_is_sent_again_by_a_person(
        self, launched: Campaign, submission: Callable[..., Assignment], console: Client
    ) -> None:
        submission()
        services.settle(study=launched.study)
        payment = Payment.objects.get()
        Payment.objects.update(state=WriteState.REFUSED, last_error="They said no.")
        path = f"/studies/{launched.study.slug}/monitor/"
        page = console.get(path).content
        assert b"A reward was refused: They said no." in page
        assert console.post(f"{path}payments/{payment.pk}/again/").status_code == 302
        payment.refresh_from_db()
        assert (payment.state, payment.last_error) == (WriteState.PLANNED, "")

    def test_asking_the_recruiter_is_a_job(self, launched: Campaign, console: Client) -> None:
        console.post(f"/studies/{launched.study.slug}/monitor/sync/")
        assert Job.objects.filter(kind="recruitment.sync").count() == 1


class TestSubmission:
    def test_a_rejection_wants_a_reason(
        self, launched: Campaign, submission: Callable[..., Assignment], console: Client, researcher: User
    ) -> None:
        row = submission("unfinished")
        path = f"/studies/{launched.study.slug}/assignments/{row.pk}/"
        short = console.post(path, {"decision": "reject", "reason": "bad"})
        assert short.status_code == 422
        assert b"at least 20 characters" in short.content
        assert (
            console.post(path, {"decision": "reject", "reason": "You answered every trial the same."}).status_code
            == 302
        )
        assert row.rejection.created_by == researcher
        assert not Payment.objects.exists()

    def test_paying_and_then_it_is_too_late_to_reject(
        self, launched: Campaign, submission: Callable[..., Assignment], console: Client
    ) -> None:
        row = submission("unknown")
        path = f"/studies/{launched.study.slug}/assignments/{row.pk}/"
        assert console.post(path, {"decision": "pay"}).status_code == 302
        assert Payment.objects.get().state == WriteState.PLANNED
        late = console.post(path, {"decision": "reject", "reason": "You answered every trial the same."})
        assert late.status_code == 409
        assert b"about to be paid" in late.content

    def test_another_studys_submission_is_not_here(
        self, study: Study, submission: Callable[..., Assignment], console: Client, researcher: User
    ) -> None:
        row = submission()
        other = make_study("blur")
        other.memberships.create(user=researcher, role="owner")
        assert console.get(f"/studies/blur/assignments/{row.pk}/").status_code == 404


def test_columns_fill_the_box() -> None:
    start = timezone.now()
    bins = [OpenedBin(start=start, opened=4, completed=1), OpenedBin(start=start, opened=0, completed=2)]
    chart = columns(bins)
    assert chart is not None
    first, second = chart.columns
    assert (first.opened_y, first.opened_height, first.completed_height) == (0.0, 120.0, 30.0)
    assert (second.completed_y, second.completed_height) == (60.0, 60.0)
    assert columns([]) is None
