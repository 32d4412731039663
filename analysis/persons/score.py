"""The score of a person: log likelihood ratio of answers to sentinels, people against machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.arrays import FloatArray, IntArray
from analysis.errors import InvalidInput

TextArray = NDArray[np.str_]

#: So many answers by its family's shares are added to each picture: the likeliest of these.
SMOOTHING = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 512.0)
#: Code of an answer that says nothing: a miss, a refusal, a word that is no option.
SILENT = -1


@dataclass(frozen=True, eq=False)
class SentinelAnswers:
    """Answers of observers to sentinel pictures, one entry an answer.

    Parameters
    ----------
    observer, picture, family, right, lure, response : ndarray of str, shape (n,)
        ``right`` is what people name, ``lure`` what machines tend to name instead (the texture of a cue conflict);
        empty where a family has none.
    """

    observer: TextArray
    picture: TextArray
    family: TextArray
    right: TextArray
    lure: TextArray
    response: TextArray

    def __len__(self) -> int:
        """Number of answers."""
        return len(self.observer)


@dataclass(frozen=True, eq=False)
class Pictures:
    """Sentinel pictures, coded.

    Parameters
    ----------
    names : tuple of str, length n
    family, right, lure : ndarray of int, shape (n,)
        ``right`` and ``lure`` are numbers of options; ``lure`` is `SILENT` where there is none.
    options : tuple of str, length k
        What an answer can be.
    """

    names: tuple[str, ...]
    family: IntArray
    right: IntArray
    lure: IntArray
    options: tuple[str, ...]

    @classmethod
    def of(cls, *parts: SentinelAnswers, options: tuple[str, ...]) -> Pictures:
        """Every picture of these answers, sorted by name.

        Raises
        ------
        InvalidInput
            If what is right is not among the options.
        """
        known = {
            str(name): (str(family), str(right), str(lure))
            for part in parts
            for name, family, right, lure in zip(part.picture, part.family, part.right, part.lure, strict=True)
        }
        codes = {option: code for code, option in enumerate(options)}
        for name, (_, right, _lure) in known.items():
            if right not in codes:
                raise InvalidInput(f"The sentinel picture {name} shows {right!r}, which is not an option.")
        names = tuple(sorted(known))
        families = {family: code for code, family in enumerate(sorted({one[0] for one in known.values()}))}
        return cls(
            names,
            np.array([families[known[name][0]] for name in names], dtype=np.int64),
            np.array([codes[known[name][1]] for name in names], dtype=np.int64),
            np.array([codes.get(known[name][2], SILENT) for name in names], dtype=np.int64),
            options,
        )

    def __len__(self) -> int:
        """Number of pictures."""
        return len(self.names)

    @property
    def marked(self) -> IntArray:
        """Option in which observers of one kind differ from one another: the lure, or what is right without one."""
        return np.where(self.lure >= 0, self.lure, self.right)

    def coded(self, answers: SentinelAnswers) -> dict[str, tuple[IntArray, IntArray]]:
        """Numbers of the pictures that every observer saw, and of the options that they named, in their order."""
        places = {name: place for place, name in enumerate(self.names)}
        codes = {option: code for code, option in enumerate(self.options)}
        picture = np.array([places[name] for name in answers.picture.tolist()], dtype=np.int64)
        given = np.array([codes.get(one, SILENT) for one in answers.response.tolist()], dtype=np.int64)
        return {
            str(name): (picture[mine], given[mine])
            for name in np.unique(answers.observer)
            for mine in [answers.observer == name]
        }


@dataclass(frozen=True, eq=False)
class AnswerTable:
    """How often observers of one kind give each answer to each picture.

    Parameters
    ----------
    pictures : Pictures
    shares : ndarray, shape (n_pictures, n_options)
        Each row sums to 1, and no share is 0.
    """

    pictures: Pictures
    shares: FloatArray

    @classmethod
    def fitted(
        cls,
        pictures: Pictures,
        observers: Mapping[str, tuple[IntArray, IntArray]],
        weights: Mapping[str, float],
        *,
        smoothing: Sequence[float] = SMOOTHING,
    ) -> AnswerTable:
        """Of weighted observers; those without a weight count 0.

        Parameters
        ----------
        pictures : Pictures
        observers : mapping of name to (pictures, answers)
            As `Pictures.coded` gives them.
        weights : mapping of name to float
        smoothing : sequence of float
            Numbers of answers by the family's shares, of which the likeliest is added to each picture.

        Notes
        -----
        Two steps, because a picture has few answers. Over a family, the shares of the right answer, the lure, and all
        other options (equally), each with one answer added. Then for each picture ``(count + smoothing * share of the
        family) / (answers + smoothing)``, where the smoothing makes all counts likeliest (Dirichlet-multinomial):
        too little of it takes chance for habits of people, and honest people would score too low. Silent answers are
        left out.
        """
        n, k = len(pictures), len(pictures.options)
        counts = np.zeros((n, k))
        for name, (picture, given) in observers.items():
            weight = weights.get(name, 0.0)
            if weight > 0.0:
                heard = given >= 0
                np.add.at(counts, (picture[heard], given[heard]), weight)
        base = np.empty((n, k))
        rows = np.arange(n)
        for family in np.unique(pictures.family):
            own = rows[pictures.family == family]
            has_lure = bool((pictures.lure[own] >= 0).all())
            right = counts[own, pictures.right[own]].sum()
            lure = counts[own, pictures.lure[own]].sum() if has_lure else 0.0
            total = counts[own].sum()
            kinds = 3.0 if has_lure else 2.0
            others = (total - right - lure + 1.0) / (total + kinds) / (k - kinds + 1.0)
            base[own] = others
            base[own, pictures.right[own]] = (right + 1.0) / (total + kinds)
            if has_lure:
                base[own, pictures.lure[own]] = (lure + 1.0) / (total + kinds)
        added = max(smoothing, key=lambda one: _evidence(counts, base, one))
        return cls(pictures, (counts + added * base) / (counts.sum(axis=1, keepdims=True) + added))


def _evidence(counts: FloatArray, base: FloatArray, smoothing: float) -> float:
    """Log likelihood of the counts where each picture's shares are Dirichlet about its family's."""
    from scipy.special import gammaln

    given = counts > 0.0
    cells = gammaln(counts[given] + smoothing * base[given]) - gammaln(smoothing * base[given])
    rows = gammaln(counts.sum(axis=1) + smoothing) - gammaln(smoothing)
    return float(cells.sum() - rows.sum())


def balanced(families: Mapping[str, str], names: Sequence[str]) -> dict[str, float]:
    """Weights by which every family of models counts as one observer: relatives answer alike."""
    sizes: dict[str, int] = {}
    for name in names:
        sizes[families[name]] = sizes.get(families[name], 0) + 1
    return {name: 1.0 / sizes[families[name]] for name in names}


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
