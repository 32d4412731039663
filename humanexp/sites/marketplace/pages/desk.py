"""The desk's page: what is owed to whom, and what was paid out. For clerks alone."""

from __future__ import annotations

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from humanexp.sites.marketplace import clock
from humanexp.sites.marketplace.errors import BadPayout, WorkerDoesNotExist
from humanexp.sites.marketplace.pages.answers import page_not_found
from humanexp.sites.marketplace.pages.forms import PayoutForm
from humanexp.sites.marketplace.selectors.accounts import worker_by_id
from humanexp.sites.marketplace.selectors.own_work import desk_sums, everybody_owed, latest_payouts
from humanexp.sites.marketplace.services.accounts import record_payout

_LATEST = 25


@never_cache
@require_http_methods(["GET", "POST"])
def desk(request: HttpRequest) -> HttpResponse:
    """Money is handed over elsewhere; here it is written down, so that the worker reads it too."""
    if not request.user.is_authenticated:
        return redirect_to_login(request.path)
    if not getattr(request.user, "is_clerk", False):
        return page_not_found(request, BadPayout())
    form = PayoutForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            worker = worker_by_id(given["worker_id"])
            record_payout(
                worker=worker, amount_cents=given["amount"], way=given["way"], note=given["note"], now=clock.now()
            )
        except (BadPayout, WorkerDoesNotExist) as err:
            form.add_error("amount" if isinstance(err, BadPayout) else "worker_id", str(err))
        else:
            return redirect("desk")
    now = clock.now()
    page = {"form": form, "sums": desk_sums(now), "owed": everybody_owed(now), "payouts": latest_payouts(_LATEST)}
    return render(request, "marketplace/desk.html", page, status=422 if form.is_bound else 200)
