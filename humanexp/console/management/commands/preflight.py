from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import CommandError, CommandParser

from humanexp.console.preflight.check import run_preflight
from humanexp.core.commands import ProgressLine, RefusableCommand
from humanexp.core.problems import Severity
from humanexp.recruitment.management.base import recruiter_code
from humanexp.studies.selectors import study_by_slug

_MARKS = {Severity.GOOD: "passed", Severity.WARN: "note", Severity.BAD: "FAILED"}


class Command(RefusableCommand):
    help = "Try out everything that a launch depends on; publish asks for a green result. The console does the same."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="name of the study in addresses")
        parser.add_argument("--to", required=True, type=recruiter_code, metavar="NAME", help="where people are found")

    def handle(self, *args: Any, **options: Any) -> None:
        study = study_by_slug(options["study"])
        with ProgressLine(sys.stderr) as line:
            made = run_preflight(study=study, to=options["to"], report=line)
        for entry in made.lines:
            self.stdout.write(f"{_MARKS[Severity(entry['tone'])]:7} {entry['title']}: {entry['detail']}")
            if entry["remedy"]:
                self.stdout.write(f"        {entry['remedy']}")
        if not made.is_green:
            raise CommandError(
                f"{len(made.faults)} of {len(made.lines)} checks failed: put them right before you publish."
            )
        self.stdout.write(f"green: {len(made.lines)} checks in {made.seconds:.1f} s")
