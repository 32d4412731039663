from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import CommandParser

from humanexp.core.commands import ProgressLine, RefusableCommand
from humanexp.evaluations.services.prediction import rate_originals
from humanexp.evaluations.specs import checked_specs
from humanexp.stimuli.selectors.sources import counts_by_label, source_set_by_name


class Command(RefusableCommand):
    help = (
        "Let classifiers look at the clean originals of a set of pictures, and store how many name each one right. "
        "Studies then draw their gold pictures from those that all of them name right."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--images", metavar="NAME", required=True, help="set of pictures, from import_images")
        parser.add_argument(
            "--classifier",
            metavar="SPEC",
            action="append",
            required=True,
            help="e.g. export:model.pt2, torchvision:resnet50; once for every classifier",
        )
        parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
        parser.add_argument("--allow-download", action="store_true", help="fetch published weights")

    def handle(self, *args: Any, **options: Any) -> None:
        source_set = source_set_by_name(options["images"])
        specs = checked_specs(options["classifier"], allow_code=True)
        with ProgressLine(sys.stderr) as line:
            report = rate_originals(
                source_set,
                specs,
                line,
                allow_code=True,
                device=options["device"],
                allow_download=options["allow_download"],
            )
        for spec, accuracy in report.accuracies.items():
            self.stdout.write(f"{spec}: {accuracy:.3f} of the clean pictures named right")
        by_label = counts_by_label({label: report.n_agreed_by_category.get(label, 0) for label in source_set.space.ids})
        self.stdout.write(
            f"{source_set}: {report.n_agreed} of {report.n_images} pictures named right by all ({by_label})"
        )
