from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError

from humanexp.recruiting.polling import sync
from humanexp.recruitment.management.base import StudyCommand


class Command(StudyCommand):
    help = "Ask the recruiters what has been submitted, approved or rejected. run_jobs does this every minute."

    def handle(self, *args: Any, **options: Any) -> None:
        report = sync(study=self.study(options["study"]))
        self.stdout.write(
            f"{report.hits} HITs: {report.submitted} newly submitted ({report.unmatched} without a session of ours), "
            f"{report.approved} approved, {report.rejected} rejected, {report.returned} given up"
        )
        if report.remarks:
            raise CommandError(" ".join(report.remarks))
