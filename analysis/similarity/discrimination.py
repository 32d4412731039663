"""Can people tell two corruptions apart? Same/different and ABX answers, judged by the sensitivity d'."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.claims.corruptions import Verdict
from analysis.clusters import exact_bound
from analysis.errors import InvalidInput, TooFewResponses
from analysis.similarity.assay import Assay, assay_of, design_effect
from analysis.similarity.sensitivity import Crowd, share_right
from analysis.similarity.verdicts import verdict_of
from analysis.study.analysis_plan import D_PRIME_MARGIN, LEVEL, OBSERVER_MODEL, ObserverModel
from analysis.study.design import DiscriminationForm


@dataclass(frozen=True)
class Sensitivity:
    """The d' of a crowd under one observer model.

    Parameters
    ----------
    model : {"differencing", "independent"}
    d_prime : float
        At least 0; infinite where no answers set it a limit.
    interval : tuple of float
        Two-sided interval of d' for the answers as they are.
    upper : float
        One-sided upper bound of d' for answers with care, at least d': with as many careless ones as plain pairs leave
        possible.
    p : float
        One-sided, against d' = 0.
    p_margin : float
        One-sided, against a d' of at least the margin, for answers with care; 1 without plain pairs.
    """

    model: ObserverModel
    d_prime: float
    interval: tuple[float, float]
    upper: float
    p: float
    p_margin: float


@dataclass(frozen=True)
class PlainPairs:
    """Answers to plain pairs, of sessions that count and of those that do not.

    Parameters
    ----------
    correct, same, answered, counts : ndarray of bool, shape (n,)
        Right; "same" (in ABX "A") the right answer; answered in time; of a session that counts.
    participants, sessions : sequence, shape (n,)
    """

    correct: NDArray[np.bool_]
    same: NDArray[np.bool_]
    answered: NDArray[np.bool_]
    counts: NDArray[np.bool_]
    participants: Sequence[object] | NDArray[np.generic]
    sessions: Sequence[object] | NDArray[np.generic]


@dataclass(frozen=True)
class DiscriminationTest:
    """Outcome of same/different or ABX trials on one pair of corruptions.

    Parameters
    ----------
    form : {"same-different", "abx"}
    trials, correct : int
        A missed trial counts, and is not right.
    accuracy : float
    interval : tuple of float
        Two-sided interval of the accuracy of this crowd, bias included.
    upper_bound : float
        The bound of d' as the accuracy of an observer without bias.
    p : float
        One-sided, against d' = 0.
    margin, margin_d_prime : float
        The margin as accuracy above 1/2 of an observer without bias, and as d'.
    equivalent, different : bool
        What was shown; both may be.
    verdict : {"equivalent", "different", "undecided"}
    design_effect : float
        Variance of the accuracy over that of independent trials, at least 1; 1 without participants.
    d_prime : float or None
        None where one of the two kinds of trial has no answer: bias and sensitivity cannot be told apart then.
    d_prime_interval : tuple of float or None
    d_prime_upper : float or None
        What cannot be excluded of answers with care.
    observer_model : {"differencing", "independent"}
    other_model : Sensitivity or None
        The same answers under the other model.
    assay : Assay or None
        What plain pairs of the same sessions showed; None without any.
    hit_rate, false_alarm_rate, criterion : float or None
        "Different" answers to different and to same pairs, and the bias towards "same" (0 = none); in ABX "B" answers
        where X is B and where it is A, and the bias towards "A". Of answers given in time.
    """

    form: DiscriminationForm
    trials: int
    correct: int
    accuracy: float
    interval: tuple[float, float]
    upper_bound: float
    p: float
    margin: float
    margin_d_prime: float
    equivalent: bool
    different: bool
    verdict: Verdict
    design_effect: float
    d_prime: float | None
    d_prime_interval: tuple[float, float] | None
    d_prime_upper: float | None
    observer_model: ObserverModel
    other_model: Sensitivity | None
    assay: Assay | None
    hit_rate: float | None
    false_alarm_rate: float | None
    criterion: float | None


def discrimination_test(
    correct: ArrayLike,
    *,
    same: ArrayLike,
    form: DiscriminationForm = "same-different",
    answered: ArrayLike | None = None,
    participants: Sequence[object] | NDArray[np.generic] | None = None,
    pictures: Sequence[object] | NDArray[np.generic] | None = None,
    plain: PlainPairs | None = None,
    d_prime_margin: float = D_PRIME_MARGIN,
    observer_model: ObserverModel = OBSERVER_MODEL,
    level: float = LEVEL,
    alpha: float = 0.05,
) -> DiscriminationTest:
    """Test same/different or ABX answers against d' = 0 and against a margin of d'.

    Parameters
    ----------
    correct : array-like of bool, shape (n,)
        Was the answer right?
    same : array-like of bool, shape (n,)
        Was "same" the right answer; in ABX, was "A"?
    form : {"same-different", "abx"}
        What was asked.
    answered : array-like of bool, shape (n,), optional
        Was there an answer in time? All were, without it. d' is that of the answers.
    participants : sequence, shape (n,), optional
        Ids: each has a criterion of their own, and their answers count as a cluster. One observer, without them.
    pictures : sequence, shape (n,), optional
        Ids of what was shown: a second way of clustering, where several people saw the same.
    plain : PlainPairs, optional
        Without them nothing is equivalent: this crowd may have told nothing apart.
    d_prime_margin : float
        d' that counts as indistinguishable, above 0.
    observer_model : {"differencing", "independent"}
        On which the verdict rests.
    level : float
        Level of the intervals.
    alpha : float
        Level of both tests, and of the one-sided bound.

    Returns
    -------
    DiscriminationTest

    Raises
    ------
    InvalidInput
        If the columns do not fit together or a value is out of range.
    TooFewResponses
        If there is no trial.

    Notes
    -----
    d' is that of `analysis.similarity.sensitivity`, with the criteria of people free. Equivalent: a d' of at least the
    margin is rejected with as many careless answers as the plain pairs leave possible, and the plain pairs themselves
    are told apart by more than the margin. The interval of the accuracy is Clopper and Pearson's (1934) on the
    effective number of trials (Korn and Graubard 1998, Survey Methodology 24, 193-201).
    """
    _refuse_unknown(form, observer_model, d_prime_margin, level, alpha)
    right = _column(correct, "correct")
    if not len(right):
        raise TooFewResponses("There is no trial in which corruptions are compared.")
    alike = _fitting(_column(same, "same"), right, "same")
    given = np.ones_like(right) if answered is None else _fitting(_column(answered, "answered"), right, "answered")
    person = np.zeros(len(right), dtype=np.int64) if participants is None else _codes(participants, right)
    picture = None if pictures is None else _codes(pictures, right, "pictures")
    n, k = len(right), int(right.sum())
    tail = (1.0 - level) / 2.0
    effect, ratio = design_effect(right, person, tail)
    effective = n / (effect * ratio)
    found: dict[ObserverModel, Sensitivity] = {}
    assays: dict[ObserverModel, Assay | None] = {}
    if (given & alike).any() and (given & ~alike).any():
        for model in get_args(ObserverModel):
            assays[model] = None if plain is None else _assay(plain, form, model, d_prime_margin, alpha)
            crowd = crowd_of(right, alike, person, picture, given, form, model)
            found[model] = _sensitivity(crowd, assays[model], d_prime_margin, tail, alpha)
    own, assay = found.get(observer_model), assays.get(observer_model)
    equivalent = own is not None and assay is not None and assay.shown and own.p_margin < alpha
    different = own is not None and own.p < alpha
    return DiscriminationTest(
        form=form,
        trials=n,
        correct=k,
        accuracy=k / n,
        interval=exact_bound(k / n * effective, effective, tail),
        upper_bound=1.0 if own is None or math.isinf(own.upper) else share_right(own.upper, form, observer_model),
        p=1.0 if own is None else own.p,
        margin=share_right(d_prime_margin, form, observer_model) - 0.5,
        margin_d_prime=d_prime_margin,
        equivalent=equivalent,
        different=different,
        verdict=verdict_of(equivalent=equivalent, different=different),
        design_effect=effect,
        d_prime=own.d_prime if own else None,
        d_prime_interval=own.interval if own else None,
        d_prime_upper=own.upper if own else None,
        observer_model=observer_model,
        other_model=next((one for name, one in found.items() if name != observer_model), None),
        assay=assay,
        **_bias(right[given], alike[given]),
    )


def _refuse_unknown(form: str, observer_model: str, margin: float, level: float, alpha: float) -> None:
    if form not in get_args(DiscriminationForm):
        raise InvalidInput(f"form must be one of {', '.join(get_args(DiscriminationForm))}, not {form!r}.")
    if observer_model not in get_args(ObserverModel):
        raise InvalidInput(f"observer_model must be one of {', '.join(get_args(ObserverModel))}.")
    if not margin > 0.0 or not 0.0 < level < 1.0 or not 0.0 < alpha < 1.0:
        raise InvalidInput("The margin is a d' above 0, levels lie between 0 and 1.")


def crowd_of(
    right: NDArray[np.bool_],
    same: NDArray[np.bool_],
    person: NDArray[np.int64],
    picture: NDArray[np.int64] | None,
    given: NDArray[np.bool_],
    form: DiscriminationForm,
    model: ObserverModel,
) -> Crowd:
    """Answers that were given, as `Crowd` reads them; pictures count where one was shown more than once."""
    shown = None if picture is None else np.unique(picture[given], return_inverse=True)[1]
    return Crowd(
        said=(right ^ same)[given],
        signal=~same[given],
        person=np.unique(person[given], return_inverse=True)[1],
        picture=None if shown is None or shown.max() + 1 == len(shown) else shown,
        form=form,
        model=model,
    )


def p_below_margin(crowd: Crowd, assay: Assay | None, margin: float) -> float:
    """p-value against a d' of at least the margin for answers with care; 1 where nobody may have answered with care."""
    if assay is None or assay.careless_at_most >= 1.0:
        return 1.0
    return replace(crowd, careless=assay.careless_at_most).p_below(margin)


