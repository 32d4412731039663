from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from analysis.masks import MASKS
from humanexp.core.commands import RefusableCommand
from humanexp.stimuli.services.set_files import write_masks


class Command(RefusableCommand):
    help = "Write masks as PNG files with a manifest of their digests, for use elsewhere."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--kind", metavar="NAME", required=True, help=", ".join(sorted(MASKS)))
        parser.add_argument("--size", metavar="PX", type=int, required=True, help="side of the square")
        parser.add_argument("--count", metavar="N", type=int, required=True)
        parser.add_argument("--seed", metavar="S", type=int, default=0, help="of the first mask; the next has S + 1")
        parser.add_argument("--pictures", metavar="DIR", type=Path, help="pictures that are phase-scrambled")
        parser.add_argument("--to", metavar="DIR", type=Path, required=True, help="a new or empty folder")

    def handle(self, *args: Any, **options: Any) -> None:
        rows = write_masks(
            kind=options["kind"],
            size_px=options["size"],
            count=options["count"],
            seed=options["seed"],
            folder=options["to"],
            pictures=options["pictures"],
        )
        self.stdout.write(f"{len(rows)} masks of the kind {options['kind']} in {options['to']}")
