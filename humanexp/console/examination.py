"""What `doctor` looks at: one function a question, each answering with a finding. A new question is one function."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.utils import DatabaseError

State = Literal["ok", "note", "missing"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    subject: str
    #: "note" is worth knowing; "missing" keeps the product from working
    state: State
    detail: str
    remedy: str = ""


Question = Callable[[], Finding]
QUESTIONS: list[Question] = []


def question(ask: Question) -> Question:
    QUESTIONS.append(ask)
    return ask


def examine() -> list[Finding]:
    return [ask() for ask in QUESTIONS]


@question
def python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    new_enough = sys.version_info >= (3, 11)
    return Finding(
        subject="Python", state="ok" if new_enough else "missing", detail=version, remedy="" if new_enough else "3.11+"
    )


@question
def database() -> Finding:
    engine = connection.vendor
    try:
        executor = MigrationExecutor(connection)
        pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError as error:
        return Finding(subject="Database", state="missing", detail=f"{engine}: {error}", remedy="check DATABASE_URL")
    if pending:
        return Finding(
            subject="Database",
            state="missing",
            detail=f"{engine}, {len(pending)} migrations to apply",
            remedy="python manage.py migrate",
        )
    name = settings.DATABASES[DEFAULT_DB_ALIAS]["NAME"]
    return Finding(subject="Database", state="ok", detail=f"{engine}, {name}")


@question
def files() -> Finding:
    root = Path(settings.MEDIA_ROOT)
    free_gb = shutil.disk_usage(root).free / 1e9
    if not os.access(root, os.W_OK):
        return Finding(subject="Files", state="missing", detail=f"{root} is not writable", remedy="set MEDIA_ROOT")
    return Finding(subject="Files", state="ok" if free_gb > 1 else "note", detail=f"{root}, {free_gb:.0f} GB free")


@question
def keys() -> Finding:
    loose = [
        path.name
        for path in (Path(settings.MEDIA_ROOT) / "keys").glob("*")
        if stat.S_IMODE(path.stat().st_mode) & 0o077
    ]
    if loose:
        return Finding(
            subject="Keys", state="note", detail=f"others can read {', '.join(loose)}", remedy="chmod 600 the file"
        )
    where = "environment" if os.environ.get("SECRET_KEY") else "made on the first run, mode 0600"
    return Finding(subject="Keys", state="ok", detail=f"{where}; back up PSEUDONYM_KEY")


@question
def jobs() -> Finding:
    from humanexp.jobs import selectors

    try:
        waiting = selectors.unfinished().exclude(subject="periodic").count()
    except DatabaseError:
        return Finding(subject="Jobs", state="note", detail="unknown: the database is not ready")
    return Finding(
        subject="Jobs",
        state="note" if waiting else "ok",
        detail=f"{waiting} unfinished; compute: {settings.COMPUTE}",
        remedy="python manage.py run_jobs" if waiting else "",
    )


@question
def torch() -> Finding:
    if importlib.util.find_spec("torch") is None:
        return Finding(
            subject="torch", state="missing", detail="not installed", remedy="pip install -r requirements.txt"
        )
    return Finding(subject="torch", state="ok", detail=importlib.metadata.version("torch"))


@question
def published_networks() -> Finding:
    wanted = {
        "torchvision": "torchvision",
        "timm": "timm",
        "open_clip": "open_clip_torch",
        "onnxruntime": "onnxruntime",
    }
    absent = [package for module, package in wanted.items() if importlib.util.find_spec(module) is None]
    if absent:
        return Finding(
            subject="Published networks",
            state="note",
            detail=f"not installed: {', '.join(absent)}",
            remedy="pip install -r requirements/classifiers.txt",
        )
    return Finding(subject="Published networks", state="ok", detail="all adapters")


@question
def browser() -> Finding:
    found = shutil.which(os.environ.get("CHROMIUM", "chromium"))
    if found is None:
        return Finding(subject="Chromium", state="note", detail="not found: browser tests are skipped")
    return Finding(subject="Chromium", state="ok", detail=found)


@question
def postgres() -> Finding:
    found = shutil.which("initdb") or next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))), None)
    detail = str(found) if found else "server programs not found: its tests are skipped"
    return Finding(subject="PostgreSQL", state="ok" if found else "note", detail=detail)


@question
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


@question
def money() -> Finding:
    """Can real money move? Only with AWS keys and an https address."""
    has_keys = bool(os.environ.get("AWS_ACCESS_KEY_ID") or os.environ.get("AWS_PROFILE"))
    if has_keys and settings.PUBLIC_URL.startswith("https://"):
        return Finding(
            subject="Real money",
            state="note",
            detail="can move: AWS keys are set. Amazon announced that Mechanical Turk closed on 30 September 2026.",
        )
    return Finding(subject="Real money", state="ok", detail="cannot move: no AWS keys, or PUBLIC_URL is not https")


@question
def refused_calls() -> Finding:
    """Forged and repeated tokens that belong to no study; those of a study stand on its monitor."""
    from humanexp.experiments import selectors

    try:
        kinds = selectors.refused_calls(None)
    except DatabaseError:
        return Finding(subject="Refused calls", state="note", detail="unknown: the database is not ready")
    told = ", ".join(f"{kind.count} {kind.reason.label}" for kind in kinds)
    latest = f", the latest {max(kind.latest for kind in kinds):%Y-%m-%d %H:%M} UTC" if kinds else ""
    return Finding(subject="Refused calls", state="note" if kinds else "ok", detail=(told or "none kept") + latest)
