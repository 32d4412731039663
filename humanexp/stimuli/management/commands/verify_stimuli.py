from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from analysis.generation.verification import Named
from humanexp.core.commands import RefusableCommand
from humanexp.stimuli.models import Sampling
from humanexp.stimuli.selectors.sets import stimulus_set_by_name
from humanexp.stimuli.services.generated_sets import verify_stimuli

_NAMES_TOLD = 5


class Command(RefusableCommand):
    help = "Make stimuli again and compare bytes and visual change with what is stored."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", help="stimulus set")
        parser.add_argument("--sample", metavar="N", type=int, help="verify N stimuli drawn at random (default: all)")
        parser.add_argument("--seed", metavar="S", type=int, default=0, help="of the sample")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["sample"] is not None and options["sample"] < 1:
            raise CommandError("--sample must be 1 or more.")
        stimulus_set = stimulus_set_by_name(options["name"])
        found = verify_stimuli(stimulus_set, sample=options["sample"], seed=options["seed"])
        stimuli = found.stimuli
        if not stimuli.checked:
            raise CommandError(f"The stimulus set {stimulus_set} holds no stimulus yet.")
        made_again = (
            "imported, so none was made again"
            if stimulus_set.sampling == Sampling.IMPORTED
            else f"{stimuli.identical} made again with the same bytes"
        )
        self.stdout.write(
            f"{stimulus_set}: {stimuli.checked} stimuli verified, {made_again}; "
            f"largest difference {stimuli.largest_pixel_difference} of 255 in a pixel, "
            f"{stimuli.largest_change_difference:.2g} in visual change"
        )
        if found.manifest_rows is not None and not found.problems:
            self.stdout.write(f"manifest: {found.manifest_rows} rows, all as in the database")
        if found.manifest_rows is None and stimulus_set.completed_at is not None:
            self.stdout.write("manifest: none, the set is older than manifests; its files were compared with its rows")
        if stimuli.outdated.count:
            self.stdout.write(
                f"{stimuli.outdated.count} outdated: {_told(stimuli.outdated)}. This program does not have that "
                "version of the function any more; only digest and visual change were compared"
            )
        if found.passed:
            return
        kinds = (("missing", stimuli.missing), ("altered", stimuli.altered), ("different", stimuli.different))
        problems = [f"{named.count} {what}: {_told(named)}" for what, named in kinds if named.count]
        raise CommandError("; ".join([*problems, *found.problems]))


def _told(named: Named) -> str:
    told = ", ".join(named.names[:_NAMES_TOLD])
    return told + (", ..." if named.count > _NAMES_TOLD else "")
