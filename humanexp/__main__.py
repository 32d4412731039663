"""The command `humanexp`, which is `python manage.py` in a checkout and `python -m humanexp` everywhere."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING

from analysis.errors import install
from humanexp import processes

if TYPE_CHECKING:
    from django.core.management.base import BaseCommand


def main() -> None:
    processes.watch()
    os.umask(0o077)  # files with answers, ids or keys are their owner's alone
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "humanexp.settings")
    gc.disable()  # until all apps are loaded: none of that is garbage, and looking for some takes a tenth of the time
    try:
        from django.core.management import ManagementUtility
    except ModuleNotFoundError as error:
        raise SystemExit(f"The platform is not installed, only the analysis: {install('server')}.") from error
    # move-database and move_database are one command
    arguments = [argument.replace("-", "_") if place == 1 else argument for place, argument in enumerate(sys.argv)]

    class Commands(ManagementUtility):
        def fetch_command(self, subcommand: str) -> BaseCommand:
            gc.freeze()
            gc.enable()
            return super().fetch_command(subcommand)

    Commands(arguments).execute()


if __name__ == "__main__":
    main()
