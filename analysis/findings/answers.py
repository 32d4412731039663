"""What observers answered, how fast and how well: by condition, by participant, and of models asked in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from analysis.arrays import IntArray
from analysis.findings.fits import FitSettings, StudyCurves, quiet_fit
from analysis.findings.model.agreement import (
    Accuracy,
    Confusion,
    Favourite,
    HumanAccuracy,
    Participant,
    ParticipantBin,
    ResponseTimes,
    TimeBin,
)
from analysis.findings.model.curves import Line
from analysis.findings.model.entry import HUMANS
from analysis.findings.model.people import AskedAtChange, AskedCounts, AskedObserver
from analysis.findings.observations import CLEAN, Observations, joined
from analysis.findings.outcomes import Outcomes, condition_number
from analysis.labels.space import NO_ANSWER, NONE_OF_THESE, LabelSpace
from analysis.observers.schedule import CONTROLS

if TYPE_CHECKING:
    import pandas as pd


def accuracy_entries(people: Observations, classifiers: Observations) -> list[Accuracy]:
    """Accuracy of every observer in every condition, people first."""
    entries = []
    for group in (people, classifiers):
        for observer in np.unique(group.observer):
            own = group.select(group.observer == observer)
            for condition in ordered_conditions(own):
                rows = own.condition == condition
                right, trials = int(own.correct[rows].sum()), int(rows.sum())
                entries.append(
                    Accuracy(
                        observer=str(observer),
                        condition=condition,
                        trials=trials,
                        correct=right,
                        accuracy=right / trials,
                    )
                )
    return entries


def human_accuracy_entries(people: Observations) -> list[HumanAccuracy]:
    """Mean over observers of each observer's accuracy, per condition."""
    accuracies: dict[str, list[float]] = {}
    nobody = people.select(np.zeros(len(people), dtype=bool))
    for entry in accuracy_entries(people, nobody):
        accuracies.setdefault(entry.condition, []).append(entry.accuracy)
    return [
        HumanAccuracy(
            condition=condition,
            mean_over_observers=float(np.mean(accuracies[condition])),
            observers=len(accuracies[condition]),
        )
        for condition in ordered_conditions(people)
    ]


def ordered_conditions(rows: Observations) -> list[str]:
    """Conditions that occur: numbers in rising order, then the rest by name."""

    def place(condition: str) -> tuple[bool, float, str]:
        number = condition_number(condition)
        return (True, 0.0, condition) if np.isnan(number) else (False, number, condition)

    return sorted(set(rows.condition.tolist()), key=place)


#: Ranges of visual change with a confusion matrix of their own.
MATRIX_RANGES = ((0.0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1.0))
#: Bins of visual change for response times and single participants.
BINS = 10
#: From so many answers to a corruption on a participant gets rates for it, and a curve.
LEAST_FOR_RATES, LEAST_FOR_CURVE = 20, 40
#: Participants' curves, at most: those with the most answers.
MOST_CURVES = 200


def confusion_entries(
    study: StudyCurves, people: Observations, classifiers: Observations, space: LabelSpace
) -> list[Confusion]:
    """Count answers by true category, over all and in ranges of visual change.

    Parameters
    ----------
    study : StudyCurves
        Its accuracy curves say which answers, and where on the axis.
    people, classifiers : Observations
        For the clean pictures.
    space : LabelSpace

    Returns
    -------
    list of Confusion
        ``population``, ``corruption``, ``low``, ``high`` (None over all), ``categories``, ``responses``, ``counts``
        (rows are true categories) and ``favourite`` (the wrong answer given most, and its share of the wrong answers;
        None without wrong answers). Where anybody answered "none of these", it has a column of its own before that of
        missing answers. Empty ranges, and classifiers with other labels, are left out.
    """
    entries = []
    responses = response_columns(people, classifiers, space)
    other_labels = {key.population for key, curve in study.curves.items() if curve.fit.config.label_space != len(space)}
    for population, own in _populations(people, classifiers):
        clean = own.clean
        if population not in other_labels and len(clean) and space.holds(clean.category):
            entries.append(confusion_of(population, CLEAN, clean, None, space, responses))
    for key, curve in study.curves.items():
        answers, place = curve.outcomes.answers, curve.outcomes.place
        if key.property != "accuracy" or key.population in other_labels:
            continue
        if not space.holds(answers.category):
            continue
        entries.append(confusion_of(key.population, key.corruption, answers, None, space, responses))
        for low, high in MATRIX_RANGES:
            rows = (place >= low) & ((place < high) | (high == 1.0))
            if rows.any():
                chosen = answers.select(rows)
                entries.append(confusion_of(key.population, key.corruption, chosen, (low, high), space, responses))
    curved = {(key.population, key.corruption) for key in study.curves}
    for population, own in _populations(people, classifiers):
        # Published trials of one condition, or of conditions that are no numbers: no curve, but answers.
        for corruption in sorted(set(own.corruption[own.imported].tolist())):
            answers = own.select((own.corruption == corruption) & own.imported)
            labels = set(answers.category.tolist()) | set(answers.response.tolist())
            if (population, corruption) not in curved and labels <= set(responses):
                entries.append(confusion_of(population, corruption, answers, None, space, responses))
    return entries