def _sensitivity(crowd: Crowd, assay: Assay | None, margin: float, tail: float, alpha: float) -> Sensitivity:
    careless = assay.careless_at_most if assay else 0.0
    upper = replace(crowd, careless=careless).upper(alpha) if careless < 1.0 else math.inf
    return Sensitivity(
        model=crowd.model,
        d_prime=crowd.d_prime,
        interval=(crowd.lower(tail), crowd.upper(tail)),
        # Careless answers hide sensitivity: those with care can have no less than all together.
        upper=max(crowd.d_prime, upper),
        p=crowd.p_above(0.0),
        p_margin=p_below_margin(crowd, assay, margin),
    )


def _assay(
    plain: PlainPairs, form: DiscriminationForm, model: ObserverModel, margin: float, alpha: float
) -> Assay | None:
    person, session = (_codes(ids, plain.correct) for ids in (plain.participants, plain.sessions))

    def p_above_margin() -> float:
        used = plain.counts & plain.answered
        if not (used & plain.same).any() or not (used & ~plain.same).any():
            return 1.0
        return crowd_of(plain.correct, plain.same, person, None, used, form, model).p_above(margin)

    return assay_of(
        plain.correct & plain.answered,
        telling=~plain.same | (form == "abx"),
        session=session,
        person=person,
        counts=plain.counts,
        p_above_margin=p_above_margin,
        alpha=alpha,
    )


