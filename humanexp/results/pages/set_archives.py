"""Pages of published sets: a study is taken away as one, and one of somebody else's is brought."""

from __future__ import annotations

from django import forms
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from analysis.errors import AnalysisError
from analysis.sets.set_file import SetFile
from humanexp.core.errors import ApplicationError
from humanexp.core.middleware import takes_uploads
from humanexp.core.selectors import user_of
from humanexp.jobs.selectors import partial_context
from humanexp.results import set_archives
from humanexp.results.set_publication import Terms, cautions
from humanexp.studies.selectors import study_for


class TermsForm(forms.Form):
    """What the author says of the set."""

    licence = forms.CharField(
        label="Licence", max_length=200, required=False, help_text="Empty: that of the originals."
    )
    use = forms.ChoiceField(
        label="What others may do with it",
        required=False,
        choices=[
            ("", "as the originals"),
            ("any", "anything that the licence allows"),
            ("test-only", "test models, not train them"),
            ("no-redistribution", "use it, not pass it on"),
        ],
    )
    citation = forms.CharField(label="How it is cited", max_length=500, required=False)
    version = forms.CharField(
        label="Version", max_length=40, initial="1", help_text="Another one for every change of answers or pictures."
    )

    @property
    def terms(self) -> Terms:
        return Terms(**{**self.cleaned_data, "use": self.cleaned_data["use"] or None})


class ArchiveForm(forms.Form):
    archive = forms.FileField(
        label="Zip archive of the set",
        widget=forms.FileInput(attrs={"accept": ".zip,application/zip", "data-drop": ""}),
        help_text="The folder with set.toml, its pictures and its trials.",
    )


@login_required
@require_http_methods(["GET", "POST"])
def publish(request: HttpRequest, slug: str) -> HttpResponseBase:
    """A study as a set, on which others score models: what is said of it, and the archive."""
    study = study_for(request.user, slug)
    form = TermsForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            archive, made = set_archives.packed_set(study=study, terms=form.terms, by=user_of(request))
        except (ApplicationError, AnalysisError) as error:
            form.add_error(None, str(error))
        else:
            return FileResponse(archive, as_attachment=True, filename=f"{_name(made.file)}.zip")
    context = {"study": study, "form": form, "cautions": cautions(study)}
    return render(request, "results/publish.html", context, status=422 if form.is_bound else 200)


def _name(file: SetFile) -> str:
    return f"{file.name}-{file.version}"


@takes_uploads
@login_required
@require_http_methods(["GET", "POST"])
def new_set(request: HttpRequest) -> HttpResponse:
    """Bring a published set, and see how far its import is."""
    user = user_of(request)
    form = ArchiveForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        try:
            set_archives.request_set_import(archive=form.cleaned_data["archive"], by=user)
        except ApplicationError as error:
            form.add_error("archive", error.message)
        else:
            return redirect("results:new_set")
    context = {
        "form": form,
        "most_mb": settings.PICTURES_UPLOAD_MAX_MB,
        **partial_context(set_archives.import_of(user)),
    }
    return render(request, "results/new_set.html", context, status=422 if form.is_bound else 200)
