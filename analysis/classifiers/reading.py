"""Pictures read ahead of the network: files are read, checked and decoded in threads, in order, a few batches ahead."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.classifiers.shards import ShownStimulus, read_picture
from analysis.errors import PictureRefused

#: Batches that are decoded, or under way, while the network looks at one.
AHEAD = 2
#: Pictures that a thread takes at once.
_PIECE = 8


def read_ahead(
    batches: Iterable[Sequence[ShownStimulus]], *, threads: int, is_pinned: bool = False
) -> Generator[NDArray[np.uint8], None, None]:
    """Decoded pictures of each batch, uint8 (n, h, w, 3), in order; at most `AHEAD` batches and one are in memory.

    Parameters
    ----------
    batches : iterable of sequences of ShownStimulus
        Taken when they are needed, in the calling thread. An empty batch gives an array without pictures.
    threads : int
        That read and decode.
    is_pinned : bool
        Decode into memory that a CUDA device copies from without waiting.

    Raises
    ------
    PictureRefused
        If a file is gone, is not the one that was measured, or has another size than its neighbours.
    """
    under_way: deque[_Batch] = deque()
    queue = iter(batches)
    pool = ThreadPoolExecutor(threads, thread_name_prefix="pictures")
    try:
        is_exhausted = False
        while True:
            while not is_exhausted and len(under_way) <= AHEAD:
                try:
                    under_way.append(_Batch(next(queue), pool, is_pinned=is_pinned))
                except StopIteration:
                    is_exhausted = True
            if not under_way:
                return
            yield under_way.popleft().pictures()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


class _Batch:
    """A batch that threads fill; its memory is taken once the first picture tells the size."""

    def __init__(self, stimuli: Sequence[ShownStimulus], pool: ThreadPoolExecutor, *, is_pinned: bool) -> None:
        self._stimuli = stimuli
        self._is_pinned = is_pinned
        self._lock = Lock()
        self._array: NDArray[np.uint8] | None = None
        self._pieces: list[Future[None]] = [pool.submit(self._fill, start) for start in range(0, len(stimuli), _PIECE)]

    def pictures(self) -> NDArray[np.uint8]:
        for piece in self._pieces:
            piece.result()
        return np.zeros((0, 1, 1, 3), np.uint8) if self._array is None else self._array

    def _fill(self, start: int) -> None:
        for number, one in enumerate(self._stimuli[start : start + _PIECE], start):
            picture = read_picture(one.file, one.sha256, one.stimulus)
            array = self._memory(picture.shape)
            if picture.shape != array.shape[1:]:
                raise PictureRefused(
                    f"The stimulus {one.stimulus} is {picture.shape[1]} x {picture.shape[0]} px, and another of its "
                    f"set is {array.shape[2]} x {array.shape[1]} px: make the set again with one size."
                )
            array[number] = picture

    def _memory(self, shape: tuple[int, ...]) -> NDArray[np.uint8]:
        with self._lock:
            if self._array is None:
                self._array = _empty((len(self._stimuli), *shape), is_pinned=self._is_pinned)
            return self._array


def _empty(shape: tuple[int, ...], *, is_pinned: bool) -> NDArray[Any]:
    if not is_pinned:
        return np.empty(shape, np.uint8)
    import torch

    return np.asarray(torch.empty(shape, dtype=torch.uint8, pin_memory=True).numpy())
