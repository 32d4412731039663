from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from analysis.visual_change.coverage import level_spreads
from humanexp.core.commands import OwnedCommand
from humanexp.jobs import runner
from humanexp.jobs.models import Job, JobState
from humanexp.stimuli.models import Framing, Sampling, StimulusSet
from humanexp.stimuli.selectors.sets import counted_changes, find_stimulus_set
from humanexp.stimuli.selectors.sources import source_set_by_name
from humanexp.stimuli.services.imagenet_c import ImageNetCImport, import_imagenet_c, resume_import


class Command(OwnedCommand):
    help = (
        "Import pictures in the layout of ImageNet-C (FUNCTION/LEVEL/CLASS/FILE, perhaps in group folders) and measure "
        "their visual change against the originals. The same command again goes on with an import that stopped."
    )
    owned = "set it is"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", metavar="DIR", type=Path, help="folder of functions, or one function's folder")
        parser.add_argument("--images", metavar="NAME", required=True, help="set of pictures with the originals")
        parser.add_argument("--name", metavar="SETNAME", required=True, help="name of the stimulus set")
        parser.add_argument("--corruption", metavar="FN[,FN...]", default="", help="functions (default: all)")
        parser.add_argument(
            "--framing",
            choices=Framing.values,
            default=Framing.IMAGENET.value,
            help="how the originals were cut: imagenet (default), as published: shorter side to 256, middle 224; "
            "whole: shorter side to 224",
        )
        parser.add_argument("--size", metavar="PX", type=int, default=224, help="side of the pictures (default 224)")

    def handle(self, *args: Any, **options: Any) -> None:
        source_set = source_set_by_name(options["images"])
        existing = find_stimulus_set(options["name"])
        if existing is None:
            functions = [name.strip() for name in options["corruption"].split(",") if name.strip()]
            found = import_imagenet_c(
                folder=options["folder"],
                source_set=source_set,
                name=options["name"],
                functions=list(dict.fromkeys(functions)),
                framing=options["framing"],
                size_px=options["size"],
                by=options["owner"],
            )
            self._tell(found)
            stimulus_set, job = found.stimulus_set, found.job
        else:
            stimulus_set, job = existing, self._go_on(existing, options)
        runner.run_to_the_end(job, tell=self.stdout.write)
        if job.state != JobState.DONE:
            raise CommandError(f"The import of {stimulus_set} is not complete:\n{_reason(job)}")
        self._report(stimulus_set)

    def _go_on(self, stimulus_set: StimulusSet, options: dict[str, Any]) -> Job:
        """The job of a set with the same origin."""
        is_same = (
            stimulus_set.sampling == Sampling.IMPORTED
            and stimulus_set.source_set.name == options["images"]
            and stimulus_set.framing == options["framing"]
            and stimulus_set.size_px == options["size"]
        )
        job = resume_import(stimulus_set=stimulus_set) if is_same else None
        if job is None or job.parameters.get("folder") != str(options["folder"].resolve()):
            raise CommandError(f"There is already another stimulus set named {stimulus_set}: choose another name.")
        return job

    def _tell(self, found: ImageNetCImport) -> None:
        scan = found.scan
        self.stdout.write(
            f"{scan.n_pictures} pictures of {scan.n_originals} originals; grey levels of the weakest level correlate "
            f"with the original by {found.likeness.correlation:.2f} (median of {found.likeness.n} originals)"
        )
        if scan.n_incomplete:
            self.stdout.write(f"{scan.n_incomplete} originals lack some of the functions or levels")
        for sentence in scan.unmatched.sentences():
            self.stdout.write(f"left out: {sentence}")
        self.stdout.flush()

    def _report(self, stimulus_set: StimulusSet) -> None:
        n_clean = stimulus_set.stimuli.filter(corruption="none").count()
        counted = counted_changes(stimulus_set)
        n_corrupted = sum(sum(bins.values()) for levels in counted.values() for bins in levels.values())
        self.stdout.write(f"{stimulus_set}: {n_corrupted} pictures and {n_clean} clean ones")
        for name, by_level in counted.items():
            medians = ", ".join(f"{one.level}: {one.median:.3f}" for one in level_spreads(by_level))
            self.stdout.write(f"{name}: median visual change of level {medians}")


def _reason(job: Job) -> str:
    """What a job says of its end: sentences as they are, of a traceback the last line."""
    error = job.error.strip() or str(job.get_state_display())
    return error.splitlines()[-1] if error.startswith("Traceback") else error
