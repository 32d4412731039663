"""The score: log likelihood ratio of a person's answers, people against machines, with an effect of the observer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.arrays import FloatArray, IntArray
from analysis.persons.answers import AnswerTable

#: Nodes of the normal effect.
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
#: Chances multiplied before a logarithm is taken.
_PART = 40
Mixture = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Effects:
    """How observers of one kind differ from their table.

    Parameters
    ----------
    spread : float
        Standard deviation, over observers, of the log odds of naming the lure (of the right answer without one).
    guesses : tuple of (share, weight)
        Share of an observer's answers that are guesses among all options, and how likely it is.
    turned : tuple of (share, weight)
        Share of the lures that an observer turns into the right answer.

    Notes
    -----
    Without an effect every further trial makes an honest person whose habits are rare look more like a machine. Guesses
    up to all answers are a person's: pictures that everybody recognises catch guessers, this score must not.
    """

    spread: float
    guesses: Mixture
    turned: Mixture = ((0.0, 1.0),)


PEOPLE = Effects(
    0.5,
    ((0.0, 0.3), (0.02, 0.2), (0.05, 0.2), (0.1, 0.1), (0.2, 0.08), (0.4, 0.05), (0.7, 0.04), (1.0, 0.03)),
)
MACHINES = Effects(1.0, ((0.0, 0.5), (0.05, 0.3), (0.15, 0.2)), ((0.0, 0.5), (0.5, 0.25), (0.8, 0.25)))
#: Models as they are: no imitators, who are so near to people that people would be taken for them.
OPEN_MACHINES = Effects(0.7, MACHINES.guesses)


def log_likelihood(table: AnswerTable, effects: Effects, shown: IntArray, given: IntArray) -> FloatArray:
    """Log of the chance of all answers of each row, averaged over what the observer may be like.

    Parameters
    ----------
    table : AnswerTable
    effects : Effects
    shown, given : ndarray of int, shape (rows, trials)
        Numbers of pictures and of options; a negative option says nothing, whichever the picture.

    Returns
    -------
    ndarray, shape (rows,)
    """
    pictures = table.pictures
    k = len(pictures.options)
    mine, right, marked, lure = (
        table.shares[shown, given],
        table.shares[shown, pictures.right[shown]],
        table.shares[shown, pictures.marked[shown]],
        np.where(pictures.lure[shown] >= 0, table.shares[shown, pictures.lure[shown]], 0.0),
    )
    named_marked = given == pictures.marked[shown]
    named_lure, named_right = given == pictures.lure[shown], given == pictures.right[shown]
    silent = given < 0
    likely = np.full(len(given), -np.inf)
    for turned, of_turned in effects.turned:
        chance = np.where(named_lure, mine * (1.0 - turned), np.where(named_right, right + turned * lure, mine))
        left = np.where(pictures.lure[shown] >= 0, marked * (1.0 - turned), marked)
        for node, of_node in zip(_NODES, _WEIGHTS, strict=True):
            odds = np.exp(effects.spread * node)
            tilted = np.where(named_marked, chance * odds, chance) / (1.0 - left + left * odds)
            for guessed, of_guessed in effects.guesses:
                each = np.where(silent, 1.0, (1.0 - guessed) * tilted + guessed / k)
                one = _log_product(each) + np.log(of_turned * of_node * of_guessed)
                likely = np.logaddexp(likely, one)
    return likely


def _log_product(chances: FloatArray) -> FloatArray:
    """Of each row; in parts, whose products are no smaller than what a number can hold."""
    parts = np.array_split(chances, -(-chances.shape[1] // _PART) or 1, axis=1)
    return np.asarray(sum(np.log(part.prod(axis=1)) for part in parts))


def scores(
    people: AnswerTable, machines: AnswerTable, shown: IntArray, given: IntArray, against: Effects = MACHINES
) -> FloatArray:
    """Log likelihood ratio of each row of answers: above 0 like people, below 0 like machines; 0 without answers."""
    return log_likelihood(people, PEOPLE, shown, given) - log_likelihood(machines, against, shown, given)


def simulated(table: AnswerTable, effects: Effects, shown: IntArray, rng: np.random.Generator) -> IntArray:
    """Answers to these pictures by observers of this kind, one observer a row.

    Parameters
    ----------
    shown : ndarray of int, shape (rows, trials)

    Returns
    -------
    ndarray of int, shape (rows, trials)
    """
    pictures, (rows, trials) = table.pictures, shown.shape
    k = len(pictures.options)

    def drawn(mixture: Mixture) -> FloatArray:
        values, weights = np.array(mixture).T
        return np.asarray(rng.choice(values, size=(rows, 1), p=weights / weights.sum()))

    chance = table.shares[shown].copy()
    at_row, at_trial = np.ogrid[:rows, :trials]
    lure, right = pictures.lure[shown], pictures.right[shown]
    moved = np.where(lure >= 0, chance[at_row, at_trial, lure] * drawn(effects.turned), 0.0)
    chance[at_row, at_trial, right] += moved
    chance[at_row, at_trial, lure] -= moved
    marked = pictures.marked[shown]
    chance[at_row, at_trial, marked] *= np.exp(effects.spread * rng.standard_normal((rows, 1)))
    chance /= chance.sum(axis=2, keepdims=True)
    guessed = drawn(effects.guesses)[..., np.newaxis]
    chance = (1.0 - guessed) * chance + guessed / k
    reached = rng.random((rows, trials, 1)) > np.cumsum(chance, axis=2)[:, :, :-1]
    return np.asarray(reached.sum(axis=2), dtype=np.int64)
