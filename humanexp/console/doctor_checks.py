"""What `doctor` looks at: one function a question, each answering with a finding, in the order of this file.

A new question is one function.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from smtplib import SMTPException
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import get_connection
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.utils import DatabaseError

from analysis import plugins
from analysis.errors import install
from humanexp.addresses import is_loopback
from humanexp.console.archives.tables import named_files
from humanexp.console.models import Backup
from humanexp.console.sites import answers
from humanexp.core import clock, file_store, sealing
from humanexp.core.errors import FileRefused, FilesAway, RecruiterError
from humanexp.core.objects import objects
from humanexp.core.problems import Problem, Question, Questions, bad, good, missing, note
from humanexp.core.storage import current_path, wrong_folder
from humanexp.jobs import selectors
from humanexp.jobs.selectors import unfinished
from humanexp.participation import monitoring
from humanexp.participation.models import Session
from humanexp.participation.monitoring import DamagedFile, damaged_files
from humanexp.recruiters import keys, registry
from humanexp.recruiters.models import Campaign
from humanexp.recruiters.states import CampaignState
from humanexp.table_making import OtherTables, check_tables

question = Questions[[]]()


def examine() -> list[Problem]:
    """Every question's answer. A database that cannot be asked is named once, by its own question."""
    return [replace(_answer(entry), key=entry.key, subject=entry.subject) for entry in question]


def _answer(entry: Question[[]]) -> Problem:
    try:
        return entry.ask()
    except DatabaseError:
        return note("unknown: the database is not ready")


_REMEDY = "python manage.py backup --to DIR, every night (docs/operate/backup.md)"


@question("Backup")
def backup() -> Problem:
    """The age of the last archive, and of the last one that was proved."""
    last, proved = Backup.objects.first(), Backup.objects.exclude(verified_at=None).first()
    if last is None:
        at_stake = Session.objects.filter(is_scripted=False).exists()
        detail = "no archive was ever made" + ("; people's answers are on this machine only" if at_stake else "")
        return (bad if at_stake else note)(detail, _REMEDY)
    told = f"the last archive is {_age(last)} old, in {last.place}"
    if proved is None:
        return bad(f"{told}; none was ever verified", _REMEDY)
    told += f"; the last verified one is {_age(proved)} old"
    if clock.now() - proved.made_at > timedelta(hours=settings.BACKUP_MAX_AGE_HOURS):
        return bad(told, _REMEDY)
    if last.lost_files:
        return note(f"{told}; {last.lost_files} files were missing or altered by then", "see Files")
    return good(told)


def _age(row: Backup) -> str:
    hours = (clock.now() - row.made_at) / timedelta(hours=1)
    return f"{hours / 24:.0f} days" if hours >= 48 else f"{hours:.0f} hours"


#: Pictures of a kind that are drawn anew each time; of everything else each file is looked at.
SAMPLE = 200
#: Contents that are read from FILE_STORE.
STORED_SAMPLE = 20
#: Files that are named in the answer.
NAMED = 3


@question("Disk")
def disk() -> Problem:
    root = Path(settings.MEDIA_ROOT)
    free_gb = shutil.disk_usage(root).free / 1e9
    if not os.access(root, os.W_OK):
        return missing(f"{root} is not writable", "set MEDIA_ROOT")
    return (good if free_gb > 1 else note)(f"{root}, {free_gb:.0f} GB free")


@question("Storage")
def storage() -> Problem:
    if (problem := wrong_folder()) is not None:
        return problem
    if settings.FILE_STORE:
        return _file_store()
    return good("the files are those of this database")


def _file_store() -> Problem:
    if fault := objects().fault():
        remedy = "look at the address, the keys and the network; whoever needs a file waits meanwhile"
        return bad(fault, remedy)
    try:
        wrong = [path for path, _error in file_store.damaged(sample=STORED_SAMPLE)]
    except FilesAway as error:
        return bad(error.message)
    if wrong:
        return bad(
            f"of {STORED_SAMPLE} contents drawn from FILE_STORE, missing or damaged: {_named(wrong)}",
            "files --check tells of all; restore --files and files --check --mend bring them back",
        )
    return good("FILE_STORE answers, and what was drawn from it is whole")


@question("Files")
def files() -> Problem:
    looked_at, wrong = 0, []
    try:
        for relative, digest in named_files(sample=SAMPLE):
            looked_at += 1
            if (fault := _fault(relative, digest)) is not None:
                wrong.append((fault, relative))
    except FilesAway as error:
        return bad(error.message)
    if not wrong:
        return good(f"{looked_at} files are as the database knows them")
    counts = Counter(fault for fault, _relative in wrong)
    told = " and ".join(f"{count} {fault}" for fault, count in sorted(counts.items()))
    return bad(
        f"of {looked_at} files looked at, {told}: {_named([relative for _fault, relative in wrong])}",
        "restore them from the backup; verify_stimuli SET looks at all of a set",
    )


