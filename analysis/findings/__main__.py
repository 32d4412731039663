"""``python -m analysis.findings FOLDER [--json FILE] [--check] [--curve KIND]``: an export's findings, made again."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import get_args

from analysis.errors import AnalysisError
from analysis.findings.reproduction import FINDINGS, TOLERANCE, analyse_export, differences
from analysis.study.analysis_plan import CurveKind

#: Differences that are named.
_NAMED = 5


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status is 1 when numbers differ, 2 when they cannot be computed."""
    parser = argparse.ArgumentParser(prog="python -m analysis.findings", description=__doc__)
    parser.add_argument("folder", type=Path, help="written by: manage.py export STUDY --to FOLDER")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every number, unrounded")
    parser.add_argument("--check", action="store_true", help=f"compare with {FINDINGS} in the folder")
    parser.add_argument("--curve", choices=get_args(CurveKind), help="draw curves so, instead of as the export did")
    given = parser.parse_args(arguments)
    try:
        computed = analyse_export(given.folder, **({} if given.curve is None else {"curve": given.curve}))
        if given.json is not None:
            given.json.write_text(json.dumps(computed, indent=1, allow_nan=False) + "\n", encoding="utf-8")
            sys.stdout.write(f"Every number: {given.json}\n")
        return _check(given.folder, computed) if given.check else 0
    except (AnalysisError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2


def _check(folder: Path, computed: object) -> int:
    try:
        stored = json.loads((folder / FINDINGS).read_text(encoding="utf-8"))
    except ValueError as error:
        sys.stderr.write(f"{folder / FINDINGS} is damaged: {error}. Export the study again.\n")
        return 2
    found = list(differences(stored, json.loads(json.dumps(computed))))
    if not found:
        sys.stdout.write("Identical to the numbers of the export.\n")
        return 0
    worst = max(found, key=lambda one: one.size)
    if worst.size <= TOLERANCE:
        sys.stdout.write(f"{len(found)} numbers differ by at most {worst.size:.1e} ({worst.path}).\n")
        return 0
    sys.stdout.write(f"{len(found)} values differ from those of the export:\n")
    for one in sorted(found, key=lambda one: -one.size)[:_NAMED]:
        sys.stdout.write(f"  {one.path}: {one.stored!r} there, {one.computed!r} here\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
