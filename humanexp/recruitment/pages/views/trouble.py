"""Where participants say what went wrong, and come back for the answer. No account, no cookie, no address."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.csrf import csrf_exempt

from humanexp.core.caller_hash import caller_of
from humanexp.core.errors import InvalidRequest, StudyRefused, TooManyCalls
from humanexp.recruitment import selectors, services
from humanexp.recruitment.facts import facts_of
from humanexp.recruitment.models import Campaign, LinkTerms
from humanexp.recruitment.pages.views.take import LONGEST_CODE, entry_page
from humanexp.recruitment.recruiters import kind_of
from humanexp.recruitment.recruiters.tickets import Ticket
from humanexp.recruitment.services.reporting_trouble import LONGEST_REPORT, Reported

#: Characters of an id that are looked at, and of a proof.
_LONGEST_ID, _LONGEST_PROOF = 64, 200


@csrf_exempt  # no cookie is set or read: what a report is tied to stands in its own form
@entry_page(has_form=True)
def trouble(request: HttpRequest, campaign: Campaign) -> HttpResponseBase:
    """The form, the confirmation with the reference code, and the answer for who comes back with that code."""
    context: dict[str, object] = {
        "campaign": campaign,
        "study": campaign.study,
        "facts": facts_of(campaign),
        "longest": LONGEST_REPORT,
    }
    status = 200
    if request.method != "POST":
        context["ticket"] = _named_in(request, campaign)
    else:
        try:
            context |= _look_up(request, campaign) if "reference" in request.POST else _report(request, campaign)
        except (InvalidRequest, StudyRefused, TooManyCalls) as error:
            context |= _again(request, gettext(error.message))
            status = error.status_code
    page = render(request, "recruitment/take/trouble.html", context, status=status)
    page["Referrer-Policy"] = "no-referrer"  # ids may ride in this page's address
    return page


def _report(request: HttpRequest, campaign: Campaign) -> dict[str, object]:
    given = request.POST
    reported = Reported(
        kind=given.get("kind", ""),
        text=given.get("text", "").replace("\x00", ""),
        proof=given.get("proof", "")[:_LONGEST_PROOF],
        ticket=_ticket_in(request),
    )
    report, reference = services.report_trouble(campaign=campaign, reported=reported, caller=caller_of(request))
    by_message = report.campaign.capabilities.messages and report.assignment is not None
    return {"report": report, "reference": reference, "by_message": by_message}


def _look_up(request: HttpRequest, campaign: Campaign) -> dict[str, object]:
    reference = request.POST["reference"][:LONGEST_CODE]
    found = services.report_behind(campaign=campaign, reference=reference, caller=caller_of(request))
    return {"found": found, "answers": found.answers.select_related("message")}


def _again(request: HttpRequest, complaint: str) -> dict[str, object]:
    """The form as it was filled in, with what is wrong."""
    given = request.POST
    if "reference" in given:
        return {"lookup_complaint": complaint, "said_reference": given["reference"][:LONGEST_CODE]}
    return {
        "complaint": complaint,
        "kind": given.get("kind", ""),
        "text": given.get("text", "")[:LONGEST_REPORT],
        "proof": given.get("proof", "")[:_LONGEST_PROOF],
        "ticket": _ticket_in(request),
    }


def _ticket_in(request: HttpRequest) -> Ticket:
    given = request.POST
    return Ticket(
        person=given.get("person", "")[:_LONGEST_ID].replace("\x00", ""),
        submission=given.get("submission", "")[:_LONGEST_ID].replace("\x00", ""),
    )


def _named_in(request: HttpRequest, campaign: Campaign) -> Ticket:
    """Whom the address names, as the entry page's address did."""
    query, terms = request.GET.dict(), LinkTerms.of(campaign)
    return kind_of(campaign.environment).ticket(query) if terms is None else selectors.ticket_in(terms, query)
