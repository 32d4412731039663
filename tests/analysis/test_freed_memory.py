"""Freed memory is kept within the block, and given back after it."""

from __future__ import annotations

import ctypes
import resource

import numpy as np
import pytest

from analysis import freed_memory

pytestmark = pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="glibc alone has mallopt")
N_BYTES = 48 << 20


def faults(times: int = 8) -> int:
    """Pages that the system had to get for arrays that come and go."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(times):
        np.empty(N_BYTES, np.uint8).fill(1)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def test_large_arrays_find_the_memory_of_those_before_them() -> None:
    with freed_memory.kept():
        faults(1)
        kept = faults()
        held = resident()
    assert faults() > 4 * max(1, kept)
    assert resident() < held - N_BYTES // 2


def test_it_is_given_back_after_an_error_too() -> None:
    kept = 0
    with pytest.raises(ZeroDivisionError), freed_memory.kept():
        faults(1)
        kept = faults()
        1 / 0  # noqa: B018
    assert faults() > 4 * max(1, kept), "every array gets its pages anew"
