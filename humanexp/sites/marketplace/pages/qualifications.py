"""A worker's qualifications: what there is, asking for one, taking its test."""

from __future__ import annotations

from typing import Any

from csp.decorators import csp_update
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from humanexp.sites.marketplace import clock
from humanexp.sites.marketplace.errors import AnswersRefused
from humanexp.sites.marketplace.models.accounts import Worker
from humanexp.sites.marketplace.models.qualifications import QualificationRequest
from humanexp.sites.marketplace.pages.answers import html_or_json, problem, worker_required
from humanexp.sites.marketplace.question_form import QuestionForm
from humanexp.sites.marketplace.selectors.qualifications import (
    OwnQualification,
    own_request,
    qualifications_of,
    requestable_type,
)
from humanexp.sites.marketplace.services.qualification_requests import begin, submit_test
from humanexp.sites.marketplace.visitors import wants_json


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
