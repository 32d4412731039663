"""The product's settings with files in a folder of the test run's own."""

from __future__ import annotations

import os
import tempfile

os.environ["MEDIA_ROOT"] = tempfile.mkdtemp(prefix="humanexp-tests-")
os.environ.setdefault("COMPUTE", "serial")

from humanexp.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
