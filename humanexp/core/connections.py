"""From the addresses in settings to entries of Django's DATABASES and STORAGES, and one writer at a time.

Writers take turns where the database has only one.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from threading import Lock
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured
from django.db import connection, transaction

from analysis.errors import install

_SQLITE = {
    # A writer takes its lock at BEGIN, so two of them queue instead of failing half-way.
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    # FULL: an acknowledged answer is on the disk.
    # What is deleted is written over: a person who was forgotten is in no free page of the file.
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; "
    "PRAGMA secure_delete=ON;",
}


def database_of_address(address: str, *, kept_open_s: int = 60) -> dict[str, Any]:
    """Entry of DATABASES for DATABASE_URL.

    Raises
    ------
    ImproperlyConfigured
        If the address names neither SQLite nor PostgreSQL, or PostgreSQL's driver is missing.
    """
    try:
        found: dict[str, Any] = dict(environ.Env.db_url_config(address))
    except ValueError as error:
        raise ImproperlyConfigured(f"DATABASE_URL cannot be read: {error}") from error
    engine = str(found.get("ENGINE", ""))
    options = found.setdefault("OPTIONS", {})
    if engine.endswith("sqlite3"):
        options.update(_SQLITE)
    elif engine.endswith("postgresql"):
        if find_spec("psycopg") is None:
            raise ImproperlyConfigured(f"DATABASE_URL names PostgreSQL; its driver is missing: {install('postgres')}.")
        # A machine that is switched off answers nothing: pages and probes say so in time.
        options.setdefault("connect_timeout", 5)
    else:
        raise ImproperlyConfigured("DATABASE_URL must begin with sqlite:/// or postgres://.")
    return {
        **found,
        "ATOMIC_REQUESTS": False,
        # Kept open from request to request. For SQLite that is no less needed: whoever closes the last connection waits
        # for the disk twice.
        "CONN_MAX_AGE": kept_open_s,
        # One that the database has closed meanwhile is found at the next request, not by it.
        "CONN_HEALTH_CHECKS": True,
    }


#: Parameters of an address, and what django-storages calls them.
_OPTIONS = {"endpoint_url": "endpoint_url", "region": "region_name", "addressing_style": "addressing_style"}


def storage_of_address(address: str) -> dict[str, Any]:
    """Entry of STORAGES for PICTURES_STORAGE; keys come from where boto3 finds them, never from the address.

    Raises
    ------
    ImproperlyConfigured
        Saying what the address should look like.
    """
    bucket, prefix, options = parts_of_address(address, setting="PICTURES_STORAGE")
    return {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {"bucket_name": bucket, "location": prefix, **options},
    }


def parts_of_address(address: str, *, setting: str) -> tuple[str, str, dict[str, str]]:
    """Bucket, prefix, and the options as django-storages calls them. Raises ImproperlyConfigured."""
    parts = urlsplit(address)
    if parts.scheme != "s3" or not parts.hostname or parts.username:
        raise ImproperlyConfigured(
            f"{setting} must look like s3://bucket?endpoint_url=https://...&region=...; access keys belong into "
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
        )
    given = dict(parse_qsl(parts.query))
    unknown = sorted(set(given) - set(_OPTIONS))
    if unknown:
        raise ImproperlyConfigured(f"{setting} has no parameter {unknown[0]!r}; it has: {', '.join(_OPTIONS)}.")
    return parts.netloc, parts.path.strip("/"), {_OPTIONS[name]: value for name, value in given.items()}


_turn = Lock()


@contextmanager
def write_turn() -> Iterator[None]:
    """A transaction. Writers of SQLite queue here in order, threads and processes alike.

    SQLite itself lets who comes second sleep and try again: with many writers some sleep for seconds.
    """
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        with transaction.atomic():
            yield
        return
    with _turn, _turn_of_processes(str(connection.settings_dict["NAME"])), transaction.atomic():
        yield


@contextmanager
def _turn_of_processes(database: str) -> Iterator[None]:
    """The kernel wakes who waits longest, and frees the lock of a process that dies."""
    if "mode=memory" in database or database == ":memory:":
        yield
        return
    file = _turn_file(f"{database}-turn")
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


@cache
def _turn_file(path: str) -> int:
    """The descriptor of a file that stays open as long as the process lives: its lock goes with it.

    A file object would complain at the end that nobody closed it.
    """
    return os.open(path, os.O_WRONLY | os.O_CREAT, 0o666)