@question("Pictures not shown")
def damaged_pictures() -> Problem:
    """What people met: their trials take no answer until the file is the one that was made."""
    found = damaged_files()
    if not found:
        return good("none")
    sets = sorted({damaged.stimulus_set for damaged in found})
    return bad(
        f"{len(found)} that participants needed: {_named([_damage(damaged) for damaged in found])}",
        f"restore them from the backup, then verify_stimuli {' and '.join(sets)}; trials go on by themselves",
    )


def _damage(damaged: DamagedFile) -> str:
    fault = "missing" if damaged.is_missing else "altered"
    return f"{damaged.file} ({fault}, has stopped {damaged.sessions} sessions)"


def _named(names: Sequence[str]) -> str:
    return ", ".join(names[:NAMED]) + (" ..." if len(names) > NAMED else "")


def _fault(relative: str, digest: str) -> str | None:
    try:
        with current_path(relative).open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest() if digest else ""
    except OSError:
        return "missing"
    except FileRefused as error:
        return "missing" if error.is_missing else "altered"
    return None if found == digest else "altered"


@question("Python")
def python() -> Problem:
    version = ".".join(map(str, sys.version_info[:3]))
    return good(version) if sys.version_info >= (3, 11) else missing(version, "3.11+")


@question("Database")
def database() -> Problem:
    engine = connection.vendor
    try:
        check_tables(connection)
        executor = MigrationExecutor(connection)
        pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except OtherTables as refusal:
        return missing(str(refusal))
    except DatabaseError as error:
        return missing(f"{engine}: {error}", "check DATABASE_URL")
    if pending:
        return missing(f"{engine}, {len(pending)} migrations to apply", "python manage.py migrate")
    name = settings.DATABASES[DEFAULT_DB_ALIAS]["NAME"]
    return good(f"{engine}, {name}")


@question("torch")
def torch() -> Problem:
    if importlib.util.find_spec("torch") is None:
        return note("not installed: networks cannot be run, retrained or searched here", install("torch"))
    return good(importlib.metadata.version("torch"))


@question("Published networks")
def published_networks() -> Problem:
    wanted = {
        "torchvision": "torchvision",
        "timm": "timm",
        "open_clip": "open_clip_torch",
        "onnxruntime": "onnxruntime",
    }
    absent = [package for module, package in wanted.items() if importlib.util.find_spec(module) is None]
    if absent:
        return note(f"not installed: {', '.join(absent)}", install("classifiers"))
    return good("all adapters")


@question("Plug-ins")
def plug_ins() -> Problem:
    """Packages that add classifiers, observers, corruptions or generators; none of them is imported."""
    # With all that they bring: the other questions need none of it.
    from analysis.classifiers.loading import SCHEMES
    from analysis.corruptions import FAMILIES
    from analysis.counterfactuals.specifications import GENERATORS
    from humanexp.evaluations.plugged_observers import SHIPPED

    shipped = {
        plugins.CLASSIFIERS: SCHEMES,
        plugins.OBSERVERS: SHIPPED,
        plugins.CORRUPTIONS: [one.name for family in FAMILIES for one in family],
        plugins.GENERATORS: GENERATORS,
    }
    if refused := [why for group, names in shipped.items() for why in plugins.refusals(group, names)]:
        return note(" ".join(refused))
    found = [one for group, names in shipped.items() for one in plugins.offered(group, names)]
    return good(", ".join(f"{one.name} of {one.title}" for one in found) or "none")


@question("Chromium")
def browser() -> Problem:
    found = shutil.which(os.environ.get("CHROMIUM", "chromium"))
    if found is None:
        return note("not found: browser tests are skipped")
    return good(found)


@question("PostgreSQL")
def postgres() -> Problem:
    found = shutil.which("initdb") or next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))), None)
    detail = str(found) if found else "server programs not found: its tests are skipped"
    return (good if found else note)(detail)


@question("Secret key")
def secret_key() -> Problem:
    if fault := sealing.fault_of_key():
        return bad(fault, sealing.REMEDY)
    where = "the environment" if os.environ.get("SECRET_KEY") else "MEDIA_ROOT/keys/secret_key"
    return good(f"in {where}; keep a copy of it")


@question("File modes")
def file_modes() -> Problem:
    """Worker ids, password hashes and keys are for the owner alone."""
    root = Path(settings.MEDIA_ROOT)
    sites = (path for site in ("marketplace", "panel") for path in root.glob(f"{site}.sqlite3*"))
    secret = [*(root / "keys").glob("*"), *_database_files(), *sites]
    if loose := [path for path in secret if _is_open(path)]:
        names = ", ".join(path.name for path in loose)
        return bad(f"others can read {names}", f"chmod go= {' '.join(map(str, loose))}")
    if _is_open(root):
        return note(f"others can look into {root}: uploads, results and logs lie there", f"chmod -R go= {root}")
    return good("database, keys and files are their owner's alone")


def _database_files() -> list[Path]:
    """SQLite's file with its journals; another database keeps its own."""
    if connection.vendor != "sqlite":
        return []
    name = Path(str(connection.settings_dict["NAME"]))
    return list(name.parent.glob(f"{name.name}*")) if name.is_absolute() else []


def _is_open(path: Path) -> bool:
    return bool(path.stat().st_mode & 0o077)


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
