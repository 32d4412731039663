from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from humanexp.recruiting.personal_data import delete_participant, what_goes
from humanexp.recruitment.management.base import RecruitmentCommand


class Command(RecruitmentCommand):
    help = "Delete a participant: worker ids, sessions, answers and verdicts. The ledger keeps the sums."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("code", metavar="CODE", help="the participant's code, like P-7K3QX2ABCD")
        parser.add_argument("--yes", action="store_true", help="really delete; without it, say what would go")

    def handle(self, *args: Any, **options: Any) -> None:
        goes = what_goes(code=options["code"])
        self.stdout.write(
            f"{goes.code}: {goes.worker_ids} worker ids, {goes.sessions} sessions with {goes.answers} answers; "
            f"{goes.payments_kept} payments stay in the books without the person"
        )
        if not options["yes"]:
            raise CommandError("Nothing was deleted. Repeat the command with --yes; it cannot be undone.")
        gone = delete_participant(code=options["code"])
        self.stdout.write("deleted")
        for name in gone.renamed_in:
            self.stdout.write(f"{name}: names the person otherwise now; its numbers stay")
        for name in gone.left_in:
            self.stdout.write(f"{name}: still holds a code of the person; delete it, or make it again")
        self.stdout.write(
            "Backups, and exports, reports and tables that were taken away earlier, are out of reach: the Record of "
            "the study says who took which. Delete them, or make them again."
        )
        if not gone.is_journal_empty:
            raise CommandError(
                "The rows are deleted, but somebody was reading the database: its journal (-wal) may hold the worker "
                "id until the next checkpoint. Stop web and run_jobs for a moment, and the journal goes with them."
            )
