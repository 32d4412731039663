from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from analysis.corruptions import CORRUPTIONS, load_plugins
from analysis.corruptions.imagenet_c import LEVELS
from analysis.visual_change.coverage import coverage_words
from humanexp.core.commands import OwnedCommand
from humanexp.jobs import runner
from humanexp.jobs.models import JobState
from humanexp.stimuli.models import Framing, Sampling, StimulusSet
from humanexp.stimuli.selectors.sets import find_stimulus_set
from humanexp.stimuli.selectors.sources import source_set_by_name
from humanexp.stimuli.services.descriptions import SAMPLINGS, Described, made_families
from humanexp.stimuli.services.generation import create_stimulus_set, start_generation


class Command(OwnedCommand):
    help = (
        "Make a stimulus set: by default one that covers the reachable range of visual change. The same command again "
        "goes on with a set that was interrupted."
    )
    owned = "set it is"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--images", metavar="NAME", required=True, help="set of pictures, from import_images")
        parser.add_argument(
            "--corruption", metavar="FN[,FN...]", required=True, help="corruption functions, or all (of the sampling)"
        )
        parser.add_argument(
            "--count", metavar="N", type=int, help="stimuli a corruption function; not with imagenet-c-levels"
        )
        parser.add_argument("--seed", metavar="S", type=int, default=0)
        parser.add_argument("--name", required=True, help="name of the stimulus set")
        parser.add_argument("--size", metavar="PX", type=int, default=224, help="side of the pictures (default 224)")
        parser.add_argument(
            "--sampling",
            default=Sampling.EVEN.value,
            metavar="|".join(SAMPLINGS),
            help="even: evenly over visual change (default); uniform: uniformly over the logarithm of the parameter; "
            "uniform-parameter: uniformly over the parameter itself, as published; "
            "imagenet-c-levels: the five published levels of ImageNet-C",
        )
        parser.add_argument(
            "--framing",
            default=Framing.WHOLE.value,
            metavar="|".join(Framing.values),
            help="whole: shorter side to the size, middle square (default); imagenet: as ImageNet-C was made",
        )
        parser.add_argument(
            "--enlarge",
            action="store_true",
            help="enlarge pictures that are smaller than the size, instead of refusing",
        )
        parser.add_argument(
            "--enlarged",
            metavar="K",
            type=int,
            default=1,
            help="corrupt pictures of SIZE / K px as they are, then show each pixel as a square of K x K px: 7 for "
            "CIFAR-10, 8 for MNIST at 224 px (default 1)",
        )
        parser.add_argument(
            "--plain",
            action="store_true",
            help="also one stimulus an original of two more functions, for practice and plain pairs of same/different "
            "and ABX",
        )
        parser.add_argument(
            "--persons",
            metavar="FAMILY[,FAMILY...]",
            default="",
            help="also sentinels of persons, made of the pictures: "
            + ", ".join(sentinel.name for sentinel in made_families()),
        )
        parser.add_argument(
            "--conflicts",
            metavar="NAME",
            help="also sentinels of persons from this set of cue conflicts, whose files are named like cat3-elephant1 "
            "(shape, then texture)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        stimulus_set = self._find_or_create(options)
        job = start_generation(stimulus_set=stimulus_set)
        job = runner.run_to_the_end(job, tell=self._tell)
        stimulus_set.refresh_from_db()
        if job.state != JobState.DONE:
            reason = job.error.strip().splitlines()[-1] if job.error.strip() else job.get_state_display()
            raise CommandError(f"The stimuli of {stimulus_set} are not complete: {reason}")
        self._report(stimulus_set)

    def _find_or_create(self, options: dict[str, Any]) -> StimulusSet:
        if options["count"] is None and options["sampling"] in SAMPLINGS and options["sampling"] != Sampling.LEVELS:
            raise CommandError(f"Say how many stimuli a function with --count N; {options['sampling']} needs it.")
        described = Described(
            source_set=source_set_by_name(options["images"]),
            name=options["name"],
            corruptions=_corruptions(options["corruption"], options["sampling"]),
            count=options["count"] or 0,
            seed=options["seed"],
            size_px=options["size"],
            sampling=options["sampling"],
            framing=options["framing"],
            enlarge=options["enlarge"],
            enlarged=options["enlarged"],
            with_plain=options["plain"],
            person_families=_names(options["persons"]),
            cue_conflicts=source_set_by_name(options["conflicts"]) if options["conflicts"] else None,
        )
        existing = find_stimulus_set(described.name)
        if existing is None:
            return create_stimulus_set(described, by=options["owner"])
        differing = [field for field, value in described.columns().items() if getattr(existing, field) != value]
        if differing:
            raise CommandError(
                f"There is already a stimulus set named {existing} with another {differing[0].replace('_', ' ')}: "
                "choose another name."
            )
        return existing

    def _tell(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()

    def _report(self, stimulus_set: StimulusSet) -> None:
        coverage = stimulus_set.coverage
        n_stimuli = sum(report["n"] for report in coverage.values())
        n_clean = stimulus_set.stimuli.filter(corruption="none").count()
        self.stdout.write(f"{stimulus_set}: {n_stimuli} stimuli and {n_clean} clean pictures")
        if stimulus_set.plain_functions:
            one, other = stimulus_set.plain_functions
            self.stdout.write(f"for practice and plain pairs: {n_clean} stimuli each of {one} and {other}")
        for family in stimulus_set.person_families:
            n_sentinels = stimulus_set.stimuli.filter(corruption=family).count()
            self.stdout.write(f"sentinels of persons: {n_sentinels} of the family {family}")
        for name, report in coverage.items():
            told = f"{name}: {report['n']} stimuli, {coverage_words(report)}"
            if name in stimulus_set.pilots:
                told += (
                    f", reach {stimulus_set.pilots[name]['reach']:.3f}, {report['missed']} targets not reached "
                    f"({report['unreachable']} out of the picture's reach), {report['tries']:.1f} tries a stimulus"
                )
            self.stdout.write(told)


def _corruptions(asked: str, sampling: str) -> list[str]:
    if asked.strip() == "all":
        return sorted(LEVELS) if sampling == Sampling.LEVELS else list(CORRUPTIONS)
    names = _names(asked)
    load_plugins(names)
    return names


def _names(asked: str) -> list[str]:
    return list(dict.fromkeys(name.strip() for name in asked.split(",") if name.strip()))
