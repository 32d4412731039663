from __future__ import annotations

import os
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser


class Command(BaseCommand):
    help = "Serve the MTurk-compatible marketplace: a site of its own, with its own database and accounts."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8001)

    def handle(self, *args: Any, **options: Any) -> None:
        # Another Django project: it needs a fresh interpreter with settings of its own.
        environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "humanexp.marketplace.settings"}
        arguments = ["-m", "humanexp.marketplace.serve", "--host", options["host"], "--port", str(options["port"])]
        os.execve(sys.executable, [sys.executable, *arguments], environment)  # noqa: S606
