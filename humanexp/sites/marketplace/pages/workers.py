"""A worker's own pages: earnings, letters, qualifications and their tests."""

from __future__ import annotations

from typing import Any

from csp.decorators import csp_update
from django.contrib.messages import success
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from humanexp.sites.marketplace import clock
from humanexp.sites.marketplace.accounts import ask_requester
from humanexp.sites.marketplace.assignments import hit_type_by_id
from humanexp.sites.marketplace.errors import AnswersRefused, NotFound
from humanexp.sites.marketplace.models.people import Message, QualificationRequest, Worker
from humanexp.sites.marketplace.pages.accounts import ContactForm
from humanexp.sites.marketplace.pages.answers import html_or_json, problem, wants_json, worker_required
from humanexp.sites.marketplace.qualifications import (
    OwnQualification,
    begin,
    own_request,
    profile_of,
    qualifications_of,
    requestable_type,
    submit_test,
)
from humanexp.sites.marketplace.question_form import QuestionForm
from humanexp.sites.marketplace.requirements import Action, unmet
from humanexp.sites.marketplace.work import Earning, earnings_of, messages_to


@require_safe
@worker_required
def earnings(request: HttpRequest, worker: Worker) -> HttpResponse:
    found = earnings_of(worker, clock.now())
    body = {
        "worker_id": worker.worker_id,
        "totals": {
            "total_cents": found.total_cents,
            "approved_cents": found.approved_cents,
            "bonus_cents": found.bonus_cents,
            "waiting_cents": found.waiting_cents,
            "paid_out_cents": found.paid_out_cents,
            "owed_cents": found.owed_cents,
        },
        "payouts": [
            {"amount_cents": one.amount_cents, "way": one.way, "paid_at": one.paid_at.isoformat()}
            for one in found.payouts
        ],
        "assignments": [_earning_json(row) for row in found.rows],
    }
    return html_or_json(request, lambda: render(request, "marketplace/earnings.html", {"earnings": found}), body)


@require_safe
@worker_required
def messages(request: HttpRequest, worker: Worker) -> HttpResponse:
    found = list(messages_to(worker))
    body = {"worker_id": worker.worker_id, "messages": [_message_json(message) for message in found]}
    return html_or_json(request, lambda: render(request, "marketplace/messages.html", {"worker_messages": found}), body)


def _earning_json(row: Earning) -> dict[str, Any]:
    submitted_at = row.assignment.submitted_at
    return {
        "assignment_id": row.assignment.assignment_id,
        "hit_id": row.assignment.hit.hit_id,
        "title": row.assignment.hit.hit_type.title,
        "state": str(row.state),
        "submitted_at": submitted_at.isoformat() if submitted_at else None,
        "reward_cents": row.reward_cents,
        "bonus_cents": row.bonus_cents,
        "bonus_reasons": list(row.bonus_reasons),
        "feedback": row.assignment.requester_feedback,
    }


def _message_json(message: Message) -> dict[str, Any]:
    return {
        "from": message.sender.name,
        "subject": message.subject,
        "text": message.text,
        "sent_at": message.sent_at.isoformat(),
    }


@ensure_csrf_cookie
@require_http_methods(["GET", "HEAD", "POST"])
@worker_required
def contact(request: HttpRequest, worker: Worker, hit_type_id: str) -> HttpResponse:
    """About work that this worker may see, or has had."""
    hit_type, now = hit_type_by_id(hit_type_id), clock.now()
    hidden = unmet(hit_type.requirements, profile_of(worker, now), Action.DISCOVER)
    if hidden and not worker.assignments.filter(hit__hit_type=hit_type).exists():
        raise NotFound
    form = ContactForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        sent = ask_requester(worker=worker, hit_type=hit_type, now=now, **form.cleaned_data)
        if wants_json(request):
            return JsonResponse({"sent_at": sent.sent_at.isoformat()}, status=201)
        success(request, _("Sent to %(name)s. The answer appears here.") % {"name": hit_type.requester.name})
        return redirect("messages")
    failed = request.method == "POST"
    if failed and wants_json(request):
        return problem("invalid", "The form is not complete", "See fields.", status=422, fields=form.errors)
    return render(
        request, "marketplace/contact.html", {"form": form, "hit_type": hit_type}, status=422 if failed else 200
    )


@ensure_csrf_cookie
@require_safe
@worker_required
def qualifications(request: HttpRequest, worker: Worker) -> HttpResponse:
    found = qualifications_of(worker, clock.now())
    body = {
        "worker_id": worker.worker_id,
        "granted": [
            {"qualification_type_id": one.qualification_type.qualification_type_id, "value": one.value}
            for one in found.granted
        ],
        "others": [_other_json(one) for one in found.others],
    }
    page = {"own": found}
    return html_or_json(request, lambda: render(request, "marketplace/qualifications.html", page), body)


@require_POST
@worker_required
def ask(request: HttpRequest, worker: Worker, qualification_type_id: str) -> HttpResponse:
    """Granted, waiting, or a test to be taken."""
    made = begin(worker=worker, wanted=requestable_type(qualification_type_id), now=clock.now())
    if made.submitted_at is None:
        return html_or_json(request, lambda: redirect("test", request_id=made.request_id), _request_json(made))
    return html_or_json(request, lambda: redirect("qualifications"), _request_json(made))


@ensure_csrf_cookie
@csp_update({"img-src": ["https:"]})  # type: ignore[untyped-decorator]  # pictures of the questions
@require_http_methods(["GET", "HEAD", "POST"])
@worker_required
def test(request: HttpRequest, worker: Worker, request_id: str) -> HttpResponse:
    """The questions; what was sent with something missing comes back with a sentence."""
    found, refused, status = own_request(worker, request_id), None, 200
    fields = None
    if request.method == "POST":
        fields = {name: [str(value) for value in values] for name, values in request.POST.lists()}
        try:
            found = submit_test(request=found, fields=fields, now=clock.now())
        except AnswersRefused as err:
            refused, status = err, err.status
            if wants_json(request):
                return problem(err.kind, err.title, err.message, status=err.status)
    now = clock.now()
    if not found.is_open(now):
        return html_or_json(request, lambda: redirect("qualifications"), _request_json(found))
    page = {
        "wanted": found.qualification_type,
        "request_id": found.request_id,
        "parts": QuestionForm.from_xml(found.test).shown(fields, refused.problems if refused else None),
        "refused": refused,
        "seconds_left": int((found.deadline_at - now).total_seconds()) if found.deadline_at else 0,
    }
    return html_or_json(
        request, lambda: render(request, "marketplace/test.html", page, status=status), _request_json(found)
    )


def _other_json(one: OwnQualification) -> dict[str, Any]:
    return {
        "qualification_type_id": one.qualification_type.qualification_type_id,
        "name": one.qualification_type.name,
        "requester": one.qualification_type.requester.name,
        "has_test": bool(one.qualification_type.test),
        "pending": one.pending,
        "obstacle": one.obstacle,
    }


def _request_json(found: QualificationRequest) -> dict[str, Any]:
    return {
        "request_id": found.request_id,
        "outcome": found.outcome,
        "submitted": found.submitted_at is not None,
        "test_url": f"/qualifications/tests/{found.request_id}/" if found.test else None,
        "reason": found.reason,
    }
