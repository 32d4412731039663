from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from humanexp.core.commands import OwnedCommand
from humanexp.evaluations import services
from humanexp.jobs import runner
from humanexp.stimuli.models import StimulusSet
from humanexp.studies.selectors import study_by_slug


class Command(OwnedCommand):
    help = "Let a classifier predict every stimulus of a set, or of a study's set."
    owned = "predictions they are"

    def add_arguments(self, parser: CommandParser) -> None:
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--stimuli", metavar="NAME")
        which.add_argument("--study", metavar="NAME")
        parser.add_argument("--classifier", metavar="SPEC", required=True, help="e.g. export:model.pt2, timm:resnet50")
        parser.add_argument("--name", default="", help="name on the dashboard")
        parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
        parser.add_argument(
            "--rule", choices=["mean", "sum", "max"], default="mean", help="how 1,000 classes become 16 (default: mean)"
        )
        parser.add_argument(
            "--own-labels",
            action="store_true",
            help="decide among the network's own labels (1,000-way); such curves are never compared with people's",
        )
        parser.add_argument(
            "--labels",
            metavar="FILE",
            type=Path,
            help="CSV of a network's own labels: label,category, one row an output",
        )
        parser.add_argument("--allow-download", action="store_true", help="fetch published weights")

    def handle(self, *args: Any, **options: Any) -> None:
        run, job = services.evaluate(
            stimulus_set=_stimulus_set(options),
            spec=options["classifier"],
            name=options["name"],
            device=options["device"],
            rule=options["rule"],
            own_labels=options["own_labels"],
            labels=options["labels"],
            allow_download=options["allow_download"],
            owner=options["owner"],
        )
        runner.finish(job, what="The evaluation", tell=self.stderr.write)
        run.refresh_from_db()
        self.stdout.write(f"{run.name}: {run.count} predictions, {run.accuracy_clean or 0:.3f} right on clean pictures")


def _stimulus_set(options: dict[str, Any]) -> StimulusSet:
    if options["study"]:
        stimulus_set = study_by_slug(options["study"]).stimulus_set
        if stimulus_set is None:
            raise CommandError(f"The study {options['study']} has no stimuli: its trials were imported.")
        return stimulus_set
    try:
        return StimulusSet.objects.get(name=options["stimuli"])
    except StimulusSet.DoesNotExist:
        known = ", ".join(StimulusSet.objects.values_list("name", flat=True)) or "none yet"
        raise CommandError(f"There is no stimulus set {options['stimuli']!r}. There are: {known}.") from None
