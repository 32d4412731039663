"""Which role a page asks for, in tables that cover every address, and which pages ask for a second factor.

An address that is not in the tables is refused to everyone: a new page says here whom it is for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.views import redirect_to_login
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from humanexp.core import ownership, second_factors
from humanexp.core.errors import ApplicationError, NotAllowed, NotFound
from humanexp.core.middleware import Middleware, error_page
from humanexp.core.models import Owned, User, record
from humanexp.core.ownership import Right, keeps_money
from humanexp.counterfactuals.models import SearchRun
from humanexp.evaluations.models import EvaluationRun, Retraining
from humanexp.jobs.models import Job
from humanexp.participation.models import Session
from humanexp.stimuli.models import SourceSet, StimulusSet
from humanexp.stimuli.selectors.labels import own_labels
from humanexp.studies.models import MAY, Action, Study
from humanexp.studies.permissions import role_of, studies_with

#: What reading a page takes, and what sending its form takes.
ACCESS: Mapping[str, tuple[Action, Action]] = {
    "console:overview": (Action.SEE, Action.SEE),
    "console:preview": (Action.TRY, Action.TRY),
    "console:run-preview": (Action.TRY, Action.TRY),
    "console:gallery": (Action.TRY, Action.TRY),
    "console:preflight": (Action.SEE, Action.CHECK),
    "console:members": (Action.SEE, Action.MEMBERS),
    "console:member": (Action.MEMBERS, Action.MEMBERS),
    "console:figures": (Action.SEE, Action.SEE),
    "console:figure": (Action.SEE, Action.SEE),
    "console:audit": (Action.AUDIT, Action.AUDIT),
    "console:audit-csv": (Action.AUDIT, Action.AUDIT),
    "studies:design": (Action.SEE, Action.DESIGN),
    "studies:change": (Action.DESIGN, Action.DESIGN),
    "studies:power": (Action.SEE, Action.DESIGN),
    "studies:study-file": (Action.SEE, Action.SEE),
    "participation:live": (Action.SEE, Action.SEE),
    "participation:count-again": (Action.SEE, Action.SEE),
    "participation:withdrawn": (Action.EVIDENCE, Action.REVIEW),
    "recruitment:recruit": (Action.SEE, Action.LAUNCH),
    "recruitment:price": (Action.SEE, Action.SEE),
    "recruitment:sheet": (Action.EVIDENCE, Action.EVIDENCE),
    "recruitment:finished": (Action.PAY, Action.PAY),
    "recruitment:finished-csv": (Action.PAY, Action.PAY),
    "recruitment:stop": (Action.SEE, Action.STOP),
    "recruitment:monitor": (Action.SEE, Action.SEE),
    "recruitment:money": (Action.PAY, Action.PAY),
    "recruitment:money-csv": (Action.PAY, Action.PAY),
    "recruitment:ledger": (Action.EVIDENCE, Action.EVIDENCE),
    "recruitment:difference": (Action.EVIDENCE, Action.PAY),
    "recruitment:parked": (Action.EVIDENCE, Action.PAY),
    "recruitment:settle": (Action.SEE, Action.PAY),
    "recruitment:bonuses": (Action.PAY, Action.PAY),
    "recruitment:sync": (Action.SEE, Action.EVIDENCE),
    "recruitment:try-again": (Action.PAY, Action.PAY),
    "recruitment:assignment": (Action.EVIDENCE, Action.EVIDENCE),
    "recruitment:person": (Action.EVIDENCE, Action.MEMBERS),
    "recruitment:person-json": (Action.EXPORT, Action.EXPORT),
    "recruitment:find-person": (Action.REVIEW, Action.REVIEW),
    "recruitment:let-in": (Action.REVIEW, Action.REVIEW),
    "recruitment:extend": (Action.LAUNCH, Action.LAUNCH),
    "recruitment:change": (Action.LAUNCH, Action.LAUNCH),
    "recruitment:pause": (Action.LAUNCH, Action.LAUNCH),
    "recruitment:reopen": (Action.LAUNCH, Action.LAUNCH),
    "recruitment:limits": (Action.LAUNCH, Action.LAUNCH),
    "recruitment:approval": (Action.LAUNCH, Action.LAUNCH),
    "recruitment:rejections": (Action.MEMBERS, Action.MEMBERS),
    "recruitment:compensate": (Action.PAY, Action.PAY),
    "recruitment:notify": (Action.LAUNCH, Action.LAUNCH),
    "recruitment:exclusions": (Action.EVIDENCE, Action.EVIDENCE),
    "recruitment:exclusion": (Action.LAUNCH, Action.LAUNCH),
    "recruitment:top-up": (Action.PAY, Action.PAY),
    "recruitment:top-up-campaign": (Action.PAY, Action.PAY),
    "recruitment:resolve": (Action.PAY, Action.PAY),
    "recruitment:ledger-csv": (Action.EVIDENCE, Action.EVIDENCE),
    "recruitment:codes": (Action.EVIDENCE, Action.EVIDENCE),
    "recruitment:answers": (Action.SEE, Action.SEE),
    # One form pays, excludes, rejects and overrides: each of its services asks by itself.
    "recruitment:agreed": (Action.EVIDENCE, Action.EVIDENCE),
    "recruitment:decide": (Action.EVIDENCE, Action.EVIDENCE),
    "screening:golds": (Action.EVIDENCE, Action.REVIEW),
    "screening:review": (Action.SEE, Action.SEE),
    "screening:comments": (Action.EVIDENCE, Action.REVIEW),
    "screening:judge": (Action.REVIEW, Action.REVIEW),
    "screening:session": (Action.EVIDENCE, Action.REVIEW),
    "screening:return-to-rules": (Action.REVIEW, Action.REVIEW),
    "screening:timing": (Action.SEE, Action.SEE),
    "screening:timing-certificate": (Action.SEE, Action.SEE),
    "results:dashboard": (Action.SEE, Action.SEE),
    "results:analyse": (Action.ANALYSE, Action.ANALYSE),
    "results:room": (Action.SEE, Action.SEE),
    "results:panel": (Action.SEE, Action.SEE),
    "results:card": (Action.SEE, Action.SEE),
    "results:methods": (Action.SEE, Action.SEE),
    "results:freeze": (Action.ANALYSE, Action.ANALYSE),
    "results:publish": (Action.EXPORT, Action.EXPORT),
    "results:write_report": (Action.ANALYSE, Action.ANALYSE),
    "results:report_file": (Action.SEE, Action.SEE),
    "results:table": (Action.SEE, Action.SEE),
    "results:table_file": (Action.SEE, Action.SEE),
    "results:sheet_file": (Action.SEE, Action.SEE),
    "results:figure_json": (Action.SEE, Action.SEE),
    "results:figure_file": (Action.SEE, Action.SEE),
    "results:findings": (Action.EXPORT, Action.EXPORT),
    "results:responses": (Action.EXPORT, Action.EXPORT),
}


@dataclass(frozen=True, kw_only=True)
class Material:
    """A row outside every study, as addresses name it. Reading takes its laboratory's right, sending `to_send`."""

    #: the part of the address that names the row
    part: str
    find: Callable[[Any], Owned | None]
    to_send: Right = Right.CHANGE