def response_time_entries(study: StudyCurves) -> list[ResponseTimes]:
    """Median and quartiles of people's response times in tenths of the axis; misses have none.

    Returns
    -------
    list of ResponseTimes
        One for every kind of input: ``population``, ``corruption``, ``input_kind``, and ``bins`` of ``v`` (mean),
        ``n``, ``median_ms``, ``lower_ms``, ``upper_ms``, ``median_right_ms`` and ``median_wrong_ms`` (None without such
        answers).
    """
    entries = []
    for key, curve in study.curves.items():
        if key.property != "accuracy":
            continue
        answers, place = curve.outcomes.answers, curve.outcomes.place
        timed = np.isfinite(answers.rt_ms) & (answers.response != NO_ANSWER)
        for kind in np.unique(answers.input_kind[timed]).tolist():
            rows_of_kind = _tenths(place, timed & (answers.input_kind == kind))
            bins = tuple(_times(answers.select(rows), place[rows]) for rows in rows_of_kind)
            entries.append(
                ResponseTimes(
                    population=key.population, corruption=key.corruption, bins=bins, input_kind=str(kind) or None
                )
            )
    return entries


def participant_entries(study: StudyCurves, settings: FitSettings) -> list[Participant]:
    """Rates of every participant behind the mean curves, and a curve where there are answers enough.

    Returns
    -------
    list of Participant
        ``participant``, ``corruption`` (None over all with a visual change), ``n``, ``accuracy``, ``median_rt_ms``,
        ``bins``, ``area`` and ``band`` (the curve at every twentieth; both None below `LEAST_FOR_CURVE` answers, over
        all corruptions, and beyond `MOST_CURVES` curves). A corruption to which a participant gave fewer than
        `LEAST_FOR_RATES` answers has no entry of its own.
    """
    mine = [
        (key, curve.outcomes)
        for key, curve in study.curves.items()
        if key.population == HUMANS and key.property == "accuracy"
    ]
    measured = [outcomes for key, outcomes in mine if key.corruption not in study.scales]
    entries = []
    if measured:
        together = Outcomes(
            np.concatenate([one.place for one in measured]),
            np.concatenate([one.outcome for one in measured]),
            joined([one.answers for one in measured]),
        )
        entries = [_participant(None, name, own, None) for name, own in _by_participant(together)]
    found = [
        (key.corruption, name, own)
        for key, outcomes in mine
        for name, own in _by_participant(outcomes)
        if len(own.answers) >= LEAST_FOR_RATES
    ]
    sizes = sorted((len(own.answers) for _, _, own in found), reverse=True)
    least = max(LEAST_FOR_CURVE, sizes[MOST_CURVES - 1] if len(sizes) >= MOST_CURVES else 0)
    entries.extend(
        _participant(corruption, name, own, settings.own if len(own.answers) >= least else None)
        for corruption, name, own in found
    )
    return entries


def _by_participant(outcomes: Outcomes) -> Iterator[tuple[str, Outcomes]]:
    """Each participant's answers; everybody's clean answers stay the anchor, since each gave few."""
    answers = outcomes.answers.without_names()
    names, code = np.unique(answers.observer, return_inverse=True)
    order = np.argsort(code, kind="stable")
    for name, rows in zip(names.tolist(), np.split(order, np.cumsum(np.bincount(code))[:-1]), strict=True):
        own = answers.select(rows)
        yield name, Outcomes(outcomes.place[rows], outcomes.outcome[rows], own, outcomes.clean, outcomes.fixed)


def _populations(people: Observations, classifiers: Observations) -> list[tuple[str, Observations]]:
    names = np.unique(classifiers.observer).tolist()
    return [(HUMANS, people), *((name, classifiers.select(classifiers.observer == name)) for name in names)]


def response_columns(people: Observations, classifiers: Observations, space: LabelSpace) -> tuple[str, ...]:
    """Labels, "none of these" where anybody answered so, and no answer in time."""
    named = any((own.response == NONE_OF_THESE).any() for own in (people, classifiers))
    return (*space.ids, NONE_OF_THESE, NO_ANSWER) if named else space.responses


def confusion_of(
    population: str,
    corruption: str,
    answers: Observations,
    between: tuple[float, float] | None,
    space: LabelSpace,
    responses: tuple[str, ...],
) -> Confusion:
    """Count answers by true category (rows) and response (columns, those of `response_columns`).

    ``between`` is the range of the axis that the answers are from; None: all.
    """
    counts = np.zeros((len(space), len(responses)), dtype=np.int64)
    row = space.places_of(answers.category)
    places = {name: place for place, name in enumerate(responses)}
    column = np.array([places.get(name, -1) for name in answers.response.tolist()])
    np.add.at(counts, (row[column >= 0], column[column >= 0]), 1)
    # The last column is no answer in time.
    by_response = counts[:, :-1].sum(axis=0)
    by_response[: len(space)] -= np.diag(counts)
    favourite = None
    if by_response.any():
        most = int(by_response.argmax())
        favourite = Favourite(response=responses[most], share=float(by_response[most] / by_response.sum()))
    return Confusion(
        population=population,
        corruption=corruption,
        low=None if between is None else between[0],
        high=None if between is None else between[1],
        categories=space.ids,
        responses=responses,
        counts=tuple(map(tuple, counts.tolist())),
        favourite=favourite,
    )


