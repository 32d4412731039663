"""pytest plugin: a test without a mark starts no process, opens no port and sleeps not, or fails by name.

So the pure ring is a function of the tree: neither the machine's load nor its clock can make it red. A second rule is
kept here for all tests: what a test leaves open fails that test, and not whichever runs when it is collected.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

import pytest

from tests.gate.rings import kind_of
from tests.gate.watch import WATCH, NotPure


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    WATCH.is_on = kind_of(item) == "pure"
    try:
        return (yield)
    finally:
        WATCH.is_on = False


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    # What ends now may belong to other tests: a server that the whole file, or the whole run, has used.
    WATCH.is_on = False
    left: list[str] = []
    hook = sys.unraisablehook
    try:
        result = yield
        sys.unraisablehook = lambda found: left.append(f"{found.err_msg or ''} {found.object!r}: {found.exc_value!r}")
        gc.collect()
        # What is alive now outlives this test. Without this, each collection would look at all that was ever imported.
        gc.freeze()
    finally:
        sys.unraisablehook = hook
    if left:
        pytest.fail(f"{item.nodeid} left something open:\n" + "\n".join(left), pytrace=False)
    found, WATCH.found = WATCH.found, []
    if found:
        pytest.fail(f"{item.nodeid} {', '.join(dict.fromkeys(found))}. {NotPure.__doc__}", pytrace=False)
    return result


def pytest_collection_finish() -> None:
    """What is imported by now stays; the collector need not look at it after each test."""
    gc.collect()
    gc.freeze()