_SEARCHES = SearchRun.objects
MATERIALS: Mapping[str, Material] = {
    "source_set": Material(part="name", find=lambda name: SourceSet.objects.filter(name=name).first()),
    "stimulus_set": Material(part="name", find=lambda name: StimulusSet.objects.filter(name=name).first()),
    # those that the product ships are everybody's
    "labels": Material(part="name", find=own_labels),
    "original": Material(part="pk", find=lambda pk: SourceSet.objects.filter(images=pk).first()),
    "stimulus": Material(part="pk", find=lambda pk: StimulusSet.objects.filter(stimuli=pk).first()),
    "evaluation": Material(part="pk", find=lambda pk: EvaluationRun.objects.filter(pk=pk).first()),
    "retraining": Material(part="pk", find=lambda pk: Retraining.objects.filter(pk=pk).first()),
    "search": Material(part="name", find=lambda name: _SEARCHES.filter(name=name).first()),
    "counterfactual": Material(part="pk", find=lambda pk: _SEARCHES.filter(counterfactuals=pk).first()),
    # who may launch the study of a round goes on with it: the service asks
    "round": Material(part="name", find=lambda name: _SEARCHES.filter(name=name).first(), to_send=Right.READ),
}
#: Addresses of each; under "" those of no row yet, for which the service asks.
_MATERIAL_PAGES: Mapping[str, str] = {
    "": """
        stimuli:stimulus_sets stimuli:new stimuli:estimate stimuli:example
        stimuli:new_source stimuli:labels stimuli:new_labels evaluations:classifiers
        evaluations:new evaluations:upload evaluations:take evaluations:upload_model counterfactuals:leaderboard
        counterfactuals:new counterfactuals:across counterfactuals:group counterfactuals:transfer
        counterfactuals:group-file
    """,
    "source_set": """
        stimuli:source_set stimuli:describe_source stimuli:freeze_source stimuli:delete_source
        evaluations:select_gold
    """,
    "labels": "stimuli:label_space stimuli:labels_file stimuli:delete_labels",
    "stimulus_set": """
        stimuli:stimulus_set stimuli:generate stimuli:manifest stimuli:coverage_json stimuli:coverage_file
        stimuli:delete stimuli:browse stimuli:stimulus
        console:set-figures console:set-figure
    """,
    "original": "stimuli:original",
    "stimulus": "stimuli:picture stimuli:small",
    "evaluation": "evaluations:run evaluations:kind evaluations:delete",
    "retraining": """
        evaluations:retraining evaluations:learning_curve console:retraining-figures console:retraining-figure
    """,
    "search": """
        counterfactuals:search counterfactuals:freeze counterfactuals:stimuli counterfactuals:export
        console:search-figures console:search-figure
    """,
    "counterfactual": "counterfactuals:picture",
    "round": "counterfactuals:close-round",
}
MATERIAL: Mapping[str, str] = {page: kind for kind, pages in _MATERIAL_PAGES.items() for page in pages.split()}
_MATERIAL_APPS = ("stimuli:", "evaluations:", "counterfactuals:")

