"""Adapter ``table:PATH``: predictions made elsewhere, one row a stimulus, and what is wrong with such a table.

Columns: ``stimulus``, then either ``response`` (a category) and, if known, ``confidence``; or one column of
probabilities for each label of the set, or for each of the 1,000 WordNet ids.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from analysis.errors import ClassifierUnavailable, TableRefused
from analysis.labels.files import default_labels
from analysis.labels.imagenet import class_ids
from analysis.labels.mapping import Answering, Decisions
from analysis.labels.space import NO_ANSWER, OUTSIDE, LabelSpace

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class PredictionTable:
    """A table of predictions as `RecordedPredictions`; either responses or probabilities are on record."""

    name: str
    labels: tuple[str, ...]
    digest: str
    row_of: dict[str, int]
    responses: NDArray[np.str_] | None = None
    confidence: NDArray[np.float64] | None = None
    probabilities: NDArray[np.float64] | None = None

    @property
    def label_space(self) -> int:
        """Number of labels on record."""
        return len(self.labels)

    @property
    def preprocessing(self) -> str:
        """Where the predictions come from."""
        return "predictions recorded elsewhere"

    def predictions(self, stimuli: Sequence[str], how: Answering | None = None) -> Decisions:
        """Decisions on these stimuli, in their order; among the labels asked for, or those on record.

        Raises
        ------
        TableRefused
            If a stimulus is not in the table.
        """
        missing = [stimulus for stimulus in stimuli if stimulus not in self.row_of]
        if missing:
            raise TableRefused(
                f"{self.name}, column 'stimulus': {len(missing)} of {len(stimuli)} stimuli have no row, the first is "
                f"{missing[0]!r}. Add them, named as in the stimulus table."
            )
        rows = np.array([self.row_of[stimulus] for stimulus in stimuli], dtype=np.int64)
        if self.probabilities is not None:
            return (how or Answering()).answer(self.probabilities[rows], self.labels)
        if self.responses is None or self.confidence is None:
            raise TableRefused(f"{self.name}: the table holds neither responses nor probabilities.")
        return Decisions(self.responses[rows], self.confidence[rows], len(self.labels))


def load(reference: str, space: LabelSpace | None = None) -> PredictionTable:
    """Read and check a table of predictions of these labels, by default the product's.

    Raises
    ------
    ClassifierUnavailable
        If there is no such file.
    TableRefused
        Naming file, row (1 = first after the header), column and remedy.
    """
    path = Path(reference)
    if not path.is_file():
        raise ClassifierUnavailable(f"{path}: there is no such table of predictions.")
    report = examine_table(path, (), space=space)
    check_table(report)
    frame, labels = report.frame, report.labels or report.space.ids
    name, digest = path.name, hashlib.sha256(path.read_bytes()).hexdigest()
    row_of = {stimulus: row for row, stimulus in enumerate(frame["stimulus"].str.strip().tolist())}
    if report.kind == "responses":
        confidence = numbers_of(frame["confidence"]) if report.has_confidence else np.full(len(frame), np.nan)
        responses = frame["response"].str.strip().to_numpy(dtype=np.str_)
        return PredictionTable(name, labels, digest, row_of, responses=responses, confidence=confidence)
    probabilities = np.column_stack([numbers_of(frame[label]) for label in labels])
    return PredictionTable(name, labels, digest, row_of, probabilities=probabilities)


#: Problems that are listed; the others are counted.
MOST_LISTED = 20
#: Column of exported predictions: the identity of the labels of the pictures.
_IDENTITY = "labels_identity"
#: Answers that are no label, and are wrong: exported predictions hold them.
_WITHOUT_LABEL = (OUTSIDE, NO_ANSWER)
#: How far the probabilities of a row may sum beside 1.
_SUM_TOLERANCE = 0.01


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: where, what, and what to do.

    Attributes
    ----------
    row : int or None
        1 = first row after the header; None where it concerns the whole table.
    column : str
    what : str
        A sentence with its remedy.
    """

    row: int | None
    column: str
    what: str


