from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from humanexp.recruitment import services
from humanexp.recruitment.management.base import RecruitmentCommand
from humanexp.recruitment.services.deleting import what_goes


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
        services.delete_participant(code=options["code"])
        self.stdout.write("deleted")
