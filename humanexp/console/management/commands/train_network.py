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
        "Train a small network from nothing on the clean pictures of a set, with its labels, and write it as "
        "a torch.export program."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--images", metavar="NAME", required=True, help="set of pictures to train on")
        parser.add_argument("--out", metavar="FILE.pt2", type=Path, required=True, help="file of the network")
        parser.add_argument("--test", metavar="NAME", help="set of other pictures with the same labels to test on")
        parser.add_argument("--epochs", type=whole_number(1), default=20, help="default: 20")
        parser.add_argument("--batch", type=whole_number(2), default=64, help="default: 64")
        parser.add_argument("--learning-rate", type=float, default=0.1, help="the highest (default: 0.1)")
        parser.add_argument("--seed", type=whole_number(0), default=0)
        parser.add_argument(
            "--size", type=whole_number(1), default=0, dest="size_px", help="side of its input (default: the pictures')"
        )
        parser.add_argument(
            "--flips",
            choices=["yes", "no", "colour"],
            default="colour",
            help="whether pictures are mirrored while training (default: those with colours)",
        )

        parser.add_argument("--grey", action="store_true", help="a network that sees pictures in grey, by one channel")

    def handle(self, *args: Any, **options: Any) -> None:
        # With torch: help and refusals of the command line need none of it.
        from analysis.retraining.small_network import TrainingRecipe
        from humanexp.evaluations.services.training import train_from_nothing

        recipe = TrainingRecipe(
            **{name: options[name] for name in ("epochs", "batch", "learning_rate", "seed")},
            grey=options["grey"],
            flips={"yes": True, "no": False, "colour": None}[options["flips"]],
        )
        test = options["test"]
        with ProgressLine(sys.stderr) as line:
            made, tested = train_from_nothing(
                source_set=source_set_by_name(options["images"]),
                out=options["out"],
                recipe=recipe,
                progress=line,
                test_set=source_set_by_name(test) if test else None,
                size_px=options["size_px"],
            )
        network = made.network
        self.stdout.write(
            f"{options['out']}: {made.n_weights:,} weights, {len(network.labels)} labels, pictures of "
            f"{network.inputs.input_px} px; {recipe.epochs} epochs in {made.seconds:.0f} s, last loss "
            f"{made.losses[-1]:.3f}"
        )
        if tested is not None:
            self.stdout.write(f"{test}: {tested.accuracy:.3f} of {tested.n} pictures named right")
            by_label = (f"{name} {tested.n_right_by_label[name]} of {n}" for name, n in tested.n_by_label.items() if n)
            self.stdout.write(", ".join(by_label))