#: Files in which people's answers or money leave the house: who takes one stands in the record.
DOWNLOADS: Mapping[str, str] = {
    "results:responses": "responses.csv",
    "results:findings": "findings.json",
    "recruitment:ledger-csv": "ledger.csv",
    "recruitment:money-csv": "money.csv",
    "console:audit-csv": "record.csv",
}

#: What it takes to cancel a study's job, or to let it go on; by the app whose job it is.
JOBS: Mapping[str, Action] = {
    "recruitment": Action.EVIDENCE,
    "screening": Action.REVIEW,
    "results": Action.ANALYSE,
    "console": Action.CHECK,
}
#: Talk with the recruiters is about people and money of every study: it is for those who keep the money of all.
_RECRUITERS = "recruitment"
_STUDIES = "studies/<slug:slug>/"
_JOB_PAGES = frozenset({"jobs:job", "jobs:cancel", "jobs:resume"})
_READING = frozenset({"GET", "HEAD", "OPTIONS"})


class StudyAccess(Middleware):
    """Asks for the role before any page of a study is made; who may not even see the study is told it is not there."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        match = request.resolver_match
        if match is not None and match.view_name in DOWNLOADS and response.status_code == 200:
            by = request.user if isinstance(request.user, User) else None
            record(action="export", subject=DOWNLOADS[match.view_name], study=match.kwargs["slug"], by=by)
        return response

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: Any, kwargs: dict[str, Any]
    ) -> HttpResponseBase | None:
        match = request.resolver_match
        if match is None:
            return None
        is_of_study = match.route.startswith(_STUDIES)
        is_material = not is_of_study and (match.view_name in MATERIAL or match.view_name.startswith(_MATERIAL_APPS))
        if not (is_of_study or is_material or match.view_name in _JOB_PAGES):
            return None
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        try:
            if is_of_study:
                study = Study.objects.filter(slug=kwargs["slug"]).first()
                _check(request, study, _action_of(match.view_name, request.method or "GET"), name=kwargs["slug"])
            elif is_material:
                _check_material(request, match.view_name, kwargs)
                if MATERIAL.get(match.view_name) == "retraining":
                    _check_people(request, kwargs["pk"])
            else:
                _check_job(request, kwargs["pk"], is_reading=match.view_name == "jobs:job")
        except ApplicationError as error:
            return error_page(request, error)
        return None


def _action_of(view_name: str, method: str) -> Action | None:
    """None where the table says nothing."""
    to_read, to_send = ACCESS.get(view_name, (None, None))
    return to_read if method in _READING else to_send


def _check(request: HttpRequest, study: Study | None, action: Action | None, *, name: str) -> None:
    role = role_of(request.user, study) if study is not None else None
    if role is None:
        raise NotFound(f"There is no study “{name}”, or you have no part in it.")
    if action is None or role not in MAY[action]:
        raise NotAllowed(f"You are a {role.label} of this study and cannot do this: ask one of its owners.")


def _check_material(request: HttpRequest, view_name: str, kwargs: Mapping[str, Any]) -> None:
    if view_name not in MATERIAL:
        raise NotAllowed("No permission is defined for this page.")
    material = MATERIALS.get(MATERIAL[view_name])
    if material is None or not isinstance(request.user, User):
        return
    if (row := material.find(kwargs[material.part])) is None:
        return  # the view says that it is not there
    if not ownership.may(request.user, Right.READ, row):
        raise NotFound("There is nothing of this name.")
    if request.method not in _READING:
        ownership.check(request.user, material.to_send, row)


def _check_people(request: HttpRequest, pk: int) -> None:
    """What says how a study's people did is for those who may see the study."""
    slug = Retraining.objects.filter(pk=pk).values_list("people_of", flat=True).first()
    study = Study.objects.filter(slug=slug).first() if slug else None
    if study is not None:
        _check(request, study, Action.SEE, name=study.slug)


