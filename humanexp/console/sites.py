"""Processes of this machine: those of the demo, and sites of this distribution that are started from the console.

The demo's are started together, never restarted, and ended together. Of sites, the job runner keeps those up that are
wanted: such a site is a child of the job runner and ends with it; the next runner starts it again. The site listens on
this machine only. Keys of an account there are made on the way, where the environment names none.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction

from humanexp import processes
from humanexp.addresses import is_loopback
from humanexp.console.models import LocalSite
from humanexp.core import clock
from humanexp.core.errors import ApplicationError, InputRefused, NotAllowed, StateRefused
from humanexp.core.models import User, record
from humanexp.core.storage import media_path
from humanexp.jobs import services as jobs
from humanexp.jobs.selectors import latest_for
from humanexp.ledger.budgets import set_month_cap
from humanexp.recruiters import keys, registry
from humanexp.recruiters.registry import Kind, OwnSite
from humanexp.recruiting.accounts import check_administrator, try_account

#: Between two words about a process that is still starting.
STILL_S = 15.0
#: Of a log, where its process has ended.
_LAST_LINES = 12


class PortTaken(ApplicationError):
    """The port is in use: stop the other program, or use --no-serve, which takes free ports."""


class ProcessDied(ApplicationError):
    """A process of the demo ended by itself."""


@dataclass(frozen=True)
class Addresses:
    """Two sites on purpose: 127.0.0.1 and localhost differ for a browser, so faults of frames and cookies show."""

    web_port: int
    marketplace_port: int
    panel_port: int

    @property
    def web(self) -> str:
        return f"http://127.0.0.1:{self.web_port}"

    @property
    def marketplace(self) -> str:
        return f"http://localhost:{self.marketplace_port}"

    @property
    def panel(self) -> str:
        return f"http://localhost:{self.panel_port}"

    @classmethod
    def fixed(cls, recruiter: str = "marketplace") -> Addresses:
        """The documented ports; those of the platform and of this site have to be free.

        Raises
        ------
        PortTaken
            Naming the port, before any work is done.
        """
        found = cls(8000, 8001, 8002)
        for port in (found.web_port, getattr(found, f"{recruiter}_port")):
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind(("127.0.0.1", port))
                except OSError as error:
                    raise PortTaken(
                        f"Port {port} is in use: stop the program that uses it, or add --no-serve to take free ports."
                    ) from error
        return found

    @classmethod
    def free(cls) -> Addresses:
        with contextlib.ExitStack() as stack:
            probes = [stack.enter_context(socket.socket()) for _ in range(3)]
            for probe in probes:
                probe.bind(("127.0.0.1", 0))
            return cls(*(probe.getsockname()[1] for probe in probes))


def command_lines(addresses: Addresses) -> dict[str, list[str]]:
    """What a person would type in three terminals."""
    python = sys.executable
    return {
        "web": [
            python,
            "-m",
            "gunicorn",
            "--config=python:humanexp.serving",
            f"--bind=127.0.0.1:{addresses.web_port}",
            "humanexp.wsgi",
        ],
        "marketplace": [python, "-m", "humanexp", "marketplace", "--port", str(addresses.marketplace_port)],
        "panel": [python, "-m", "humanexp", "panel", "--port", str(addresses.panel_port)],
        "run_jobs": [python, "-m", "humanexp", "run_jobs"],
    }


def environment(addresses: Addresses, extra: Mapping[str, str]) -> dict[str, str]:
    return {
        **os.environ,
        "MEDIA_ROOT": str(settings.MEDIA_ROOT),
        "PUBLIC_URL": addresses.web,
        "MARKETPLACE_URL": addresses.marketplace,
        "PANEL_URL": addresses.panel,
        **extra,
    }


@contextlib.contextmanager
def started(name: str, addresses: Addresses, extra: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A process of the product for the time of the block; its output goes to MEDIA_ROOT/logs/<name>.log."""
    process = begin(name, command_lines(addresses)[name], environment(addresses, extra))
    try:
        yield process
    finally:
        end(process)


