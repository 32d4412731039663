"""The command `humanexp`, which is `python manage.py` in a checkout and `python -m humanexp` everywhere."""

from __future__ import annotations

import os
import sys

from analysis.extras import install


def main() -> None:
    os.umask(0o077)  # files with answers, ids or keys are their owner's alone
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "humanexp.settings")
    try:
        from django.core.management import execute_from_command_line
    except ModuleNotFoundError as error:
        raise SystemExit(f"The platform is not installed, only the analysis: {install('server')}.") from error
    # move-database and move_database are one command
    arguments = [argument.replace("-", "_") if place == 1 else argument for place, argument in enumerate(sys.argv)]
    execute_from_command_line(arguments)


if __name__ == "__main__":
    main()
