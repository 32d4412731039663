"""Scores of a study's people, cross-fitted, and how far machines among them can have moved an area."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from analysis.arrays import BoolArray, FloatArray, IntArray
from analysis.errors import InvalidInput
from analysis.persons.score import (
    MACHINES,
    OPEN_MACHINES,
    PEOPLE,
    SILENT,
    SMOOTHING,
    AnswerTable,
    Effects,
    Pictures,
    balanced,
    log_likelihood,
    scores,
    simulated,
)

#: Honest sessions of the same pictures, simulated for each person.
SIMULATED = 999
#: Share of honest people that a flag may hit, by the model of people.
FALSE_ALARMS = 0.01
#: So many times as likely must a flagged person's answers be among machines.
EVIDENCE = 10.0
#: A person counts as one of people by the chance that they are; the tables are fitted again so often.
ROUNDS = 4
FOLDS = 10
#: Half of the 95 % quantile of chi-squared with one degree of freedom.
_LIKELY = 1.9207
Coded = Mapping[str, tuple[IntArray, IntArray]]


@dataclass(frozen=True)
class Share:
    """Estimated share of machines among people: maximum likelihood, and what the likelihood at 95 % leaves open."""

    estimate: float
    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class Judged:
    """People's scores.

    Parameters
    ----------
    names : tuple of str
    answers : ndarray of int, shape (n,)
        Answers that count.
    scores : ndarray, shape (n,)
        Above 0 like people, below 0 like machines.
    chances : ndarray, shape (n,)
        Chance that one of people, on the same pictures, scores as low.
    share : Share
        Of machines among them.
    caught : mapping of model to (ndarray, ndarray), shape (n,)
        For every model of the registry whose family can be left out of it: score and chance, as above, of its answers
        to each person's pictures; NaN where it did not answer them.
    """

    names: tuple[str, ...]
    answers: IntArray
    scores: FloatArray
    chances: FloatArray
    share: Share
    caught: Mapping[str, tuple[FloatArray, FloatArray]]

    @property
    def flagged(self) -> tuple[str, ...]:
        """Who is flagged."""
        low = is_flagged(self.scores, self.chances)
        return tuple(name for name, one in zip(self.names, low, strict=True) if one)

    @property
    def catch(self) -> dict[str, float]:
        """Share of people's places in which each model would be flagged."""
        return {model: float(is_flagged(found, own).mean()) for model, (found, own) in self._placed().items()}

    def catches(self, false_alarms: float) -> dict[str, float]:
        """Share of people's places in which each model is caught, at this share of false alarms."""
        placed = self._placed().items()
        return {model: float(((own <= false_alarms) & (found < 0.0)).mean()) for model, (found, own) in placed}

    def _placed(self) -> dict[str, tuple[FloatArray, FloatArray]]:
        known = {model: np.isfinite(found) for model, (found, _) in self.caught.items()}
        return {
            model: (found[known[model]], own[known[model]])
            for model, (found, own) in self.caught.items()
            if known[model].any()
        }


def is_flagged(found: FloatArray, chances: FloatArray) -> BoolArray:
    """At most 1 % of honest people score as low, and the answers are ten times as likely among machines.

    Where many trials tell people and machines well apart, a score may be rare among people and still be a person's.
    """
    low = (chances <= FALSE_ALARMS) & (found <= -math.log(EVIDENCE))
    return np.asarray(low, dtype=np.bool_)


def machine_share(found: FloatArray) -> Share:
    """Share of machines that makes these scores likeliest.

    Parameters
    ----------
    found : ndarray, shape (n,)
        Log likelihood ratios, people against machines.
    """
    grid = np.linspace(0.0, 1.0, 1001)
    with np.errstate(divide="ignore"):
        likely = np.logaddexp(np.log1p(-grid)[:, np.newaxis] + found, np.log(grid)[:, np.newaxis]).sum(axis=1)
    open_to = grid[likely >= likely.max() - _LIKELY]
    return Share(float(grid[int(np.argmax(likely))]), float(open_to[0]), float(open_to[-1]))


