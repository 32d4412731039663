"""How many people a same/different or ABX study needs, planned by the verdict on d' that it will be given."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from analysis.arrays import FloatArray
from analysis.clusters import exact_bound
from analysis.errors import InvalidInput
from analysis.similarity.sensitivity import Crowd, hits
from analysis.study.analysis_plan import D_PRIME_MARGIN, OBSERVER_MODEL, ObserverModel
from analysis.study.design import DiscriminationForm

#: No study of more people is planned; with fewer, nothing is said of their criteria.
MOST_PEOPLE, FEWEST_PEOPLE = 20_000, 5
#: Criteria are averaged over so many places.
_NODES = 41
#: Trials of a person, of either kind, whose outcomes are told apart: the information of more grows with them.
_TRIALS = 20
_STEPS = 12
#: Outcomes of a person that are rarer are left out; a distance that is only rounding.
_NEVER, _NOTHING = 1e-7, 1e-6
#: Two numbers of people that are so near each other are the same.
_CLOSE = 0.02


@dataclass(frozen=True)
class PlannedPairs:
    """What a person does on one pair of corruptions, and what is believed of people.

    Parameters
    ----------
    trials_each : int
        Trials of a person on the pair, at least 1; either answer is right in half of them.
    plain_each : int
        Plain pairs of a person; without any nothing can be shown to be equivalent.
    form : {"same-different", "abx"}
    observer_model : {"differencing", "independent"}
    bias, bias_sd : float
        Mean of the criteria on the scale of z(false alarms), above 0 towards "same" (in ABX towards "A"), and their
        standard deviation over people.
    careless : float
        Share of answers, in [0, 1), that fall on either side at random.
    plain_missed : float
        Share of plain differences that are missed, careless answers among them.
    """

    trials_each: int
    plain_each: int
    form: DiscriminationForm = "same-different"
    observer_model: ObserverModel = OBSERVER_MODEL
    bias: float = 0.5
    bias_sd: float = 0.5
    careless: float = 0.04
    plain_missed: float = 0.04

    def __post_init__(self) -> None:
        if self.trials_each < 1 or self.plain_each < 0:
            raise InvalidInput("A person answers at least one trial, and plain pairs are not negative.")
        if self.bias_sd < 0.0 or not 0.0 <= self.careless < 1.0 or not 0.0 <= self.plain_missed <= 1.0:
            raise InvalidInput("Standard deviations are not negative, and shares lie in [0, 1].")

    def careless_at_most(self, people: int, alpha: float) -> float:
        """Bound of the share of careless answers that plain pairs of so many people are expected to leave."""
        telling = self.plain_each * people / (2.0 if self.form == "same-different" else 1.0)
        if telling < 1.0:
            return 1.0
        # Their design effect is estimated, and never taken for less than 1.
        effective = telling / (1.0 + 0.4 * math.sqrt(2.0 / people))
        return min(2.0 * exact_bound(self.plain_missed * effective, effective, alpha)[1], 1.0)


def people_to_detect(d_prime: float, planned: PlannedPairs, *, power: float = 0.8, alpha: float = 0.05) -> int:
    """People after whom a pair is shown to be different.

    Parameters
    ----------
    d_prime : float
        True d', above 0, of answers with care.
    planned : PlannedPairs
    power : float
        Wanted probability of the verdict, in (0, 1).
    alpha : float
        Level of the one-sided test.

    Returns
    -------
    int

    Raises
    ------
    InvalidInput
        If a value is out of range, or more than `MOST_PEOPLE` were needed.

    Notes
    -----
    The verdict rests on the root of a likelihood ratio, which is nearly normal around the root of twice the expected
    difference of log likelihoods. That, the spread of people's scores and their kurtosis, by which the estimated
    variance errs and loses degrees of freedom, are computed of a crowd in which every outcome of a person stands as
    often as it is expected.
    """
    if not d_prime > 0.0:
        raise InvalidInput("A d' that is to be found lies above 0.")
    return _people(d_prime, 0.0, planned, power, alpha)


def people_for_equivalence(
    planned: PlannedPairs,
    *,
    d_prime: float = 0.0,
    margin: float = D_PRIME_MARGIN,
    power: float = 0.8,
    alpha: float = 0.05,
) -> int:
    """People after whom a pair that they can hardly tell apart is shown to be equivalent.

    Parameters
    ----------
    planned : PlannedPairs
    d_prime : float
        True d', from 0 to below the margin.
    margin : float
        d' that counts as indistinguishable.
    power, alpha
        As in `people_to_detect`.

    Returns
    -------
    int

    Raises
    ------
    InvalidInput
        If a value is out of range, there are no plain pairs, or more than `MOST_PEOPLE` were needed.

    Notes
    -----
    As `people_to_detect`; the answers are judged with as many careless ones as plain pairs will leave possible. That
    plain pairs are told apart by more than the margin is taken for granted.
    """
    if not 0.0 <= d_prime < margin:
        raise InvalidInput("The true d' lies from 0 to below the margin.")
    if not planned.plain_each:
        raise InvalidInput("Without plain pairs nothing is shown to be equivalent.")
    return _people(d_prime, margin, planned, power, alpha)


@lru_cache(maxsize=256)
def _people(d_prime: float, against: float, planned: PlannedPairs, power: float, alpha: float) -> int:
    """People with whom a d' is told from another."""
    from scipy.special import ndtr, ndtri, stdtrit

    if not 0.0 < power < 1.0 or not 0.0 < alpha < 1.0:
        raise InvalidInput("Power and level lie strictly between 0 and 1.")

    def needed(people: float) -> float:
        """How many people it takes, by what so many show."""
        careless = planned.careless_at_most(round(people), alpha) if against > d_prime else 0.0
        if careless >= 1.0:
            return 4.0 * people
        crowd = replace(_expected(d_prime, planned, people), careless=careless)
        each = abs(crowd.distance(against)) / math.sqrt(people)
        effect, kurtosis = crowd.expected_spread
        if each < _NOTHING:
            return 4.0 * people
        for _ in range(_STEPS):
            # The variance of the score is estimated, and never taken for less than the model's.
            error = effect * math.sqrt(max(kurtosis - 1.0, 0.0) / people)
            above = (effect - 1.0) / error
            taken = 1.0 + (effect - 1.0) * float(ndtr(above)) + error * math.exp(-0.5 * above**2) / math.sqrt(math.tau)
            freedom = min(max(3.0 * people / kurtosis - 2.0, 1.0), people - 1.0)
            root = math.sqrt(taken) * float(stdtrit(freedom, 1.0 - alpha)) + math.sqrt(effect) * float(ndtri(power))
            people = max((root / each) ** 2, float(FEWEST_PEOPLE))
        return people

    people = 60.0
    for _ in range(_STEPS):
        before, people = people, needed(people)
        if people > MOST_PEOPLE:
            raise InvalidInput(f"More than {MOST_PEOPLE:,} people would be needed.")
        if abs(people / before - 1.0) < _CLOSE:
            break
    return math.ceil(people - 1e-9)


