from __future__ import annotations

from typing import Any

from csp.constants import SELF
from csp.decorators import csp_replace
from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import translation
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_GET, require_http_methods

from humanexp.console.overview import listed_studies, overview_of, way_of
from humanexp.console.pages.audit_log import COLUMNS, chosen, record_page, record_rows
from humanexp.console.pages.gallery import WIDTHS, chosen_language, page_of, pages_of
from humanexp.console.preflight.check import latest_job, request_preflight, standing_of
from humanexp.core.errors import ApplicationError, InvalidRequest, NotAllowed, StudyRefused
from humanexp.core.languages import language_of, languages
from humanexp.core.models import record
from humanexp.core.pages.rendering import csv_file, render_part
from humanexp.core.selectors import user_of
from humanexp.entry.pages import preview_entry
from humanexp.jobs.selectors import partial_context
from humanexp.ledger.terms import suggested_terms
from humanexp.participation import previews
from humanexp.participation.previews import HURRY
from humanexp.recruiters import registry
from humanexp.recruiters.campaigns import consent_of
from humanexp.recruiters.models import Campaign
from humanexp.recruiting import approvals
from humanexp.studies.facts import StudyFacts, language_of_study, tasks_of
from humanexp.studies.models import MEANING, Origin, Role, Study
from humanexp.studies.permissions import change_role, invite, members_of, remove
from humanexp.studies.selectors import study_for


class PreviewForm(forms.Form):
    """How a researcher wants to take a study."""

    pace = forms.ChoiceField(
        label="How",
        choices=[("true", "As participants do, with the true timing"), ("hurried", "Speed through it")],
        initial="true",
        widget=forms.RadioSelect,
        help_text=(
            f"In fast mode, every phase and pause is {HURRY} times shorter and the page answers by itself, so that "
            "every screen passes by in a minute or two. Rounds can be skipped either way."
        ),
    )
    session = forms.IntegerField(min_value=1, initial=1)

    def __init__(self, *args: Any, sessions: int, **arguments: Any) -> None:
        super().__init__(*args, **arguments)
        field = self.fields["session"]
        if isinstance(field, forms.IntegerField):
            field.max_value = sessions
            field.label = f"Which of the {sessions:,} planned sessions"
            field.widget.attrs["max"] = sessions

    @property
    def choices(self) -> dict[str, Any]:
        """As the service takes them."""
        return {"slot": self.cleaned_data["session"] - 1, "is_hurried": self.cleaned_data["pace"] == "hurried"}


class InviteForm(forms.Form):
    """A person with an account, and what they may do."""

    username = forms.CharField(
        label="Name of the account",
        max_length=150,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
        help_text="An administrator makes an account on the server: python manage.py user add NAME",
    )
    role = forms.ChoiceField(label="Role", choices=Role.choices, widget=forms.RadioSelect)


@login_required
def studies(request: HttpRequest) -> HttpResponse:
    """Every study, what it waits for, and what to do next."""
    return render(
        request,
        "console/studies.html",
        {
            "studies": listed_studies(request.user),
            "way": way_of(request.user),
        },
    )


@login_required
def overview(request: HttpRequest, slug: str) -> HttpResponse:
    """What is going on in a study, and what waits for its researcher."""
    study = study_for(request.user, slug)
    found = overview_of(study)
    return render_part(request, "console/overview.html", {"study": study, "overview": found})


def collected_study(request: HttpRequest, slug: str) -> Study:
    study = study_for(request.user, slug)
    if study.origin != Origin.COLLECTED:
        raise StudyRefused("The trials of this study were imported: there is nothing to take.")
    return study


@login_required
@require_http_methods(["GET", "POST"])
def preview(request: HttpRequest, slug: str) -> HttpResponse:
    """What participants agree to, and the way to take the study oneself."""
    study = collected_study(request, slug)
    form = PreviewForm(request.POST or None, sessions=study.planned_sessions)
    if request.method == "POST" and form.is_valid():
        opened = previews.open_preview(study=study, by=user_of(request), **form.choices)
        code = previews.issue_preview_handoff(preview=opened)
        return redirect(f"{reverse('console:run-preview', args=[slug])}#{code}")
    facts = StudyFacts(tasks=tasks_of(study.configuration), contact=suggested_terms(study).contact)
    context = {
        "study": study,
        "form": form,
        "consent": consent_of(study, language_of_study(study), facts),
    }
    return render(request, "console/preview.html", context, status=422 if form.is_bound else 200)