def judge_people(
    pictures: Pictures,
    people: Coded,
    machines: Coded,
    families: Mapping[str, str],
    *,
    seed: int,
    n_simulated: int = SIMULATED,
    with_catches: bool = True,
) -> Judged:
    """Score everybody by tables in which they do not count themselves.

    Parameters
    ----------
    pictures : Pictures
    people, machines : mapping of name to (pictures, answers)
        As `Pictures.coded` gives them. Machines are the registry.
    families : mapping of machine to family
        Models of one family share weights, or most of their training; each family counts equally.
    seed : int
    n_simulated : int
        Honest sessions a person, by which chances are found.
    with_catches : bool
        Whether models of the registry are put in people's place.

    Notes
    -----
    People are dealt into folds; a fold is scored by a table of the other folds' answers. Machines among them would
    spoil this table, so every person counts in it by the chance that they are one of people, found by the scores of
    the round before against models as they are (no imitators). The share of machines is that of such models.
    """
    names = sorted(people)
    rng = np.random.default_rng(seed)
    folds = max(2, min(FOLDS, len(names)))
    fold = dict(zip(names, (rng.permutation(len(names)) % folds).tolist(), strict=True))
    registry = AnswerTable.fitted(pictures, machines, balanced(families, sorted(machines)))
    weight = dict.fromkeys(names, 1.0)
    for attempt in range(ROUNDS):
        # At first by families of pictures: many machines of one kind agree on single pictures, and would seem people.
        smoothing = SMOOTHING if attempt else SMOOTHING[-1:]
        tables = [
            AnswerTable.fitted(
                pictures,
                people,
                {name: weight[name] for name in names if fold[name] != number},
                smoothing=smoothing,
            )
            for number in range(folds)
        ]
        own = [tables[fold[name]] for name in names]
        plain = np.array(
            [_score(table, registry, *people[name], OPEN_MACHINES) for name, table in zip(names, own, strict=True)]
        )
        share = machine_share(plain)
        prior = min(max(share.estimate, 0.01), 0.5)
        humane = 1.0 / (1.0 + np.exp(np.clip(math.log(prior / (1.0 - prior)) - plain, -50.0, 50.0)))
        weight = dict(zip(names, humane.tolist(), strict=True))
    found = np.array([_score(table, registry, *people[name]) for name, table in zip(names, own, strict=True)])
    apart = _registries(pictures, machines, families) if with_catches else {}
    chances = np.ones(len(names))
    caught = {model: (np.full(len(names), np.nan), np.full(len(names), np.nan)) for model in apart}
    replies = {model: _by_picture(pictures, machines[model]) for model in apart}
    for place, (name, table) in enumerate(zip(names, own, strict=True)):
        shown, given = people[name]
        shown = shown[given >= 0]
        if not len(shown):
            continue
        sat = np.broadcast_to(shown, (n_simulated, len(shown)))
        honest = simulated(table, PEOPLE, sat, np.random.default_rng([seed, zlib.crc32(name.encode())]))
        as_people = log_likelihood(table, PEOPLE, sat, honest)
        chances[place] = _chance(as_people - log_likelihood(registry, MACHINES, sat, honest), found[place])
        nulls: dict[str, FloatArray] = {}
        for model, without in apart.items():
            reply, family = replies[model][shown], families[model]
            if family not in nulls:
                nulls[family] = as_people - log_likelihood(without, MACHINES, sat, honest)
            if (reply >= 0).mean() >= 0.5:
                caught[model][0][place] = score = _score(table, without, shown, reply)
                caught[model][1][place] = _chance(nulls[family], score)
    counted = np.array([int((people[name][1] >= 0).sum()) for name in names], dtype=np.int64)
    return Judged(tuple(names), counted, found, chances, share, caught)


