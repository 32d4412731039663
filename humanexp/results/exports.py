"""Answers on their way out: pseudonymous rows in the columns of `analysis.tables`."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from analysis.tables import TRIALS
from humanexp.experiments import selectors as experiments
from humanexp.experiments.models import Origin, Study
from humanexp.results.tables import trials_of
from humanexp.screening import selectors as screening

#: Rows that are written at once.
CHUNK = 2000


def response_lines(study: Study) -> Iterator[str]:
    """The study's answers as CSV, a chunk at a time; `TRIALS.read` reads it back."""
    yield _csv([TRIALS.names])
    if study.origin == Origin.IMPORTED:
        frame = trials_of(study)
        for start in range(0, len(frame), CHUNK):
            yield frame.iloc[start : start + CHUNK].to_csv(index=False, header=False, lineterminator="\n")
        return
    accepted = screening.accepted_sessions(study)
    rows = experiments.trial_rows(study)
    for start in range(0, len(rows), CHUNK):
        yield _csv(
            [(row | {"accepted": row["session"] in accepted})[name] for name in TRIALS.names]
            for row in rows[start : start + CHUNK]
        )


def _csv(rows: Any) -> str:
    lines = io.StringIO()
    csv.writer(lines, lineterminator="\n").writerows(rows)
    return lines.getvalue()