@login_required
@require_GET
def run_preview(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The page that participants work on, with a banner; without a preview, back to where one is begun.

    `page` asks for a single one of the study's pages, with examples and without a banner.
    """
    study = collected_study(request, slug)
    if key := request.GET.get("page"):
        to, language = _recruiter(request, study), chosen_language(request, study)

        @xframe_options_sameorigin
        @csp_replace({"frame-ancestors": [SELF]})
        def framed(request: HttpRequest) -> HttpResponse:
            return page_of(request, study, key, to=to, language=language)

        return framed(request)
    opened = previews.preview_of(study=study, by=user_of(request))
    if opened is None:
        return redirect("console:preview", slug=slug)
    config = {
        "api": reverse("participation:preview-session").removesuffix("session/"),
        "hurry": opened.hurry,
        "stated": previews.stated_times(study),
        "end": reverse("console:preview", args=[slug]),
    }
    with translation.override(language_of(request, study=language_of_study(study))):
        facts = StudyFacts(tasks=tasks_of(study.configuration), contact=suggested_terms(study).contact)
        return render(
            request, "participation/run/preview.html", {"run_config": config, "hurry": opened.hurry, "facts": facts}
        )


@login_required
@require_GET
def gallery(request: HttpRequest, slug: str) -> HttpResponse:
    """Every page that participants meet, in a language and at one width, to be read and printed."""
    study = collected_study(request, slug)
    to, language = _recruiter(request, study), chosen_language(request, study)
    context = {
        "study": study,
        "pages": pages_of(request, study, to=to, language=language),
        "widths": WIDTHS,
        "width": next((width for width in WIDTHS if request.GET.get("size") == str(width)), WIDTHS[0]),
        "language": language,
        "languages": list(languages().items()),
        "to": to,
        "environments": registry.accounts(),
    }
    return render(request, "console/gallery/gallery.html", context)


def _recruiter(request: HttpRequest, study: Study) -> str:
    """The one that was asked for, or the usual one of the study."""
    asked = request.GET.get("to", "")
    return asked if registry.is_known(asked) else _usual(study.pk)


@login_required
@require_http_methods(["GET", "POST"])
def preflight(request: HttpRequest, slug: str) -> HttpResponse:
    """Everything that a launch depends on, tried out before anybody is invited; the checks run as a job."""
    study = collected_study(request, slug)
    given = request.POST if request.method == "POST" else request.GET
    to = given.get("to", "")
    if not registry.is_known(to):
        to = _usual(study.pk)
    if request.method == "POST":
        request_preflight(study=study, to=to, by=user_of(request))
        return redirect(f"{reverse('console:preflight', args=[slug])}?to={to}")
    job = latest_job(study)
    is_shown = job is not None and (not job.is_finished or job.state == "failed") and job.parameters.get("to") == to
    context = {
        "study": study,
        "to": registry.account_of(to),
        "environments": registry.accounts(),
        "standing": standing_of(study, to),
        "is_asked": approvals.is_asked(study, to),
        "entry": reverse("recruitment:take", args=[preview_entry(study=study, to=to)]),
        **partial_context(job if is_shown else None),
    }
    return render_part(request, "console/preflight.html", context)


def _usual(study_pk: int) -> str:
    """Where the study was last launched, else where a launch begins."""
    last = Campaign.objects.filter(study_id=study_pk).order_by("-pk").values_list("environment", flat=True).first()
    return last or registry.preferred()


@login_required
@require_http_methods(["GET", "POST"])
def members(request: HttpRequest, slug: str) -> HttpResponse:
    """Who takes part in making the study, and the form that invites."""
    study = study_for(request.user, slug)
    found = members_of(study)
    form = InviteForm(request.POST or None, initial={"role": Role.RESEARCHER if found else Role.OWNER})
    if request.method == "POST" and form.is_valid():
        try:
            member = invite(study=study, by=user_of(request), **form.cleaned_data)
        except InvalidRequest as error:
            for name in error.fields:
                form.add_error(name, error.message)
        else:
            messages.success(request, f"{member.user} takes part now.")
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
    study = study_for(request.user, slug)
    found = get_object_or_404(study.memberships.select_related("user"), pk=pk)
    if request.method == "GET":
        roles = [(role, MEANING[role]) for role in Role]
        return render(request, "console/member.html", {"study": study, "member": found, "roles": roles})
    try:
        if request.POST.get("act") == "remove":
            remove(member=found, by=user_of(request))
            messages.success(request, f"{found.user} is no longer a member.")
        else:
            changed = change_role(member=found, role=request.POST.get("role", ""), by=user_of(request))
            role = changed.get_role_display()
            messages.success(request, f"{found.user} is now {role}.")
    except ApplicationError as error:
        messages.error(request, error.message)
    # Who has taken the right from themselves is led to where they may still be.
    is_gone = not study.memberships.filter(user=user_of(request)).exists() and not user_of(request).is_staff
    return redirect("console:studies") if is_gone else redirect("console:members", slug=slug)


@login_required
@require_GET
def audit(request: HttpRequest, slug: str = "") -> HttpResponse:
    """Who did what in the study, the newest first; without one, in every study and beside them."""
    study, given = _study(request, slug), request.GET
    found = record_page(
        study, person=given.get("person", ""), kind=given.get("kind", ""), number=given.get("page", "1")
    )
    page, args = ("audit", [slug]) if study else ("house-audit", [])
    links = {"here": reverse(f"console:{page}", args=args), "csv": reverse(f"console:{page}-csv", args=args)}
    return render_part(request, "console/audit.html", {"study": study, "record": found, "links": links})


@login_required
@require_GET
def audit_csv(request: HttpRequest, slug: str = "") -> StreamingHttpResponse:
    """The same lines as a file; the table of addresses enters the download of a study's in the record."""
    study = _study(request, slug)
    if study is None:
        record(action="export", subject="record.csv", by=user_of(request))
    lines = chosen(study, person=request.GET.get("person", ""), kind=request.GET.get("kind", ""))
    return csv_file(f"{slug or 'house'}-record.csv", COLUMNS, record_rows(lines))


def _study(request: HttpRequest, slug: str) -> Study | None:
    """None: the whole house, for administrators."""
    if slug:
        return study_for(request.user, slug)
    if not user_of(request).is_staff:
        raise NotAllowed(
            "Only administrators can see the record of the whole installation. Each study has its own record."
        )
    return None
