"""Jobs of recruitment. Polling and book-keeping repeat by themselves: a lost run is made good by the next one."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from humanexp.jobs.registry import Progress, handler
from humanexp.ledger.outbox import try_stops_again
from humanexp.ledger.reconciliation import reconcile
from humanexp.ledger.sender import send
from humanexp.ledger.settlement import settle_by_policies
from humanexp.recruiters import (
    registry,
    shipped,  # noqa: F401  (which of them tell of events is asked below)
)
from humanexp.recruiters.models import Campaign
from humanexp.recruiting import accounts
from humanexp.recruiting.accounts import try_account
from humanexp.recruiting.attendance import verify_begun
from humanexp.recruiting.batches import open_batches
from humanexp.recruiting.personal_data import forget_by_policies
from humanexp.recruiting.polling import listen, sync
from humanexp.recruiting.watch import watch


@handler("recruitment.sync", title="Submissions are fetched", every_s=60, is_prompt=True)
def run_sync(progress: Progress) -> dict[str, Any]:
    """Ask every recruiter what has been submitted, and put right what was left in the outbox."""
    report = sync()
    watch()
    open_batches()
    try_stops_again()
    sent = send()
    progress(1, 1, "; ".join(report.remarks + sent.remarks)[:300])
    return {"sync": asdict(report), "send": asdict(sent)}


@handler("recruitment.verify", title="The recruiter is asked who takes part", is_prompt=True)
def run_verify(progress: Progress, *, campaign_id: int) -> dict[str, Any]:
    """Ask who holds the places that were begun, so that their sessions count."""
    counted = verify_begun(campaign=Campaign.objects.select_related("study__family").get(pk=campaign_id))
    progress(1, 1, "")
    return {"counted": counted}


@handler(
    "recruitment.listen",
    title="Recruiters are listened to",
    every_s=5 if any(kind.listens for kind in registry.kinds()) else None,
    is_prompt=True,
)
def run_listen(progress: Progress) -> dict[str, Any]:
    """Look at once at what the recruiters' queues tell of."""
    report = listen()
    progress(1, 1, "; ".join(report.remarks)[:300])
    return asdict(report)


@handler("recruitment.send", title="Messages and payments are sent", is_prompt=True)
def run_send(progress: Progress, *, environment: str) -> dict[str, Any]:
    """Carry the outbox of one environment to its recruiter."""
    report = send(environment=environment)
    progress(1, 1, "; ".join(report.remarks)[:300])
    return asdict(report)


@handler("recruitment.settle", title="People are paid", every_s=600, is_prompt=True)
def run_settle(progress: Progress) -> dict[str, Any]:
    """Pay who is due in studies that have a job do it; all others wait for a person."""
    done = settle_by_policies()
    progress(1, 1)
    return {"studies": [asdict(one) for one in done]}


@handler(accounts.TRY_JOB, title="An account is tried out", is_prompt=True)
def run_try(progress: Progress, *, code: str) -> dict[str, Any]:
    """One cheap read with the account's keys."""
    return {"fault": try_account(code=code)}


@handler("recruitment.reconcile", title="Books are compared", every_s=3600, is_prompt=True)
def run_reconcile(progress: Progress) -> dict[str, Any]:
    """Compare the books; a difference holds back the bonuses that it concerns, and waits for a person."""
    sync()
    send()
    books = reconcile(settled_too=False)
    progress(1, 1, "; ".join(each for book in books for each in [*book.differences, *book.remarks])[:300])
    return {"books": [asdict(book) for book in books]}


@handler("recruitment.forget_ids", title="Old ids of people are erased", every_s=86_400)
def run_forget_ids(progress: Progress) -> dict[str, Any]:
    """Erase the ids whose time is over, in families whose studies say so."""
    done = forget_by_policies()
    progress(1, 1)
    return {family: asdict(one) for family, one in done}
