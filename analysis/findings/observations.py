"""Trials and predictions as plain columns: what enters curves, and what stays out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from analysis.arrays import BoolArray, FloatArray, IntArray
from analysis.errors import TableRefused
from analysis.findings.lists import judged, text_column
from analysis.labels.conflicts import UNSAID, Conflicts, conflicts, stated_conflicts
from analysis.labels.lists import LISTS, labels_offered, right_among
from analysis.labels.space import NO_ANSWER, LabelSpace
from analysis.study.persons import PERSON

if TYPE_CHECKING:
    import pandas as pd

TextArray = NDArray[np.str_]

#: Roles whose answers may enter a curve. Golds, negatives, practice and second showings never do.
CURVE_ROLES = ("main", "clean", "consistency_first")
#: Those that enter no curve, nor do their originals for classifiers.
SENTINEL_ROLES = ("practice", "qualification", "gold", "negative", PERSON)
CLEAN = "none"

_TRIAL_COLUMNS = (
    "participant",
    "task",
    "role",
    "original",
    "stimulus",
    "corruption",
    "visual_change",
    "condition",
    "response",
    "correct",
    "accepted",
)
_PREDICTION_COLUMNS = (
    "classifier",
    "original",
    "stimulus",
    "corruption",
    "visual_change",
    "condition",
    "response",
    "correct",
    "label_space",
)


def _no_numbers() -> IntArray:
    return np.empty(0, dtype=np.int64)


def _no_shares() -> FloatArray:
    return np.empty(0, dtype=np.float64)


def _no_texts() -> TextArray:
    return np.empty(0, dtype=np.str_)


@dataclass(frozen=True, eq=False)
class Observations:
    """Answers of observers to pictures, one entry an answer.

    Parameters
    ----------
    observer, session, original, stimulus, category, corruption, condition, response : ndarray of str, shape (n,)
        ``condition`` is the imported condition, or the corruption where there is none; ``session`` is empty for
        predictions.
    visual_change : ndarray, shape (n,)
        NaN where it was not measured.
    correct : ndarray, shape (n,)
        1 or 0.
    rt_ms : ndarray, shape (n,)
        Response time; NaN where there is none.
    timing_ok : ndarray, shape (n,)
        1 or 0; NaN where it is not known.
    imported : ndarray of bool, shape (n,)
        True where the trial has a condition instead of a visual change.
    input_kind : ndarray of str, shape (n,)
        What gave the answer: pointer, touch or key; empty where nobody kept it.
    offered, right : ndarray of int, shape (n,)
        How many labels the trial offered, and how many of these are right; 0 (the default) offered are all, and one
        (the default) is right.
    accepted, competing : ndarray of str, shape (n,)
        Ids that are right, and that compete with these, separated by blanks. By default empty: the category is right,
        and `UNSAID`: the picture's name says what competes.
    confidence : ndarray, shape (n,)
        Probability that the observer gave the response, in [0, 1]; NaN (the default) where it was not kept.
    """

    observer: TextArray
    session: TextArray
    original: TextArray
    stimulus: TextArray
    category: TextArray
    corruption: TextArray
    condition: TextArray
    response: TextArray
    visual_change: FloatArray
    correct: FloatArray
    rt_ms: FloatArray
    timing_ok: FloatArray
    imported: BoolArray
    input_kind: TextArray
    offered: IntArray = field(default_factory=_no_numbers)
    right: IntArray = field(default_factory=_no_numbers)
    accepted: TextArray = field(default_factory=_no_texts)
    competing: TextArray = field(default_factory=_no_texts)
    confidence: FloatArray = field(default_factory=_no_shares)

    def __post_init__(self) -> None:
        defaults = {"offered": 0, "right": 1, "accepted": "", "competing": UNSAID, "confidence": np.nan}
        for name, default in defaults.items():
            if len(getattr(self, name)) != len(self):
                object.__setattr__(self, name, np.full(len(self), default))

    def __len__(self) -> int:
        """Number of answers."""
        return len(self.observer)

    def select(self, rows: BoolArray | IntArray) -> Observations:
        """Keep these answers; by truth values, or by their numbers."""
        return Observations(**{one.name: getattr(self, one.name)[rows] for one in fields(self)})

    def without_names(self) -> Observations:
        """The same without names of pictures and sessions, which take the most room."""
        nothing = np.full(len(self), "", dtype=np.str_)
        return replace(self, session=nothing, original=nothing, stimulus=nothing, condition=nothing)

    @property
    def clean(self) -> Observations:
        """Answers to clean pictures of a study with measured visual change."""
        return self.select((self.corruption == CLEAN) & ~self.imported)

    @property
    def answered(self) -> Observations:
        """Answers without misses."""
        return self.select(self.response != NO_ANSWER)

    def of(self, corruption: str) -> Observations:
        """Answers to one corruption."""
        return self.select(self.corruption == corruption)

    def guesses(self, n_labels: int) -> FloatArray | None:
        """Chance of a right answer of whoever guesses, by trial.

        Parameters
        ----------
        n_labels : int
            Labels of trials that offered all.

        Returns
        -------
        ndarray, shape (n,), in (0, 1]; or None
            Right labels over labels offered; None where it is one of ``n_labels`` on every trial.
        """
        if not (self.offered.any() or (self.right != 1).any()):
            return None
        return np.asarray(self.right / np.where(self.offered == 0, n_labels, self.offered), dtype=np.float64)

    def conflicts(self, space: LabelSpace) -> Conflicts:
        """Shape and texture of each picture: as the table says, and where it says nothing by the picture's name."""
        by_name = conflicts(self.original, space)
        unsaid = self.competing == UNSAID
        if unsaid.all():
            return by_name
        right = np.where(self.accepted == "", self.category, self.accepted)
        stated = stated_conflicts(self.response, right, self.competing)
        shapes, textures, known = (np.where(unsaid, one, other) for one, other in zip(by_name, stated, strict=True))
        return shapes, textures, known

    def chance(self, n_labels: int) -> float | None:
        """Mean of `guesses` over the trials; None where it is one of ``n_labels`` on every trial."""
        guesses = self.guesses(n_labels)
        return None if guesses is None else float(guesses.mean())


