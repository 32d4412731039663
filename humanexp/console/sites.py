"""Sites of this distribution that are started from the console: the job runner keeps those up that are wanted.

A wanted site is a child of the job runner and ends with it; the next runner starts it again. The site listens on this
machine only. Keys of an account there are made on the way, where the environment names none.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction

from humanexp.addresses import is_loopback
from humanexp.console import supervisor
from humanexp.console.models import LocalSite
from humanexp.core import clock
from humanexp.core.errors import ApplicationError, NotAllowed, StateRefused
from humanexp.core.models import User, record
from humanexp.core.storage import media_path
from humanexp.jobs import services as jobs
from humanexp.jobs.selectors import latest_for
from humanexp.ledger.budgets import set_month_cap
from humanexp.recruiters import keys, registry
from humanexp.recruiters.registry import Kind, OwnSite
from humanexp.recruiting.accounts import check_administrator, try_account

JOB = "console.keep-sites"
#: Of the account that is made on a site, so that it is found again.
ACCOUNT = "HumanExp"
#: What may be promised in a month through a new account whose money is made up: as much as the site gives it.
PLAY_MONEY_CENTS = 100_000
#: An answer from this machine comes at once, or not at all.
_ANSWERS_S = 1.0
#: The lane of urgent jobs waits so long for a site that starts.
_STARTS_WITHIN_S = 180.0
#: Processes that this runner has started, by kind.
_children: dict[str, subprocess.Popen[bytes]] = {}


@dataclass(frozen=True, kw_only=True)
class SiteState:
    """What a page says of a site."""

    kind: Kind
    site: OwnSite
    is_wanted: bool
    #: it answers, whoever has started it
    answers: bool
    fault: str
    may_start: bool
    #: the job runner has started it, and can stop it
    is_ours: bool
    #: a button was pressed, and the job runner has not done all of it
    is_asked: bool

    @property
    def is_changing(self) -> bool:
        """Not yet as it is wanted, with an account there that was tried out."""
        return self.is_asked or (not self.answers if self.is_wanted else self.is_ours)

    @property
    def has_keys(self) -> bool:
        return not keys.missing(self.kind.key_names(registry.account_of(self.kind.code)))


def own_sites() -> dict[str, tuple[Kind, OwnSite]]:
    """By the code of their kind."""
    return {kind.code: (kind, kind.own_site) for kind in registry.kinds() if kind.own_site is not None}


def may_start(kind: Kind) -> bool:
    """Only where nobody else can reach it, and where the settings let the console start processes at all."""
    return bool(settings.LOCAL_SITES) and is_loopback(urlsplit(kind.address).hostname or "")


def standing_of(kind: Kind, site: OwnSite) -> SiteState:
    row = LocalSite.objects.filter(kind=kind.code).first() or LocalSite(kind=kind.code)
    may = may_start(kind)
    job = latest_for(f"recruiter:{kind.code}", JOB)
    return SiteState(
        kind=kind,
        site=site,
        is_wanted=row.is_wanted,
        answers=may and answers(kind.address),
        fault=row.fault,
        may_start=may,
        is_ours=bool(row.pid),
        is_asked=job is not None and not job.is_finished,
    )


def answers(address: str) -> bool:
    import requests  # 0.1 s, and only who asks pays for it

    try:
        return requests.get(f"{address}/healthz", timeout=_ANSWERS_S).ok
    except requests.RequestException:
        return False


def start(*, kind: str, by: User | None) -> None:
    """The job runner starts it within seconds, and makes an account there for us."""
    check_administrator(by)
    found, _site = own_sites()[kind]
    if not may_start(found):
        raise NotAllowed(
            f"This installation does not start sites: LOCAL_SITES is off, or {found.address} is not on this machine."
        )
    _want(kind, True, by, "start-site")


def stop(*, kind: str, by: User | None) -> None:
    check_administrator(by)
    _want(kind, False, by, "stop-site")


@transaction.atomic
def _want(kind: str, is_wanted: bool, by: User | None, action: str) -> None:
    LocalSite.objects.update_or_create(kind=kind, defaults={"is_wanted": is_wanted, "fault": "", "at": clock.now()})
    record(action=action, subject=f"recruiter:{kind}", by=by)
    jobs.submit(JOB, subject=f"recruiter:{kind}", by=by)


def keep() -> dict[str, str]:
    """Start what is wanted and does not run, end what is not wanted any more; returns what was done, by kind."""
    done = {}
    with _alone() as is_alone:
        if not is_alone:
            return {}
        for code, (kind, site) in own_sites().items():
            row = LocalSite.objects.filter(kind=code).first()
            if row is None or (row.pid and row.host != socket.gethostname()):
                continue  # never asked for, or a process of another machine
            is_running = _is_running(row, site)
            if row.is_wanted and not is_running and may_start(kind):
                done[code] = _start(row, kind, site)
            elif not row.is_wanted and is_running:
                _end(row)
                done[code] = "stopped"
    return done


@contextlib.contextmanager
def _alone() -> Iterator[bool]:
    """Two runners of one machine do not both start the same site."""
    path = media_path("logs/sites.lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True


def _start(row: LocalSite, kind: Kind, site: OwnSite) -> str:
    row.pid, row.host, row.fault, row.at = 0, "", "", clock.now()
    environment = {
        **os.environ,
        "MEDIA_ROOT": str(settings.MEDIA_ROOT),
        site.address_setting: kind.address,
        "DJANGO_SETTINGS_MODULE": f"{site.package}.settings",
    }
    try:
        if not answers(kind.address):  # else somebody has started it in a shell
            row.pid, row.host = _serve(kind, site, environment), socket.gethostname()
        _make_account(kind, site, environment)
    except ApplicationError as error:
        _end(row)
        row.fault, row.is_wanted = error.message[:500], False
    row.save()
    return row.fault or "started"


def _serve(kind: Kind, site: OwnSite, environment: dict[str, str]) -> int:
    port = urlsplit(kind.address).port
    if port is None:
        raise StateRefused(f"{kind.address} names no port on which the site could listen.")
    command = [sys.executable, "-m", f"{site.package}.serve", "--port", str(port)]
    name = site.package.rpartition(".")[2]
    process = supervisor.begin(name, command, environment)
    _children[kind.code] = process
    supervisor.wait_until_ready(name, process, kind.address, patience_s=_STARTS_WITHIN_S)
    return process.pid


def _make_account(kind: Kind, site: OwnSite, environment: dict[str, str]) -> None:
    """The same name again gives the same keys. Those of the environment are somebody's choice, and stay.

    Play money can be spent from the start; a limit that somebody has set since is theirs.
    """
    names = kind.key_names(registry.account_of(kind.code))
    if any(map(keys.is_configured, names)):
        return
    is_new = bool(keys.missing(names))
    keys.store(kind.keys_from(supervisor.account_made(site.account_maker, ACCOUNT, environment)))
    try_account(code=kind.code)
    if is_new and kind.capabilities.is_play:
        set_month_cap(environment=kind.code, cap_cents=PLAY_MONEY_CENTS, by=None)


def _is_running(row: LocalSite, site: OwnSite) -> bool:
    if (child := _children.get(row.kind)) is not None and child.pid == row.pid:
        return child.poll() is None
    if not row.pid:
        return False
    # another runner's: its number may be some other process's by now
    said = Path(f"/proc/{row.pid}/cmdline")
    return said.exists() and f"{site.package}.serve" in said.read_text(encoding="utf-8", errors="replace")


def _end(row: LocalSite) -> None:
    child = _children.pop(row.kind, None)
    if child is not None:
        supervisor.end(child)
    elif row.pid:
        with contextlib.suppress(ProcessLookupError):
            os.kill(row.pid, signal.SIGTERM)
    row.pid, row.host, row.at = 0, "", clock.now()
    row.save()