def begin(name: str, command: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """A process that ends when this one does; its output goes to MEDIA_ROOT/logs/<name>.log."""
    log = _log(name)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as stream:
        return subprocess.Popen(  # noqa: S603  (our own command lines)
            command,
            env=processes.bound(environment),
            cwd=settings.BASE_DIR,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
        )


def end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def account_keys(recruiter: str, addresses: Addresses) -> dict[str, str]:
    """Keys of an account on one of our own sites, as settings; the account is made when it is not there."""
    kind = registry.kind_of(recruiter)
    if kind.own_site is None:
        raise InputRefused(f"{recruiter} is no site of this distribution.")
    return kind.keys_from(account_made(kind.own_site.account_maker, "demo", environment(addresses, {})))


def account_made(maker: str, name: str, environment: Mapping[str, str]) -> dict[str, str]:
    """What a site's own module prints about the account of this name, which it makes when it is not there."""
    reply = subprocess.run(  # noqa: S603
        [sys.executable, "-m", maker, "--name", name, "--balance", "1000"],
        env=dict(environment),
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )
    if reply.returncode:
        raise ProcessDied(f"{maker} made no account: {reply.stderr.strip()[-300:]}")
    made: dict[str, str] = json.loads(reply.stdout)
    return made


def wait_until_ready(
    name: str,
    process: subprocess.Popen[bytes],
    url: str,
    *,
    tell: Callable[[str], object] = lambda sentence: None,
    patience_s: float = math.inf,
) -> None:
    """Until `url`/healthz answers: as long as the process lives, for a busy machine takes minutes.

    `tell` is told every now and then that it is still starting.

    Raises
    ------
    ProcessDied
        As soon as it has ended, with the end of its log; or when it does not answer within `patience_s`.
    """
    import requests  # 0.1 s, and only who starts a process pays for it

    began = told = time.monotonic()
    while (now := time.monotonic()) - began < patience_s:
        check_alive(name, process)
        with contextlib.suppress(requests.RequestException):
            if requests.get(f"{url}/healthz", timeout=2).ok:
                return
        if now - told >= STILL_S:
            told = now
            tell(f"The {name} process is still starting, after {now - began:.0f} s.")
        time.sleep(0.1)
    raise ProcessDied(f"The {name} process does not answer at {url}: see {_log(name)}.")


def check_alive(name: str, process: subprocess.Popen[bytes]) -> None:
    """Raises ProcessDied, with the end of its log, if it has ended."""
    if process.poll() is not None:
        raise ProcessDied(
            f"The {name} process ended with status {process.returncode}: see {_log(name)}.{_last_lines(name)}"
        )


def _log(name: str) -> Path:
    return Path(settings.MEDIA_ROOT) / "logs" / f"{name}.log"


def _last_lines(name: str) -> str:
    try:
        with _log(name).open(encoding="utf-8", errors="replace") as log:
            lines = deque(log, _LAST_LINES)
    except FileNotFoundError:
        return ""
    return f" It ends:\n{''.join(lines).rstrip()}" if lines else ""


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
    process = begin(name, command, environment)
    _children[kind.code] = process
    wait_until_ready(name, process, kind.address, patience_s=_STARTS_WITHIN_S)
    return process.pid


def _make_account(kind: Kind, site: OwnSite, environment: dict[str, str]) -> None:
    """The same name again gives the same keys. Those of the environment are somebody's choice, and stay.

    Play money can be spent from the start; a limit that somebody has set since is theirs.
    """
    names = kind.key_names(registry.account_of(kind.code))
    if any(map(keys.is_configured, names)):
        return
    is_new = bool(keys.missing(names))
    keys.store(kind.keys_from(account_made(site.account_maker, ACCOUNT, environment)))
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
        end(child)
    elif row.pid:
        with contextlib.suppress(ProcessLookupError):
            os.kill(row.pid, signal.SIGTERM)
    row.pid, row.host, row.at = 0, "", clock.now()
    row.save()
