"""What is installed: interpreter, database, packages and programs."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import sys
from pathlib import Path

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.utils import DatabaseError

from analysis.errors import install
from humanexp.console.doctor_checks.finding import Finding, question
from humanexp.migrating import OtherTables, check_tables


@question("Python")
def python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    new_enough = sys.version_info >= (3, 11)
    return Finding(
        subject="Python", state="ok" if new_enough else "missing", detail=version, remedy="" if new_enough else "3.11+"
    )


@question("Database")
def database() -> Finding:
    engine = connection.vendor
    try:
        check_tables(connection)
        executor = MigrationExecutor(connection)
        pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except OtherTables as refusal:
        return Finding(subject="Database", state="missing", detail=str(refusal))
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


@question("torch")
def torch() -> Finding:
    if importlib.util.find_spec("torch") is None:
        return Finding(
            subject="torch",
            state="note",
            detail="not installed: networks cannot be run, retrained or searched here",
            remedy=install("torch"),
        )
    return Finding(subject="torch", state="ok", detail=importlib.metadata.version("torch"))


@question("Published networks")
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
            remedy=install("classifiers"),
        )
    return Finding(subject="Published networks", state="ok", detail="all adapters")


@question("Chromium")
def browser() -> Finding:
    found = shutil.which(os.environ.get("CHROMIUM", "chromium"))
    if found is None:
        return Finding(subject="Chromium", state="note", detail="not found: browser tests are skipped")
    return Finding(subject="Chromium", state="ok", detail=found)


@question("PostgreSQL")
def postgres() -> Finding:
    found = shutil.which("initdb") or next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))), None)
    detail = str(found) if found else "server programs not found: its tests are skipped"
    return Finding(subject="PostgreSQL", state="ok" if found else "note", detail=detail)