def _bias(right: NDArray[np.bool_], same: NDArray[np.bool_]) -> dict[str, float | None]:
    """Hit rate, false-alarm rate and criterion, with rates kept off 0 and 1 by half an answer."""
    from scipy.special import ndtri

    said = right ^ same
    if same.all() or not same.any():
        return {"hit_rate": None, "false_alarm_rate": None, "criterion": None}
    z = [float(ndtri((said[rows].sum() + 0.5) / (rows.sum() + 1.0))) for rows in (~same, same)]
    return {
        "hit_rate": float(said[~same].mean()),
        "false_alarm_rate": float(said[same].mean()),
        "criterion": -sum(z) / 2.0,
    }


def _codes(
    ids: Sequence[object] | NDArray[np.generic], right: NDArray[np.bool_], name: str = "participants"
) -> NDArray[np.int64]:
    known = np.asarray(ids)
    if known.shape != right.shape:
        raise InvalidInput(f"There are {len(right)} answers but {name} has shape {known.shape}.")
    return np.asarray(np.unique(known.astype(str), return_inverse=True)[1], dtype=np.int64)


def _fitting(column: NDArray[np.bool_], right: NDArray[np.bool_], name: str) -> NDArray[np.bool_]:
    if column.shape != right.shape:
        raise InvalidInput(f"There are {len(right)} answers but {len(column)} entries in {name}.")
    return column


def _column(values: ArrayLike, name: str) -> NDArray[np.bool_]:
    array = np.asarray(values)
    if array.ndim != 1 or not np.isin(array, (0, 1)).all():
        raise InvalidInput(f"{name} is one column of true and false.")
    return array.astype(bool)
