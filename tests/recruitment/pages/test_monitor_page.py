from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.test import Client
from django.utils import timezone

from humanexp.core import clock
from humanexp.core.models import AuditEvent, User
from humanexp.jobs.models import Job
from humanexp.ledger.budgets import raise_cap
from humanexp.ledger.models import Payment
from humanexp.ledger.rejections import rejections
from humanexp.ledger.settlement import clear, settle
from humanexp.participation.models import Session
from humanexp.participation.tallies import BinCount, bars
from humanexp.recruiters.models import Assignment, Campaign, RecruiterAccount
from humanexp.recruiters.states import WriteState
from humanexp.recruiting.extension import stop
from humanexp.recruiting.pages import monitor
from humanexp.recruiting.watch import OpenedBin, sessions_over_time
from humanexp.studies.models import Study
from tests.markup import words
from tests.recruitment.studies import Visitor, make_study
from tests.recruitment.workers import LISTED_WORKER_ID

pytestmark = pytest.mark.django_db


def test_pages_are_for_those_who_may_see_the_study(study: Study, console: Client, client: Client) -> None:
    other = Client()
    other.force_login(User.objects.create_user("grace", password="x"))
    for page in ("recruit", "monitor", "monitor/answers", "monitor/ledger", "monitor/top-up"):
        path = f"/studies/{study.slug}/{page}/"
        assert console.get(path).status_code == 200
        assert other.get(path).status_code == 404
        assert client.get(path).status_code == 302
    for action in ("recruit/stop", "monitor/sync", "monitor/resolve"):
        path = f"/studies/{study.slug}/{action}/"
        assert other.post(path).status_code == 404
        assert console.get(path).status_code == 405


def test_before_anything_it_says_what_to_do(study: Study, console: Client) -> None:
    page = console.get(f"/studies/{study.slug}/monitor/")
    assert b"No one has been invited yet" in page.content


def test_the_figures(launched: Campaign, submission: Callable[..., Assignment], console: Client, settings: Any) -> None:
    settings.MARKETPLACE_URL = "http://localhost:8001"
    someone = Visitor(launched, worker_id="ASOMEONE", assignment_id="A2", submit_to="http://localhost:8001")
    assert someone.open().status_code == 201
    submission()
    page = words(console.get(f"/studies/{launched.study.slug}/monitor/").content)
    assert "0 people have submitted, of 4 places." in page
    assert "Apart from these, 1 submission without a finished session of ours." in page
    assert "1 waits to be paid: $1.44 with fees." in page
    assert "1 under way, 0 returned or given up" in page
    assert "Sessions over time, and answers so far" in page
    assert "Places are being opened" in page and "0 of 1" in page
    assert "<style" not in page
    assert "style=" not in page


def test_htmx_gets_the_figures_alone(launched: Campaign, console: Client) -> None:
    partial = console.get(f"/studies/{launched.study.slug}/monitor/", headers={"HX-Request": "true"})
    assert b"<html" not in partial.content
    assert b"From the first click to the money" in partial.content


