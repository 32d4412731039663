"""What monitors are told of recruiters and money: by account, in the smallest unit of its currency."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Count, Min, Sum

from humanexp.core import clock
from humanexp.core.metrics import Figure
from humanexp.recruitment import recruiters
from humanexp.recruitment.models import Campaign, Payment, RecruiterAccount
from humanexp.recruitment.states import CampaignState, WriteState


def figures() -> Iterator[Figure]:
    yield from _polls()
    yield from _payments()
    for code, pause in RecruiterAccount.objects.values_list("environment", "pause"):
        yield Figure(
            name="humanexp_account_paused",
            about="1 while nothing is sent through the account.",
            value=1 if pause else 0,
            labels={"account": code},
        )


def _polls() -> Iterator[Figure]:
    now = clock.now()
    polled = Campaign.objects.filter(recruiters.at(vouches=True)).exclude(state=CampaignState.STOPPED)
    rows = polled.values("environment").order_by("environment")
    for row in rows.annotate(synced=Min("synced_at"), launched=Min("launched_at")):
        yield Figure(
            name="humanexp_last_poll_age_seconds",
            about="Age of the oldest look at a campaign that recruits.",
            value=(now - (row["synced"] or row["launched"])).total_seconds(),
            labels={"account": row["environment"]},
        )


def _payments() -> Iterator[Figure]:
    open_ones = Payment.objects.exclude(state=WriteState.CONFIRMED).values("environment", "state")
    for row in open_ones.order_by("environment", "state").annotate(cents=Sum("amount_cents"), count=Count("pk")):
        labels = {"account": row["environment"], "state": row["state"]}
        about = "Payments that have not been confirmed."
        yield Figure(name="humanexp_open_payments", about=about, value=row["count"], labels=labels)
        about = "Their money, in the smallest unit of the account's currency."
        yield Figure(name="humanexp_open_payments_cents", about=about, value=row["cents"] or 0, labels=labels)
