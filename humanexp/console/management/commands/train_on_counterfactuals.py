from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from humanexp.console.scripted_participants import whole_number
from humanexp.core.commands import RefusableCommand
from humanexp.counterfactuals.selectors import search_by_name
from humanexp.jobs import runner


class Command(RefusableCommand):
    help = "Train a network on a search's originals and counterfactuals, and test it on another search's."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--training", metavar="SEARCH", required=True, help="finished search to train on")
        parser.add_argument(
            "--test", metavar="SEARCH", required=True, help="finished search of other pictures against the same model"
        )
        parser.add_argument("--out", metavar="FILE.pt2", type=Path, required=True, help="file of the retrained network")
        parser.add_argument("--epochs", type=whole_number(1), default=5, help="default: 5")
        parser.add_argument("--learning-rate", type=float, default=0.001, help="default: 0.001")
        parser.add_argument("--momentum", type=float, default=0.9, help="default: 0.9")
        parser.add_argument("--batch", type=whole_number(1), default=32, help="default: 32")
        parser.add_argument("--held-out", type=float, default=0.2, help="share to stop on (default: 0.2; 0: none)")
        parser.add_argument(
            "--patience", type=whole_number(1), default=2, help="epochs without a lower held-out loss (default: 2)"
        )
        parser.add_argument(
            "--consistency", type=float, default=0.0, metavar="WEIGHT",
            help="add so much of the squared distance between the logits of original and counterfactual (default: 0)",
        )  # fmt: skip
        parser.add_argument("--seed", type=whole_number(0), default=0)

    def handle(self, *args: Any, **options: Any) -> None:
        # With torch: help and refusals of the command line need none of it.
        from analysis.retraining.training import Recipe
        from humanexp.counterfactuals.services.training import start_training, written_table

        names = ("epochs", "learning_rate", "momentum", "batch", "held_out", "patience", "seed", "consistency")
        out: Path = options["out"]
        job = start_training(
            training=search_by_name(options["training"]),
            test=search_by_name(options["test"]),
            out=out,
            recipe=Recipe(**{name: options[name] for name in names}),
        )
        runner.finish(job, what="The training", tell=self.stderr.write)
        told = written_table(out)
        for name in ("before", "after"):
            row = told[name]
            ratio = "none" if row["ratio"] is None else f"{row['ratio']:.3f}"
            self.stdout.write(
                f"{name}: {row['originals']:.3f} of {told['tested_on']} originals named right, "
                f"{row['counterfactuals']:.3f} of their counterfactuals against the model before, ratio {ratio}"
            )
        self.stdout.write(
            f"Trained on {told['trained_on']} originals and counterfactuals; weights of epoch {told['kept_epoch']} "
            f"kept. Written: {out} and {out.with_suffix('.json').name}"
        )
