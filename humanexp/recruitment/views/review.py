from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from humanexp.core.errors import ApplicationError, NotAllowed
from humanexp.core.models import User
from humanexp.recruitment import selectors, services
from humanexp.recruitment.forms import RejectionForm
from humanexp.recruitment.models import Assignment
from humanexp.recruitment.views.studies import study_of


@login_required
@require_http_methods(["GET", "POST"])
def assignment(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One submission with its evidence, and a person's decision about it. The one page with a worker id."""
    study = study_of(request, slug)
    row = get_object_or_404(selectors.assignments_of(study), pk=pk)
    form = RejectionForm(request.POST if request.POST.get("decision") == "reject" else None)
    status = 200
    if request.method == "POST":
        try:
            if (done := _decide(request, row, form)) is not None:
                messages.success(request, done)
                return redirect("recruitment:assignment", slug=study.slug, pk=row.pk)
            status = 422
        except ApplicationError as error:
            messages.error(request, error.message)
            status = error.status_code
    context = {"study": study, "assignment": row, "form": form, "payments": row.payments.all()}
    return render(request, "recruitment/assignment.html", context, status=status)


def _decide(request: HttpRequest, row: Assignment, form: RejectionForm) -> str | None:
    """Carry out what the button says; None when the form needs correction."""
    user = request.user
    if not isinstance(user, User):
        raise NotAllowed
    match request.POST.get("decision"):
        case "pay":
            services.clear(assignment=row, by=user)
            return _("The payment is on its way.")
        case "override":
            services.override_rejection(assignment=row, by=user)
            return _("The rejection is being overridden; the payment is on its way.")
        case "reject" if form.is_valid():
            services.reject(assignment=row, reason=form.cleaned_data["reason"], by=user)
            return _("The rejection is on its way, with your reason.")
    return None
