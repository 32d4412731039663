"""Does the running site do its work: runner, address, recruiters, refused calls?"""

from __future__ import annotations

from smtplib import SMTPException
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import get_connection

from humanexp.addresses import is_loopback
from humanexp.console.doctor_checks.questions import question
from humanexp.console.sites import answers
from humanexp.core.errors import RecruiterError
from humanexp.core.problems import Problem, bad, good, note
from humanexp.jobs import selectors
from humanexp.jobs.selectors import unfinished
from humanexp.participation import monitoring
from humanexp.recruiters import keys, registry
from humanexp.recruiters.models import Campaign
from humanexp.recruiters.states import CampaignState


@question("Job runner")
def job_runner() -> Problem:
    silence = selectors.silence()
    waiting = unfinished().exclude(subject="periodic").count()
    told = f"{waiting} jobs unfinished; compute: {settings.COMPUTE}"
    if silence is not None:
        since = f"silent since {silence.since:%Y-%m-%d %H:%M} UTC" if silence.since else "none has been heard of"
        stands = "no one is paid, no recruiter is polled" if silence.nobody_is_paid else "nothing long is computed"
        return bad(f"{since}: {stands}; {told}", "python manage.py run_jobs")
    return good(f"runs; {told}")


@question("Address")
def address() -> Problem:
    public = urlsplit(settings.PUBLIC_URL)
    if public.scheme == "https" or is_loopback(public.hostname or ""):
        return good(settings.PUBLIC_URL)
    return bad(
        f"{settings.PUBLIC_URL} is open to others without TLS: passwords and answers can be read on their way",
        "put a TLS proxy in front and set PUBLIC_URL=https://...",
    )


@question("Proxy")
def proxy() -> Problem:
    """The web process speaks no TLS: where the address has it, a proxy stands in front."""
    is_trusted = bool(getattr(settings, "SECURE_PROXY_SSL_HEADER", None))
    if is_trusted and settings.TRUSTED_PROXIES > 1:
        told = f"callers are told apart by what the first of {settings.TRUSTED_PROXIES} proxies saw"
        return good(told)
    if is_trusted:
        return good("callers are told apart by the last address that it appends")
    if urlsplit(settings.PUBLIC_URL).scheme != "https":
        return good("none")
    return bad(
        "it keeps TLS and is not trusted: all callers count as one, and one of them can lock out all others",
        "set TRUST_PROXY_HEADER=1, behind a proxy that sets the headers (docs/operate/proxy.md)",
    )


@question("Mail")
def mail() -> Problem:
    if not settings.EMAIL_HOST:
        return good("not set up: forgotten passwords are for administrators")
    try:
        connection = get_connection()
        connection.open()
        connection.close()
    except (SMTPException, OSError) as error:
        return bad(
            f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT} takes none: {error}",
            "check EMAIL_HOST, EMAIL_PORT, EMAIL_USE_TLS and the account",
        )
    return good(f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}")


@question("Marketplace")
def marketplace() -> Problem:
    return _own_site("Marketplace", settings.MARKETPLACE_URL, "marketplace")


@question("Practice panel")
def panel() -> Problem:
    return _own_site("Practice panel", settings.PANEL_URL, "panel")


def _own_site(subject: str, address: str, command: str) -> Problem:
    if answers(address):
        return good(address)
    return note(f"no answer at {address}", f"python manage.py {command}, or start it on the page Recruiters")


@question("Accounts with recruiters")
def recruiter_accounts() -> Problem:
    """One cheap read through each that has keys; those that nobody has set up are only named."""
    works, without, faults = [], [], []
    for account in registry.accounts():
        names = account.kind.key_names(account)
        if account.kind.capabilities.is_closed or not names:
            continue
        if keys.missing(names):
            without.append(account.name)
            continue
        try:
            registry.recruiter_for(account.code).balance_cents()
            works.append(account.name)
        except RecruiterError as error:
            faults.append(error.message)
    told = [f"works: {', '.join(works)}"] if works else []
    told += [f"without keys: {', '.join(without)}"] if without else []
    if faults:
        return bad("; ".join([*faults, *told]), "repair the account on the page Recruiters")
    return good("; ".join(told) or "none is needed")


@question("Real money")
def money() -> Problem:
    """Can real money move? Only through a recruiter that pays, for a study that was published there."""
    paying = Campaign.objects.filter(registry.at(asks_for_total=True)).exclude(state=CampaignState.STOPPED)
    studies = sorted(set(paying.values_list("study__slug", flat=True)))
    if studies:
        where = ", ".join(sorted({registry.name_of(campaign.environment) for campaign in paying}))
        detail = f"can move, on {where}: {', '.join(studies)} recruits"
        return note(detail)
    return good("cannot move: no study recruits where the total is typed")


@question("Refused calls")
def refused_calls() -> Problem:
    """Forged and repeated tokens that belong to no study; those of a study stand on its monitor."""
    kinds = monitoring.refused_calls(None)
    told = ", ".join(f"{kind.count} {kind.reason.label}" for kind in kinds)
    latest = f", the latest {max(kind.latest for kind in kinds):%Y-%m-%d %H:%M} UTC" if kinds else ""
    return (note if kinds else good)((told or "none kept") + latest)
