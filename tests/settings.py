"""The product's settings with files in a folder of the test run's own."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path


def _folder(where: Path | None = None) -> str:
    """A folder that goes with this process; one that this process forks leaves it alone."""
    made, owner = tempfile.mkdtemp(prefix="humanexp-tests-", dir=where), os.getpid()
    atexit.register(lambda: shutil.rmtree(made, ignore_errors=True) if os.getpid() == owner else None)
    return made


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
# one connection of a database in memory misuse it. In shared memory, where there is some, a flush costs nothing.
_MEMORY = Path("/dev/shm")  # noqa: S108
_in_memory = _folder(_MEMORY if os.access(_MEMORY, os.W_OK) else None)
DATABASES["default"]["TEST"] = {"NAME": f"{_in_memory}/tests.sqlite3"}

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
