from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from humanexp.console.terminal_report import print_standings
from humanexp.core.commands import RefusableCommand, check_folder
from humanexp.results.tables import imported_studies, pooled_standings
from humanexp.studies.selectors import study_by_slug


class Command(RefusableCommand):
    help = "Pool imported studies into one table: accuracy, likeness to people, shape bias and ranks of every observer."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("studies", nargs="*", metavar="STUDY", help="default: every imported study")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write every number, unrounded")

    def handle(self, *args: Any, **options: Any) -> None:
        check_folder(options["json"])
        chosen = [study_by_slug(name) for name in options["studies"]] or imported_studies()
        standings = pooled_standings(chosen)
        print_standings(self.stdout, standings)
        if options["json"]:
            numbers = [one.to_json() for one in standings]
            options["json"].write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