def _check_job(request: HttpRequest, pk: int, *, is_reading: bool) -> None:
    """Jobs about a study belong to its people; others are stopped by who started them."""
    job = Job.objects.filter(pk=pk).first()
    if job is None:
        return
    app = job.kind.partition(".")[0]
    study = _studies_of([job.subject]).get(job.subject)
    if study is not None:
        _check(request, study, Action.SEE if is_reading else JOBS.get(app, Action.DESIGN), name=study.slug)
    elif app == _RECRUITERS and is_reading:
        if not ownership.keeps_money(request.user):
            raise NotAllowed("The recruiters' jobs are about money and people of all studies: ask a treasurer.")
    elif not is_reading and isinstance(request.user, User):
        is_own = job.created_by_id is not None and job.created_by_id == request.user.pk
        if not is_own and not ownership.is_head(request.user):
            raise NotAllowed("Another person started this job: ask them, or an administrator, to stop it.")


def jobs_shown_to(user: User | AnonymousUser, jobs: Sequence[Job]) -> list[int]:
    """Those that `_check_job` lets this user read."""
    studies = _studies_of({job.subject for job in jobs})
    roles = {study: role_of(user, study) for study in set(studies.values())}
    hears = ownership.keeps_money(user)

    def is_shown(job: Job) -> bool:
        study = studies.get(job.subject)
        return roles[study] is not None if study else hears or not job.kind.startswith(f"{_RECRUITERS}.")

    return [job.pk for job in jobs if is_shown(job)]


def _studies_of(subjects: Collection[str]) -> dict[str, Study]:
    """By subject, the study that a job is about: itself, or by one of its sessions. The others are left out."""
    keys: dict[str, list[str]] = {"study": [], "session": []}
    for subject in subjects:
        kind, _colon, key = subject.partition(":")
        keys.setdefault(kind, []).append(key)
    of_session = dict(Session.objects.filter(code__in=keys["session"]).values_list("code", "study_id"))
    pks = {int(key) for key in keys["study"] if key.isdecimal()} | set(of_session.values())
    studies = Study.objects.filter(Q(pk__in=pks) | Q(slug__in=keys["study"]))
    found = {name: study for study in studies for name in (f"study:{study.pk}", f"study:{study.slug}")}
    by_session = {f"session:{code}": found[f"study:{pk}"] for code, pk in of_session.items()}
    return {subject: study for subject, study in (found | by_session).items() if subject in subjects}


#: What somebody without a second factor can still open.
_FREE = ("/account/", "/login/", "/logout/", "/static/", *settings.PARTICIPANT_PATHS)
_MONEY = frozenset({Action.PAY, Action.LAUNCH})
#: Sending the form of these moves money; of the last two, some of their buttons do.
MONEY_PAGES = frozenset(
    {page for page, (_to_read, to_send) in ACCESS.items() if to_send in _MONEY}
    | {"recruitment:decide", "recruitment:agreed"}
)


def moves_money(user: User) -> bool:
    return keeps_money(user) or any(studies_with(user, action).exists() for action in _MONEY)


class SecondFactor(Middleware):
    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: Any, kwargs: dict[str, Any]
    ) -> HttpResponseBase | None:
        user = request.user
        if not second_factors.is_required() or request.path.startswith(_FREE) or not isinstance(user, User):
            return None
        if not second_factors.has_one(user):
            return _to_set_up(request) if moves_money(user) else None
        name = request.resolver_match.view_name if request.resolver_match else ""
        is_money = request.method == "POST" and name in MONEY_PAGES
        return _to_confirm(request) if is_money and not second_factors.confirmed_lately(request) else None


def _to_set_up(request: HttpRequest) -> HttpResponse:
    text = "Your role moves money: set up a second factor before you continue."
    if request.path.startswith("/api/"):
        return JsonResponse({"title": "Second factor required", "detail": text}, status=403)
    messages.warning(request, text)
    return _sent(request, reverse("mfa_index"))


def _to_confirm(request: HttpRequest) -> HttpResponse:
    """Back to the page with the button, which is then pressed again: nothing is sent by itself."""
    came_from = urlsplit(request.headers.get("Referer", ""))
    back = f"{came_from.path}?{came_from.query}" if came_from.query else came_from.path
    if not back.startswith("/") or not url_has_allowed_host_and_scheme(back, allowed_hosts=None):
        back = reverse(settings.LOGIN_REDIRECT_URL)
    messages.warning(request, "Nothing was done yet. Confirm that it is you, then press the button again.")
    return _sent(request, f"{reverse('account_reauthenticate')}?{urlencode({'next': back})}")


def _sent(request: HttpRequest, to: str) -> HttpResponse:
    if "HX-Request" in request.headers:
        return HttpResponse(headers={"HX-Redirect": to})
    return redirect(to)
