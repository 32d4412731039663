from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from humanexp.recruitment import services
from humanexp.recruitment.management.base import RecruitmentCommand


class Command(RecruitmentCommand):
    help = "Stop recruiting for a study: every HIT is expired; who has accepted one may finish and is paid."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="name of the study in addresses")

    def handle(self, *args: Any, **options: Any) -> None:
        stopped = services.stop(study=self.study(options["study"]))
        if not stopped:
            self.stdout.write("nothing is recruiting")
            return
        for campaign in stopped:
            self.stdout.write(f"stopped: {campaign}")
        for environment in sorted({campaign.environment for campaign in stopped}):
            self.report_sending(services.send(environment=environment, wait_s=60))
