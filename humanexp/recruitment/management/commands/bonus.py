from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from humanexp.ledger.bonuses import pay_bonuses, read_bonuses
from humanexp.recruiters import money
from humanexp.recruitment.management.base import StudyCommand


class Command(StudyCommand):
    help = "Bonuses of any amount to people of a study, from a CSV of ids or codes with amounts; paid with the total."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", type=Path, metavar="FILE", help="columns id (or code) and amount")
        parser.add_argument("--reason", required=True, help="the person reads it")
        parser.add_argument("--confirm-total", metavar="AMOUNT", help="pay; the exact total that was told")

    def handle(self, *args: Any, **options: Any) -> None:
        study, file = self.study(options["study"]), options["file"]
        found = read_bonuses(study=study, content=file.read_bytes(), source=str(file))
        for line in found.lines:
            self.stdout.write(f"{line.assignment.person}  {money.shown(line.amount_cents, found.currency)}")
        amount, fees, total = (
            money.shown(cents, found.currency) for cents in (found.amount_cents, found.fee_cents, found.total_cents)
        )
        self.stdout.write(f"{len(found.lines)} bonuses, {amount} + fees {fees} = {total}")
        if not options["confirm_total"]:
            return
        pay_bonuses(
            study=study,
            bonuses=found,
            reason=options["reason"],
            shown_total_cents=found.total_cents,
            confirm_total_cents=money.cents(options["confirm_total"]),
            by=None,
        )
        self.send_to(line.assignment.environment for line in found.lines)
