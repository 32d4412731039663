from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from humanexp.evaluations import selectors


@login_required
def classifiers(request: HttpRequest) -> HttpResponse:
    return render(request, "evaluations/classifiers.html", {"runs": selectors.all_runs()})
