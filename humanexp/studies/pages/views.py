"""A study being made, with its form and its file, and the pages that show what it asks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from analysis.design.plan import SessionPlan
from analysis.errors import AnalysisError, InvalidInput
from analysis.study.study import StudyConfiguration
from analysis.study.toml import in_file, read_toml, to_toml
from humanexp.core.errors import ApplicationError, InputRefused, existing
from humanexp.core.pages.rendering import attached
from humanexp.core.selectors import user_of
from humanexp.jobs.selectors import partial_context
from humanexp.stimuli.models import Stimulus, StimulusSet
from humanexp.studies import plans, selectors
from humanexp.studies.models import Origin, Study
from humanexp.studies.pages.design import DesignPage, Strip, design_page, page_of, strip_of
from humanexp.studies.pages.forms import PowerForm, StudyFileForm, StudyForm, field_of, stated, to_fields, to_values
from humanexp.studies.pages.power import power_page
from humanexp.studies.plans import make_plan, rule_set_of
from humanexp.studies.power import planned_answers, request_power, telling_apart
from humanexp.studies.presets import PRESETS, preset, values_of
from humanexp.studies.selectors import estimate_by_pk, estimates_of, power_job
from humanexp.studies.services import check_free, create_study, new_version, revise_study, stimulus_set_for
from humanexp.studies.two_ways import two_ways

#: Plans of more trials take seconds: they are drawn when somebody asks, not while a number is typed.
AT_ONCE = 12_000
SAMPLES = 8


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What the study will contain, for people to look at."""

    page: DesignPage
    strip: Strip
    #: some of the pictures that the first session measures, from lightly to heavily changed
    samples: list[Stimulus]


