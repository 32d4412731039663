"""Long streams, a few at a time."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def batches_of(size: int, stream: Iterable[T]) -> Iterator[list[T]]:
    """Lists of `size`, the last one perhaps shorter; no more than one is held."""
    rest = iter(stream)
    while batch := list(itertools.islice(rest, size)):
        yield batch
