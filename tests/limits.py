"""How long a test waits for what it has started, before it calls it hung: one limit for all, and one way to wait.

A limit is no assertion: it is far above what anything takes, so that a busy machine fails no test. SLOW=5 raises it
fivefold, for a machine that is slower still. How long something may take is asked by tests marked `bench`, which run
in `make bench` and nowhere else.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TypeVar

import pytest

Found = TypeVar("Found")

#: Seconds that a process, a reply or a condition is waited for.
LIMIT = 300 * float(os.environ.get("SLOW", "1"))


def until(condition: Callable[[], Found], what: str | Callable[[], str], *, every_s: float = 0.02) -> Found:
    """The first true value of `condition`; `what` says what was waited for, should it never come."""
    end = time.monotonic() + LIMIT
    while not (found := condition()):
        if time.monotonic() > end:
            said = what() if callable(what) else what
            raise TimeoutError(f"after {LIMIT:.0f} s still not so: {said}")
        time.sleep(every_s)
    return found


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """A whole test has two such limits; `--timeout` and PYTEST_TIMEOUT go before."""
    os.environ.setdefault("PYTEST_TIMEOUT", str(2 * LIMIT))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What asserts seconds runs where it is asked for by `-m bench`, or by its own name."""
    if "bench" in config.option.markexpr or any("::" in argument for argument in config.args):
        return
    left_out = [item for item in items if item.get_closest_marker("bench")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("bench")]
