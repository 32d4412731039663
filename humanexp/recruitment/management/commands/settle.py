from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from humanexp.recruitment import money, services
from humanexp.recruitment.management.base import RecruitmentCommand
from humanexp.recruitment.models import Campaign


class Command(RecruitmentCommand):
    help = "Pay everyone who has submitted, once. Whether a session counts in the analysis has no say in it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="name of the study in addresses")

    def handle(self, *args: Any, **options: Any) -> None:
        study = self.study(options["study"])
        settlement = services.settle(study=study)
        self.stdout.write(
            f"{settlement.planned} payments planned, ${money.dollars(settlement.planned_cents)} with fees; "
            f"{settlement.unmatched} submissions wait for a person"
        )
        environments = Campaign.objects.filter(study=study).values_list("environment", flat=True).distinct()
        for environment in sorted(environments):
            self.report_sending(services.send(environment=environment, wait_s=60))
