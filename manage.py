#!/usr/bin/env python
"""Run a HumanExp command: python manage.py help."""

from __future__ import annotations

import os
import sys


def main() -> None:
    os.umask(0o077)  # files with answers, ids or keys are their owner's alone
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "humanexp.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
