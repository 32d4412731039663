"""The monitor: where people are, what it costs, what waits; changes to a campaign; and recruiters' events."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from humanexp.core.errors import ApplicationError, BodyTooLarge, InvalidRequest, NotAllowed, NotFound
from humanexp.core.pages.rendering import render_part
from humanexp.core.selectors import user_of
from humanexp.core.templatetags.components import counted
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.jobs.selectors import unfinished
from humanexp.ledger import bonuses, settlement
from humanexp.ledger.bonuses import note_paid_by_hand
from humanexp.ledger.budgets import raise_cap
from humanexp.ledger.figures import figures_of
from humanexp.ledger.outbox import retry_hit, try_keys_again
from humanexp.ledger.owed import Owed, finished_not_submitted, owed, payable, sums_of
from humanexp.ledger.pages.money import owed_lines, refusals_told, study_page, whole_number
from humanexp.ledger.payments import Tally, free_sessions, latest_payments, notices, tally_of, waiting_payments
from humanexp.ledger.rejections import proposed_rejections, rejections
from humanexp.ledger.settlement import pay_first_late
from humanexp.ledger.wages import wage_of
from humanexp.participation.monitoring import refused_calls
from humanexp.participation.tallies import BinCount, bars, kept_counts
from humanexp.recruiters import money, registry
from humanexp.recruiters.campaigns import campaigns_of
from humanexp.recruiters.models import Assignment, Campaign, Hit, RecruiterAccount
from humanexp.recruiters.people import assignments_of, named_in
from humanexp.recruiters.states import AssignmentState, HitState
from humanexp.recruiting import alerts, extension, people
from humanexp.recruiting.batches import continue_batches
from humanexp.recruiting.extension import pause_campaign, prolong, quote_extension, reopen_campaign, resume_campaign
from humanexp.recruiting.pages.forms import CapForm, ExtensionForm, MessageForm, ProlongingForm
from humanexp.recruiting.people import MOST_CODES, RECIPIENTS, codes_in, find_codes, reachable
from humanexp.recruiting.polling import hear
from humanexp.recruiting.watch import sessions_over_time
from humanexp.studies.models import Study

#: Rows of a table on the page; the rest is counted.
SHOWN = 25
RECENT = 5


def figures(study: Study) -> dict[str, Any]:
    tally = tally_of(study)
    found = figures_of(study, tally)
    rows = owed(study)
    due = payable(rows)
    attention = alerts.attention(study, tally)
    kinds, rejected = {one.kind for one in attention}, tally.people([AssignmentState.REJECTED])
    return {
        "study": study,
        "figures": found,
        "pay": [(money, wage_of(study, tally, money.currency)) for money in found.moneys],
        "published": published(tally),
        "jobs": list(_jobs(study)),
        "attention": attention,
        **_held(rows),
        # asked for where there are any, as was counted above
        "waiting": waiting_payments(study)[:SHOWN] if any(money.waiting for money in found.moneys) else [],
        "proposed": proposed_rejections(study)[:SHOWN] if "proposal" in kinds else [],
        "rejected": rejections(study, SHOWN) if rejected else [],
        "rejected_beside": max(0, rejected - SHOWN),
        "recent": latest_payments(study, RECENT),
        "refused_calls": refused_calls(study),
        "payable": len(due),
        "payable_sums": sums_of(due),
    }


def _held(rows: Sequence[Owed]) -> dict[str, Any]:
    """Who is owed money and is not simply paid: as many as a page shows, in the order of the list, and the others."""
    held = [row for row in rows if row.hold is not None]
    people = Assignment.objects.select_related("person__participant", "session", "campaign")
    found = people.in_bulk([row.assignment for row in held[:SHOWN]])
    return {
        "held": [(row, found[row.assignment]) for row in held[:SHOWN]],
        "held_beside": max(0, len(held) - SHOWN),
    }


def published(tally: Tally) -> dict[str, int]:
    """HITs that the recruiter has, of those that it is to have."""
    wanted = [row for row in tally.hits if row.state != HitState.CANCELLED]
    done = sum(row.count for row in wanted if row.state != HitState.PLANNED)
    return {"done": done, "of": sum(row.count for row in wanted)}


def accounts_of(study: Study) -> QuerySet[RecruiterAccount]:
    """With the recruiters that the study uses."""
    return RecruiterAccount.objects.filter(environment__in=study.campaigns.values("environment"))


def _jobs(study: Study) -> QuerySet[Job]:
    """Long things of this study that go on now."""
    return unfinished().filter(subject__in=[f"study:{study.pk}", f"study:{study.slug}"])


def coverage_of(study: Study) -> dict[str, Any]:
    tally, counts = kept_counts(study)
    stretches = sessions_over_time(study)
    bins = counts.bins if counts is not None else ()
    return {
        "study": study,
        "stretches": stretches,
        "most": max((max(one.opened, one.completed) for one in stretches), default=0),
        "tally": tally,
        "counts": counts,
        "bars": bars(bins),
        "thin": thinnest(bins),
    }


def thinnest(bins: Sequence[BinCount], *, shown: int = 5) -> list[BinCount]:
    """Where answers are missing most, as a share of the plan."""
    missing = [found for found in bins if found.answered < found.planned]
    return sorted(missing, key=lambda found: (found.answered / found.planned, found.corruption, found.low))[:shown]


@study_page("GET")
def monitor(request: HttpRequest, study: Study) -> HttpResponse:
    """Who is where, what it has cost, and what waits; the numbers refresh by themselves."""
    return render_part(request, "recruitment/monitor.html", figures(study))


@study_page("GET")
def answers(request: HttpRequest, study: Study) -> HttpResponse:
    """Sessions over time and answers, counted over all of them: the monitor asks for it later."""
    return render_part(request, "recruitment/answers.html", coverage_of(study))


@study_page("GET", "POST")
def settle(request: HttpRequest, study: Study) -> HttpResponse:
    """Pay everyone who is owed something, after the exact sum was shown: the click carries it."""
    status = 200
    if request.method == "POST":
        try:
            return _settled(request, study)
        except ApplicationError as error:
            messages.error(request, error.message)
            status = error.status_code
    rows = owed(study)
    due = payable(rows)
    sums = sums_of(due)
    context = {
        "study": study,
        "lines": owed_lines(due),
        "payable": len(due),
        "payable_sums": sums,
        "shown": json.dumps(sums),
        **_held(rows),
    }
    return render(request, "recruitment/settle.html", context, status=status)


def _settled(request: HttpRequest, study: Study) -> HttpResponse:
    if request.POST.get("first"):
        row = get_object_or_404(assignments_of(study), pk=whole_number(request.POST["first"]))
        payment = pay_first_late(assignment=row, by=user_of(request))
        amount = money.shown(payment.amount_cents, payment.currency)
        messages.success(request, f"{amount} is on its way. The others can be paid once it is seen to arrive.")
        return redirect("recruitment:settle", slug=study.slug)
    done = settlement.settle(study=study, by=user_of(request), shown=_shown(request))
    on_the_way = counted(done.planned, "payment is on its way,payments are on their way")
    messages.success(request, f"{on_the_way}, {money.listed(done.sums)} with fees.")
    return redirect("recruitment:monitor", slug=study.slug)


def _shown(request: HttpRequest) -> dict[str, int]:
    """The sums on the page from which this was sent."""
    try:
        found = json.loads(request.POST.get("shown", ""))
        return {str(currency): int(cents) for currency, cents in found.items()}
    except (ValueError, AttributeError, TypeError):
        raise InvalidRequest("The page did not say what it had shown; open it again.") from None


@study_page("POST")
def sync_now(request: HttpRequest, study: Study) -> HttpResponse:
    """Have the job runner ask the recruiters now, not within the minute."""
    jobs.submit("recruitment.sync", subject=f"study:{study.pk}", by=user_of(request))
    messages.success(request, "The recruiters are being asked; the numbers follow in a moment.")
    return redirect("recruitment:monitor", slug=study.slug)


@study_page("POST")
def try_again(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Send a refused payment once more."""
    payment = get_object_or_404(waiting_payments(study), pk=pk)
    settlement.try_again(payment=payment, by=user_of(request))
    messages.success(request, "The payment is sent again.")
    return redirect("recruitment:monitor", slug=study.slug)


