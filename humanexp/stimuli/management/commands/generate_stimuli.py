from __future__ import annotations

import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from humanexp.core.errors import ApplicationError
from humanexp.jobs import runner
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job, JobState
from humanexp.stimuli import selectors, services
from humanexp.stimuli.models import StimulusSet


class Command(BaseCommand):
    help = (
        "Make a stimulus set that covers the reachable range of visual change. The same command again goes on with a "
        "set that was interrupted."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--images", metavar="NAME", required=True, help="set of pictures, from import_images")
        parser.add_argument("--corruption", metavar="FN[,FN...]", required=True, help="corruption functions")
        parser.add_argument("--count", metavar="N", type=int, required=True, help="stimuli a corruption function")
        parser.add_argument("--seed", metavar="S", type=int, default=0)
        parser.add_argument("--name", required=True, help="name of the stimulus set")
        parser.add_argument("--size", metavar="PX", type=int, default=224, help="side of the pictures (default 224)")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            stimulus_set = self._find_or_create(options)
            job = services.start_generation(stimulus_set=stimulus_set)
        except ApplicationError as error:
            raise CommandError(error.message) from error
        self._run(job)
        stimulus_set.refresh_from_db()
        if job.state != JobState.DONE:
            reason = job.error.strip().splitlines()[-1] if job.error.strip() else job.get_state_display()
            raise CommandError(f"The stimuli of {stimulus_set} are not complete: {reason}")
        self._report(stimulus_set)

    def _find_or_create(self, options: dict[str, Any]) -> StimulusSet:
        source_set = selectors.source_set_by_name(options["images"])
        corruptions = [name.strip() for name in options["corruption"].split(",") if name.strip()]
        wanted = {
            "source_set": source_set,
            "corruptions": list(dict.fromkeys(corruptions)),
            "count_per_corruption": options["count"],
            "seed": options["seed"],
            "size_px": options["size"],
        }
        existing = selectors.find_stimulus_set(options["name"])
        if existing is None:
            return services.create_stimulus_set(
                source_set=source_set,
                name=options["name"],
                corruptions=corruptions,
                count=options["count"],
                seed=options["seed"],
                size_px=options["size"],
            )
        differing = [field for field, value in wanted.items() if getattr(existing, field) != value]
        if differing:
            raise CommandError(
                f"There is already a stimulus set named {existing} with another {differing[0].replace('_', ' ')}: "
                "choose another name."
            )
        return existing

    def _run(self, job: Job) -> None:
        """Run the job here, or wait for the runner that has it."""
        is_told = False
        while True:
            runner.run_waiting(kinds=[services.JOB_KIND])
            job.refresh_from_db()
            if job.is_finished:
                return
            if not is_told:
                self.stdout.write("another runner has this job, or it will be tried again shortly; waiting")
                self.stdout.flush()
                is_told = True
            time.sleep(0.5)
            jobs.sweep()

    def _report(self, stimulus_set: StimulusSet) -> None:
        from analysis.visual_change import coverage_report

        changes = selectors.changes_by_corruption(stimulus_set)
        making = selectors.making_by_corruption(stimulus_set)
        n_clean = stimulus_set.stimuli.filter(corruption="none").count()
        self.stdout.write(f"{stimulus_set}: {sum(map(len, changes.values()))} stimuli and {n_clean} clean pictures")
        for name, report in coverage_report(changes).items():
            missed, tries = making.get(name, (0, 0.0))
            self.stdout.write(
                f"{name}: {report['n']} stimuli, {report['ours']['covered']} of {report['ours']['bins']} bins with at "
                f"least {report['ours']['minimum']} (paper's bins: {report['paper']['covered']} of "
                f"{report['paper']['bins']}), reach {stimulus_set.pilots[name]['reach']:.3f}, "
                f"{missed} targets not reached, {tries:.1f} tries a stimulus"
            )
