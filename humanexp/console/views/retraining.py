from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from analysis.errors import AnalysisError, OriginalsOverlap
from humanexp.console import retraining
from humanexp.console.retraining_form import RetrainingForm
from humanexp.console.views.studies import user_of
from humanexp.core.errors import ApplicationError


@login_required
@require_http_methods(["GET", "POST"])
def retrain(request: HttpRequest) -> HttpResponse:
    """Have a network trained further on stimuli; what cannot end well is refused before anything is written."""
    user = user_of(request)
    form = RetrainingForm(request.POST or None, user=user, spec=request.GET.get("spec", ""))
    if request.method == "POST" and form.is_valid():
        try:
            row, _job = retraining.retrain_onto_shelf(**form.asked, by=user)
        except ApplicationError as error:
            form.add_error(next((name for name in error.fields if name in form.fields), None), error.message)
        except OriginalsOverlap as error:
            form.add_error("evaluation_set", str(error))
        except AnalysisError as error:
            form.add_error(None, str(error))
        else:
            return redirect("evaluations:retraining", pk=row.pk)
    return render(request, "evaluations/retrain.html", {"form": form}, status=422 if form.is_bound else 200)
