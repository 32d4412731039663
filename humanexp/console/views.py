from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from humanexp.experiments.models import Study


@login_required
def studies(request: HttpRequest) -> HttpResponse:
    """Every study, what it waits for, and what to do next."""
    return render(request, "console/studies.html", {"studies": Study.objects.all()})


@login_required
def overview(request: HttpRequest, slug: str) -> HttpResponse:
    """What is going on in a study, and what waits for its researcher."""
    return render(request, "console/overview.html", {"study": get_object_or_404(Study, slug=slug)})
