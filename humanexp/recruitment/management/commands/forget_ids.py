from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from humanexp.recruiting.personal_data import forget_ids
from humanexp.recruitment.management.base import RecruitmentCommand


class Command(RecruitmentCommand):
    help = "Erase the ids under which recruiters know the people of a family; their answers stay, under codes."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("family", metavar="FAMILY", help="name of the family; a study alone is its own")
        parser.add_argument("--after", type=int, required=True, metavar="DAYS", help="since a person's last session")
        parser.add_argument("--yes", action="store_true", help="really erase; without it, say what would go")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["after"] < 0:
            raise CommandError("--after is a number of days: 0 or more.")
        family, is_meant = self.family(options["family"]), options["yes"]
        done = forget_ids(family=family, days=options["after"], dry_run=not is_meant)
        self.stdout.write(
            f"{done.erased} ids {'erased' if is_meant else 'would go'}; {done.recent} people were here later than "
            f"{options['after']} days ago, and to {done.owed} something is owed: theirs stay"
        )
        if not is_meant:
            raise CommandError("Nothing was erased. Repeat the command with --yes; it cannot be undone.")
        if not done.is_journal_empty:
            raise CommandError(
                "The ids are erased, but somebody was reading the database: its journal (-wal) may hold them until the "
                "next checkpoint. Stop web and run_jobs for a moment, and the journal goes with them."
            )
