from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from analysis.errors import AnalysisError
from humanexp.core.errors import ApplicationError
from humanexp.stimuli import selectors
from humanexp.stimuli.verification import verify_stimuli

_NAMES_TOLD = 5


class Command(BaseCommand):
    help = "Make stimuli again and compare bytes and visual change with what is stored."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", help="stimulus set")
        parser.add_argument("--sample", metavar="N", type=int, help="verify N stimuli drawn at random (default: all)")
        parser.add_argument("--seed", metavar="S", type=int, default=0, help="of the sample")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["sample"] is not None and options["sample"] < 1:
            raise CommandError("--sample must be 1 or more.")
        try:
            stimulus_set = selectors.stimulus_set_by_name(options["name"])
            found = verify_stimuli(stimulus_set, sample=options["sample"], seed=options["seed"])
        except (ApplicationError, AnalysisError) as error:
            raise CommandError(str(error)) from error
        if not found.checked:
            raise CommandError(f"The stimulus set {stimulus_set} holds no stimulus yet.")
        self.stdout.write(
            f"{stimulus_set}: {found.checked} stimuli verified, {found.identical} made again with the same bytes; "
            f"largest difference {found.largest_pixel_difference} of 255 in a pixel, "
            f"{found.largest_change_difference:.2g} in visual change"
        )
        if found.passed:
            return
        problems = []
        for what, names in (("missing", found.missing), ("altered", found.altered), ("different", found.different)):
            if names:
                told = ", ".join(names[:_NAMES_TOLD]) + (", ..." if len(names) > _NAMES_TOLD else "")
                problems.append(f"{len(names)} {what}: {told}")
        raise CommandError("; ".join(problems))
