"""How few sessions, pictures or categories a verdict hangs on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from analysis.arrays import BoolArray, FloatArray
from analysis.claims.models import overall_word
from analysis.differences.beside import ALPHA, Beside, Pair, compared_pairs
from analysis.differences.compared import Compared, Sources, Unit
from analysis.differences.family import DRAWS, which_differ
from analysis.study.analysis_plan import LEVEL

Word = Literal["matches", "differs", "undecided"]

UNITS: tuple[Unit, ...] = ("sessions", "pictures", "categories")
#: So many units: each is left out by itself, and each pair of them.
FEW_SINGLES, FEW_PAIRS = 100, 16
#: A set is sought up to this share of the units, but at least and at most so many.
_SHARE, _LEAST, _MOST = 0.05, 3, 10
#: Answers (of people and models, summed over pairs) times sets to leave out, up to which it is worth the time.
_WORK = 2_000_000
#: Work of one pair that does not grow with its answers, in answers.
_EACH = 800
#: Where first-order effects of the strongest units, times this, do not change the word, no set is sought.
_SLACK = 1.5
#: Monte Carlo errors of the quantile by which a flip must hold.
_ERRORS = 2.0


@dataclass(frozen=True)
class Removal:
    """The smallest set found whose removal changes a verdict.

    Parameters
    ----------
    unit : {"sessions", "pictures", "categories"}
    count : int
        How many there are.
    names : tuple of str
        The set; empty where none was found.
    word : {"matches", "differs", "undecided"} or None
        What the verdict becomes.
    tried : int
        Largest size of a set that was tried; 0 where the study is too large for it.
    exact : int
        Up to this size every set was tried.
    """

    unit: Unit
    count: int
    names: tuple[str, ...]
    word: Word | None
    tried: int
    exact: int


#: Model, and corruption or None for the verdict over all of them.
Place = tuple[str, str | None]


def fragility(
    study: Compared,
    *,
    margin: float,
    window_margin: float,
    level: float = LEVEL,
    seed: int = 0,
    draws: int = DRAWS,
    units: Sequence[Unit] = UNITS,
    tick: Callable[[], None] = lambda: None,
) -> dict[Place, tuple[Removal, ...]]:
    """Seek for every verdict of a study the smallest sets whose removal changes its word.

    Parameters
    ----------
    study : Compared
    margin, window_margin, level, seed, draws
        As in `beside_people`.
    units : sequence of {"sessions", "pictures", "categories"}
        What is left out.
    tick : callable
        Called now and then; what it raises is let through.

    Returns
    -------
    dict of (model, corruption or None) to tuple of Removal
        One for each kind of unit of which there are two or more.

    Notes
    -----
    With few units every one, and every pair, is left out and the verdict computed anew. Larger sets are sought step by
    step: the unit goes whose contribution to the estimates and variances moves the verdict most, to first order
    (Broderick, Giordano and Meager 2020, arXiv 2011.14999); then all is computed again. A set is given only if the
    whole family, judged again without it, says another word, and would also say it if the step-down's quantile were
    wrong by two Monte Carlo errors in the old word's favour.
    """
    search = _Search(study, margin, window_margin, level, seed, draws, tick)
    found: dict[Place, list[Removal]] = {place: [] for place in search.words}
    for unit in units:
        for place, removal in search.smallest(unit):
            found[place].append(removal)
    return {place: tuple(own) for place, own in found.items()}


@dataclass(eq=False)
class _Search:
    study: Compared
    margin: float
    window_margin: float
    level: float
    seed: int
    draws: int
    tick: Callable[[], None]
    words: dict[Place, Word] = field(default_factory=dict)
    verified: dict[tuple[Unit, tuple[str, ...], float], dict[Place, Word]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        pairs = self._pairs(self.study)
        self.work = sum(
            _EACH
            + len(self.study.people[one.corruption].answers)
            + len(self.study.models[one.model][one.corruption].answers)
            for one in pairs
        )
        self.critical = math.inf
        if pairs:
            family = [pair.differences for pair in pairs]
            decided = which_differ(family, level=self.level, seed=self.seed, n_draws=self.draws)
            self.critical = decided.critical
            self.words = self._words(self.study, pairs, decided.differ)

    def smallest(self, unit: Unit) -> Iterator[tuple[Place, Removal]]:
        """The smallest set of units of this kind, verdict by verdict."""
        names = self.study.units(unit)
        if len(names) < 2:
            return
        most = min(max(math.ceil(_SHARE * len(names)), _LEAST), _MOST, len(names) - 1)
        if self.work * most > _WORK:
            for place in self.words:
                yield place, Removal(unit, len(names), (), None, 0, 0)
            return
        exact, found = 0, dict[Place, Removal]()
        for size, few in ((1, FEW_SINGLES), (2, FEW_PAIRS)):
            if size > most or len(names) > few or self.work * math.comb(len(names), size) > _WORK:
                break
            exact = size
            self._try_all(unit, names, size, found)
            if len(found) == len(self.words):
                break
        for place in self.words:
            self.tick()
            if place not in found:
                chosen, word = self._step_by_step(place, unit, most)
                found[place] = Removal(unit, len(names), chosen, word, most, exact)
            yield place, replace(found[place], tried=most, exact=exact)

    def _try_all(self, unit: Unit, names: Sequence[str], size: int, found: dict[Place, Removal]) -> None:
        """Leave out every set of this size."""
        for chosen in combinations(names, size):
            self.tick()
            remaining = self.study.without(unit, chosen)
            pairs = self._pairs(remaining)
            told = self._words(remaining, pairs, [pair.differences.normal_scores > self.critical for pair in pairs])
            for place, word in self.words.items():
                if place not in found and told.get(place, word) != word:
                    other = self._verified(place, unit, chosen)
                    if other != word:
                        found[place] = Removal(unit, len(names), chosen, other, size, size)

    def _step_by_step(self, place: Place, unit: Unit, most: int) -> tuple[tuple[str, ...], Word | None]:
        """Take out one unit after the other, towards each other word; the smaller set."""
        best: tuple[tuple[str, ...], Word | None] = ((), None)
        now = self.words[place]
        routes: dict[Word, tuple[Word, ...]] = {
            "undecided": ("differs", "matches"),
            "differs": ("undecided",),
            "matches": ("undecided",),
        }
        for wanted in routes[now]:
            part, chosen = self._part(place), list[str]()
            pairs = self._pairs(part)
            largest = len(best[0]) - 1 if best[0] else most
            while pairs and len(chosen) < largest:
                effects = _Effects.of(part, pairs, unit, self.margin, self.window_margin)
                # The largest excess over what separates the words, and whether it has to fall or to rise.
                of_match = "matches" in (now, wanted)
                rises = wanted == "differs" or now == "matches"
                if len(effects.names) < 2 or not effects.in_reach(
                    largest - len(chosen), of_match=of_match, rises=rises, critical=self.critical
                ):
                    break
                chosen.append(effects.strongest(of_match=of_match, rises=rises))
                part = part.without(unit, chosen[-1:])
                pairs = self._pairs(part)
                told = self._words(part, pairs, [one.differences.normal_scores > self.critical for one in pairs])
                if told.get(place, now) != now:
                    other = self._verified(place, unit, tuple(chosen))
                    if other != now:
                        best = (tuple(sorted(chosen)), other)
                        break
        return best

    def _part(self, place: Place) -> Compared:
        model, corruption = place
        known = [own for name, own in self.words if name == model and own is not None]
        return self.study.part(model, known if corruption is None else [corruption])

    def _verified(self, place: Place, unit: Unit, chosen: tuple[str, ...]) -> Word:
        """The word of the whole family without these, where Monte Carlo noise is given to the word that stands."""
        noise = _ERRORS * math.sqrt(self.level * (1.0 - self.level) / self.draws)
        level = self.level - noise if self.words[place] == "differs" else self.level + noise
        key = (unit, tuple(sorted(chosen)), level)
        if key not in self.verified:
            remaining = self.study.without(unit, chosen)
            pairs = self._pairs(remaining)
            decided = which_differ(
                [pair.differences for pair in pairs],
                level=level,
                seed=self.seed,
                n_draws=self.draws,
            )
            self.verified[key] = self._words(remaining, pairs, decided.differ)
        return self.verified[key].get(place, self.words[place])

    def _pairs(self, study: Compared) -> list[Pair]:
        people, models = study.answers()
        return compared_pairs(people, models, study.conditions)

    def _words(self, study: Compared, pairs: Sequence[Pair], significant: Sequence[BoolArray]) -> dict[Place, Word]:
        """Word of every pair and of every model; nothing is said of a model that lost a corruption."""
        attentive = study.attentive()
        told: dict[str, dict[str, Beside]] = {}
        for pair, chosen in zip(pairs, significant, strict=True):
            told.setdefault(pair.model, {})[pair.corruption] = pair.judged(
                chosen, self.critical, attentive.get(pair.corruption, 0.0), self.margin, self.window_margin
            )
        words: dict[Place, Word] = {}
        for model, own in told.items():
            known = [corruption for name, corruption in self.words if name == model and corruption is not None]
            for corruption, one in own.items():
                words[model, corruption] = overall_word(matches=one.matches, differs=one.differs)
            if set(known) <= set(own):
                every = own.values()
                words[model, None] = overall_word(
                    matches=all(one.matches for one in every), differs=any(one.differs for one in every)
                )
        return words


@dataclass(frozen=True, eq=False)
class _Effects:
    """What each unit contributes to the estimates behind a verdict, and where these stand.

    ``moved`` has shape (units, windows), the others (windows,).
    """

    names: NDArray[np.str_]
    moved: FloatArray
    estimate: FloatArray
    error: FloatArray
    quantile: FloatArray
    margin: FloatArray

    @classmethod
    def of(cls, study: Compared, pairs: Sequence[Pair], unit: Unit, margin: float, window_margin: float) -> _Effects:
        names = np.array(study.units(unit), dtype=np.str_)
        columns = []
        for pair in pairs:
            people, own = study.people[pair.corruption], study.models[pair.model][pair.corruption]
            spread = pair.differences.spread
            margins = np.full(len(pair.differences.values), window_margin)
            margins[0] = margin
            columns.append(
                (
                    _by_unit(own, unit, pair, names) - _by_unit(people, unit, pair, names),
                    pair.differences.values,
                    spread.standard_error,
                    spread.reach(1.0 - 2.0 * ALPHA) / spread.standard_error,
                    margins,
                )
            )
        return cls(names, *(np.concatenate(column, axis=-1) for column in zip(*columns, strict=True)))

    def strongest(self, *, of_match: bool, rises: bool) -> str:
        """The unit without which the largest excess is smallest, or largest, to first order."""
        size = np.abs(self.estimate - self.moved)
        error = self.error * np.sqrt(np.maximum(1.0 - (self.moved / self.error) ** 2, 0.25))
        excess = size + self.quantile * error - self.margin if of_match else size / error
        largest = excess.max(axis=1)
        return str(self.names[int(np.argmax(largest) if rises else np.argmin(largest))])

    def in_reach(self, count: int, *, of_match: bool, rises: bool, critical: float) -> bool:
        """Whether so many units might do, if each window lost those that move it most."""
        towards = -self.moved if rises else self.moved
        towards = np.sort(towards * np.sign(self.estimate), axis=0)[::-1][:count]
        size = np.abs(self.estimate)
        change = _SLACK * np.maximum(towards, 0.0).sum(axis=0)
        if rises:
            if not of_match:
                # A window that is to differ may also change its side.
                change = np.maximum(
                    change, _SLACK * np.sort(np.abs(self.moved), axis=0)[::-1][:count].sum(axis=0) - size
                )
            limit = self.margin - self.quantile * self.error if of_match else critical * self.error / _SLACK
            return bool((size + change > limit).any())
        limit = self.margin - self.quantile * self.error / _SLACK if of_match else critical * self.error
        return bool((size - change < limit).all())


def _by_unit(own: Sources, unit: Unit, pair: Pair, names: NDArray[np.str_]) -> FloatArray:
    """What each unit contributes to the errors of one side's windows, shape (units, windows)."""
    units, contrasts = own.units(unit), pair.contrasts
    if units is None:
        return np.zeros((len(names), len(contrasts.matrix)))
    answers = replace(own.answers, originals=units)
    if not np.isfinite(contrasts.edges).all():
        answers = answers.select(np.isin(answers.place, [place for place, _ in contrasts.ranges[1:]]))
    return np.asarray(answers.by_cell(contrasts.edges).originals.among(names) @ contrasts.matrix.T)
