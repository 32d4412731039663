"""Generator ``corruption:NAME``: ascent over the parameter of a corruption function."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.corruptions import corrupt, find_corruption
from analysis.counterfactuals.model_under_test import Target
from analysis.counterfactuals.port import Painting, State, select
from analysis.errors import SearchRefused

#: Strengths that are looked at in a stride, evenly spaced.
LOOKS = 5
#: How often the walk then looks closer, at half the distance, around the two best of them.
CLOSER = 2


@dataclass(frozen=True, slots=True)
class CorruptionGenerator:
    """Looks further along a function's domain at every step; its random field stays the same.

    The picture is the one of the greatest loss among all strengths looked at. Where a stride holds none that is greater
    or equal, the next stride is looked at, too: no local maximum holds the search.

    Parameters
    ----------
    function : str
        One of the registered corruption functions.
    stride : float
        How much further a step looks, as a share of the domain.

    Notes
    -----
    The losses of a picture never fall, and after ``1 / stride`` steps the whole domain has been looked at.
    """

    function: str
    stride: float = 0.1

    def __post_init__(self) -> None:
        find_corruption(self.function)
        if not 0 < self.stride <= 1:
            raise SearchRefused(f"A step along a corruption is above 0 and at most 1 of its domain, not {self.stride}.")

    @property
    def name(self) -> str:
        """As in a specification."""
        return f"corruption:{self.function}"

    @property
    def digest(self) -> str:
        """SHA-256 of function, version, step and walk."""
        return self._digest_of(f"/reach/{LOOKS}/{CLOSER}")

    @property
    def former_digest(self) -> str:
        """The same of the walk before this one, which stepped to the better neighbour and alternated at maxima."""
        return self._digest_of("")

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
        }

    def paint(self, state: State) -> Painting:
        """Corrupted pictures."""
        return Painting(self._corrupted(state, state["strengths"]))

    def step(self, state: State, numbers: NDArray[np.intp], target: Target, painting: Painting | None = None) -> State:
        """The strength of the greatest loss within a further stride; of equal ones the stronger."""
        strengths, losses, reaches, edges = (state[name].copy() for name in ("strengths", "losses", "reaches", "edges"))
        first = np.flatnonzero(reaches < 0)
        if len(first):
            begin = self._corrupted(select(state, first), strengths[first])
            losses[first] = edges[first] = target.look(begin, numbers[first]).losses
            reaches[first] = 0.0
        going = np.flatnonzero(reaches < 1)
        while len(going):
            tried, found = self._looked(select(state, going), reaches[going], edges[going], numbers[going], target)
            reaches[going], edges[going] = tried[:, LOOKS], found[:, LOOKS]
            rows, best = np.arange(len(going)), np.lexsort((tried, found), axis=1)[:, -1]
            tried, found = tried[rows, best], found[rows, best]
            has_moved = (found > losses[going]) | ((found == losses[going]) & (tried > strengths[going]))
            moved = going[has_moved]
            strengths[moved], losses[moved] = tried[has_moved], found[has_moved]
            going = going[~has_moved & (reaches[going] < 1)]
        return {**state, "strengths": strengths, "losses": losses, "reaches": reaches, "edges": edges}

    def _looked(
        self,
        state: State,
        begun: NDArray[np.float64],
        edges: NDArray[np.float64],
        numbers: NDArray[np.intp],
        target: Target,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Strengths of a stride and the losses there, shape (n, k) each.

        First comes where it begins, whose loss is known, then evenly spaced ones up to its end, then closer ones around
        the two best.
        """
        tried, losses, spacing = begun[:, None], edges[:, None], self.stride / LOOKS
        end = np.minimum(np.round(begun + self.stride, 12), 1.0)
        columns = [begun + spacing * (place + 1) for place in range(LOOKS)]
        for closer in range(CLOSER + 1):
            columns = [np.clip(np.round(column, 12), begun, end) for column in columns]
            found = [target.look(self._corrupted(state, column), numbers).losses for column in columns]
            tried, losses = np.column_stack([tried, *columns]), np.column_stack([losses, *found])
            best = np.take_along_axis(tried, np.lexsort((tried, losses), axis=1)[:, -2:], axis=1)
            away = spacing / 2 ** (closer + 1)
            columns = [best[:, place] + sign * away for place in range(best.shape[1]) for sign in (-1, 1)]
        return tried, losses

    def _corrupted(self, state: State, strengths: NDArray[np.float64]) -> NDArray[np.uint8]:
        corruption = find_corruption(self.function)
        return np.stack(
            [
                corrupt(picture, self.function, corruption.parameter_at(float(strength)), int(seed))
                for picture, strength, seed in zip(state["originals"], strengths, state["seeds"], strict=True)
            ]
        )
