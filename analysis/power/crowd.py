"""Simulated people: a true curve, pictures and people that differ, and the answers of a study of given size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.arrays import BoolArray, FloatArray, IntArray
from analysis.differences.answers import AnswersToOne
from analysis.errors import InvalidInput
from analysis.labels.files import default_labels

Curve = Callable[[FloatArray], FloatArray]

_NODES = 101
_LOGITS = np.linspace(-16.0, 16.0, 801)


@dataclass(frozen=True)
class LogisticDrop:
    """A true curve that falls from one level to another around a bend.

    Parameters
    ----------
    upper, lower : float
        Levels far left and far right of the bend, ``0 <= lower < upper <= 1``; the lower one is by default chance among
        the product's labels.
    bend, width : float
        Visual change at the middle of the fall, and its logistic scale.
    """

    upper: float = 0.93
    lower: float = field(default_factory=lambda: default_labels().chance)
    bend: float = 0.8
    width: float = 0.06

    def __post_init__(self) -> None:
        if not 0.0 <= self.lower < self.upper <= 1.0 or self.width <= 0.0:
            raise InvalidInput("A falling curve needs 0 <= lower < upper <= 1 and a positive width.")

    def __call__(self, visual_change: ArrayLike) -> FloatArray:
        """Rates at visual changes, same shape."""
        from scipy.special import expit

        place = np.asarray(visual_change, dtype=np.float64)
        return np.asarray(self.lower + (self.upper - self.lower) * expit((self.bend - place) / self.width))

    @property
    def area(self) -> float:
        """Area over [0, 1], exact."""
        fall = np.logaddexp(0.0, self.bend / self.width) - np.logaddexp(0.0, (self.bend - 1.0) / self.width)
        return float(self.lower + (self.upper - self.lower) * self.width * fall)

    def lowered(self, difference: float) -> LogisticDrop:
        """The curve with its bend moved so that its area is smaller by ``difference``.

        Raises
        ------
        InvalidInput
            If no bend within two axes' lengths gives such an area.
        """
        from scipy.optimize import brentq

        def gap(bend: float) -> float:
            return replace(self, bend=bend).area - (self.area - difference)

        if gap(-2.0) * gap(3.0) > 0.0:
            raise InvalidInput(f"No bend makes an area of {self.area - difference:.3f} with these levels.")
        return replace(self, bend=float(brentq(gap, -2.0, 3.0, xtol=1e-12)))


@dataclass(frozen=True)
class Crowd:
    """Who answers what: the size of a data collection and how much pictures and people differ.

    Parameters
    ----------
    people : int
    trials_each : int
        Answers of a person on one corruption function.
    answers_per_stimulus : int
        People who answer the same stimulus; 1 is a new stimulus for every answer.
    originals : int or None
        Different originals behind the stimuli of a function; None makes every stimulus of an original of its own.
    image_sd, participant_sd : float
        Standard deviations of the effects on the logit.
    original_share : float
        Part of the pictures' variance that belongs to the original (the rest is the stimulus's own), in [0, 1].

    Notes
    -----
    The defaults of the standard deviations are those of published laboratory experiments: an intra-class correlation of
    0.43 between observers of one image, little between observers.
    """

    people: int
    trials_each: int
    answers_per_stimulus: int = 1
    originals: int | None = None
    image_sd: float = 2.0
    participant_sd: float = 0.5
    original_share: float = 0.5

    def __post_init__(self) -> None:
        if min(self.people, self.trials_each, self.answers_per_stimulus) < 1:
            raise InvalidInput("A crowd needs at least one person, one trial each and one answer a stimulus.")
        if self.originals is not None and self.originals < 2:
            raise InvalidInput(f"A study needs at least 2 originals, not {self.originals}.")
        if min(self.image_sd, self.participant_sd) < 0.0 or not 0.0 <= self.original_share <= 1.0:
            raise InvalidInput("Standard deviations are not negative, and a share lies in [0, 1].")

    @property
    def answers(self) -> int:
        """Answers on one corruption function."""
        return self.people * self.trials_each

    @property
    def stimuli(self) -> int:
        """Stimuli of one corruption function."""
        return -(-self.answers // self.answers_per_stimulus)

    @property
    def original_sd(self) -> float:
        """Standard deviation that originals have of themselves."""
        return self.image_sd * float(np.sqrt(self.original_share))

    @property
    def stimulus_sd(self) -> float:
        """Standard deviation of the stimuli of one original."""
        return self.image_sd * float(np.sqrt(1.0 - self.original_share))


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers to one function, ready for `analysis.curves.fit.fit_curve`.

    Parameters
    ----------
    visual_change : ndarray, shape (n,)
    correct : ndarray of bool, shape (n,)
    participants, images : ndarray of str, shape (n,)
        Ids of people and originals.
    """

    visual_change: FloatArray
    correct: BoolArray
    participants: NDArray[np.str_]
    images: NDArray[np.str_]

    def columns(self) -> dict[str, Any]:
        """Keyword arguments of `fit_curve`."""
        return {name: getattr(self, name) for name in ("visual_change", "correct", "participants", "images")}

    def to_one(self) -> AnswersToOne:
        """The same by person and original, for differences of means."""
        return AnswersToOne.of(self.visual_change, self.correct, self.images, self.participants)


