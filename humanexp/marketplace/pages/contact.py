"""A worker writes to the requester of some work."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_http_methods

from humanexp.marketplace import clock
from humanexp.marketplace.errors import NotFound
from humanexp.marketplace.models import Worker
from humanexp.marketplace.pages.answers import problem, wants_json, worker_required
from humanexp.marketplace.pages.forms import ContactForm
from humanexp.marketplace.requirements import Action, unmet
from humanexp.marketplace.selectors.groups import hit_type_by_id
from humanexp.marketplace.selectors.qualifications import profile_of
from humanexp.marketplace.services.inquiries import ask_requester


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
        messages.success(request, _("Sent to %(name)s. The answer appears here.") % {"name": hit_type.requester.name})
        return redirect("messages")
    failed = request.method == "POST"
    if failed and wants_json(request):
        return problem("invalid", "The form is not complete", "See fields.", status=422, fields=form.errors)
    return render(
        request, "marketplace/contact.html", {"form": form, "hit_type": hit_type}, status=422 if failed else 200
    )
