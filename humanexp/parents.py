"""A process that another one started ends with it, however that one went: nobody is left to end it later.

Whoever starts one puts its own number into the environment (`bound`); the child's entry looks after it (`watch`). A
server that was started by hand or by the system has no such variable, and watches nobody.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Mapping

VARIABLE = "HUMANEXP_PARENT"
#: Between two looks.
_EVERY_S = 0.5
#: A process that was told to end, and could not, is ended after so long.
_PATIENCE_S = 30.0


def bound(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a child that is to end with this process."""
    return {**environment, VARIABLE: str(os.getpid())}


def watch() -> None:
    """From now on, end as by SIGTERM when the process that started this one is gone."""
    named = os.environ.get(VARIABLE, "")
    if not named.isdecimal() or int(named) in (0, os.getpid()):
        return
    threading.Thread(target=_end_with, args=(_life_of(int(named)),), name="parent", daemon=True).start()


def _life_of(parent: int) -> Callable[[], bool]:
    """Of a direct parent the system tells the end; a shell between the two is passed over."""
    if os.getppid() == parent:
        return lambda: os.getppid() == parent
    return lambda: _is_there(parent)


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _end_with(lives: Callable[[], bool]) -> None:
    while lives():
        time.sleep(_EVERY_S)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_PATIENCE_S)
    os._exit(1)