@dataclass(frozen=True, eq=False)
class Shown:
    """Stimuli of one function that people answered, for models to answer.

    Parameters
    ----------
    visual_change : ndarray, shape (n,)
    effect : ndarray, shape (n,)
        How much easier than others at its visual change each is for people, on the logit.
    original : ndarray of int, shape (n,)
    images : ndarray of str, shape (n,)
        Ids of the originals, as in people's answers.
    """

    visual_change: FloatArray
    effect: FloatArray
    original: IntArray
    images: NDArray[np.str_]

    def answered(
        self, curve: Curve, crowd: Crowd, rng: np.random.Generator, *, own: FloatArray | None = None
    ) -> AnswersToOne:
        """Answers of a model with this marginal curve, one to each stimulus.

        Parameters
        ----------
        curve : callable
        crowd : Crowd
            Its pictures differ as much for the model.
        rng : numpy Generator
        own : ndarray, shape (originals,), optional
            What is easy for the model itself, by original; what is easy for people is so for the model without it.
        """
        from scipy.special import expit

        effect = self.effect
        if own is not None:
            effect = own[self.original] + rng.normal(0.0, crowd.stimulus_sd, len(self.original))
        chance = expit(marginal_logit(curve(self.visual_change), crowd.image_sd) + effect)
        return AnswersToOne.of(self.visual_change, rng.random(len(effect)) < chance, self.images)


def simulate_answers(
    curves: list[Curve],
    crowd: Crowd,
    rng: np.random.Generator,
    *,
    shared_people: bool = False,
    shared_originals: bool = False,
    place: Callable[[np.random.Generator, int], FloatArray] | None = None,
    clean: int = 0,
) -> list[Answers]:
    """Let a crowd answer stimuli of several corruption functions.

    Parameters
    ----------
    curves : list of callable
        True marginal curve of each function: the rate over pictures and people.
    crowd : Crowd
    rng : numpy Generator
    shared_people, shared_originals : bool
        Whether the same people, and the same originals, stand in every function (they then move together).
    place : callable, optional
        ``place(rng, n)`` draws n visual changes; uniform on [0, 1] by default.
    clean : int
        Answers to clean pictures, by the people and on the originals of the last function.

    Returns
    -------
    list of Answers
        One a function, and last those to clean pictures, if any.

    Notes
    -----
    The logit of a right answer is ``m(v)`` plus normal effects of the original, the stimulus and the person; ``m`` is
    chosen such that the mean over the effects is the given curve, so estimates can be compared with it. Stimuli are
    dealt to people at random: that nobody meets an original twice, which the planner sees to, is not modelled.
    """
    return [
        answers
        for answers, _ in simulate_study(
            curves,
            crowd,
            rng,
            shared_people=shared_people,
            shared_originals=shared_originals,
            place=place,
            clean=clean,
        )
    ]


def simulate_study(
    curves: list[Curve],
    crowd: Crowd,
    rng: np.random.Generator,
    *,
    shared_people: bool = False,
    shared_originals: bool = False,
    place: Callable[[np.random.Generator, int], FloatArray] | None = None,
    clean: int = 0,
) -> Iterator[tuple[Answers, Shown]]:
    """Answers as in `simulate_answers`, function by function, each with the stimuli that were shown."""
    stimuli = crowd.stimuli
    originals = stimuli if crowd.originals is None else crowd.originals
    total_sd = float(np.hypot(crowd.image_sd, crowd.participant_sd))
    original_sd, stimulus_sd = crowd.original_sd, crowd.stimulus_sd
    person = np.repeat(np.arange(crowd.people), crowd.trials_each)
    person_effect = original_effect = np.empty(0)

    def answered(
        number: int, v: FloatArray, of: IntArray, effect: FloatArray, shown: IntArray, who: IntArray
    ) -> tuple[Answers, Shown]:
        logit = marginal_logit(curves[number](v), total_sd) + effect
        chance = 1.0 / (1.0 + np.exp(-(logit[shown] + person_effect[who])))
        right = rng.random(len(who)) < chance
        people = _ids("person", "" if shared_people else f"{number}-", who)
        images = _ids("original", "" if shared_originals else f"{number}-", of)
        return Answers(v[shown], right, people, images[shown]), Shown(v, effect, of, images)

    for number in range(len(curves)):
        if not (shared_people and number):
            person_effect = rng.normal(0.0, crowd.participant_sd, crowd.people)
        if not (shared_originals and number):
            original_effect = rng.normal(0.0, original_sd, originals)
        places = rng.random(stimuli) if place is None else place(rng, stimuli)
        of = np.arange(stimuli) % originals
        effect = original_effect[of] + rng.normal(0.0, stimulus_sd, stimuli)
        # Every round shows each stimulus once, so answers spread evenly over stimuli.
        shown = np.concatenate([rng.permutation(stimuli) for _ in range(crowd.answers_per_stimulus)])[: crowd.answers]
        yield answered(number, places, of, effect, shown, person)
    if clean:
        order, places = np.arange(clean), np.zeros(clean)
        effect = original_effect[order % originals] + rng.normal(0.0, stimulus_sd, clean)
        yield answered(len(curves) - 1, places, order % originals, effect, order, order % crowd.people)


def marginal_logit(rates: FloatArray, sd: float) -> FloatArray:
    """Logits around which normal effects of standard deviation ``sd`` average to the given rates, same shape."""
    from scipy.special import expit, logit

    if sd == 0.0:
        return np.asarray(logit(rates), dtype=np.float64)
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    mean = expit(_LOGITS[:, None] + sd * nodes) @ (weights / weights.sum())
    return np.interp(rates, mean, _LOGITS)


def _ids(kind: str, prefix: str, numbers: IntArray) -> NDArray[np.str_]:
    return np.char.add(f"{kind}-{prefix}", numbers.astype(np.str_))
