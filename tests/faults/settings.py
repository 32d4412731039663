"""The product's settings, and jobs of the tests."""

from __future__ import annotations

from humanexp.settings import *  # noqa: F403

INSTALLED_APPS = [*INSTALLED_APPS, "tests.faults.work.Work"]  # noqa: F405
