"""The product's settings with files in a folder of the test run's own."""

from __future__ import annotations

import os
import tempfile

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

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