@dataclass(frozen=True)
class Refusal:
    """Why a draft is no study yet."""

    message: str
    #: of the setting in the study file: ``design.sessions``; empty where the whole does not fit together
    place: str = ""
    #: the field of the form; `more` for settings without one, empty for the whole
    field: str = ""

    @property
    def is_group(self) -> bool:
        """Whether the field has a box or a button for each choice, of which the first is linked to."""
        return self.field in ("task", "population", "person_families")

    @property
    def rest(self) -> str:
        """What follows the name of the setting, which pages show as a link."""
        return self.message.removeprefix(self.place) if self.message.startswith(self.place) else f": {self.message}"


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What the form makes: a file, and either a configuration or the reasons why it is none yet."""

    toml: str
    configuration: StudyConfiguration | None = None
    refusals: tuple[Refusal, ...] = ()
    plan: Plan | None = None
    #: the plan is large: it is drawn on request
    is_large: bool = False


def draft_of(given: Mapping[str, Any], *, draws_large: bool = False, keeps: Study | None = None) -> Draft:
    """What the fields of the form make. Nothing is written, whatever they hold.

    `keeps` is the study that is changed, if one is: its name is taken by itself, and its rules stay known.
    """
    try:
        values = to_values(given)
    except InputRefused as error:
        return Draft(toml="", refusals=(Refusal(error.message, field="more"),))
    toml = to_toml(values)
    try:
        configuration = StudyConfiguration.from_file_values(values)
        if keeps is None or configuration.slug != keeps.slug:
            check_free(configuration)
        return _planned(configuration, toml, draws_large, keeps)
    except (ApplicationError, AnalysisError) as error:
        return Draft(toml=toml, refusals=refusals_of(error))


def refusals_of(error: ApplicationError | AnalysisError) -> tuple[Refusal, ...]:
    """A refusal for each setting that is at fault, or one for the whole."""
    if not error.fields:
        return (Refusal(str(error)),)
    return tuple(Refusal(sentence, place, field_of(place)) for place, sentence in error.fields.items())


def _planned(configuration: StudyConfiguration, toml: str, draws_large: bool, keeps: Study | None) -> Draft:
    stimulus_set = stimulus_set_for(configuration)
    rules = rule_set_of(configuration, keeps=keeps)
    if configuration.design.sessions * _trials(configuration) > AT_ONCE and not draws_large:
        return Draft(toml=toml, configuration=configuration, is_large=True)
    plan = make_plan(configuration=configuration, stimulus_set=stimulus_set, rules=rules)
    page = page_of(
        configuration=configuration,
        summary=plan.summary,
        notes=plan.notes,
        rules=rules,
        space=stimulus_set.source_set.space,
    )
    first = plan.sessions[0]
    drawn = Plan(page=page, strip=strip_of(first), samples=_samples(first, stimulus_set))
    return Draft(toml=toml, configuration=configuration, plan=drawn)


def _samples(session: SessionPlan, stimulus_set: StimulusSet) -> list[Stimulus]:
    keys = [trial.stimulus for trial in session.trials if trial.role == "main" and trial.kind == "main"]
    shown = stimulus_set.stimuli.filter(key__in=keys).select_related("source_image").order_by("visual_change")
    found = list(shown)
    step = max(1, len(found) // SAMPLES)
    return found[step // 2 :: step][:SAMPLES]


def _trials(configuration: StudyConfiguration) -> int:
    design = configuration.design
    if design.validation is not None:
        return design.validation.screens
    return design.main_trials + (design.discrimination.trials if design.discrimination else 0)


def values_of_file(text: str) -> dict[str, Any]:
    """A pasted or uploaded study file as values, checked as far as the form needs it.

    Raises InputRefused naming the line.
    """
    try:
        values = read_toml(text, source="This")
        for name in ("design", "ethics", "recruitment", "analysis", "judging", "wanted"):
            if name in values and not isinstance(values[name], dict):
                sentence = f"[{name}] must be a table."
                raise InvalidInput(sentence, fields={name: sentence})
    except InvalidInput as error:
        raise InputRefused(in_file(error, text)) from error
    return values


@login_required
def design(request: HttpRequest, slug: str) -> HttpResponse:
    """What is asked of whom: pools, trials, answers planned, protocol."""
    study = selectors.study_for(request.user, slug)
    configuration = selectors.configuration_of(study)
    context = {
        "study": study,
        "page": design_page(study, configuration),
        "strip": strip_of(plans.session_plan(study, 0)[1]),
        "simulates": planned_answers(study) is not None,
        "compares": configuration.design.discrimination is not None,
        "power": power_page(estimates_of(study).first()),
    }
    return render(request, "studies/design.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def power(request: HttpRequest, slug: str) -> HttpResponse:
    """What the design could show, simulated before anybody is invited."""
    study = selectors.study_for(request.user, slug)
    planned = planned_answers(study)
    form = PowerForm(request.POST or None, planned=planned) if planned else None
    if request.method == "POST" and form is not None and form.is_valid():
        try:
            request_power(study=study, question=form.question, by=user_of(request))
        except (ApplicationError, AnalysisError) as error:
            form.add_error(None, str(error))
        else:
            return redirect("studies:power", slug=slug)
    job = power_job(study)
    context = {
        "study": study,
        "planned": planned,
        "apart": telling_apart(study),
        "ways": two_ways(study),
        "form": form,
        "power": power_page(estimate_by_pk(study, request.GET.get("estimate", ""))),
        "estimates": estimates_of(study),
        **partial_context(job if job and job.state != "done" else None),
    }
    return render(request, "studies/power.html", context, status=422 if form is not None and form.is_bound else 200)


@login_required
def study_file(request: HttpRequest, slug: str) -> HttpResponse:
    """The study as study.toml."""
    study = selectors.study_for(request.user, slug)
    content = selectors.configuration_of(study).to_toml()
    return attached(content, "application/toml; charset=utf-8", f"{study.slug}.toml")


@login_required
@require_http_methods(["GET", "POST"])
def new_study(request: HttpRequest) -> HttpResponse:
    """Make a study with the form, or from a study file; `read` fills the form with the file instead."""
    if request.method == "GET":
        return _page(request, _begun(request.GET.get("start", "")))
    if "text" in request.POST or "file" in request.FILES:
        return _from_file(request)
    form = StudyForm(request.POST, sets=selectors.stimulus_sets())
    if not form.is_valid():
        return _page(request, form, status=422)
    draft = draft_of(form.cleaned_data, draws_large=True)
    if draft.configuration is not None:
        try:
            study = create_study(configuration=draft.configuration, by=user_of(request))
        except (ApplicationError, AnalysisError) as error:
            _add(refusals_of(error), form)
        else:
            return redirect("studies:design", slug=study.slug)
    _add(draft.refusals, form)
    return _page(request, form, draft=draft, status=422)


@login_required
@require_POST
def draft(request: HttpRequest) -> HttpResponse:
    """What the form makes as it stands: the file, what is wrong, and the plan as pictures. Nothing is written."""
    form = StudyForm(request.POST, sets=selectors.stimulus_sets())
    made = Draft(toml="")
    if form.is_valid():
        keeps = selectors.visible_to(request.user).filter(slug=request.GET.get("keeps", "")).first()
        made = draft_of(form.cleaned_data, draws_large="draw" in request.POST, keeps=keeps)
    return render(request, "studies/_draft.html", {"form": form, "draft": made})


@login_required
@require_http_methods(["GET", "POST"])
def change_study(request: HttpRequest, slug: str) -> HttpResponse:
    """Change a study that nobody has taken part in yet; of any other, make the next version."""
    found = selectors.visible_to(request.user).filter(slug=slug, origin=Origin.COLLECTED).first()
    study = existing(found, f"There is no study {slug!r} that could be changed.")
    if request.method == "GET":
        fields = to_fields(stated(selectors.configuration_of(study)))
        return _page(request, StudyForm(initial=fields, sets=selectors.stimulus_sets()), study=study)
    form = StudyForm(request.POST, sets=selectors.stimulus_sets())
    if not form.is_valid():
        return _page(request, form, study=study, status=422)
    # The name and the family stay: they stand in addresses, and keep people from seeing a picture twice.
    draft = draft_of({**form.cleaned_data, "slug": slug, "family": study.family.slug}, draws_large=True, keeps=study)
    if draft.configuration is not None:
        change = revise_study if study.is_revisable else new_version
        try:
            changed = change(study=study, configuration=draft.configuration, by=user_of(request))
        except (ApplicationError, AnalysisError) as error:
            _add(refusals_of(error), form)
        else:
            return redirect("studies:design", slug=changed.slug)
    _add(draft.refusals, form)
    return _page(request, form, draft=draft, study=study, status=422)


#: What the form begins with where a preset or a file says nothing.
USUAL = {"population": "people", "language": "en"}


def _begun(start: str) -> StudyForm:
    """The form of a preset, with the newest stimulus set."""
    sets = selectors.stimulus_sets()
    values = values_of(preset(start), stimuli=sets[0].name if sets else "")
    return StudyForm(initial={**USUAL, **to_fields(values)}, sets=sets)


def _from_file(request: HttpRequest) -> HttpResponse:
    file_form = StudyFileForm(request.POST, request.FILES)
    if not file_form.is_valid():
        return _page(request, _begun(""), file_form=file_form, status=422)
    text = file_form.cleaned_data["text"]
    try:
        if "read" in request.POST:
            fields = {**USUAL, **to_fields(values_of_file(text))}
            form = StudyForm(initial=fields, sets=selectors.stimulus_sets())
            return _page(request, form, file_form=StudyFileForm())
        configuration = StudyConfiguration.from_file_values(values_of_file(text))
        study = create_study(configuration=configuration, by=user_of(request))
    except (ApplicationError, AnalysisError) as error:
        file_form.add_error("text", in_file(error, text))
        return _page(request, _begun(""), file_form=file_form, status=422)
    return redirect("studies:design", slug=study.slug)


def _add(refusals: Iterable[Refusal], form: StudyForm) -> None:
    for refusal in refusals:
        form.add_error(refusal.field or None, refusal.message)


def _page(
    request: HttpRequest,
    form: StudyForm,
    *,
    file_form: StudyFileForm | None = None,
    draft: Draft | None = None,
    study: Study | None = None,
    status: int = 200,
) -> HttpResponse:
    sets = selectors.stimulus_sets()
    if draft is None and sets and not form.is_bound:
        draft = draft_of(form.initial, keeps=study)
    context: dict[str, Any] = {
        "form": form,
        "file_form": file_form or StudyFileForm(),
        "draft": draft or Draft(toml=""),
        "presets": PRESETS,
        "sets": sets,
        "study": study,
        "start": request.GET.get("start", PRESETS[0].key),
    }
    return render(request, "studies/new_study.html", context, status=status)
