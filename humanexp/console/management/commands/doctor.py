from __future__ import annotations

from typing import IO, Any, cast

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.table import Table

from humanexp.console.examination import examine

MARKS = {"ok": "[green]ok[/]", "note": "[yellow]note[/]", "missing": "[red]missing[/]"}


class Command(BaseCommand):
    help = "Say what runs, what is missing, and whether real money can move."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        table = Table("", "", "", "what to do", box=None, pad_edge=False)
        findings = examine()
        for finding in findings:
            table.add_row(finding.subject, MARKS[finding.state], finding.detail, finding.remedy)
        # rich measures the terminal behind the stream; Django's wrapper passes writes on
        Console(file=cast("IO[str]", self.stdout)).print(table)
        missing = [finding.subject for finding in findings if finding.state == "missing"]
        if missing:
            raise CommandError(f"Missing: {', '.join(missing)}.")
