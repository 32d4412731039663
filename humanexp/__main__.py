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
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