@dataclass(slots=True)
class TableReport:
    """What was understood of a table."""

    name: str
    #: "responses" or "probabilities"
    kind: str
    n_rows: int
    n_stimuli: int
    #: those of the set, or 1,000 where probabilities of ImageNet's classes are mapped to them
    n_labels: int
    #: labels of the set
    space: LabelSpace
    #: stimuli of the set that have a row
    n_found: int = 0
    #: rows of stimuli that the set does not have; they are left out
    n_unknown: int = 0
    has_confidence: bool = False
    problems: list[Problem] = field(default_factory=list)
    n_problems: int = 0
    #: the first rows, as they stand
    head: list[dict[str, str]] = field(default_factory=list)
    #: answers by category
    counts: dict[str, int] = field(default_factory=dict)
    #: labels whose probabilities stand in it; of a table of responses none
    labels: tuple[str, ...] = ()
    #: all rows as text
    frame: pd.DataFrame = field(kw_only=True, repr=False)

    @property
    def is_usable(self) -> bool:
        """Whether the table can be taken as it is."""
        return self.n_problems == 0

    def add(self, problems: Iterator[Problem]) -> None:
        """Count problems, and list the first ones."""
        for problem in problems:
            self.n_problems += 1
            if len(self.problems) < MOST_LISTED:
                self.problems.append(problem)


def examine_table(
    path: Path, stimuli: Sequence[str], *, name: str = "", space: LabelSpace | None = None
) -> TableReport:
    """Read a table of predictions and say all that is wrong with it.

    Parameters
    ----------
    path : Path
        .csv or .parquet.
    stimuli : sequence of str
        Names of the set's stimuli: each needs a row.
    name : str
        What the file is called in messages.
    space : LabelSpace, optional
        Labels of the set; by default the product's.

    Returns
    -------
    TableReport
        Without problems exactly where ``load_classifier("table:...")`` takes the table for these stimuli.

    Raises
    ------
    TableRefused
        If the file is no table at all.
    """
    from analysis.tables.reading import read_table

    space = space or default_labels()
    frame = read_table(path)
    frame = frame.assign(**{name: frame[name].astype("string").str.strip() for name in frame.columns})
    present = set(frame.columns)
    has_response = "response" in present
    labels = () if has_response else (class_ids() if class_ids()[0] in present else space.ids)
    report = TableReport(
        name=name or path.name,
        kind="responses" if has_response else "probabilities",
        n_rows=len(frame),
        n_stimuli=len(stimuli),
        n_labels=len(labels) or len(space),
        space=space,
        has_confidence="confidence" in present,
        head=_head(frame, labels),
        labels=labels,
        frame=frame,
    )
    missing = [column for column in ("stimulus", *labels) if column not in present]
    if missing:
        report.add(_missing_columns(missing, labels, present, space))
        return report
    if _IDENTITY in present:
        report.add(_other_identities(frame[_IDENTITY].fillna(""), space))
    text = frame["stimulus"].fillna("")
    report.add(_stimulus_problems(text))
    report.add(_absent_stimuli(set(text.tolist()), stimuli))
    known = set(stimuli)
    report.n_found = len(known & set(text.tolist()))
    report.n_unknown = int((~text.isin(known)).sum())
    if has_response:
        response = frame["response"].fillna("")
        report.add(_response_problems(response, space))
        if set(space.ids) <= present:
            report.add(_contradictions(response, frame, space))
        if report.has_confidence:
            report.add(_confidence_problems(frame["confidence"]))
        counts = {answer: int((response == answer).sum()) for answer in (*space.ids, *_WITHOUT_LABEL)}
        report.counts = {answer: count for answer, count in counts.items() if count or answer in space}
    else:
        report.add(_probability_problems(frame, labels))
    return report


def check_table(report: TableReport) -> None:
    """Refuse a table that has problems.

    Raises
    ------
    TableRefused
        With the first of them, and how many there are.
    """
    if not report.is_usable:
        first = report.problems[0]
        where = "" if first.row is None else f", row {first.row}"
        more = f" ({report.n_problems - 1} more)" if report.n_problems > 1 else ""
        raise TableRefused(f"{report.name}{where}, column {first.column!r}: {first.what}{more}")


def _head(frame: pd.DataFrame, labels: Sequence[str]) -> list[dict[str, str]]:
    shown = [column for column in frame.columns if column not in labels][:4] + list(labels[:4])
    rows = frame[[column for column in shown if column in frame.columns]].head(5)
    return [{str(key): str(value) for key, value in row.items()} for row in rows.to_dict("records")]


def _missing_columns(
    missing: list[str], labels: Sequence[str], present: set[str], space: LabelSpace
) -> Iterator[Problem]:
    if "stimulus" in missing:
        yield Problem(None, "stimulus", "The column is missing: add the names of the stimuli, as in the manifest.")
    if "response" in present:
        return
    if not present & set(labels):
        yield Problem(
            None,
            "response",
            "The column is missing: add the predicted category, or one column of probabilities for each of the "
            f"{len(space)} {_called(space)} or of the 1,000 WordNet ids.",
        )
        return
    for label in missing:
        if label != "stimulus":
            yield Problem(None, label, f"The column is missing: add the probability of {label}.")


