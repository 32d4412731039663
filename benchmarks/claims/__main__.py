"""All claims with what their simulations measured: writes docs/claims.md; `--smoke` tries two runs of every cell.

python -m benchmarks.claims [--smoke]
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

from analysis.claims import CLAIMS
from analysis.claims.claim import ENOUGH, FALSE_IN_100, FALSE_RECRUITERS_IN_100, FEWEST, PROMISED_IN_100
from benchmarks import _command
from benchmarks.claims._cells import MEASURED, cells_of, outcome_of, scripts

DOCUMENT = Path(__file__).parents[2] / "docs" / "claims.md"
HEAD = f"""# What is claimed, and how often it is wrong

Every sentence and interval that the product publishes is declared once, in `analysis/claims/`, with the rate at which
it may be wrong. Each has a simulation under `benchmarks/claims/`: studies whose truth is known, with seeds fixed
beforehand. A cell has missed its limit when it lies beyond it by more than 2.6 Monte Carlo errors. This page is
written by `python -m benchmarks.claims` from the declarations and the stored figures.

## Conditions of every verdict on people

Headline, tables, report and JSON (`crowd` in `findings.json`) say them in the same words, of every kind of study:
`tests/results/test_crowds.py`.

* **Fewer than {FEWEST} people**: no verdict on models, corruptions, same/different, ABX or recruiters. The numbers are
  shown, and the reason.
* **Thin categories**: categories count equally, so a model has no verdict where one of them has too few pictures. The
  reason names the category, the stretch, and how many pictures would mend it:
  `tests/analysis/findings/test_verdicts.py`. No other sentence takes the verdict's place:
  `tests/results/test_headline.py`.
* **Fewer than {ENOUGH} people**: the number of people stands beside the verdict, with the rate of false differences.
  Of models it is {FALSE_IN_100[0]} to {FALSE_IN_100[1]} of 100 studies (nominal: {PROMISED_IN_100}), of equal crowds of
  recruiters up to {FALSE_RECRUITERS_IN_100}: the cells of people "who differ by 1", below. Of corruptions,
  same/different and ABX it is no more than promised. Nothing is said from {ENOUGH} people on, where the rate of models
  only falls slowly: see the cells of 20 and 40.
* **Fewer sessions than planned**: everything on people is provisional, and says how many of how many count.
"""


def document() -> str:
    """The text of docs/claims.md."""
    parts = [HEAD]
    measured = {script: stored(script) for script in scripts()}
    for claim in CLAIMS:
        parts.append(f"\n## {claim.name}\n\n> {claim.statement}\n")
        parts.append(f"* Estimand: {claim.estimand}\n* Conditions: {claim.conditions}")
        parts.append(f"* Promise: {claim.promise} {claim.rate:g}\n")
        parts.append("| simulated studies | runs | quantity | mean | Monte Carlo error | limit |")
        parts.append("| --- | --- | --- | --- | --- | --- |")
        for script, cells in measured.items():
            for name, cell in cells.items():
                if cell["claim"] == claim.name:
                    parts += rows(f"{script}: {name}", cell)
    return "\n".join(parts) + "\n"


def stored(script: str) -> dict[str, Any]:
    file = MEASURED / f"{script}.json"
    figures: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    return figures


def rows(name: str, cell: dict[str, Any]) -> list[str]:
    return [
        f"| {name} | {one['told']} | {quantity} | {one['mean']:.4f} | {one['error']:.4f} | "
        f"{one['limit']}{'' if one['kept'] else ' **missed**'} |"
        for quantity, one in cell["quantities"].items()
    ]


def main(*, smoke: Annotated[bool, "run every cell twice and write nothing"] = False) -> bool:
    if smoke:
        for script in scripts():
            for cell in cells_of(script):
                for seed in (0, 1):
                    outcome_of([cell], (cell.name, seed))
                print(f"{script}: {cell.name}", flush=True)
        return True
    DOCUMENT.write_text(document())
    return all(
        one["kept"] for script in scripts() for cell in stored(script).values() for one in cell["quantities"].values()
    )


if __name__ == "__main__":
    _command.run(main)
