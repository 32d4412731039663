"""The product's settings with files in a folder of the test run's own."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

os.environ["MEDIA_ROOT"] = tempfile.mkdtemp(prefix="humanexp-tests-")
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
_folder = tempfile.mkdtemp(prefix="humanexp-tests-", dir=_MEMORY if os.access(_MEMORY, os.W_OK) else None)
DATABASES["default"]["TEST"] = {"NAME": f"{_folder}/tests.sqlite3"}

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
