from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from humanexp.core.errors import InvalidRequest
from humanexp.core.models import User
from humanexp.evaluations import selectors, services
from humanexp.evaluations.forms import GoldForm
from humanexp.stimuli.selectors import source_set_by_name


@login_required
def classifiers(request: HttpRequest) -> HttpResponse:
    return render(request, "evaluations/classifiers.html", {"runs": selectors.all_runs()})


@login_required
@require_http_methods(["GET", "POST"])
def select_gold(request: HttpRequest, name: str) -> HttpResponse:
    """Ask classifiers which pictures of a set are easy."""
    source_set = source_set_by_name(name)
    specs = source_set.gold_classifiers or selectors.known_specs()
    form = GoldForm(request.POST or None, initial={"classifiers": "\n".join(specs)})
    if request.method == "POST" and form.is_valid():
        by = request.user if isinstance(request.user, User) else None
        try:
            services.select_gold(source_set=source_set, specs=form.cleaned_data["classifiers"], by=by)
        except InvalidRequest as error:
            form.add_error("classifiers", error.message)
        else:
            return redirect("stimuli:source_set", name=name)
    context = {"source_set": source_set, "form": form}
    return render(request, "evaluations/select_gold.html", context, status=422 if form.is_bound else 200)