def _tenths(place: NDArray[np.float64], chosen: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
    """Rows of each occupied tenth of the axis."""
    tenth = np.minimum((place * BINS).astype(np.int64), BINS - 1)
    masks = [chosen & (tenth == number) for number in range(BINS)]
    return [rows for rows in masks if rows.any()]


def _times(answers: Observations, place: NDArray[np.float64]) -> TimeBin:
    lower, median, upper = (float(value) for value in np.quantile(answers.rt_ms, [0.25, 0.5, 0.75]))
    right, wrong = (answers.rt_ms[answers.correct == value] for value in (1.0, 0.0))
    return TimeBin(
        v=float(place.mean()),
        n=len(answers),
        median_ms=median,
        lower_ms=lower,
        upper_ms=upper,
        median_right_ms=float(np.median(right)) if len(right) else None,
        median_wrong_ms=float(np.median(wrong)) if len(wrong) else None,
    )


def _participant(corruption: str | None, name: str, own: Outcomes, settings: FitSettings | None) -> Participant:
    timed = np.isfinite(own.answers.rt_ms)
    kinds, uses = np.unique(own.answers.input_kind[timed], return_counts=True)
    kind = str(kinds[uses.argmax()]) if len(kinds) else ""
    times = own.answers.rt_ms[timed & (own.answers.input_kind == kind)]
    fit = None if settings is None else quiet_fit(own, settings)
    v = np.linspace(0.0, 1.0, 21)
    everything = np.ones(len(own.place), dtype=np.bool_)
    return Participant(
        participant=name,
        corruption=corruption,
        n=len(own.answers),
        accuracy=float(own.outcome.mean()),
        median_rt_ms=float(np.median(times)) if len(times) else None,
        bins=tuple(
            ParticipantBin(v=float(own.place[rows].mean()), n=int(rows.sum()), rate=float(own.outcome[rows].mean()))
            for rows in _tenths(own.place, everything)
        ),
        area=None if fit is None else fit.area,
        band=None if fit is None else Line(v=tuple(v.tolist()), estimate=tuple(fit.predict(v).tolist())),
        input_kind=kind or None,
    )


_BINS = 10
_CLEAN, _NOT_MEASURED = -1, _BINS


def asked_entries(answers: pd.DataFrame) -> tuple[AskedObserver, ...]:
    """Count answers by what they are.

    Parameters
    ----------
    answers : pandas.DataFrame
        Columns of `analysis.tables.trials.ANSWERS`, the first question about each stimulus before the others.
    """
    entries = []
    about = answers["purpose"].isin(CONTROLS) if "purpose" in answers else np.zeros(len(answers), dtype=np.bool_)
    for name, rows in answers[~about].groupby("classifier", sort=True):
        first = rows.drop_duplicates("stimulus")
        place = _bins(first)
        entries.append(
            AskedObserver(
                observer=str(name),
                trials=_counts(first),
                questions=_counts(rows),
                by_change=tuple(_at_change(int(one), first[place == one]) for one in np.unique(place)),
            )
        )
    return tuple(entries)


def _bins(rows: pd.DataFrame) -> IntArray:
    change = rows["visual_change"].to_numpy(dtype=np.float64, na_value=np.nan)
    bins: IntArray = np.minimum((np.nan_to_num(change) * _BINS).astype(np.int64), _BINS - 1)
    bins[np.isnan(change)] = _NOT_MEASURED
    bins[(rows["corruption"] == CLEAN).to_numpy(dtype=np.bool_)] = _CLEAN
    return bins


def _at_change(place: int, rows: pd.DataFrame) -> AskedAtChange:
    low, high = place / _BINS, (place + 1) / _BINS
    if place == _CLEAN:
        low = high = 0.0
    if place == _NOT_MEASURED:
        return AskedAtChange(low=None, high=None, trials=_counts(rows))
    return AskedAtChange(low=low, high=high, trials=_counts(rows))


def _counts(rows: pd.DataFrame) -> AskedCounts:
    kinds = rows["kind"].value_counts()
    answered, refused, unreadable, missed = (
        int(kinds.get(kind, 0)) for kind in ("label", "refusal", "unreadable", "miss")
    )
    rare = {name: int(kinds[kind]) for name, kind in (("outside", "outside"), ("errors", "error")) if kind in kinds}
    return AskedCounts(
        asked=len(rows), answered=answered, refused=refused, unreadable=unreadable, missed=missed, **rare
    )
