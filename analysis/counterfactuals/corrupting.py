"""Generator ``corruption:NAME``: ascent over the parameter of a corruption function."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from analysis.corruptions import corrupt, find_corruption
from analysis.counterfactuals.port import Generator, Oracle, Painting, State, Target, select
from analysis.errors import SearchRefused

#: How much further a step looks, as a share of the domain.
STRIDE = 0.1
#: Strengths that are looked at in a stride, evenly spaced.
LOOKS = 10
#: How often the walk then looks closer, at half the distance, around the two best of them.
CLOSER = 1
_REACH = f"/reach/{LOOKS}/{CLOSER}"


@dataclass(frozen=True, slots=True)
class CorruptionGenerator:
    """Looks further along a function's domain at every step; its random field stays the same.

    The picture is the one of the greatest loss among all strengths looked at. Where a stride holds none that is greater
    or equal, the next stride is looked at, too: no local maximum holds the search.

    An oracle that answers at once judges every strength that is looked at, not the greatest of a stride alone: the walk
    goes up to the first strength that it refuses, and that one is proposed last. Where people judge, they judge one
    picture a step, as in the paper.

    Parameters
    ----------
    function : str
        One of the registered corruption functions.
    stride : float
        How much further a step looks, as a share of the domain.
    oracle : Oracle or None
        The one that judges the search, if it answers at once.

    Notes
    -----
    The losses of a picture never fall until it is refused, and after ``1 / stride`` steps the whole domain has been
    looked at.
    """

    function: str
    stride: float = STRIDE
    oracle: Oracle | None = None

    def __post_init__(self) -> None:
        find_corruption(self.function)
        if not 0 < self.stride <= 1:
            raise SearchRefused(f"A step along a corruption is above 0 and at most 1 of its domain, not {self.stride}.")

    @property
    def name(self) -> str:
        """As in a specification."""
        return f"corruption:{self.function}"

    def beside(self, oracle: Oracle) -> Self:
        """The walk that asks this oracle at every strength."""
        return replace(self, oracle=oracle)

    @property
    def digest(self) -> str:
        """SHA-256 of function, version, step and walk."""
        return self._digest_of(f"{_REACH}/asked" if self.oracle else _REACH)

    def former_digests(self, *, by_people: bool) -> tuple[str, ...]:
        """The same of walks before this one, in searches that people judge or an oracle that answers at once.

        The first stepped to the better neighbour and alternated at maxima; the second asked an oracle that answers at
        once as seldom as people, and stopped up to a stride below the first strength that it refused.
        """
        return (self._digest_of(""), *(() if by_people else (self._digest_of("/reach/5/2"),)))

    def _digest_of(self, walk: str) -> str:
        version = find_corruption(self.function).version
        return hashlib.sha256(f"corruption/{self.function}/{version}/{self.stride!r}{walk}".encode()).hexdigest()

    @property
    def needs_gradients(self) -> bool:
        """It compares losses, so that any classifier will do."""
        return False

    def start(self, pictures: NDArray[np.uint8], seeds: NDArray[np.int64]) -> State:
        """Every picture at the weak end of the domain, where its loss is not known yet."""
        n = len(pictures)
        return {
            "originals": pictures,
            "seeds": seeds,
            "strengths": np.zeros(n),
            "losses": np.full(n, -np.inf),
            "reaches": np.full(n, -1.0),
            "edges": np.full(n, -np.inf),
            "refused": np.full(n, np.inf),
        }

    def paint(self, state: State) -> Painting:
        """Corrupted pictures."""
        return Painting(self._corrupted(state, state["strengths"]))

    def step(self, state: State, numbers: NDArray[np.intp], target: Target, painting: Painting | None = None) -> State:
        """The strength of the greatest loss of a further stride, of equal ones the stronger; at last the refused."""
        names = ("strengths", "losses", "reaches", "edges", "refused")
        strengths, losses, reaches, edges, refused = (state[name].copy() for name in names)
        first = np.flatnonzero(reaches < 0)
        if len(first):
            begin = self._corrupted(select(state, first), strengths[first])
            losses[first] = edges[first] = target.look(begin, numbers[first]).losses
            reaches[first] = 0.0
        is_over = np.isfinite(refused)
        strengths[is_over] = refused[is_over]
        going = np.flatnonzero((reaches < 1) & ~is_over)
        while len(going):
            tried, found, refused[going] = self._looked(
                select(state, going), reaches[going], edges[going], numbers[going], target
            )
            reaches[going], edges[going] = tried[:, LOOKS], found[:, LOOKS]
            rows, best = np.arange(len(going)), np.lexsort((tried, found), axis=1)[:, -1]
            tried, found = tried[rows, best], found[rows, best]
            has_moved = (found > losses[going]) | ((found == losses[going]) & (tried > strengths[going]))
            moved = going[has_moved]
            strengths[moved], losses[moved] = tried[has_moved], found[has_moved]
            ended = going[~has_moved & np.isfinite(refused[going])]
            strengths[ended] = refused[ended]
            going = going[~has_moved & (reaches[going] < 1) & ~np.isfinite(refused[going])]
        of_state = {"strengths": strengths, "losses": losses, "reaches": reaches, "edges": edges, "refused": refused}
        return {**state, **of_state}

    def _looked(
        self,
        state: State,
        begun: NDArray[np.float64],
        edges: NDArray[np.float64],
        numbers: NDArray[np.intp],
        target: Target,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Strengths of a stride and the losses there, shape (n, k) each, and the first strength that was refused.

        First comes where it begins, whose loss is known, then evenly spaced ones up to its end, then closer ones around
        the two best. From the first refused strength on the losses are without bound below.
        """
        tried, losses, spacing = begun[:, None], edges[:, None], self.stride / LOOKS
        end = np.minimum(np.round(begun + self.stride, 12), 1.0)
        refused = np.full(len(begun), np.inf)
        columns = [begun + spacing * (place + 1) for place in range(LOOKS)]
        for closer in range(CLOSER + 1):
            columns = [np.clip(np.round(column, 12), begun, end) for column in columns]
            for column in columns:
                pictures = self._corrupted(state, column)
                tried = np.column_stack([tried, column])
                losses = np.column_stack([losses, target.look(pictures, numbers).losses])
                if self.oracle:
                    # Where the stride begins was judged when it was looked at.
                    says_no = ~self.oracle.judge(pictures, [target.space.ids[one] for one in numbers]).accepted
                    refused = np.where(says_no & (column > begun), np.minimum(refused, column), refused)
            losses = np.where(tried < refused[:, None], losses, -np.inf)
            best = np.take_along_axis(tried, np.lexsort((tried, losses), axis=1)[:, -2:], axis=1)
            away = spacing / 2 ** (closer + 1)
            columns = [best[:, place] + sign * away for place in range(best.shape[1]) for sign in (-1, 1)]
        return tried, losses, refused

    def _corrupted(self, state: State, strengths: NDArray[np.float64]) -> NDArray[np.uint8]:
        corruption = find_corruption(self.function)
        return np.stack(
            [
                corrupt(picture, self.function, corruption.parameter_at(float(strength)), int(seed))
                for picture, strength, seed in zip(state["originals"], strengths, state["seeds"], strict=True)
            ]
        )


def beside(generator: Generator, oracle: Oracle) -> Generator:
    """The generator in a search that this oracle judges at once."""
    return generator.beside(oracle) if isinstance(generator, CorruptionGenerator) else generator
