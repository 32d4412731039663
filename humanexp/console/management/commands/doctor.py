from __future__ import annotations

import json
from typing import IO, Any, cast

from django.core.management.base import CommandError, CommandParser
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from humanexp.console.doctor_checks import examine
from humanexp.core import sealing
from humanexp.core.commands import RefusableCommand
from humanexp.core.problems import Problem, Severity

#: As it says them, and in which colour.
STATES = {
    Severity.GOOD: ("ok", "green"),
    Severity.NOTE: ("note", "yellow"),
    Severity.BAD: ("fault", "red"),
    Severity.MISSING: ("missing", "red"),
}


class Command(RefusableCommand):
    help = "Say what runs, what is missing or wrong, and whether real money can move."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--strict", action="store_true", help="a fault, too, ends with a non-zero status")
        parser.add_argument("--json", action="store_true", help="the findings as JSON")
        parser.add_argument(
            "--key-is-lost",
            action="store_true",
            help="confirm that the old SECRET_KEY is lost: continue with the present one",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["key_is_lost"]:
            sealing.replace_lost_key()
        findings = examine()
        if options["json"]:
            self.stdout.write(json.dumps([_as_json(finding) for finding in findings], indent=1))
        else:
            self._print(findings)
        red = [finding.subject for finding in findings if finding.severity.is_red]
        missing = [finding.subject for finding in findings if finding.severity == Severity.MISSING]
        if missing:
            raise CommandError(f"Missing: {', '.join(missing)}.")
        if options["strict"] and red:
            raise CommandError(f"At fault: {', '.join(red)}.")

    def _print(self, findings: list[Problem]) -> None:
        table = Table("", "", "", box=None, pad_edge=False, show_header=False)
        for finding in findings:
            state, colour = STATES[finding.severity]
            told = escape(finding.text) + (f"\n[bold]→ {escape(finding.remedy)}[/]" if finding.remedy else "")
            table.add_row(f"[{colour}]{state}[/]", finding.subject, told)
        # rich measures the terminal behind the stream; Django's wrapper passes writes on
        Console(file=cast("IO[str]", self.stdout)).print(table)


def _as_json(finding: Problem) -> dict[str, str]:
    state, _colour = STATES[finding.severity]
    return {"subject": finding.subject, "state": state, "detail": finding.text, "remedy": finding.remedy}
