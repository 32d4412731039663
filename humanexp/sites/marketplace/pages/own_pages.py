"""What a worker has earned, and letters: from requesters and to them."""

from __future__ import annotations

from typing import Any

from django.contrib.messages import success
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_http_methods, require_safe

from humanexp.sites.marketplace import clock
from humanexp.sites.marketplace.errors import NotFound
from humanexp.sites.marketplace.models.accounts import Worker
from humanexp.sites.marketplace.models.requests import Message
from humanexp.sites.marketplace.pages.answers import html_or_json, problem, worker_required
from humanexp.sites.marketplace.pages.forms import ContactForm
from humanexp.sites.marketplace.requirements import Action, unmet
from humanexp.sites.marketplace.selectors.groups import hit_type_by_id
from humanexp.sites.marketplace.selectors.own_work import Earning, earnings_of, messages_to
from humanexp.sites.marketplace.selectors.qualifications import profile_of
from humanexp.sites.marketplace.services.workers import ask_requester
from humanexp.sites.marketplace.visitors import wants_json


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
