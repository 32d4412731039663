"""Trial files that the model-vs-human toolbox reads: a folder an experiment, and in it CSV files, one row a trial.

``subj, session, trial, rt, object_response, category, condition, imagename`` as published by Geirhos et al., and the
visual change behind them. `analysis.published_trials` reads them, too.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from analysis.findings.observations import CLEAN, CURVE_ROLES

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "subj", "session", "trial", "rt", "object_response", "category", "condition", "imagename", "visual_change",
)  # fmt: skip
#: Name of the experiment with clean pictures.
CLEAN_EXPERIMENT = "clean"
PEOPLE = "people"


class TrialFiles:
    """Writes trials as they come; use as a context manager.

    Parameters
    ----------
    folder : Path
        Experiments become folders in it: one a corruption, its underscores as hyphens.
    participants : sequence of str
        Codes of all participants who may come; they are called subject-01, subject-02, ... in order of codes, unless
        their codes begin with "subject" already.

    Notes
    -----
    The condition is the lower end of a tenth of visual change, as text ("0.3"), or the published condition. Stimuli
    with one name have one image id for every observer, as error consistency needs it.
    """

    def __init__(self, folder: Path, participants: Sequence[str]) -> None:
        self.folder = folder
        self.paths: list[Path] = []
        codes = sorted(set(participants))
        width = max(2, len(str(len(codes))))
        self._subjects = {
            code: code if code.lower().startswith("subject") else f"subject-{number:0{width}d}"
            for number, code in enumerate(codes, 1)
        }
        self._sessions: dict[str, dict[str, int]] = {}
        self._writers: dict[tuple[str, str], Any] = {}
        self._written: dict[tuple[str, str], int] = {}
        self._open = ExitStack()

    def __enter__(self) -> TrialFiles:
        """Nothing is written before the first trial."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the files."""
        self._open.close()

    def add_trials(self, frame: pd.DataFrame) -> None:
        """Write people's categorisation trials of accepted sessions that may enter curves.

        Parameters
        ----------
        frame : pandas.DataFrame
            Columns of `analysis.tables.TRIALS`.
        """
        keep = (frame["task"] == "categorisation") & frame["role"].isin(CURVE_ROLES)
        keep &= frame["accepted"].astype("boolean").fillna(False)
        for row in frame[keep.to_numpy(dtype=bool)].to_dict("records"):
            subject = self._subjects[row["participant"]]
            sessions = self._sessions.setdefault(subject, {})
            session = sessions.setdefault(row["session"], len(sessions) + 1)
            short = subject.replace("subject-", "s")
            self._write(row, PEOPLE, subject, session, int(row["position"]) + 1, short, _seconds(row.get("rt_ms")))

    def add_predictions(self, frame: pd.DataFrame) -> None:
        """Write classifiers' predictions; each classifier has one session an experiment.

        Parameters
        ----------
        frame : pandas.DataFrame
            Columns of `analysis.tables.PREDICTIONS`.
        """
        for row in frame.to_dict("records"):
            name = _plain(str(row["classifier"])) or "classifier"
            trial = self._written.get((_experiment(row), name), 0) + 1
            self._write(row, name, name, 1, trial, "dnn", "NaN")

    def _write(
        self, row: Mapping[Any, Any], observer: str, subject: str, session: int, trial: int, short: str, seconds: str
    ) -> None:
        experiment = _experiment(row)
        key = (experiment, observer)
        if key not in self._writers:
            path = self.folder / experiment / f"{experiment}_{observer}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            self.paths.append(path)
            text = self._open.enter_context(path.open("w", encoding="utf-8", newline=""))
            self._writers[key] = csv.writer(text, lineterminator="\n")
            self._writers[key].writerow(COLUMNS)
        number = self._written[key] = self._written.get(key, 0) + 1
        condition, change = _condition(row), row.get("visual_change")
        image = (
            f"{number:04d}_{experiment[:3]}_{short}_{condition}_{row['category']}_00_{_plain(str(row['stimulus']))}.png"
        )
        known = isinstance(change, float) and not math.isnan(change)
        self._writers[key].writerow(
            [
                subject,
                session,
                trial,
                seconds,
                row["response"],
                row["category"],
                condition,
                image,
                repr(change) if known else "",
            ]
        )


def _experiment(row: Mapping[Any, Any]) -> str:
    corruption = str(row["corruption"])
    return CLEAN_EXPERIMENT if corruption == CLEAN else _plain(corruption)


def _condition(row: Mapping[Any, Any]) -> str:
    condition = row.get("condition")
    if isinstance(condition, str) and condition:
        return condition
    return f"{min(int(float(row['visual_change']) * 10), 9) / 10:.1f}"


def _seconds(rt_ms: Any) -> str:
    return repr(rt_ms / 1000) if isinstance(rt_ms, float) and not math.isnan(rt_ms) else "NaN"


def _plain(name: str) -> str:
    """Letters, digits, points and hyphens: the parts of an image name are told apart by underscores."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")
