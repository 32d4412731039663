"""The product's settings with files in a folder of the test run's own."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path


def _in_memory() -> str | None:
    """Where a flush costs nothing: shared memory, if there is room for what a run writes, or none, and it is a disk."""
    place = Path("/dev/shm")  # noqa: S108
    if os.access(place, os.W_OK) and shutil.disk_usage(place).free > 4 * 1024**3:
        return str(place)
    return None


_MEMORY = _in_memory()
if _MEMORY:
    # Where pytest makes `tmp_path`: the marketplace and every process that a test starts flush each commit.
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", _MEMORY)


_PREFIX = "humanexp-tests-"


def _remove_what_killed_runs_left() -> None:
    """Memory does not come back by itself. Without /proc nobody knows who is alive."""
    if Path("/proc/self").exists():
        for folder in Path(_MEMORY or tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
            owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
            if not Path("/proc", owner).exists():
                shutil.rmtree(folder, ignore_errors=True)


def _folder() -> str:
    """A folder that goes with this process; one that this process forks leaves it alone."""
    owner = os.getpid()
    made = tempfile.mkdtemp(prefix=f"{_PREFIX}{owner}-", dir=_MEMORY)
    atexit.register(lambda: shutil.rmtree(made, ignore_errors=True) if os.getpid() == owner else None)
    return made


_remove_what_killed_runs_left()
os.environ["MEDIA_ROOT"] = _folder()
os.environ.setdefault("COMPUTE", "serial")
# Networks and pictures this small lose time to a second thread, and tests run side by side in processes.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENCV_FOR_THREADS_NUM", "1")

# A house that charges on its marketplace: most tests want a fee in their sums. The default is none.
for name, amount in {"FEE_PERCENT": 20, "LARGE_HIT_FEE_PERCENT": 20, "MASTERS_FEE_PERCENT": 5}.items():
    os.environ.setdefault(f"MARKETPLACE_{name}", str(amount))
os.environ.setdefault("MARKETPLACE_MINIMUM_FEE_CENTS", "1")

os.environ.setdefault("CONTACT", "lab@example.org")

from humanexp.settings import *  # noqa: E402, F403
from humanexp.settings import DATABASES  # noqa: E402

# A file, so that every thread of a live server has a connection of its own, as in production: threads that share the
# one connection of a database in memory misuse it.
DATABASES["default"]["TEST"] = {"NAME": f"{_folder()}/tests.sqlite3"}

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
