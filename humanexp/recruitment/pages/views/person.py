"""One participant: everything that is stored about them, to be handed to them, or deleted."""

from __future__ import annotations

from django.contrib import messages
from django.core.serializers.json import DjangoJSONEncoder
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _, gettext_lazy

from humanexp.core.errors import ApplicationError
from humanexp.core.selectors import user_of
from humanexp.participation.models import Participant
from humanexp.recruitment import services
from humanexp.recruitment.pages.views.studies import study_page
from humanexp.recruitment.selectors.personal_data import personal_data
from humanexp.recruitment.services.deleting import Deletion, what_goes, why_not_yet
from humanexp.studies.models import Study

#: Tables whose rows a page names, by the words for them; the others are counted together.
_NAMED = {
    "experiments_session": gettext_lazy("sessions"),
    "experiments_response": gettext_lazy("answers"),
    "recruitment_recruitedperson": gettext_lazy("ids at recruiters"),
    "recruitment_call": gettext_lazy("payments and messages"),
    "core_auditevent": gettext_lazy("lines of the record"),
}


@study_page("GET", "POST")
def person(request: HttpRequest, study: Study, code: str) -> HttpResponse:
    """What is stored about somebody who took part in this study, and the two things that they can ask for."""
    _check(study, code)
    typed, complaint = "", ""
    if request.method == "POST":
        typed = request.POST.get("code", "").strip().upper()
        if typed != code:
            complaint = _("Type the code exactly as it stands above: nothing was deleted.")
        else:
            try:
                gone = services.delete_participant(code=code, by=user_of(request))
            except ApplicationError as error:
                complaint = error.message
            else:
                for level, words in _told(gone):
                    messages.add_message(request, level, words)
                return redirect("recruitment:monitor", slug=study.slug)
    data = personal_data(code)
    counts = dict(data.counts)
    context = {
        "study": study,
        "code": code,
        "others": [one for one in data.studies if one.pk != study.pk],
        "counts": [(words, counts[table]) for table, words in _NAMED.items() if counts.get(table)],
        "further": sum(count for table, count in counts.items() if table not in _NAMED),
        "goes": what_goes(code=code),
        "why_not_yet": why_not_yet(code),
        "typed": typed,
        "complaint": complaint,
    }
    return render(request, "recruitment/person.html", context, status=400 if complaint else 200)


@study_page("POST")
def person_json(request: HttpRequest, study: Study, code: str) -> HttpResponse:
    """All of it as a file."""
    _check(study, code)
    data = services.take_personal_data(code=code, study=study, by=user_of(request))
    response = JsonResponse(data.to_dict(), encoder=DjangoJSONEncoder, json_dumps_params={"indent": 1})
    response["Content-Disposition"] = f'attachment; filename="{code}.json"'
    return response


def _check(study: Study, code: str) -> None:
    if not Participant.objects.filter(code=code, sessions__study=study).exists():
        raise Http404


def _told(gone: Deletion) -> list[tuple[int, str]]:
    """What was deleted, and what is left for a person to do."""
    told = [(messages.SUCCESS, _("%(code)s is deleted, with all sessions and answers.") % {"code": gone.code})]
    if gone.left_in:
        files = ", ".join(gone.left_in)
        told.append((messages.WARNING, _("These files still hold a code of the person: %(files)s.") % {"files": files}))
    if not gone.is_journal_empty:
        told.append(
            (
                messages.WARNING,
                _(
                    "Somebody was reading the database: its journal may hold the id until web and run_jobs are "
                    "restarted."
                ),
            )
        )
    return told
