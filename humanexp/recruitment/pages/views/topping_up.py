"""The one top-up of everybody of a campaign: what it comes to, and the press of the button."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _

from humanexp.core.errors import ApplicationError, CostNotConfirmed
from humanexp.core.selectors import user_of
from humanexp.recruitment import money, selectors, services
from humanexp.recruitment.models import CampaignTopUp
from humanexp.recruitment.pages.forms import EqualTopUpForm
from humanexp.recruitment.pages.views.studies import study_page
from humanexp.studies.models import Study


@study_page("GET", "POST")
def top_up_campaign(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Pay everybody of a campaign the same, so that the median hour reaches the minimum."""
    campaign = get_object_or_404(selectors.campaigns_of(study), pk=pk)
    form, status = EqualTopUpForm(request.POST or None), 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                made = services.top_up_campaign(
                    campaign=campaign,
                    shown_total_cents=form.cleaned_data["shown_total"],
                    confirm_total_cents=form.cleaned_data["confirm_total"],
                    by=user_of(request),
                )
            except ApplicationError as error:
                field = "confirm_total" if isinstance(error, CostNotConfirmed) else None
                form.add_error(field, error.message)
                status = error.status_code
            else:
                each = money.shown(made.amount_cents, campaign.currency)
                messages.success(request, _("Everyone gets %(each)s in addition; it is on its way.") % {"each": each})
                return redirect("recruitment:monitor", slug=study.slug)
    offer = selectors.top_up_offer(campaign)
    context = {
        "study": study,
        "campaign": campaign,
        "form": form,
        "done": CampaignTopUp.objects.filter(campaign=campaign).first(),
        "offer": offer,
        "total": money.decimal(offer.total_cents) if offer else "",
        "is_real_money": campaign.capabilities.asks_for_total,
    }
    return render(request, "recruitment/equal_top_up.html", context, status=status)
