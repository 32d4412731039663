from __future__ import annotations

from typing import Any

from humanexp.ledger.settlement import settle
from humanexp.recruiters import money
from humanexp.recruiters.models import Campaign
from humanexp.recruitment.management.base import StudyCommand


class Command(StudyCommand):
    help = "Pay everyone who has done the work, once. This does not depend on whether a session counts in the analysis."

    def handle(self, *args: Any, **options: Any) -> None:
        study = self.study(options["study"])
        settlement = settle(study=study)
        self.stdout.write(
            f"{settlement.planned} payments planned, {money.listed(settlement.sums)} with fees; "
            f"{settlement.unmatched} submissions wait for a person"
        )
        for hold, count in settlement.held.items():
            self.stdout.write(f"not paid: {count} ({hold.label})")
        self.send_to(Campaign.objects.filter(study=study).values_list("environment", flat=True))
