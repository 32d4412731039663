from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from analysis.observers.comparisons import TASKS
from analysis.observers.controls import Version, said_of_versions
from analysis.observers.methods import methods_text, said_of_decoding, said_of_place
from humanexp.console.model_options import add_network_options, add_word_options, asking_of, how_of
from humanexp.core.commands import OwnedCommand, check_folder
from humanexp.evaluations import selectors
from humanexp.evaluations.models import EvaluationRun
from humanexp.evaluations.observers import is_asked
from humanexp.evaluations.services.asked_comparisons import compare
from humanexp.evaluations.services.asked_observers import ask
from humanexp.evaluations.services.evaluations import evaluate, evaluate_together
from humanexp.evaluations.shares import EDGES, document, shares_of
from humanexp.jobs import runner
from humanexp.stimuli.models import StimulusSet
from humanexp.studies.models import Origin
from humanexp.studies.plans import planned_trials
from humanexp.studies.selectors import study_by_slug


class Command(OwnedCommand):
    help = "Let classifiers predict every stimulus of a set, or of a study's set."
    owned = "predictions they are"

    def add_arguments(self, parser: CommandParser) -> None:
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--stimuli", metavar="NAME")
        which.add_argument("--study", metavar="NAME")
        parser.add_argument(
            "--classifier",
            metavar="SPEC",
            required=True,
            action="append",
            help="e.g. lite:0, export:model.pt2, timm:resnet50; several in one pass over the pictures: once for each",
        )
        parser.add_argument("--name", default="", help="name on the dashboard, of one classifier")
        add_network_options(parser)
        parser.add_argument(
            "--json", metavar="FILE", type=Path, help="write how many stimuli of each function are named right over Δv"
        )
        add_word_options(parser)
        parser.add_argument(
            "--task",
            choices=("naming", "comparisons"),
            default="naming",
            help="of a model in words: naming the pictures (default), or the comparisons that the study plans for "
            "people (same/different or ABX)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        check_folder(options["json"])
        if options["json"] and not _stimulus_set(options).corruptions:
            raise CommandError(f"{_stimulus_set(options)} holds no function to count over: leave --json out.")
        # call_command gives one as it stands
        given = options["classifier"]
        specs = [given] if isinstance(given, str) else given
        if len(specs) > 1 and (options["name"] or any(is_asked(spec) for spec in specs)):
            raise CommandError("--name, and a model that is asked in words, are for one --classifier at a time.")
        if options["task"] == "comparisons":
            self._compare({**options, "classifier": specs[0]})
            return
        if is_asked(specs[0]):
            self._ask({**options, "classifier": specs[0]})
            return
        how = how_of(options)
        where = {"stimulus_set": _stimulus_set(options), "how": how, "owner": options["owner"]}
        if len(specs) == 1:
            run, job = evaluate(spec=specs[0], name=options["name"], **where)
            runs = [run]
        else:
            runs, job = evaluate_together(specs=specs, **where)
        runner.finish(job, what="The evaluation", tell=self.stderr.write)
        for run in runs:
            run.refresh_from_db()
            self.stdout.write(f"{run.name}: {run.count} predictions{_right(run)}")
            for what in ("readout", "plug-in"):
                if what in run.versions:
                    self.stdout.write(f"  {what} {run.versions[what]}")
        self._tell_shares(runs, options["json"])

    def _tell_shares(self, runs: Sequence[EvaluationRun], target: Path | None) -> None:
        """What networks name right over visual change, functions one below the other."""
        found = shares_of(runs)
        if not found:
            return
        stretches = ", ".join(f"{low:g} to {high:g}" for low, high in pairwise(EDGES))
        self.stdout.write(f"Right where Δv is {stretches}:")
        width = max(len(one.corruption) for one in found)
        longest = max(len(one.network) for one in found)
        for one in found:
            self.stdout.write(f"  {one.corruption:{width}}  {one.network:{longest}}  {one.words}")
        if target is not None:
            target.write_text(json.dumps(document(runs, found), indent=1) + "\n", encoding="utf-8")

    def _compare(self, options: dict[str, Any]) -> None:
        if not options["study"] or not is_asked(options["classifier"]) or options["json"]:
            raise CommandError("--task comparisons is for --study, a model that is asked in words, and without --json.")
        study, stimulus_set = study_by_slug(options["study"]), _stimulus_set(options)
        if study.origin != Origin.COLLECTED:
            raise CommandError(f"{study.slug} was imported: there is no plan of its comparisons here.")
        run, job = compare(
            stimulus_set=stimulus_set,
            study=study.slug,
            trials=planned_trials(study, TASKS),
            spec=options["classifier"],
            name=options["name"],
            owner=options["owner"],
            tell=self.stderr.write,
            **asking_of(options).arguments,
        )
        runner.finish(job, what="The evaluation", tell=self.stderr.write)
        run.refresh_from_db()
        found = run.asking["summary"]
        kinds = ", ".join(f"{count} {kind}" for kind, count in found["kinds"].items())
        self.stdout.write(
            f"{run.name}: {found['correct']} of {found['trials']} comparisons right, and {found['plain_correct']} of "
            f"{found['plain']} plain ones; {kinds}"
        )
        self.stdout.write(run.asking["methods"])
        self.stdout.write(f"d\u2032 beside people's: analyse {study.slug}")

    def _ask(self, options: dict[str, Any]) -> None:
        asking = asking_of(options)
        run, job = ask(
            stimulus_set=_stimulus_set(options),
            spec=options["classifier"],
            name=options["name"],
            owner=options["owner"],
            tell=self.stderr.write,
            **asking.arguments,
        )
        runner.finish(job, what="The evaluation", tell=self.stderr.write)
        run.refresh_from_db()
        found = run.asking["summary"]
        self.stdout.write(f"{run.name}: {run.count} stimuli{_right(run)}")
        self._tell_shares([run], options["json"])
        kinds = ", ".join(f"{count} {kind}" for kind, count in found["kinds"].items())
        calls = "" if run.asking["is_scored"] else f"; {run.asking['calls']} calls"
        self.stdout.write(f"{found['asked']} questions: {kinds}{calls}")
        if found["mass"] is not None:
            self.stdout.write(f"Probability that a reply begins with one of the labels: {found['mass']:.3f} on average")
        if found["position"] is not None:
            self.stdout.write(said_of_place(found["position"]))
        elif found["preference"] is not None:
            low, high = found["preference_interval"]
            self.stdout.write(
                f"Answers that follow a place in the list instead of the picture: {found['preference']:.3f} "
                f"(95 % interval {low:.3f} to {high:.3f})"
            )
        changed = said_of_versions([Version(**one) for one in found["versions"]])
        for sentence in (*said_of_decoding(asking.arguments["protocol"], found), changed):
            if sentence:
                self.stdout.write(sentence)
        self.stdout.write(methods_text(run.name, run.asking))


def _right(run: EvaluationRun) -> str:
    """Accuracy on clean pictures; of published pictures, which have no clean ones among them, on all."""
    if run.accuracy_clean is None:
        return ""
    which = "clean" if run.stimulus_set.corruptions else "published"
    guessing = selectors.guessing([run]).get(run.pk)
    return f", {run.accuracy_clean:.3f} right on {which} pictures{run.among}" + (f". {guessing}" if guessing else "")


def _stimulus_set(options: dict[str, Any]) -> StimulusSet:
    if options["study"]:
        stimulus_set = study_by_slug(options["study"]).stimulus_set
        if stimulus_set is None:
            raise CommandError(
                f"The study {options['study']} has no pictures: its trials were imported without them. Attach them "
                f"with attach_pictures {options['study']} PATH."
            )
        return stimulus_set
    try:
        return StimulusSet.objects.get(name=options["stimuli"])
    except StimulusSet.DoesNotExist:
        known = ", ".join(StimulusSet.objects.values_list("name", flat=True)) or "none yet"
        raise CommandError(f"There is no stimulus set {options['stimuli']!r}. There are: {known}.") from None
