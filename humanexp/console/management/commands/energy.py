from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from analysis.energy import FORMULA, in_words, published_example
from humanexp.core.commands import RefusableCommand, check_folder
from humanexp.core.errors import InvalidRequest
from humanexp.evaluations.emissions import Emission, account_of, emissions_of
from humanexp.stimuli.selectors.sets import stimulus_set_by_name
from humanexp.studies.selectors import study_by_slug


class Command(RefusableCommand):
    help = "Energy and CO2 of generation, predictions and retrainings, each measured or estimated, and their sum."

    def add_arguments(self, parser: ArgumentParser) -> None:
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--stimuli", metavar="NAME", help="of a stimulus set")
        which.add_argument("--study", metavar="NAME", help="of a study's stimulus set")
        which.add_argument("--published", action="store_true", help="the example of the VCR paper, by the same formula")
        parser.add_argument("--json", type=Path, metavar="FILE", help="write every number, unrounded")

    def handle(self, *args: Any, **options: Any) -> None:
        check_folder(options["json"])
        emissions = _published() if options["published"] else emissions_of(_stimulus_set(options))
        account = account_of(emissions)
        for one in emissions:
            self.stdout.write(f"{one.stage} {one.name}: {in_words(one.energy) if one.energy else 'not recorded'}")
        if account["total"]:
            total = account["total"]
            self.stdout.write(
                f"Sum: {total['kwh']:.4g} kWh, {total['g_co2']:.4g} g CO₂; per function "
                f"{account['g_co2_per_function']:.4g} g CO₂{' (estimate)' if account['is_estimate'] else ''}"
            )
        self.stdout.write(f"{FORMULA}.")
        if options["json"]:
            options["json"].write_text(json.dumps(account, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _stimulus_set(options: dict[str, Any]) -> Any:
    if options["stimuli"]:
        return stimulus_set_by_name(options["stimuli"])
    study = study_by_slug(options["study"])
    if study.stimulus_set is None:
        raise InvalidRequest(f"{study.slug} has no stimulus set: its trials were imported. Name a set by --stimuli.")
    return study.stimulus_set


def _published() -> list[Emission]:
    return [Emission(stage, "VCR", 1, energy.to_dict()) for stage, energy in published_example().items()]