def joined(parts: Sequence[Observations]) -> Observations:
    """Answers of all parts, one after the other."""
    return Observations(
        **{one.name: np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(Observations)}
    )


def read_trials(frame: pd.DataFrame, *, accepted_only: bool = True) -> Observations:
    """Categorisation trials that may enter curves; those that were set aside do not.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns of `analysis.tables.trials.TRIALS`.
    accepted_only : bool
        Leave out sessions that were not accepted.

    Returns
    -------
    Observations
        In the order of session and position.

    Raises
    ------
    TableRefused
        If a column is missing, or an accepted trial lacks what it needs.
    """
    return _observations(counted_trials(frame, accepted_only=accepted_only), "participant", "trials")


def counted_trials(frame: pd.DataFrame, *, accepted_only: bool = True) -> pd.DataFrame:
    """The rows that `read_trials` reads, in its order; parameters and refusals are its own."""
    part = _curve_rows(attended(frame))
    return part.loc[_truth(part, "accepted", "trials")] if accepted_only else part


def read_sentinels(frame: pd.DataFrame) -> Observations:
    """Trials of accepted sessions that ask whether people are people; they enter no curve.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns of `analysis.tables.trials.TRIALS`.
    """
    part = _curve_rows(attended(frame), (PERSON,))
    part = part.loc[_truth(part, "accepted", "trials")]
    # Sentinels have no visual change; that they are conditions of their own is enough.
    return _observations(part.assign(condition=part["corruption"]), "participant", "trials")


def read_set_aside(frame: pd.DataFrame) -> Observations:
    """Categorisation trials of accepted sessions that were set aside, as missed answers.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns of `analysis.tables.trials.TRIALS`, of which those that `attended` leaves out are read.

    Returns
    -------
    Observations
        In the order of session and position; without reaction times and timing.
    """
    part = _curve_rows(frame.loc[is_set_aside(frame)])
    found = _observations(part.loc[_truth(part, "accepted", "trials")], "participant", "trials")
    nothing = np.full(len(found), np.nan)
    return replace(
        found,
        response=np.full(len(found), NO_ANSWER, dtype=np.str_),
        correct=np.zeros(len(found)),
        rt_ms=nothing,
        timing_ok=nothing,
    )


