from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from humanexp.console.forms import InviteForm
from humanexp.console.views.studies import study_of, user_of
from humanexp.core.errors import ApplicationError, InvalidRequest
from humanexp.experiments import services
from humanexp.experiments.members import members_of
from humanexp.experiments.roles import MEANING, Role


@login_required
@require_http_methods(["GET", "POST"])
def members(request: HttpRequest, slug: str) -> HttpResponse:
    """Who takes part in making the study, and the form that invites."""
    study = study_of(request, slug)
    found = members_of(study)
    form = InviteForm(request.POST or None, initial={"role": Role.RESEARCHER if found else Role.OWNER})
    if request.method == "POST" and form.is_valid():
        try:
            member = services.invite(study=study, by=user_of(request), **form.cleaned_data)
        except InvalidRequest as error:
            for name in error.fields:
                form.add_error(name, error.message)
        else:
            messages.success(request, _("%(name)s takes part now.") % {"name": member.user})
            return redirect("console:members", slug=slug)
    context = {
        "study": study,
        "members": found,
        "form": form,
        "roles": [(role, MEANING[role]) for role in Role],
    }
    return render(request, "console/members.html", context, status=422 if form.is_bound else 200)


@login_required
@require_http_methods(["GET", "POST"])
def member(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Change somebody's role, or remove them: what that means is shown before it is done."""
    study = study_of(request, slug)
    found = get_object_or_404(study.memberships.select_related("user"), pk=pk)
    if request.method == "GET":
        roles = [(role, MEANING[role]) for role in Role]
        return render(request, "console/member.html", {"study": study, "member": found, "roles": roles})
    try:
        if request.POST.get("act") == "remove":
            services.remove(member=found, by=user_of(request))
            messages.success(request, _("%(name)s takes no part any more.") % {"name": found.user})
        else:
            changed = services.change_role(member=found, role=request.POST.get("role", ""), by=user_of(request))
            role = changed.get_role_display()
            messages.success(request, _("%(name)s is now %(role)s.") % {"name": found.user, "role": role})
    except ApplicationError as error:
        messages.error(request, error.message)
    # Who has taken the right from themselves is led to where they may still be.
    is_gone = not study.memberships.filter(user=user_of(request)).exists() and not user_of(request).is_staff
    return redirect("console:studies") if is_gone else redirect("console:members", slug=slug)
