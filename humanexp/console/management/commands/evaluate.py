from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from analysis.classifiers.networks import PRECISIONS
from analysis.errors import InvalidInput
from analysis.observers.questions import WORDINGS, AskPlan
from humanexp.core.commands import OwnedCommand, check_folder
from humanexp.evaluations import selectors
from humanexp.evaluations.chat import Caps
from humanexp.evaluations.models import EvaluationRun
from humanexp.evaluations.observers import Decoding, is_asked
from humanexp.evaluations.services.asked_observers import ask
from humanexp.evaluations.services.evaluations import How, evaluate, evaluate_together
from humanexp.evaluations.shares import EDGES, document, shares_of
from humanexp.jobs import runner
from humanexp.stimuli.models import StimulusSet
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
        parser.add_argument("--device", default="cpu", help="cpu (default), cuda or cuda:N")
        parser.add_argument(
            "--precision", choices=PRECISIONS, default="float32", help="of torch networks on CUDA (default: float32)"
        )
        parser.add_argument(
            "--rule",
            choices=["mean", "sum", "max"],
            default="mean",
            help="how the outputs that stand for a label become its score (default: mean)",
        )
        parser.add_argument(
            "--decide",
            choices=["among", "open"],
            default="among",
            help="among: the labels of the pictures compete alone (default); open: outputs that stand for none compete "
            "as well, and where one wins, the answer is `outside`, which is wrong",
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
        parser.add_argument(
            "--json", metavar="FILE", type=Path, help="write how many stimuli of each function are named right over Δv"
        )

        words = parser.add_argument_group(
            "models that are asked in words (--classifier openai:URL#MODEL or vlm:FOLDER)"
        )
        words.add_argument("--allow-upload", action="store_true", help="the pictures may be sent to the model's host")
        words.add_argument(
            "--wordings", default="describes,shown", help=f"of {', '.join(WORDINGS)}; the first decides the answer"
        )
        words.add_argument("--orders", type=int, default=2, help="orders of the labels for each stimulus (default: 2)")
        words.add_argument("--repeats", type=int, default=1, help="of each question; needs --temperature")
        words.add_argument("--letters", action="store_true", help="options behind letters, instead of bare words")
        words.add_argument("--seed", type=int, default=0, help="of the orders")
        words.add_argument("--temperature", type=float, default=0.0, help="above 0, answers are drawn (default: 0)")
        words.add_argument("--most-calls", type=int, default=0, help="cap; needed where the host is another machine")
        words.add_argument("--most-cost", type=float, default=0.0, help="cap, in the currency of the prices")
        words.add_argument("--price-in", type=float, default=0.0, help="of a million tokens of questions")
        words.add_argument("--price-out", type=float, default=0.0, help="of a million tokens of replies")

    def handle(self, *args: Any, **options: Any) -> None:
        check_folder(options["json"])
        if options["json"] and not _stimulus_set(options).corruptions:
            raise CommandError(f"{_stimulus_set(options)} holds no function to count over: leave --json out.")
        # call_command gives one as it stands
        given = options["classifier"]
        specs = [given] if isinstance(given, str) else given
        if len(specs) > 1 and (options["name"] or any(is_asked(spec) for spec in specs)):
            raise CommandError("--name, and a model that is asked in words, are for one --classifier at a time.")
        if is_asked(specs[0]):
            self._ask({**options, "classifier": specs[0]})
            return
        how = How(
            device=options["device"],
            rule=options["rule"],
            decide=options["decide"],
            own_labels=options["own_labels"],
            labels=options["labels"],
            allow_download=options["allow_download"],
            precision=options["precision"],
        )
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

    def _ask(self, options: dict[str, Any]) -> None:
        try:
            plan = AskPlan(
                wordings=tuple(word.strip() for word in options["wordings"].split(",")),
                orders=options["orders"],
                repeats=options["repeats"],
                style="letters" if options["letters"] else "words",
                seed=options["seed"],
            )
        except InvalidInput as error:
            raise CommandError(str(error)) from error
        run, job = ask(
            stimulus_set=_stimulus_set(options),
            spec=options["classifier"],
            plan=plan,
            caps=Caps(options["most_calls"], options["most_cost"], options["price_in"], options["price_out"]),
            name=options["name"],
            allow_upload=options["allow_upload"],
            decoding=Decoding(
                temperature=options["temperature"], device=options["device"], precision=options["precision"]
            ),
            owner=options["owner"],
            tell=self.stderr.write,
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
        if found["preference"] is not None:
            low, high = found["preference_interval"]
            self.stdout.write(
                f"Answers that follow a place in the list instead of the picture: {found['preference']:.3f} "
                f"(95 % interval {low:.3f} to {high:.3f})"
            )


def _right(run: EvaluationRun) -> str:
    """Accuracy on clean pictures; of published pictures, which have no clean ones among them, on all."""
    if run.accuracy_clean is None:
        return ""
    which = "clean" if run.stimulus_set.corruptions else "published"
    guessing = selectors.guessing([run]).get(run.pk)
    return f", {run.accuracy_clean:.3f} right on {which} pictures" + (f". {guessing}" if guessing else "")


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