def _registries(pictures: Pictures, machines: Coded, families: Mapping[str, str]) -> dict[str, AnswerTable]:
    """For every model the registry without its family; none where there is only one family."""
    by_family: dict[str, AnswerTable] = {}
    for family in sorted({families[model] for model in machines}):
        others = sorted(model for model in machines if families[model] != family)
        if others:
            weights = balanced(families, others)
            by_family[family] = AnswerTable.fitted(pictures, machines, weights)
    return {model: by_family[families[model]] for model in sorted(machines) if families[model] in by_family}


def _by_picture(pictures: Pictures, own: tuple[IntArray, IntArray]) -> IntArray:
    given = np.full(len(pictures), SILENT, dtype=np.int64)
    given[own[0]] = own[1]
    return given


def _score(
    table: AnswerTable, registry: AnswerTable, shown: IntArray, given: IntArray, against: Effects = MACHINES
) -> float:
    return float(scores(table, registry, shown[np.newaxis], given[np.newaxis], against)[0])


def _chance(honest: FloatArray, score: float) -> float:
    return float((1 + (honest <= score).sum()) / (1 + len(honest)))


#: Chance that more machines are among people than is said, and that the area lies beyond the end that is used: half of
#: .05 each.
TAIL = 0.025
#: Least shares of machines that the sentinels catch, for which a bound is stated.
CATCHES = (0.9, 0.6, 0.3, 0.0)


@dataclass(frozen=True)
class Bias:
    """What machines add to an area: area of everybody minus area of people, at least and at most."""

    lower: float
    upper: float


def machines_at_most(flagged: int, people: int, catch: float, *, unscored: int = 0, tail: float = TAIL) -> int | None:
    """Largest number of machines among people that is compatible with the flags.

    Parameters
    ----------
    flagged : int
        How many people are flagged; every one may be a machine.
    people : int
        How many were scored.
    catch : float
        Each machine is flagged with at least this chance, independently of the others.
    unscored : int
        People without sentinels, all of whom may be machines.
    tail : float
        Chance that there are more.

    Returns
    -------
    int or None
        None at a catch of 0: nothing bounds what is never caught.

    Raises
    ------
    InvalidInput
        If more people are flagged than were scored, or a chance is outside [0, 1].

    Notes
    -----
    The largest M with P(Binomial(M, catch) <= flagged) > tail. Honest people who are flagged make it larger.
    """
    from scipy.special import betainc

    if not 0 <= flagged <= people or not 0.0 <= catch <= 1.0 or not 0.0 < tail < 1.0:
        raise InvalidInput("The flagged are some of the people, and chances are between 0 and 1.")
    if catch == 0.0:
        return None
    more = np.arange(flagged + 1, people + 1)
    # P(Binomial(M, c) <= F) = I_(1 - c)(M - F, F + 1)
    possible = more[betainc(more - flagged, flagged + 1, 1.0 - catch) > tail] if len(more) else more
    return int(possible.max() if len(possible) else flagged) + unscored


def bias_of_area(area: tuple[float, float], share: float, worst: tuple[float, float]) -> Bias | None:
    """Bounds of the bias of an area over answers of people and machines.

    Parameters
    ----------
    area : (float, float)
        Interval of the area of everybody.
    share : float
        At most this share of what counts is machines'.
    worst : (float, float)
        Lowest and highest area of a machine.

    Returns
    -------
    Bias or None
        None where everybody may be a machine.

    Notes
    -----
    ``A = (1 - s) P + s M`` gives ``A - P = s / (1 - s) (M - A)``, which grows with the share and with the machines'
    area M. At the ends of the interval of A, because A is estimated.
    """
    if share >= 1.0:
        return None
    odds = share / (1.0 - share)
    return Bias(min(odds * (worst[0] - area[1]), 0.0), max(odds * (worst[1] - area[0]), 0.0))
