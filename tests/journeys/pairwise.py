"""Few rows that hold every pair of values of every two factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product

Row = dict[str, str]
Pair = frozenset[tuple[str, str]]


def pairs_of(row: Mapping[str, str]) -> set[Pair]:
    return {frozenset(pair) for pair in combinations(row.items(), 2)}


def all_pairs(factors: Mapping[str, Sequence[str]]) -> set[Pair]:
    return {
        frozenset([(one, first), (other, second)])
        for one, other in combinations(factors, 2)
        for first, second in product(factors[one], factors[other])
    }


def covering(factors: Mapping[str, Sequence[str]], rows: int) -> list[Row]:
    """Greedy: each row is the one that holds most pairs that no row before it held; `rows` of them in all."""
    every = [dict(zip(factors, values, strict=True)) for values in product(*factors.values())]
    open_pairs, chosen = all_pairs(factors), []
    for _ in range(rows):
        best = max((row for row in every if row not in chosen), key=lambda row: len(pairs_of(row) & open_pairs))
        open_pairs -= pairs_of(best)
        chosen.append(best)
    return chosen
