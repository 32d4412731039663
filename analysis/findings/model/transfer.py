"""Searches for counterfactuals read together: transfer between models, and how generators rank them."""

from __future__ import annotations

from analysis.entry import Entry
from analysis.findings.model.entry import Interval, Pair


class Transfer(Entry):
    """How many of one generator's pictures every model names (`analysis.counterfactuals.transfer.TransferMatrix`)."""

    generator: str
    made_against: tuple[str, ...]
    tested: tuple[str, ...]
    #: a row a model that pictures were made against, a column a model that looks at them
    correct: tuple[tuple[int, ...], ...]
    n_valid: tuple[int, ...]
    intervals: tuple[tuple[Interval | None, ...], ...]


class RankAgreement(Entry):
    """How alike two generators rank models."""

    pair: Pair
    rho: float | None
    tau: float | None
    n: int


class SearchesTogether(Entry):
    """What was computed over a group of searches; `agreement` is None until the models are tested."""

    transfer: tuple[Transfer, ...] = ()
    agreement: tuple[RankAgreement, ...] | None = None
