"""What a worker has earned, and what requesters have written."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from humanexp.marketplace import clock
from humanexp.marketplace.models import Message, Worker
from humanexp.marketplace.pages.answers import html_or_json, worker_required
from humanexp.marketplace.selectors.own_work import Earning, earnings_of, messages_to


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
