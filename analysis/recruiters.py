"""Whose people count how much: everybody once, or those of each recruiter together by a weight of the plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.arrays import BoolArray, FloatArray, IntArray
from analysis.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class Recruiters:
    """Which recruiter every person came from.

    Parameters
    ----------
    people : ndarray of str, shape (n,)
        Sorted, each once.
    codes : ndarray of int, shape (n,)
        Number of each person's recruiter among ``names``.
    names : tuple of str
        Sorted.
    weights : ndarray, shape (len(names),), or None
        By which the recruiters' people count in a pooled mean; None where everybody counts once.
    """

    people: NDArray[np.str_]
    codes: IntArray
    names: tuple[str, ...]
    weights: FloatArray | None = None

    @classmethod
    def of(cls, recruiter_of: Mapping[str, str], weights: Mapping[str, float] | None = None) -> Recruiters:
        """From the recruiter of each person, and the weight of each recruiter, if there are any.

        Raises
        ------
        InvalidInput
            If a recruiter has no weight although others have, or a weight is not above 0.
        """
        people = np.asarray(sorted(recruiter_of), dtype=np.str_)
        names = tuple(sorted(set(recruiter_of.values())))
        if weights and any(not weights.get(name, 0.0) > 0.0 for name in names):
            raise InvalidInput("Every recruiter whose people are pooled needs a weight above 0.")
        place = {name: code for code, name in enumerate(names)}
        codes = np.array([place[recruiter_of[person]] for person in people.tolist()], dtype=np.int64)
        return cls(people, codes, names, np.array([weights[name] for name in names]) if weights else None)

    def codes_of(self, people: NDArray[np.str_]) -> IntArray:
        """Number of the recruiter of each of these people, who are all known."""
        return self.codes[np.searchsorted(self.people, people)]

    def are_of(self, people: NDArray[np.str_], name: str) -> BoolArray:
        """Which of these people came from this recruiter."""
        return np.asarray(self.codes_of(people) == self.names.index(name))

    def counts_of(self, people: NDArray[np.str_]) -> FloatArray:
        """How much each of these people counts in a mean over them, with mean 1.

        Parameters
        ----------
        people : ndarray of str, shape (n,)
            Each once.

        Returns
        -------
        ndarray, shape (n,)
            Those of one recruiter add up to its share of the weights of all that are among them.
        """
        if self.weights is None or not len(people):
            return np.ones(len(people))
        codes = self.codes_of(people)
        each = self.weights[codes] / np.bincount(codes, minlength=len(self.names))[codes]
        return np.asarray(each * len(people) / each.sum())
