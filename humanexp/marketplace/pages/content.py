"""What the marketplace shows in the frame itself (HTMLQuestion, QuestionForm), and files that workers sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from csp.constants import SELF, UNSAFE_EVAL, UNSAFE_INLINE
from csp.decorators import csp_replace, csp_update
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_safe

from humanexp.marketplace import clock
from humanexp.marketplace.errors import AnswersRefused, NotFound
from humanexp.marketplace.models import HIT
from humanexp.marketplace.pages.answers import site_url, worker_of
from humanexp.marketplace.question import NO_ASSIGNMENT, HTMLQuestion, read_question
from humanexp.marketplace.question_form import QuestionForm
from humanexp.marketplace.requirements import Action, require
from humanexp.marketplace.selectors.groups import hit_by_id
from humanexp.marketplace.selectors.own_work import own_assignment
from humanexp.marketplace.selectors.qualifications import profile_of
from humanexp.marketplace.selectors.uploads import upload_behind


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
