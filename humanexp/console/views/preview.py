from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import translation
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from humanexp.console.forms import PreviewForm
from humanexp.console.views.studies import collected_study, user_of
from humanexp.core.languages import language_of
from humanexp.experiments.facts import StudyFacts, tasks_of
from humanexp.experiments.services import previewing
from humanexp.recruitment.consent import consent_of
from humanexp.recruitment.facts import language_of_study


@login_required
@require_http_methods(["GET", "POST"])
def preview(request: HttpRequest, slug: str) -> HttpResponse:
    """What participants agree to, and the way to take the study oneself."""
    study = collected_study(request, slug)
    form = PreviewForm(request.POST or None, sessions=study.planned_sessions)
    if request.method == "POST" and form.is_valid():
        opened = previewing.open_preview(study=study, by=user_of(request), **form.choices)
        code = previewing.issue_preview_handoff(preview=opened)
        return redirect(f"{reverse('console:run-preview', args=[slug])}#{code}")
    context = {
        "study": study,
        "form": form,
        "facts": StudyFacts(tasks=tasks_of(study.configuration)),
        "consent": consent_of(study, language_of_study(study)),
        "hurry": previewing.HURRY,
    }
    return render(request, "console/preview.html", context, status=422 if form.is_bound else 200)


@login_required
@require_GET
@never_cache
def run_preview(request: HttpRequest, slug: str) -> HttpResponse:
    """The page that participants work on, with a banner; without a preview, back to where one is begun."""
    study = collected_study(request, slug)
    opened = previewing.preview_of(study=study, by=user_of(request))
    if opened is None:
        return redirect("console:preview", slug=slug)
    config = {
        "api": reverse("experiments:preview-session").removesuffix("session/"),
        "hurry": opened.hurry,
        "end": reverse("console:preview", args=[slug]),
    }
    with translation.override(language_of(request, study=language_of_study(study))):
        facts = StudyFacts(tasks=tasks_of(study.configuration))
        return render(request, "run/preview.html", {"run_config": config, "hurry": opened.hurry, "facts": facts})