def attended(frame: pd.DataFrame) -> pd.DataFrame:
    """The trials that were not set aside: all others say nothing about seeing."""
    return frame.loc[~is_set_aside(frame)]


def people_asked(*tables: pd.DataFrame | None) -> int:
    """How many people answered what a study asks about, in sessions that count, whatever the task.

    Parameters
    ----------
    *tables : pandas.DataFrame or None
        Columns of `analysis.tables.trials.TRIALS`; None holds nobody.

    Returns
    -------
    int
        Different participants, 0 or more; each counts once, in however many tables and sessions.
    """
    people: set[str] = set()
    for frame in tables:
        if frame is not None and len(frame):
            kept = attended(frame)
            kept = kept.loc[kept["accepted"].astype("boolean").fillna(False) & kept["role"].isin(CURVE_ROLES)]
            people |= set(kept["participant"].astype(str))
    return len(people)


def is_set_aside(frame: pd.DataFrame) -> BoolArray:
    """Which trials nobody could see and answer; none in tables from before that was decided."""
    if "set_aside" not in frame.columns:
        return np.zeros(len(frame), dtype=np.bool_)
    return np.asarray(frame["set_aside"].astype("boolean").fillna(False).to_numpy(dtype=bool), dtype=np.bool_)


def accepted_answers(frame: pd.DataFrame) -> BoolArray:
    """Which of the answers that `read_trials` reads from all sessions are in accepted ones."""
    return _truth(_curve_rows(attended(frame)), "accepted", "trials")


def read_predictions(frame: pd.DataFrame | None) -> tuple[Observations, dict[str, int]]:
    """Predictions of classifiers, and the label space of each.

    Parameters
    ----------
    frame : pandas.DataFrame or None
        Columns of `analysis.tables.stimuli.PREDICTIONS`.

    Returns
    -------
    Observations
        Sorted by classifier and stimulus.
    dict of classifier to int

    Raises
    ------
    TableRefused
        If a column is missing, a value is missing, or a classifier has two label spaces.
    """
    import pandas as pd

    if frame is None:
        frame = pd.DataFrame({name: pd.Series(dtype="object") for name in _PREDICTION_COLUMNS})
    _need(frame, tuple(name for name in _PREDICTION_COLUMNS if name != "condition"), "predictions")
    if "condition" not in frame.columns:
        frame = frame.assign(condition="")
    spaces: dict[str, int] = {}
    for name, values in frame.groupby(frame["classifier"].astype(str), sort=True)["label_space"]:
        different = sorted({int(value) for value in values})
        if len(different) != 1:
            raise TableRefused(f"predictions: {name} has predictions in label spaces {different}; keep one of them.")
        spaces[str(name)] = different[0]
    ordered = judged(frame).sort_values(["classifier", "stimulus"], kind="stable")
    return _observations(ordered, "classifier", "predictions"), spaces


def curve_predictions(predictions: Observations, frame: pd.DataFrame) -> Observations:
    """Predictions that may enter curves: as for people, not those on golds, practice pictures or sentinels of persons.

    Parameters
    ----------
    predictions : Observations
    frame : pandas.DataFrame
        Columns of `analysis.tables.trials.TRIALS`.
    """
    of_no_curve = np.isin(predictions.original, sentinel_originals(frame))
    return predictions.select(~(of_no_curve | np.isin(predictions.corruption, person_families(frame))))


def sentinel_originals(frame: pd.DataFrame) -> list[str]:
    """Originals that people saw only as sentinels, in qualification or practice, sorted."""
    return _only_in(frame, "original", SENTINEL_ROLES)


def person_families(frame: pd.DataFrame) -> list[str]:
    """What the table names as the corruption of sentinels of persons, and of no trial of a curve, sorted."""
    return _only_in(frame, "corruption", (PERSON,))


