"""Where a frame's form goes: the end of an assignment."""

from __future__ import annotations

from csp.constants import SELF
from csp.decorators import csp_replace, csp_update
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from humanexp.marketplace import clock
from humanexp.marketplace.api import cut_connection, fault_after
from humanexp.marketplace.errors import AnswersRefused, MarketplaceError, WorkRefused
from humanexp.marketplace.faults import EXTERNAL_SUBMIT, FAULTS, FaultKind
from humanexp.marketplace.pages.answers import html_or_json, wants_json
from humanexp.marketplace.pages.content import form_page
from humanexp.marketplace.pages.refusals import refusal
from humanexp.marketplace.question_form import QuestionForm
from humanexp.marketplace.selectors.own_work import hit_of_assignment
from humanexp.marketplace.services.assignments import SentFile, submit


@csrf_exempt  # the form comes from the requester's page; the unguessable assignmentId says whose work it is
@csp_update({"img-src": ["https:"]})  # type: ignore[untyped-decorator]  # pictures of a form that is shown again
@csp_replace({"frame-ancestors": [SELF]})  # type: ignore[untyped-decorator]
@xframe_options_sameorigin
@require_POST
def external_submit(request: HttpRequest) -> HttpResponse:
    """Store the fields of the form as the assignment's answer. Sent twice, it is stored once and answered alike."""
    fault = FAULTS.take(EXTERNAL_SUBMIT)
    kind = fault.kind if fault else None
    if kind is FaultKind.DROP_BEFORE:
        return cut_connection(HttpResponse())
    if kind in (FaultKind.THROTTLE, FaultKind.SERVICE_FAULT):
        return HttpResponse("Service unavailable", status=503, content_type="text/plain")
    try:
        response = _stored(request)
    except AnswersRefused as err:
        response = refusal(request, err, in_frame=True) if wants_json(request) else _form_again(request, err)
    except WorkRefused as err:
        response = refusal(request, err, in_frame=True)
    return fault_after(fault, response)


def _stored(request: HttpRequest) -> HttpResponse:
    assignment = submit(
        assignment_id=request.POST.get("assignmentId", ""),
        fields=_fields(request),
        files=_files(request),
        now=clock.now(),
    )
    if assignment.submitted_at is None:
        raise MarketplaceError("A stored submission has no time.")
    body = {
        "assignment_id": assignment.assignment_id,
        "state": "Submitted",
        "submitted_at": assignment.submitted_at.isoformat(),
    }
    page = {"assignment": assignment, "hit": assignment.hit}
    return html_or_json(request, lambda: render(request, "marketplace/submitted.html", page), body)


def _fields(request: HttpRequest) -> dict[str, list[str]]:
    return {name: [str(value) for value in values] for name, values in request.POST.lists()}


def _form_again(request: HttpRequest, refused: AnswersRefused) -> HttpResponse:
    assignment_id = request.POST["assignmentId"]
    hit = hit_of_assignment(assignment_id)
    form = QuestionForm.from_xml(hit.question)
    return form_page(request, hit, form, assignment_id, _fields(request), refused)


def _files(request: HttpRequest) -> dict[str, SentFile]:
    """By name; a field that was left empty has none."""
    return {
        name: SentFile(name=(sent.name or "")[:255], content=sent.read())
        for name, sent in request.FILES.items()
        if not isinstance(sent, list) and sent.size
    }
