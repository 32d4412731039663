"""Does the running site do its work: runner, address, recruiters, refused calls?"""

from __future__ import annotations

from datetime import timedelta
from ipaddress import ip_address
from urllib.parse import urlsplit

from django.conf import settings
from django.db.models import Q

from humanexp.console.examination.finding import Finding, question
from humanexp.core import clock
from humanexp.experiments import selectors as experiments
from humanexp.jobs import selectors as jobs
from humanexp.jobs.models import Job, JobState
from humanexp.recruitment.models import Campaign, Environment
from humanexp.recruitment.states import CampaignState

#: A runner that is alive has polled the recruiters within this time.
PULSE = timedelta(minutes=3)


@question("Job runner")
def job_runner() -> Finding:
    now = clock.now()
    alive = Q(state=JobState.RUNNING, lease_until__gt=now) | Q(subject="periodic", finished_at__gt=now - PULSE)
    waiting = jobs.unfinished().exclude(subject="periodic").count()
    told = f"{waiting} jobs unfinished; compute: {settings.COMPUTE}"
    if not Job.objects.filter(alive).exists():
        return Finding(
            subject="Job runner",
            state="fault",
            detail=f"silent: nobody is paid, nothing is computed; {told}",
            remedy="python manage.py run_jobs",
        )
    return Finding(subject="Job runner", state="ok", detail=f"runs; {told}")


@question("Address")
def address() -> Finding:
    public = urlsplit(settings.PUBLIC_URL)
    if public.scheme == "https" or _is_loopback(public.hostname or ""):
        return Finding(subject="Address", state="ok", detail=settings.PUBLIC_URL)
    return Finding(
        subject="Address",
        state="fault",
        detail=f"{settings.PUBLIC_URL} is open to others without TLS: passwords and answers can be read on their way",
        remedy="put a TLS proxy in front and set PUBLIC_URL=https://...",
    )


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


@question("Marketplace")
def marketplace() -> Finding:
    import requests

    try:
        reply = requests.get(f"{settings.MARKETPLACE_URL}/healthz", timeout=2)
    except requests.RequestException:
        return Finding(
            subject="Marketplace",
            state="note",
            detail=f"no answer at {settings.MARKETPLACE_URL}",
            remedy="python manage.py marketplace",
        )
    return Finding(subject="Marketplace", state="ok" if reply.ok else "note", detail=settings.MARKETPLACE_URL)


@question("Real money")
def money() -> Finding:
    """Can real money move? Only through a recruiter that pays, for a study that was published there."""
    paying = Campaign.objects.filter(environment=Environment.PRODUCTION).exclude(state=CampaignState.STOPPED)
    studies = sorted(set(paying.values_list("study__slug", flat=True)))
    if studies:
        return Finding(subject="Real money", state="note", detail=f"can move, on MTurk: {', '.join(studies)} recruits")
    return Finding(subject="Real money", state="ok", detail="cannot move: no study recruits on MTurk production")


@question("Refused calls")
def refused_calls() -> Finding:
    """Forged and repeated tokens that belong to no study; those of a study stand on its monitor."""
    kinds = experiments.refused_calls(None)
    told = ", ".join(f"{kind.count} {kind.reason.label}" for kind in kinds)
    latest = f", the latest {max(kind.latest for kind in kinds):%Y-%m-%d %H:%M} UTC" if kinds else ""
    return Finding(subject="Refused calls", state="note" if kinds else "ok", detail=(told or "none kept") + latest)
