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
from humanexp.console.doctor_checks.questions import question
from humanexp.core.problems import Problem, good, missing, note
from humanexp.table_making import OtherTables, check_tables


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
