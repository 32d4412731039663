from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from analysis.study.analysis_plan import CurveKind
from humanexp.console.terminal_report import print_summary
from humanexp.core.commands import RefusableCommand, check_folder
from humanexp.evaluations.emissions import account_of, emissions_of
from humanexp.ledger.figures import payment_summary
from humanexp.results import selectors
from humanexp.results.services import run_analysis
from humanexp.studies.selectors import study_by_slug


class Command(RefusableCommand):
    help = "Judge the sessions, fit the curves, compare models with people; print a summary and write every number."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write every number, unrounded; - for the screen")
        parser.add_argument("--seed", type=int, default=None, help="of every resampling; the study's own by default")
        parser.add_argument("--bootstrap", type=int, default=1000, metavar="N", help="refits per resampled unit")
        parser.add_argument(
            "--curve",
            choices=get_args(CurveKind),
            default=None,
            help="how curves are drawn: paper as VCR prints it, paper-code as its program does; the plan's by default",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        target: Path | None = options["json"]
        check_folder(target)
        study = study_by_slug(options["study"])
        run = run_analysis(study=study, seed=options["seed"], n_bootstrap=options["bootstrap"], curve=options["curve"])
        payments = payment_summary(study)
        stimuli = study.stimulus_set
        energy = {} if stimuli is None else {"energy": account_of(emissions_of(stimuli))}
        numbers = {**selectors.findings_json(run), "payments": dict(payments), **energy}
        if str(target) == "-":
            self.stdout.write(_text(numbers))
            return
        print_summary(self.stdout, selectors.findings(run), payments)
        if target is not None:
            target.write_text(_text(numbers) + "\n", encoding="utf-8")
            self.stdout.write(f"Every number: {target}")


def _text(numbers: Mapping[str, Any]) -> str:
    return json.dumps(numbers, indent=1, ensure_ascii=False, allow_nan=False)
