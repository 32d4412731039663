"""What the frame shows (HTMLQuestion, QuestionForm), where its form goes, and files that workers sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from csp.constants import SELF, UNSAFE_EVAL, UNSAFE_INLINE
from csp.decorators import csp_replace, csp_update
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from humanexp.sites.controls import cut_connection, site_url
from humanexp.sites.marketplace import clock
from humanexp.sites.marketplace.errors import AnswersRefused, MarketplaceError, NotFound, WorkRefused
from humanexp.sites.marketplace.faults import EXTERNAL_SUBMIT, FaultKind, fault_after, take
from humanexp.sites.marketplace.models.hits import HIT
from humanexp.sites.marketplace.pages.answers import html_or_json, refusal
from humanexp.sites.marketplace.question import NO_ASSIGNMENT, HTMLQuestion, read_question
from humanexp.sites.marketplace.question_form import QuestionForm
from humanexp.sites.marketplace.requirements import Action, require
from humanexp.sites.marketplace.selectors.groups import hit_by_id
from humanexp.sites.marketplace.selectors.own_work import hit_of_assignment, own_assignment
from humanexp.sites.marketplace.selectors.qualifications import profile_of
from humanexp.sites.marketplace.selectors.work import upload_behind
from humanexp.sites.marketplace.services.assignments import SentFile, submit
from humanexp.sites.marketplace.visitors import wants_json, worker_of


@xframe_options_sameorigin
@require_safe
def content(request: HttpRequest, hit_id: str) -> HttpResponse:
    """The page of a HIT whose question is no address."""
    hit = hit_by_id(hit_id, clock.now())
    _require_shown(request, hit)
    question = read_question(hit.question)
    if isinstance(question, HTMLQuestion):
        response: HttpResponse = _html(request, question)
        return response
    if isinstance(question, QuestionForm):
        response = _form(request, hit, question)
        return response
    raise NotFound


def _require_shown(request: HttpRequest, hit: HIT) -> None:
    """Work in hand is shown; a preview to whoever may see it."""
    worker, assignment_id = worker_of(request), request.GET.get("assignmentId", NO_ASSIGNMENT)
    if worker is not None and assignment_id != NO_ASSIGNMENT:
        if own_assignment(worker, assignment_id).hit_id != hit.pk:
            raise NotFound
        return
    require(hit.hit_type.requirements, profile_of(worker, clock.now()), Action.PREVIEW)


@csp_replace(
    {
        # Somebody else's page: it may run what it likes in an origin of its own, where it reaches nothing of ours.
        "default-src": ["https:", "data:", "blob:", SELF, UNSAFE_INLINE, UNSAFE_EVAL],
        "img-src": ["https:", "data:", "blob:"],
        "form-action": [SELF],
        "frame-ancestors": [SELF],
        "sandbox": ["allow-scripts", "allow-forms", "allow-modals", "allow-popups", "allow-downloads"],
    }
)  # type: ignore[untyped-decorator]
def _html(request: HttpRequest, question: HTMLQuestion) -> HttpResponse:
    own = site_url(request)
    page = question.page(submit_to=own, script_url=f"{own}{static('marketplace/external_hit.js')}")
    return HttpResponse(page)


@csp_update({"img-src": ["https:"]})  # type: ignore[untyped-decorator]
@csp_replace({"frame-ancestors": [SELF]})  # type: ignore[untyped-decorator]
def _form(request: HttpRequest, hit: HIT, question: QuestionForm) -> HttpResponse:
    return form_page(request, hit, question, request.GET.get("assignmentId", NO_ASSIGNMENT))


def form_page(
    request: HttpRequest,
    hit: HIT,
    question: QuestionForm,
    assignment_id: str,
    fields: Mapping[str, Sequence[str]] | None = None,
    refused: AnswersRefused | None = None,
) -> HttpResponse:
    """The form; after a refusal with the answers as they were sent, files excepted."""
    page = {
        "hit": hit,
        "parts": question.shown(fields, refused.problems if refused else None),
        "assignment_id": assignment_id,
        "can_submit": assignment_id != NO_ASSIGNMENT,
        "refused": refused,
    }
    return render(request, "marketplace/question_form.html", page, status=refused.status if refused else 200)


@require_safe
def upload(request: HttpRequest, token: str) -> HttpResponse:
    """A file, to be saved and never shown: workers send what they like."""
    found = upload_behind(token)
    response = HttpResponse(bytes(found.content), content_type="application/octet-stream")
    response["Content-Disposition"] = "attachment"
    response["Cache-Control"] = "no-store"
    return response


@csrf_exempt  # the form comes from the requester's page; the unguessable assignmentId says whose work it is
@csp_update({"img-src": ["https:"]})  # type: ignore[untyped-decorator]  # pictures of a form that is shown again
@csp_replace({"frame-ancestors": [SELF]})  # type: ignore[untyped-decorator]
@xframe_options_sameorigin
@require_POST
def external_submit(request: HttpRequest) -> HttpResponse:
    """Store the fields of the form as the assignment's answer. Sent twice, it is stored once and answered alike."""
    fault = take(EXTERNAL_SUBMIT)
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
