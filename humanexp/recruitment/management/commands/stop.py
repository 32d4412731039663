from __future__ import annotations

from typing import Any

from humanexp.recruiting.extension import stop
from humanexp.recruitment.management.base import StudyCommand


class Command(StudyCommand):
    help = "Stop recruiting for a study: every HIT is expired; who has accepted one may finish and is paid."

    def handle(self, *args: Any, **options: Any) -> None:
        stopped = stop(study=self.study(options["study"]))
        if not stopped:
            self.stdout.write("nothing is recruiting")
            return
        for campaign in stopped:
            self.stdout.write(f"stopped: {campaign}")
        self.send_to(campaign.environment for campaign in stopped)