def test_answers_come_after_the_page(launched: Campaign, console: Client, finished: Callable[..., Assignment]) -> None:
    address = f"/studies/{launched.study.slug}/monitor/answers/"
    assert b"No picture has an answer yet" in console.get(address).content
    finished()
    part = console.get(address, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part and 'aria-labelledby="sessions-title sessions-note"' in part
    assert "pictures with 2 answers" in part, "two main trials; the clean one enters no curve"
    assert "Thinnest: gaussian noise" in part


def test_paying_everyone(
    launched: Campaign, submission: Callable[..., Assignment], console: Client, researcher: User
) -> None:
    submission()
    path = f"/studies/{launched.study.slug}/monitor/"
    assert b"Pay 1 person: $1.44 with fees" in console.get(f"{path}settle/").content
    assert not Payment.objects.exists()
    for _ in range(2):
        assert console.post(f"{path}settle/", {"shown": '{"USD": 144}'}).status_code == 302
    payment = Payment.objects.get()
    assert (payment.cost_cents, payment.created_by) == (144, researcher)
    page = console.get(path).content
    assert b"waits to be paid" not in page
    assert b"No one is owed anything" in console.get(f"{path}settle/").content
    assert payment.assignment.person.participant.code.encode() in page


def test_no_worker_id_on_any_page_but_the_submissions_own(
    launched: Campaign, submission: Callable[..., Assignment], console: Client
) -> None:
    row = submission("unknown")
    study = f"/studies/{launched.study.slug}"
    assert b"no session of ours" in console.get(f"{study}/monitor/").content
    clear(assignment=row, by=User.objects.get())
    pages = [
        f"{study}/{page}/" for page in ("monitor", "monitor/ledger", "monitor/top-up", "recruit", "recruit/notify")
    ]
    for path in [*pages, f"{study}/monitor/ledger/ledger.csv"]:
        reply = console.get(path)
        content = b"".join(reply.streaming_content) if reply.streaming else reply.content
        assert LISTED_WORKER_ID.encode() not in content, path
    assert LISTED_WORKER_ID.encode() in console.get(f"{study}/assignments/{row.pk}/").content


def test_another_studys_submission_is_not_here(
    study: Study, submission: Callable[..., Assignment], console: Client, researcher: User
) -> None:
    row = submission()
    make_study("blur").memberships.create(user=researcher, role="owner")
    assert console.get(f"/studies/blur/assignments/{row.pk}/").status_code == 404


def test_asking_the_recruiter_is_a_job(launched: Campaign, console: Client) -> None:
    console.post(f"/studies/{launched.study.slug}/monitor/sync/")
    assert Job.objects.filter(kind="recruitment.sync").count() == 1


class TestResolutions:
    """Everything that waits for a person has a button that helps."""

    def test_a_refused_payment_is_sent_again(
        self, launched: Campaign, submission: Callable[..., Assignment], console: Client
    ) -> None:
        submission()
        settle(study=launched.study)
        payment = Payment.objects.get()
        Payment.objects.update(state=WriteState.REFUSED, last_error="They said no.")
        path = f"/studies/{launched.study.slug}/monitor/"
        again = f"{path}payments/{payment.pk}/again/"
        page = console.get(path).content.decode()
        assert "A reward was refused: They said no." in page and again in page
        assert console.post(again).status_code == 302
        payment.refresh_from_db()
        assert (payment.state, payment.last_error) == (WriteState.PLANNED, "")

    def test_refused_keys_are_tried_again(self, launched: Campaign, console: Client) -> None:
        account, _ = RecruiterAccount.objects.update_or_create(
            environment="marketplace", defaults={"pause": "keys", "pause_detail": "Expired."}
        )
        path = f"/studies/{launched.study.slug}/monitor/"
        page = console.get(path).content.decode()
        assert "Expired." in page and "Try the keys again" in page
        before = Job.objects.filter(kind="recruitment.send").count()
        reply = console.post(f"{path}resolve/", {"kind": "keys", "subject": str(account.pk)}, follow=True)
        assert b"The keys are being tried" in reply.content
        assert Job.objects.filter(kind="recruitment.send").count() >= before
        elsewhere, _ = RecruiterAccount.objects.update_or_create(environment="production", defaults={"pause": "keys"})
        assert console.post(f"{path}resolve/", {"kind": "keys", "subject": str(elsewhere.pk)}).status_code == 404

    def test_a_hit_that_was_cut_is_published_again(self, launched: Campaign, console: Client) -> None:
        hit = launched.hits.get()
        hit.calls.update(state=WriteState.REFUSED, last_error="Throttled for ever.")
        path = f"/studies/{launched.study.slug}/monitor/"
        page = console.get(path).content.decode()
        assert "Throttled for ever." in page and "Publish again" in page
        assert console.post(f"{path}resolve/", {"kind": "hit", "subject": str(hit.pk)}).status_code == 302
        assert hit.calls.get().state == WriteState.PLANNED

    def test_after_a_stop_no_page_publishes_a_hit_again(self, launched: Campaign, console: Client) -> None:
        """A page that was opened before the stop still has the button."""
        stop(study=launched.study)  # before anything was sent: the HIT is not published at all
        hit = launched.hits.get()
        address = f"/studies/{launched.study.slug}/monitor/resolve/"
        told = console.post(address, {"kind": "hit", "subject": str(hit.pk)}, follow=True)
        assert b"This campaign is stopped" in told.content
        assert (hit.state, hit.calls.get().state) == ("cancelled", WriteState.REFUSED)

    def test_a_submission_without_a_session_is_decided_on(
        self, launched: Campaign, submission: Callable[..., Assignment], console: Client
    ) -> None:
        row = submission("unknown")
        decide = f"/studies/{launched.study.slug}/assignments/{row.pk}/"
        page = console.get(f"/studies/{launched.study.slug}/monitor/").content.decode()
        assert "fits no finished session of ours" in page and decide in page
        assert console.post(decide, {"decision": "pay"}).status_code == 302
        assert Payment.objects.get().state == WriteState.PLANNED
        late = console.post(
            decide,
            {"decision": "reject", "reason": "There was no work at all.", "evidence": "x" * 30, "confirmed": "1"},
        )
        assert late.status_code == 409 and b"about to be paid" in late.content

    def test_who_finished_and_could_not_submit_is_paid_by_a_bonus_on_other_work(
        self, launched: Campaign, finished: Callable[..., Assignment], console: Client, researcher: User
    ) -> None:
        row, other = finished(submitted=False), finished("AOTHER")
        Assignment.objects.filter(pk=row.pk).update(opened_at=timezone.now() - timedelta(days=2))
        Assignment.objects.filter(pk=other.pk).update(person=row.person)
        raise_cap(campaign=launched, cap_cents=1_000, by=researcher)
        path = f"/studies/{launched.study.slug}/monitor/"
        page = console.get(path).content.decode()
        assert "Did the work, and never submitted it" in page and str(row.person) in page
        assert console.post(f"{path}compensate/{row.pk}/").status_code == 302
        paid = Payment.objects.get(kind="compensation")
        assert (paid.assignment, paid.amount_cents) == (other, 120)
        assert b"never submitted it" not in console.get(path).content
        assert console.post(f"{path}compensate/{row.pk}/").status_code == 404

    def test_whom_no_bonus_reaches_is_paid_by_hand(
        self, launched: Campaign, finished: Callable[..., Assignment], console: Client
    ) -> None:
        row = finished(submitted=False)
        Assignment.objects.filter(pk=row.pk).update(opened_at=timezone.now() - timedelta(days=2))
        path = f"/studies/{launched.study.slug}/monitor/"
        told = "The recruiter pays bonuses for submitted work alone."
        assert told in console.get(path).text
        assert told in console.get(f"/studies/{launched.study.slug}/assignments/{row.pk}/").text
        refused = console.post(f"{path}compensate/{row.pk}/", follow=True)
        assert "Ask them to open the study again and submit" in refused.text and not Payment.objects.exists()
        console.post(f"{path}compensate/{row.pk}/", {"by": "hand"})
        assert "never submitted it" not in console.get(path).text
        assert AuditEvent.objects.filter(action="pay-by-hand").count() == 1
        assert console.post(f"{path}compensate/{row.pk}/").status_code == 404

    def test_nothing_else_can_be_resolved(self, launched: Campaign, console: Client) -> None:
        reply = console.post(f"/studies/{launched.study.slug}/monitor/resolve/", {"kind": "magic"}, follow=True)
        assert b"There is nothing of this kind to resolve." in reply.content


def test_sessions_are_counted_in_the_stretch_in_which_they_began_and_ended(
    launched: Campaign, finished: Callable[..., Assignment], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = timezone.now()
    hours = {"AFIRST": (10, 9), "ASECOND": (3, 1), "ATHIRD": (0.5, None)}
    for worker, (began, ended) in hours.items():
        row = finished(worker, submitted=False)
        Session.objects.filter(pk=row.session_id).update(
            is_verified=True,
            opened_at=now - timedelta(hours=began),
            completed_at=now - timedelta(hours=ended) if ended else None,
        )
    monkeypatch.setattr(clock, "system_clock", SimpleNamespace(now=lambda: now))
    found = sessions_over_time(launched.study, bins=5)
    assert [one.opened for one in found] == [1, 0, 0, 1, 1]
    assert [one.completed for one in found] == [1, 0, 0, 0, 1]
    assert [one.start for one in found] == [now - timedelta(hours=left) for left in (10, 8, 6, 4, 2)]


def test_sessions_that_no_recruiter_lists_stand_in_no_column(
    launched: Campaign, finished: Callable[..., Assignment], console: Client
) -> None:
    """Anybody begins under a made-up id, today or long ago: neither the columns nor their first moment heed it."""
    invented = finished("AINVENTED", submitted=False)
    Session.objects.filter(pk=invented.session_id).update(opened_at=timezone.now() - timedelta(days=9))
    assert sessions_over_time(launched.study) == []
    page = console.get(f"/studies/{launched.study.slug}/monitor/answers/").content.decode()
    assert "No session has begun yet that counts" in page
    listed = finished("ALISTED")
    Session.objects.filter(pk=listed.session_id).update(is_verified=True)
    found = sessions_over_time(launched.study)
    assert (sum(one.opened for one in found), sum(one.completed for one in found)) == (1, 1)
    assert found[0].start == Session.objects.get(pk=listed.session_id).opened_at


def test_columns_fill_the_box() -> None:
    start = timezone.now()
    bins = [OpenedBin(start=start, opened=4, completed=1), OpenedBin(start=start, opened=0, completed=2)]
    chart = render_to_string("recruitment/_sessions_chart.html", {"stretches": bins, "most": 4})
    assert 'viewBox="0 -4 2 4"' in chart and "The highest column is 4." in words(chart)
    assert re.findall(r'<rect x="(\d)" width="0.9" height="(\d)"', chart) == [
        ("0", "4"), ("0", "1"), ("1", "0"), ("1", "2"),
    ]  # fmt: skip
    assert "<svg" not in render_to_string("recruitment/_sessions_chart.html", {"stretches": [], "most": 0})


def test_bars_add_corruptions_up_and_the_thinnest_comes_first() -> None:
    def found(corruption: str, low: float, planned: int, answered: int) -> BinCount:
        return BinCount(corruption=corruption, low=low, high=low + 0.5, planned=planned, answered=answered)

    bins = [found("blur", 0.0, 10, 10), found("noise", 0.0, 10, 1), found("noise", 0.5, 40, 20)]
    first, second = bars(bins)
    assert (first.planned, first.answered, second.planned_height, second.answered_height) == (20, 11, 100.0, 50.0)
    assert [(one.corruption, one.low) for one in monitor.thinnest(bins)] == [("noise", 0.0), ("noise", 0.5)]


def test_of_many_rejections_those_are_shown_that_can_be_taken_back_soonest(
    launched: Campaign, finished: Callable[..., Assignment], console: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("humanexp.recruiting.pages.monitor.SHOWN", 2)
    days = {"AFINAL": 40, "ALAST": 29, "AFIRST": 2, "ANEXT": 20}
    for worker, ago in days.items():
        row = finished(worker)
        Assignment.objects.filter(pk=row.pk).update(
            state="rejected", rejection_reason=worker, submitted_at=timezone.now() - timedelta(days=ago)
        )
    assert [one.reason for one in rejections(launched.study)] == ["ALAST", "ANEXT", "AFIRST", "AFINAL"]
    page = console.get(f"/studies/{launched.study.slug}/monitor/")
    assert [one.reason for one in page.context["rejected"]] == ["ALAST", "ANEXT"]
    assert "2 more have more time left, or are final." in words(page.content)


def test_two_sessions_under_one_id_are_said(study: Study, console: Client, finished: Callable[..., Assignment]) -> None:
    first, second = finished("AFIRST"), finished("ASECOND")
    rival = second.session
    assert rival is not None and first.session is not None
    second.session = None
    second.save(update_fields=["session"])
    rival.rival_of = first.session
    rival.save(update_fields=["rival_of"])
    page = console.get(f"/studies/{study.slug}/monitor/").text
    assert "Under the id of 1 person several sessions were answered" in words(page)
    assert f"/studies/{study.slug}/assignments/{first.pk}/" in page
    rival.state = "withdrawn"
    rival.save(update_fields=["state"])
    assert "several sessions were answered" not in console.get(f"/studies/{study.slug}/monitor/").text
