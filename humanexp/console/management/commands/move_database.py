from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import CommandParser

from humanexp.console.archives.restoration import move_database
from humanexp.core.commands import ProgressLine, RefusableCommand


class Command(RefusableCommand):
    help = "Copy every row to another, empty database (SQLite to PostgreSQL, or back), and compare both."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--to", required=True, metavar="DATABASE_URL", help="postgres://... or sqlite:///...")

    def handle(self, *args: Any, **options: Any) -> None:
        with ProgressLine(sys.stderr) as progress:
            moved = move_database(address=options["to"], progress=progress)
        facts = moved.facts
        self.stdout.write(
            f"{facts.rows} rows of {len(facts.tables)} tables are in the target. Every table has the same rows and the "
            f"same digest there, the ledger the same sums ({len(facts.ledger)}), and each of {len(facts.plans)} plans "
            "its digest. The source is as it was.\n"
            "Next: set DATABASE_URL to the target in the environment of web, jobs and backup; start them; then: doctor"
        )
