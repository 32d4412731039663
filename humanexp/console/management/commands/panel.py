from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from humanexp import processes


class Command(BaseCommand):
    help = "Serve the practice panel, a stand-in of Prolific: a site of its own, with its own database."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        processes.add_arguments(parser, port=8002)

    def handle(self, *args: Any, **options: Any) -> None:
        processes.become("humanexp.sites.panel", host=options["host"], port=options["port"])
