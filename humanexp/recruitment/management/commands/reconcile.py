from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from humanexp.ledger.reconciliation import reconcile
from humanexp.recruiters import money, registry
from humanexp.recruitment.management.base import RecruitmentCommand, recruiter_code


class Command(RecruitmentCommand):
    help = "Compare the ledger with what the recruiters say was paid; a difference waits for a person."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--environment", type=recruiter_code, metavar="NAME", help="default: all that were used")

    def handle(self, *args: Any, **options: Any) -> None:
        books = reconcile(environment=options["environment"])
        for book in books:
            currency = registry.currency_of(book.environment)
            sums = [money.shown(cents, currency) for cents in (book.ledger_cents, book.theirs_cents)]
            self.stdout.write(
                f"{book.environment}: {book.payments} payments, ledger {sums[0]}, recruiter {sums[1]}, "
                f"{book.on_the_way} on their way"
            )
            for sentence in [*book.differences, *book.remarks]:
                self.stderr.write(f"{book.environment}: {sentence}")
            if book.hits_unread:
                self.stderr.write(f"{book.environment}: the lists could not all be read; compare again.")
        if not books:
            self.stdout.write("nothing was ever paid through a recruiter")
        if any(not book.adds_up for book in books):
            raise CommandError("The ledger and the recruiter differ: see the page Ledger.")
        if any(book.hits_unread for book in books):
            raise CommandError("Not everything could be compared.")