@study_page("POST")
def compensate(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Pay a person who finished here and could not submit there, or note that they were paid by hand."""
    row = get_object_or_404(finished_not_submitted(study), pk=pk)
    with refusals_told(request):
        if request.POST.get("by") == "hand":
            note_paid_by_hand(assignment=row, by=user_of(request))
            messages.success(request, "Nothing more is owed to this person.")
        else:
            bonuses.compensate(assignment=row, by=user_of(request))
            messages.success(request, "The compensation is on its way.")
    return redirect("recruitment:monitor", slug=study.slug)


@study_page("POST")
def resolve(request: HttpRequest, study: Study) -> HttpResponse:
    """Press the button beside something that waits for a person."""
    with refusals_told(request):
        messages.success(request, _resolve(request, study))
    return redirect("recruitment:monitor", slug=study.slug)


def _resolve(request: HttpRequest, study: Study) -> str:
    pk = whole_number(request.POST.get("subject"))
    match request.POST.get("kind"):
        case "keys":
            account = get_object_or_404(accounts_of(study), pk=pk)
            try_keys_again(environment=account.environment, by=user_of(request))
            return "The keys are being tried; if they are accepted, sending continues."
        case "hit":
            hit = get_object_or_404(Hit, pk=pk, campaign__study=study)
            retry_hit(hit=hit, by=user_of(request))
            return "Its places are being offered again."
    raise InvalidRequest("There is nothing of this kind to resolve.")


@study_page("GET", "POST")
def codes(request: HttpRequest, study: Study) -> HttpResponse:
    """Whose codes these are. Nothing is written; codes come in a form's body, so that no address holds one."""
    context: dict[str, Any] = {"study": study}
    status = 200
    if request.method == "POST":
        given = codes_in(request.POST.get("codes", ""))
        context["text"] = "\n".join(given[:MOST_CODES])
        if not 1 <= len(given) <= MOST_CODES:
            context["complaint"] = f"Type or paste 1 to {MOST_CODES} codes."
            status = 422
        else:
            context["found"] = find_codes(study, given)
            context["unknown"] = sum(one.session is None for one in context["found"])
    return render(request, "recruitment/codes.html", context, status=status)


@study_page("GET", "POST")
def extend(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """More places in a campaign, at a cost that is shown before."""
    campaign = get_object_or_404(campaigns_of(study), pk=pk)
    form = ExtensionForm(request.POST if request.method == "POST" else request.GET or {"places": 9})
    context = _extension(study, campaign, form)
    if request.method == "GET":
        template = "recruitment/_extension.html" if getattr(request, "htmx", False) else "recruitment/extend.html"
        return render(request, template, context)
    if form.is_valid():
        given = form.cleaned_data
        is_real = campaign.capabilities.asks_for_total
        confirmed = given["confirm_total"] if is_real else given["shown_total"]
        try:
            extension.extend(
                campaign=campaign,
                places=given["places"],
                confirm_total_cents=confirmed,
                shown_places=given["shown_places"],
                by=user_of(request),
            )
        except ApplicationError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, f"{counted(given['places'], 'place is,places are')} being added.")
            return redirect("recruitment:recruit", slug=study.slug)
    return render(request, "recruitment/extend.html", context, status=422)


@study_page("POST")
def change(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """More time, or another cap; neither costs anything by itself."""
    campaign = get_object_or_404(campaigns_of(study), pk=pk)
    longer, higher = ProlongingForm(request.POST), CapForm(request.POST)
    with refusals_told(request):
        if "days" in request.POST and longer.is_valid():
            prolong(campaign=campaign, days=longer.cleaned_data["days"], by=user_of(request))
            messages.success(request, "The campaign stays open longer; the recruiter is being notified.")
        elif "cap" in request.POST and higher.is_valid():
            raise_cap(campaign=campaign, cap_cents=higher.cleaned_data["cap"], by=user_of(request))
            messages.success(request, "The limit is stored.")
        else:
            messages.error(request, "Write whole days from 1 to 365, or an amount with two decimals like 123.45.")
    return redirect("recruitment:extend", slug=study.slug, pk=pk)


@study_page("POST")
def pause(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Nobody new for a while, or again; and batches of places, once somebody has looked at an alarm."""
    campaign = get_object_or_404(campaigns_of(study), pk=pk)
    with refusals_told(request):
        if request.POST.get("act") == "continue":
            continue_batches(campaign=campaign, by=user_of(request))
            messages.success(request, "Batches of places are opened again as planned.")
        elif request.POST.get("act") == "resume":
            resume_campaign(campaign=campaign, by=user_of(request))
            messages.success(request, "The campaign is being opened again.")
        else:
            pause_campaign(campaign=campaign, by=user_of(request))
            messages.success(request, "The campaign is being paused; the recruiter is being notified.")
    return redirect("recruitment:recruit", slug=study.slug)


@study_page("POST")
def reopen(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """A stopped link takes people again."""
    campaign = get_object_or_404(campaigns_of(study), pk=pk)
    with refusals_told(request):
        reopen_campaign(campaign=campaign, by=user_of(request))
        messages.success(request, "The same address takes people again.")
    return redirect("recruitment:recruit", slug=study.slug)


def _extension(study: Study, campaign: Campaign, form: ExtensionForm) -> dict[str, Any]:
    context: dict[str, Any] = {"study": study, "campaign": campaign, "form": form, "extension": None}
    context |= {
        "longer": ProlongingForm(initial={"days": 7}),
        "higher": CapForm(initial={"cap": money.decimal(campaign.cap_cents)}),
    }
    if form.is_valid():
        try:
            extension = quote_extension(campaign=campaign, places=form.cleaned_data["places"])
        except ApplicationError as error:
            return {**context, "refusal": error.message}
        context |= {
            "extension": extension,
            "total": money.decimal(extension.total_cents) if campaign.capabilities.asks_for_total else "",
            "free_sessions": free_sessions(study),
        }
    return context


@study_page("GET", "POST")
def notify(request: HttpRequest, study: Study) -> HttpResponse:
    """Write to people who took part, through the recruiter: to a group, or to some by name."""
    form = MessageForm(request.POST or None, initial=_written_to(request, study))
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            rows = _recipients(study, given["to"], given["people"].split())
            sent = people.notify(assignments=rows, subject=given["subject"], text=given["text"], by=user_of(request))
        except ApplicationError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, f"{counted(len(sent), 'message is on its way,messages are on their way')}.")
            return redirect("recruitment:notify", slug=study.slug)
    context = {
        "study": study,
        "form": form,
        "counts": {choice: reachable(study, choice).count() for choice in RECIPIENTS},
        "notices": notices(study)[:50],
    }
    return render(request, "recruitment/notify.html", context, status=422 if form.is_bound else 200)


def _written_to(request: HttpRequest, study: Study) -> dict[str, str]:
    """From somebody's own page, only them."""
    pk = whole_number(request.GET.get("to"))
    row = assignments_of(study).filter(pk=pk).first() if pk is not None else None
    if row is None or row.person is None:
        return {"to": MessageForm.SUBMITTED}
    return {"to": MessageForm.NAMED, "people": row.person.participant.code}


def _recipients(study: Study, to: str, names: list[str]) -> list[Assignment]:
    if to != MessageForm.NAMED:
        return list(reachable(study, to))
    found = named_in(reachable(study, MessageForm.EVERYBODY), names)
    for number, name in enumerate(names, start=1):
        if name.upper() not in found:
            raise InvalidRequest(
                f"Line {number}: nobody of this study who can be written to is known by this id or code."
            )
    if not names:
        raise InvalidRequest("Name at least one person.")
    return [found[name.upper()] for name in names]


#: Events have a few hundred bytes.
MOST_BYTES = 16_384


@csrf_exempt  # no cookie is looked at: every delivery carries its own signature
@require_POST
def hook(request: HttpRequest, environment: str) -> HttpResponse:
    """A repeat is answered like the first; a refusal says nothing about why."""
    if not registry.is_known(environment):
        return HttpResponse(status=NotFound.status_code)
    if int(request.headers.get("Content-Length") or 0) > MOST_BYTES:
        return HttpResponse(status=BodyTooLarge.status_code)
    try:
        hear(environment=environment, headers=request.headers, body=request.body)
    except (NotFound, NotAllowed) as error:
        return HttpResponse(status=error.status_code)
    return HttpResponse(status=200)
