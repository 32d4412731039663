from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from humanexp.ledger.budgets import Budget, budgets_of, month_budget, set_study_cap
from humanexp.ledger.figures import money_of
from humanexp.ledger.payments import tally_of
from humanexp.recruiters import money, registry
from humanexp.recruiters.models import Campaign
from humanexp.recruitment.management.base import StudyCommand, spent_words


class Command(StudyCommand):
    help = "What a study has promised and may still owe, and its caps; with an option, set a cap."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--cap", metavar="AMOUNT", help="most the study may cost; none takes the cap away")
        parser.add_argument("--currency", choices=list(money.SIGNS), default=money.USUAL, help="of --cap")

    def handle(self, *args: Any, **options: Any) -> None:
        study = self.study(options["study"])
        if options["cap"]:
            set_study_cap(study=study, cap_cents=money.cap(options["cap"]), currency=options["currency"], by=None)
        tally = tally_of(study)
        for sums in money_of(tally):
            opened, at_work, submitted, extra = (
                money.shown(cents, sums.currency)
                for cents in (sums.open_cents, sums.under_way_cents, sums.submitted_cents, sums.promised_extra_cents)
            )
            self.stdout.write(
                f"open places {opened}, at work {at_work}, submitted {submitted}, bonuses on their way {extra}; "
                f"{spent_words(sums)}"
            )
        for budget in budgets_of(study, tally):
            self._tell("study", budget)
        environments = set(Campaign.objects.filter(study=study).values_list("environment", flat=True))
        for environment in sorted(name for name in environments if registry.capabilities_of(name).vouches):
            self._tell(f"{environment}, this month", month_budget(environment))

    def _tell(self, what: str, budget: Budget) -> None:
        cap = "no cap" if budget.cap_cents is None else f"cap {money.shown(budget.cap_cents, budget.currency)}"
        self.stdout.write(f"{what}: {money.shown(budget.committed_cents, budget.currency)} promised, {cap}")
