"""One call at a time may move an account's money; the next one is not kept waiting but sent away."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from humanexp.sites.panel.errors import Refused
from humanexp.sites.panel.models.switches import Switches

_locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)


@contextmanager
def wallet(owner: str) -> Iterator[None]:
    """For the length of a call; without an owner there is nothing to wait for."""
    if not owner:
        yield
        return
    if not _locks[owner].acquire(blocking=False):
        raise Refused(429, "Too many requests", "Another payment of this account is in progress.", code=140_429)
    try:
        time.sleep(Switches.current().wallet_s)
        yield
    finally:
        _locks[owner].release()
