from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Iterable

from django.core.management.base import CommandError, CommandParser

from humanexp.core.commands import RefusableCommand
from humanexp.core.errors import NotFound
from humanexp.ledger.figures import Money
from humanexp.ledger.sender import send
from humanexp.recruiters import money, registry
from humanexp.recruiters.money import Quote
from humanexp.studies.models import Study, StudyFamily
from humanexp.studies.selectors import study_by_slug


def price_words(price: Quote) -> str:
    """What a price is made of, and where it comes from."""
    parts = [f"rewards {money.shown(price.rewards_cents, price.currency)}"]
    parts.append(f"fees {money.shown(price.fees_cents, price.currency)}")
    if price.tax_cents:
        parts.append(f"tax {money.shown(price.tax_cents, price.currency)}")
    source = " (as the recruiter answered)" if price.is_asked else ""
    return f"{' + '.join(parts)} = {money.shown(price.total_cents, price.currency)}{source}"


def spent_words(sums: Money) -> str:
    """What was approved, in the words of the recruiters that it went through."""
    parts = [(sums.owed_cents, "owed (the lab pays it out)"), (sums.paid_cents, "paid"), (sums.fee_cents, "fees")]
    told = [f"{money.shown(cents, sums.currency)} {word}" for cents, word in parts if cents]
    return ", ".join(told) or "nothing approved yet"


def recruiter_code(text: str) -> str:
    """An argument that names a recruiter's account."""
    if not registry.is_known(text):
        raise ArgumentTypeError(f"{text!r} is no recruiter: choose one of {', '.join(registry.codes())}")
    return text


class RecruitmentCommand(RefusableCommand):
    """What commands about recruiting ask and say alike."""

    def study(self, slug: str) -> Study:
        return study_by_slug(slug)

    def family(self, slug: str) -> StudyFamily:
        found = StudyFamily.objects.filter(slug=slug).first()
        if found is None:
            raise NotFound(f"There is no family of studies {slug!r}.")
        return found

    def send_to(self, environments: Iterable[str]) -> None:
        """Carry what was planned to these recruiters, and say what was sent.

        What waits is a failure of the command, because somebody has to come back to it.
        """
        for environment in sorted(set(environments)):
            report = send(environment=environment, wait_s=60)
            for remark in report.remarks:
                self.stderr.write(remark)
            self.stdout.write(f"sent: {report.confirmed} confirmed, {report.refused} refused, {report.waiting} waiting")
            if report.refused or report.waiting:
                raise CommandError("Not everything was sent. Run the command again; nothing is sent twice.")


class StudyCommand(RecruitmentCommand):
    """About one study, which it takes first."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="name of the study in addresses")