def _other_identities(text: pd.Series[Any], space: LabelSpace) -> Iterator[Problem]:
    """Predictions that were exported with pictures whose labels mean something else."""
    for position in np.flatnonzero(~text.isin(["", space.identity]).to_numpy(dtype=bool))[:1]:
        yield Problem(
            int(position) + 1,
            _IDENTITY,
            f"These predictions are among other labels (identity {text.iloc[int(position)][:8]}) than those of the "
            f"pictures ({space.name}, identity {space.identity[:8]}): take a table of predictions among {space.name}.",
        )


def _stimulus_problems(text: pd.Series[Any]) -> Iterator[Problem]:
    doubled = text.duplicated() & (text != "")
    for row, (value, is_doubled) in enumerate(zip(text.tolist(), doubled.tolist(), strict=True), start=1):
        if not value:
            yield Problem(row, "stimulus", "The cell is empty: fill in the name of the stimulus.")
        elif is_doubled:
            yield Problem(row, "stimulus", f"{value} has a row already: remove one of them.")


def _absent_stimuli(named: set[str], stimuli: Sequence[str]) -> Iterator[Problem]:
    absent = [stimulus for stimulus in stimuli if stimulus not in named]
    if absent:
        examples = ", ".join(absent[:3])
        yield Problem(
            None,
            "stimulus",
            f"{len(absent)} of {len(stimuli)} stimuli of the set have no row, for example {examples}: add them.",
        )


def _called(space: LabelSpace) -> str:
    return "categories" if space.identity == default_labels().identity else f"labels of {space.name}"


def _response_problems(response: pd.Series[Any], space: LabelSpace) -> Iterator[Problem]:
    known = ", ".join(space.ids[:16]) + (", ..." if len(space) > 16 else "")
    for position in np.flatnonzero(~response.isin([*space.ids, *_WITHOUT_LABEL]).to_numpy(dtype=bool)):
        value = response.iloc[int(position)]
        said = f"{value!r} is none of the {len(space)} {_called(space)}" if value else "The cell is empty"
        what = f"{said}: write one of {known}; or {OUTSIDE} for an answer that is no label, {NO_ANSWER} for none."
        yield Problem(int(position) + 1, "response", what)


def _contradictions(response: pd.Series[Any], frame: pd.DataFrame, space: LabelSpace) -> Iterator[Problem]:
    """Answers beside which another category has the highest probability: one of the two is of another picture."""
    values = np.column_stack([numbers_of(frame[category]) for category in space.ids])
    highest = values.max(axis=1)
    for position, (answer, row) in enumerate(zip(response.tolist(), values, strict=True)):
        if answer in space and row[space.place(answer)] < highest[position]:
            best = space.ids[int(row.argmax())]
            yield Problem(
                position + 1,
                "response",
                f"{answer!r} is the answer, and {best} has the highest probability: correct one of them, or leave out "
                "the column response.",
            )


def _confidence_problems(text: pd.Series[Any]) -> Iterator[Problem]:
    given = ~(text.isna() | text.str.lower().isin(["", "nan", "none"]).fillna(False)).to_numpy(dtype=bool)
    numbers = numbers_of(text)
    for position in np.flatnonzero(given & ~((numbers >= 0) & (numbers <= 1))):
        value = text.iloc[int(position)]
        yield Problem(
            int(position) + 1, "confidence", f"{value!r} is no number from 0 to 1: correct it, or leave it out."
        )


def _probability_problems(frame: pd.DataFrame, labels: Sequence[str]) -> Iterator[Problem]:
    values = np.column_stack([numbers_of(frame[label]) for label in labels])
    good = (values >= 0) & (values <= 1)
    totals = np.where(good, values, 0).sum(axis=1)
    for position in np.flatnonzero(~good.all(axis=1) | (np.abs(totals - 1) > _SUM_TOLERANCE)):
        row = int(position)
        if good[row].all():
            yield Problem(
                row + 1,
                labels[0],
                f"The {len(labels)} probabilities sum to {totals[row]:.3f}, not 1: write softmax outputs.",
            )
            continue
        column = labels[int(np.argmin(good[row]))]
        yield Problem(row + 1, column, f"{frame[column].iloc[row]!s} is no number from 0 to 1: write softmax outputs.")


def numbers_of(cells: pd.Series[Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Cells as numbers; nan where one is none."""
    import pandas as pd

    return np.asarray(pd.to_numeric(cells, errors="coerce"), dtype=np.float64)
