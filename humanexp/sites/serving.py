"""How each site runs: a Django project and a process of its own, on a database of its own."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

import django

from humanexp import processes
from humanexp.table_making import bring_up_to_date


def set_up(name: str) -> None:
    """This process is that site, whatever the platform's commands have set before."""
    os.umask(0o077)  # the database contains keys
    os.environ["DJANGO_SETTINGS_MODULE"] = f"humanexp.sites.{name}.settings"
    django.setup()


def prepare(name: str) -> None:
    """For a command: the site may never have run."""
    set_up(name)
    bring_up_to_date()


@dataclass(frozen=True, kw_only=True)
class Site:
    """What differs. Modules of the site are imported once it is set up."""

    #: its package in `humanexp.sites`
    name: str
    port: int
    #: what speaks against listening at this address, a sentence each
    problems: Callable[[str], list[str]]
    #: module and function that run in a thread beside it
    beside: tuple[str, str]

    def main(self, arguments: list[str] | None = None) -> int:
        """Bring the database up to date and answer until told to stop. One line says when it is ready."""
        parser = argparse.ArgumentParser(prog=f"python -m humanexp.sites.{self.name}.serve")
        processes.add_arguments(parser, port=self.port)
        chosen = parser.parse_args(arguments)
        processes.watch()
        set_up(self.name)
        if against := self.problems(chosen.host):
            sys.stderr.write("".join(f"{sentence}\n" for sentence in against))
            return 1
        bring_up_to_date()
        try:
            self._listen(chosen.host, chosen.port)
        except OSError as err:
            where = f"{chosen.host}:{chosen.port}"
            sys.stderr.write(f"The {self.name} cannot listen on {where}: {err.strerror or err}\n")
            return 1
        return 0

    def _listen(self, host: str, port: int) -> None:
        from django.conf import settings
        from django.core.handlers.wsgi import WSGIHandler

        from humanexp.sites.controls import CutsConnections

        module, function = self.beside
        processes.listen(
            CutsConnections(WSGIHandler()),
            name=self.name,
            host=host,
            port=port,
            largest_body=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
            beside=getattr(import_module(f"humanexp.sites.{self.name}.{module}"), function),
        )