def _expected(d_prime: float, planned: PlannedPairs, people: float) -> Crowd:
    """A crowd of every outcome that a person can have, each as often as it is expected of so many people."""
    from scipy.stats import binom

    trials = min(planned.trials_each, 2 * _TRIALS)
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    above = planned.bias + planned.bias_sd * nodes
    by_kind = _rates(above, d_prime, planned)
    said, signal, person, often = [], [], [], []
    # With an odd number of trials, half of the people have the one more of either kind.
    halves = {(trials // 2, trials - trials // 2), (trials - trials // 2, trials // 2)}
    number = 0
    for counts in sorted(halves):
        of_kind = [binom.pmf(np.arange(n + 1)[:, None], n, rate) for n, rate in zip(counts, by_kind, strict=True)]
        together = np.einsum("aj,bj,j->ab", *of_kind, weights / weights.sum()) / len(halves)
        for (alarms, found), probability in np.ndenumerate(together):
            if probability < _NEVER:
                continue
            own = np.concatenate([np.arange(counts[0]) < alarms, np.arange(counts[1]) < found])
            said.append(own)
            signal.append(np.arange(trials) >= counts[0])
            person.append(np.full(trials, number))
            often.append(probability)
            number += 1
    return Crowd(
        said=np.concatenate(said),
        signal=np.concatenate(signal),
        person=np.concatenate(person),
        picture=None,
        form=planned.form,
        model=planned.observer_model,
        often=np.array(often) * people * planned.trials_each / trials,
    )


def _rates(above: FloatArray, d_prime: float, planned: PlannedPairs) -> tuple[FloatArray, FloatArray]:
    """Shares of "different" among same and different pairs, by criterion."""
    from scipy.special import ndtr

    care, chance = 1.0 - planned.careless, planned.careless / 2.0
    hit = hits(above, d_prime**2, planned.form, planned.observer_model)[0]
    return chance + care * ndtr(-above), chance + care * hit
