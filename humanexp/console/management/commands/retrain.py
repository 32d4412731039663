from __future__ import annotations

import json
from pathlib import Path
from typing import IO, Any, cast

from django.core.management.base import CommandError, CommandParser
from rich.console import Console
from rich.table import Table

from analysis.claims.robustness import THESE_WEIGHTS
from analysis.energy import in_words
from humanexp.console import classifiers
from humanexp.console.model_options import add_energy, energy_of
from humanexp.console.scripted_participants import whole_number
from humanexp.core.commands import OwnedCommand, check_folder
from humanexp.evaluations.services.retraining import expected_warnings
from humanexp.jobs import runner
from humanexp.stimuli.selectors.sets import stimulus_set_by_name
from humanexp.stimuli.selectors.sources import source_set_by_name
from humanexp.studies.selectors import study_by_slug


class Command(OwnedCommand):
    help = "Train a network further on stimuli or labelled pictures, and compare before with after on other originals."
    owned = "retraining it is"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--stimuli", metavar="NAME", help="stimulus set to train on")
        parser.add_argument(
            "--images", metavar="NAME[:COUNT][:easy][:like=NAME...]", action="append", default=[],
            help="set of clean pictures to train on, too, or COUNT of them, evenly over labels; easy: those that all "
            "classifiers of select_gold name right; like: as many of each label as that takes; several make a mix",
        )  # fmt: skip
        parser.add_argument("--classifier", metavar="SPEC", required=True, help="e.g. timm:resnet50.a1_in1k")
        parser.add_argument("--out", metavar="FILE.pt2", type=Path, required=True, help="file of the retrained network")
        parser.add_argument(
            "--evaluate-on", metavar="NAME", help="stimulus set to test on; by default other originals of the same set"
        )
        parser.add_argument(
            "--test", metavar="NAME", action="append", default=[], help="set of clean pictures to test on, too; several"
        )
        parser.add_argument(
            "--own-labels", action="store_true", help="loss among all outputs of the network, by WordNet ids"
        )
        parser.add_argument("--study", metavar="NAME", help="compare with the people of this study")
        parser.add_argument("--corruption", metavar="FN[,FN...]", default="", help="train on these functions alone")
        parser.add_argument("--share", type=float, default=0.5, help="of the originals, for training (default: 0.5)")
        parser.add_argument("--epochs", type=whole_number(1), default=5, help="default: 5")
        parser.add_argument("--learning-rate", type=float, default=0.001, help="default: 0.001")
        parser.add_argument(
            "--decay-every", type=whole_number(0), default=0, metavar="EPOCHS", help="(default: 0, a constant rate)"
        )
        parser.add_argument("--decay", type=float, default=0.1, help="factor of the rate (default: 0.1)")
        parser.add_argument("--momentum", type=float, default=0.9, help="default: 0.9")
        parser.add_argument("--batch", type=whole_number(1), default=32, help="default: 32")
        parser.add_argument(
            "--held-out", type=float, default=0.2, help="of the training originals, to stop on (default: 0.2; 0: none)"
        )
        parser.add_argument(
            "--patience", type=whole_number(1), default=2, help="epochs without a lower held-out loss (default: 2)"
        )
        parser.add_argument("--seed", type=whole_number(0), default=0)
        parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
        parser.add_argument("--labels", metavar="FILE", type=Path, help="mapping file of a network with its own labels")
        parser.add_argument("--allow-download", action="store_true", help="fetch published weights")
        add_energy(parser)
        parser.add_argument("--json", metavar="FILE", type=Path, help="write the report, with the learning curve")

    def handle(self, *args: Any, **options: Any) -> None:
        check_folder(options["json"])
        row, job = classifiers.retrain(
            stimulus_set=stimulus_set_by_name(options["stimuli"]) if options["stimuli"] else None,
            pictures=[_folder(one) for one in _list(options["images"])],
            tests=[source_set_by_name(name) for name in _list(options["test"])],
            own_labels=options["own_labels"],
            evaluation_set=stimulus_set_by_name(options["evaluate_on"]) if options["evaluate_on"] else None,
            study=study_by_slug(options["study"]) if options["study"] else None,
            spec=options["classifier"],
            out=options["out"],
            corruptions=[name.strip() for name in options["corruption"].split(",") if name.strip()],
            share=options["share"],
            recipe=_recipe(options),
            device=options["device"],
            labels=options["labels"],
            power=energy_of(options),
            allow_download=options["allow_download"],
            owner=options["owner"],
        )
        for warning in expected_warnings(row):
            self.stderr.write(warning)
        runner.finish(job, what="The retraining", tell=self.stderr.write)
        row.refresh_from_db()
        console = Console(file=cast(IO[str], self.stdout), width=110)
        console.print(_table(row.report))
        console.print(THESE_WEIGHTS)
        _print_held_out(console, row.report)
        clean, energy = row.report["clean"], row.report["energy"]
        for test in row.report["tests"]:
            low, high = test["interval"]
            console.print(
                f"{test['set']}: {test['before']:.3f} right before, {test['after']:.3f} after, "
                f"{test['difference']:+.3f} ({low:+.3f} – {high:+.3f}), {test['n']} pictures."
            )
        console.print(
            f"Clean pictures: {clean['before']:.3f} right before, {clean['after']:.3f} after "
            f"({clean['n']} originals that were not trained on)."
        )
        console.print(f"Training: {in_words(energy)}.")
        if options["json"]:
            options["json"].write_text(json.dumps(row.report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        console.print(f"Written: {row.out} and {Path(row.out).with_suffix('.json').name}", soft_wrap=True)


def _recipe(options: dict[str, Any]) -> Any:
    from analysis.retraining.training import Recipe

    names = ("epochs", "learning_rate", "momentum", "batch", "held_out", "patience", "seed", "decay", "decay_every")
    return Recipe(**{name: options[name] for name in names})


def _list(given: str | list[str]) -> list[str]:
    """call_command gives a single one as it is."""
    return [given] if isinstance(given, str) else given


def _folder(text: str) -> Any:
    from humanexp.evaluations.services.training_material import Folder

    own, has_like, other = text.partition(":like=")
    name, *words = own.split(":")
    counts = [int(word) for word in words if word.isascii() and word.isdigit()]
    if len(counts) > 1 or 0 in counts or len(words) > len(counts) + words.count("easy") or (counts and has_like):
        raise CommandError(
            f"--images {text}: write NAME, NAME:COUNT with a number of pictures, NAME:easy, NAME:COUNT:easy, or "
            "NAME:like=OTHER, which says how many."
        )
    like = _folder(other) if has_like else None
    return Folder(source_set_by_name(name), sum(counts), "easy" in words, like)


def _print_held_out(console: Console, report: dict[str, Any]) -> None:
    """The validation curve, which epoch was kept, and what to be warned of."""
    held_out = report["held_out"]
    if held_out["curve"]:
        told = "; ".join(f"{one['epoch']}: {one['loss']:.3f}, {one['right']:.3f}" for one in held_out["curve"])
        console.print(
            f"Held-out loss and share right by epoch: {told}. Weights of epoch {held_out['kept_epoch']} kept."
        )
    for warning in report["warnings"]:
        console.print(f"Warning: {warning}")


def _table(report: dict[str, Any]) -> Table:
    """One row a corruption, property and quantity: before, after, difference with its interval."""
    table = Table("on originals not trained on", "", "before", "after", "difference", "95 % interval", box=None)
    for row in report["rows"]:
        curve = f"{row['corruption'].replace('_', ' ')}, {row['property']}"
        for name, words in (("area", "area"), ("hmri", "HMRI"), ("mrsi", "MRSI")):
            if name not in row["difference"]:
                continue
            low, high = row["interval"][name]
            table.add_row(
                curve if row["trained_on"] else f"{curve} (not trained on)",
                words,
                f"{row['before'][name]:.3f}",
                f"{row['after'][name]:.3f}",
                f"{row['difference'][name]:+.3f}",
                f"{low:+.3f} – {high:+.3f}",
            )
    return table
