from __future__ import annotations

import csv
from collections.abc import Iterator

from humanexp.stimuli import selectors
from humanexp.stimuli.models import StimulusSet


class _Line:
    """What the csv writer writes to: it hands each line on instead of keeping it."""

    def write(self, text: str) -> str:
        return text


def manifest_lines(stimulus_set: StimulusSet) -> Iterator[str]:
    """The stimuli of a set as CSV, line by line, columns of the STIMULI schema."""
    from analysis.tables import STIMULI, guard

    writer = csv.DictWriter(_Line(), STIMULI.names, lineterminator="\n")
    yield str(writer.writeheader())
    for row in selectors.manifest_rows(stimulus_set):
        yield str(writer.writerow({name: guard(cell) if isinstance(cell, str) else cell for name, cell in row.items()}))