def _only_in(frame: pd.DataFrame, column: str, roles: Sequence[str]) -> list[str]:
    value, role = text_column(frame, column), text_column(frame, "role")
    categorised = text_column(frame, "task") == "categorisation"
    there = set(value[categorised & np.isin(role, roles)].tolist())
    return sorted(there - set(value[categorised & np.isin(role, CURVE_ROLES)].tolist()))


def _curve_rows(frame: pd.DataFrame, roles: tuple[str, ...] = CURVE_ROLES) -> pd.DataFrame:
    """Categorisation trials of these roles, in the order of session and position."""
    _need(frame, _TRIAL_COLUMNS, "trials")
    part: pd.DataFrame = frame.loc[
        (text_column(frame, "task") == "categorisation") & np.isin(text_column(frame, "role"), roles)
    ]
    part = judged(part)
    order = [name for name in ("participant", "session", "position") if name in part.columns]
    return part.sort_values(order, kind="stable")


def without_truth(frame: pd.DataFrame) -> int:
    """How many answers that could enter curves are to pictures for which nothing is right, where others have lists.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns of `analysis.tables.trials.TRIALS`.
    """
    kept = attended(frame)
    kept = kept.loc[(kept["task"] == "categorisation") & kept["role"].isin(CURVE_ROLES)]
    return len(kept) - len(judged(kept))


def _observations(frame: pd.DataFrame, observer: str, table: str) -> Observations:
    visual_change = _numbers(frame, "visual_change")
    corruption, condition = text_column(frame, "corruption"), text_column(frame, "condition")
    options, accepted, competing = (text_column(frame, name) for name in LISTS)
    imported = np.isnan(visual_change)
    unknown = imported & (condition == "")
    if unknown.any():
        row = frame.index[int(np.argmax(unknown))]
        raise TableRefused(f"{table}, row {row}: neither visual_change nor condition is given; one of them is needed.")
    return Observations(
        observer=text_column(frame, observer),
        session=text_column(frame, "session"),
        original=text_column(frame, "original"),
        stimulus=text_column(frame, "stimulus"),
        category=text_column(frame, "category"),
        corruption=corruption,
        condition=np.where(condition == "", corruption, condition),
        response=text_column(frame, "response"),
        visual_change=visual_change,
        correct=_truth(frame, "correct", table).astype(np.float64),
        rt_ms=_numbers(frame, "rt_ms"),
        timing_ok=_numbers(frame, "timing_ok"),
        imported=imported,
        input_kind=text_column(frame, "input_kind"),
        offered=np.array([len(labels_offered(one)) for one in options.tolist()], dtype=np.int64),
        right=np.array(
            [right_among(*one) for one in zip(options.tolist(), accepted.tolist(), strict=True)], dtype=np.int64
        ),
        accepted=accepted,
        competing=competing if (competing != "").any() else np.full(len(frame), UNSAID),
        confidence=_numbers(frame, "confidence"),
    )


def _need(frame: pd.DataFrame, names: Sequence[str], table: str) -> None:
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise TableRefused(f"{table}: column {missing[0]!r} is missing; the table has {', '.join(map(str, frame))}.")


def _numbers(frame: pd.DataFrame, name: str) -> FloatArray:
    """Column of numbers or truth values, NaN where there is none."""
    if name not in frame.columns:
        return np.full(len(frame), np.nan)
    values = frame[name]
    typed = values.astype("boolean").astype("Float64") if name == "timing_ok" else values.astype("Float64")
    return np.asarray(typed.to_numpy(dtype="float64", na_value=np.nan))


def _truth(frame: pd.DataFrame, name: str, table: str) -> BoolArray:
    values = frame[name].astype("boolean")
    if values.isna().any():
        row = frame.index[int(np.argmax(values.isna().to_numpy()))]
        raise TableRefused(f"{table}, row {row}: {name} is empty; it is true or false.")
    return np.asarray(values.to_numpy(dtype=bool), dtype=np.bool_)
