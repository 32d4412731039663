from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from humanexp.console.scripted_participants import whole_number
from humanexp.core.commands import ProgressLine, RefusableCommand
from humanexp.stimuli.selectors.sources import source_set_by_name


class Command(RefusableCommand):
    help = (
        "Fit a logistic regression on features of a frozen network, so that it answers with the labels of these "
        "pictures."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--images", metavar="NAME", help="set of pictures to learn from")
        which.add_argument("--folder", metavar="DIR", type=Path, help="or a folder with one folder for each label")
        parser.add_argument("--label-space", metavar="NAME", default="", help="labels of the folder (default: entry16)")
        parser.add_argument(
            "--classifier", metavar="SPEC", required=True, help="torch network, e.g. lite:0, timm:resnet50.a1_in1k"
        )
        parser.add_argument(
            "--layer",
            default="penultimate",
            help="whose features are read (default: penultimate, what goes into the last linear layer)",
        )
        parser.add_argument("--out", metavar="FILE.npz", type=Path, required=True, help="file of the readout")
        parser.add_argument("--test", metavar="NAME", help="set of other pictures with the same labels to test on")
        parser.add_argument("--seed", type=whole_number(0), default=0, help="divides the pictures (default: 0)")
        parser.add_argument("--device", default="cpu", help="cpu (default), cuda or cuda:N")
        parser.add_argument("--allow-download", action="store_true", help="fetch published weights")

    def handle(self, *args: Any, **options: Any) -> None:
        # With torch: help and refusals of the command line need none of it.
        from humanexp.evaluations.services.readouts import fit_readout

        test = options["test"]
        with ProgressLine(sys.stderr) as line:
            made = fit_readout(
                pictures=options["folder"] or source_set_by_name(options["images"]),
                label_space=options["label_space"],
                spec=options["classifier"],
                layer=options["layer"],
                out=options["out"],
                test_set=source_set_by_name(test) if test else None,
                seed=options["seed"],
                device=options["device"],
                allow_download=options["allow_download"],
                # python: and plug-ins run code: only the command line may ask for it
                allow_code=True,
                progress=line,
            )
        readout, held_out = made.readout, made.readout.held_out
        self.stdout.write(
            f"{options['out']}: {len(readout.labels)} labels of {readout.labels_name}, read from {readout.network} at "
            f"{readout.layer} ({made.place}, {made.width} numbers), fitted on {made.n_pictures} pictures, "
            f"C {readout.strength:g}"
        )
        self.stdout.write(f"Held-out accuracy: {held_out.n_right} of {held_out.n}, {held_out}")
        if made.tested is not None:
            name, n, n_right, (low, high) = made.tested
            self.stdout.write(
                f"{name}: {n_right / n:.3f} of {n} pictures named right (95 % interval {low:.3f} to {high:.3f})"
            )
