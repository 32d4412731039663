"""Painting with a record: pictures from latents, and the way back for gradients, without painting twice.

On a processor pictures are painted one by one, in as many threads as torch may use, each with one thread of its own: a
convolution fills one core with one picture, and a batch gains it nothing. On other devices a batch is painted at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")

#: Records of a batch that are kept for the step that follows, bytes; further pictures are painted again.
MOST_BYTES = 2 * 2**30


@dataclass(slots=True, eq=False)
class Tape:
    """Pictures, the latents that they were painted from, and autograd's record between the two.

    Attributes
    ----------
    latents : tensor, shape (n, c, h, w)
        A leaf.
    painted : tensor, shape (n, 3, h, w)
    n_bytes : int
        What the record holds in memory.
    """

    latents: Any
    painted: Any
    n_bytes: int

    @classmethod
    def record(cls, latents: Any, paint: Callable[[Any], Any]) -> Tape:
        """Paint latents and remember how."""
        import torch

        n_bytes = 0

        def count(values: Any) -> Any:
            nonlocal n_bytes
            n_bytes += values.nbytes
            # A step that saves its own result would hold itself, and the record would never be let go of.
            return values.detach()

        leaf = latents.detach().requires_grad_()
        with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(count, lambda values: values):
            painted = paint(leaf)
        return cls(leaf, painted, n_bytes)

    def pull_back(self, gradient: Any) -> Any:
        """Gradient with respect to the latents, from the one with respect to the pictures; the record is used up."""
        import torch

        (found,) = torch.autograd.grad(self.painted, self.latents, gradient)
        return found


class Allowance:
    """Bytes that tapes of one batch may still take; threads share it."""

    def __init__(self, n_bytes: int = MOST_BYTES) -> None:
        self._left, self._lock = n_bytes, threading.Lock()

    @property
    def is_left(self) -> bool:
        """Whether another tape may be kept."""
        return self._left > 0

    def take(self, n_bytes: int) -> None:
        """Count a tape that is kept."""
        with self._lock:
            self._left -= n_bytes


@contextmanager
def in_threads(device: str, count: int) -> Iterator[Callable[[Callable[[T], R], Iterable[T]], Iterator[R]]]:
    """A ``map`` over at most ``count`` calls: in threads with one torch thread each on a processor, else in turn."""
    import torch

    threads = torch.get_num_threads()
    if device != "cpu" or min(threads, count) < 2:
        yield map
        return
    try:
        with ThreadPoolExecutor(min(threads, count), initializer=torch.set_num_threads, initargs=(1,)) as pool:
            yield pool.map
    finally:
        # The number is one of each thread, but new threads begin with the one that was set last.
        torch.set_num_threads(threads)


def share_of(n: int, device: str) -> int:
    """Pictures that are painted at once, of ``n``."""
    return 1 if device == "cpu" else max(1, n)
