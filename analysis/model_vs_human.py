"""Trial files that the model-vs-human toolbox reads: a folder an experiment, and in it CSV files, one row a trial.

``subj, session, trial, rt, object_response, category, condition, imagename`` as published by Geirhos et al., and the
visual change behind them. `analysis.published_trials` reads them, too.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.findings.observations import CLEAN, CURVE_ROLES, is_set_aside

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "subj", "session", "trial", "rt", "object_response", "category", "condition", "imagename", "visual_change",
)  # fmt: skip
#: A further column of studies whose trials offer some labels only, or none of these.
OFFERED = "options"
#: Name of the experiment with clean pictures.
CLEAN_EXPERIMENT = "clean"
PEOPLE = "people"


class TrialFiles:
    """Writes trials as they come; no file stays open, however many observers there are.

    Parameters
    ----------
    folder : Path
        Experiments become folders in it: one a corruption, its underscores as hyphens.
    participants : sequence of str
        Codes of all participants who may come; they are called subject-01, subject-02, ... in order of codes, unless
        their codes begin with "subject" already.
    with_options : bool
        Whether a column says what each trial offered.

    Notes
    -----
    The condition is the lower end of a tenth of visual change, as text ("0.3"), or the published condition. Stimuli
    with one name have one image id for every observer, as error consistency needs it.
    """

    def __init__(self, folder: Path, participants: Sequence[str], *, with_options: bool = False) -> None:
        self.folder = folder
        self.columns = (*COLUMNS, OFFERED) if with_options else COLUMNS
        self.paths: list[Path] = []
        codes = sorted(set(participants))
        width = max(2, len(str(len(codes))))
        self._subjects = {
            code: code if code.lower().startswith("subject") else f"subject-{number:0{width}d}"
            for number, code in enumerate(codes, 1)
        }
        self._sessions: dict[str, dict[str, int]] = {}
        self._written: dict[tuple[str, str], int] = {}
        self._waiting: dict[Path, list[list[Any]]] = {}
        self._experiments, self._observers = _PlainNames(()), _PlainNames((PEOPLE, *self._subjects.values()))

    def add_trials(self, frame: pd.DataFrame) -> None:
        """Write people's categorisation trials of accepted sessions that may enter curves; none that was set aside.

        Parameters
        ----------
        frame : pandas.DataFrame
            Columns of `analysis.tables.trials.TRIALS`.
        """
        keep = (frame["task"] == "categorisation") & frame["role"].isin(CURVE_ROLES)
        keep &= ~is_set_aside(frame)
        keep &= frame["accepted"].astype("boolean").fillna(False)
        for row in frame[keep.to_numpy(dtype=bool)].to_dict("records"):
            subject = self._subjects[row["participant"]]
            sessions = self._sessions.setdefault(subject, {})
            session = sessions.setdefault(row["session"], len(sessions) + 1)
            short = subject.replace("subject-", "s")
            self._take(row, PEOPLE, subject, session, int(row["position"]) + 1, short, _seconds(row.get("rt_ms")))
        self._write()

    def add_predictions(self, frame: pd.DataFrame) -> None:
        """Write classifiers' predictions; each classifier has one session an experiment.

        Parameters
        ----------
        frame : pandas.DataFrame
            Columns of `analysis.tables.stimuli.PREDICTIONS`.
        """
        for row in frame.to_dict("records"):
            name = self._observers.of(str(row["classifier"]), "classifier")
            trial = self._written.get((self._experiment(row), name), 0) + 1
            self._take(row, name, name, 1, trial, "dnn", "NaN")
        self._write()

    def _experiment(self, row: Mapping[Any, Any]) -> str:
        corruption = str(row["corruption"])
        return self._experiments.of(CLEAN_EXPERIMENT if corruption == CLEAN else corruption, "experiment")

    def _take(
        self, row: Mapping[Any, Any], observer: str, subject: str, session: int, trial: int, short: str, seconds: str
    ) -> None:
        """A row for the file of an experiment and observer."""
        experiment = self._experiment(row)
        key = (experiment, observer)
        number = self._written[key] = self._written.get(key, 0) + 1
        path = self.folder / experiment / f"{experiment}_{observer}.csv"
        condition, change = _condition(row), row.get("visual_change")
        image = (
            f"{number:04d}_{experiment[:3]}_{short}_{condition}_{row['category']}_00_{_plain(str(row['stimulus']))}.png"
        )
        known = isinstance(change, float) and not math.isnan(change)
        self._waiting.setdefault(path, []).append(
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
                *([_text(row.get(OFFERED))] if OFFERED in self.columns else []),
            ]
        )

    def _write(self) -> None:
        """Put what has been taken at the ends of its files."""
        for path, rows in self._waiting.items():
            is_new = path not in self.paths
            if is_new:
                path.parent.mkdir(parents=True, exist_ok=True)
                self.paths.append(path)
            with path.open("w" if is_new else "a", encoding="utf-8", newline="") as text:
                csv.writer(text, lineterminator="\n").writerows([self.columns, *rows] if is_new else rows)
        self._waiting.clear()


class _PlainNames:
    """Plain names, a different one for every name: ``vit_b`` and ``vit-b`` are two observers."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._plain: dict[str, str] = {}

    def of(self, name: str, otherwise: str) -> str:
        if name not in self._plain:
            base = plain = _plain(name) or otherwise
            number = 1
            while plain in self._taken:
                number += 1
                plain = f"{base}-{number}"
            self._taken.add(plain)
            self._plain[name] = plain
        return self._plain[name]


def _condition(row: Mapping[Any, Any]) -> str:
    condition = row.get("condition")
    if isinstance(condition, str) and condition:
        return condition
    return f"{min(int(float(row['visual_change']) * 10), 9) / 10:.1f}"


def _text(cell: Any) -> str:
    return cell if isinstance(cell, str) else ""


def _seconds(rt_ms: Any) -> str:
    return repr(rt_ms / 1000) if isinstance(rt_ms, float) and not math.isnan(rt_ms) else "NaN"


def _plain(name: str) -> str:
    """Letters, digits, points and hyphens: the parts of an image name are told apart by underscores."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")
