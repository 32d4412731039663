"""The web process starts without the heavy parts of the science house."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.limits import LIMIT

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("torch", "torchvision", "statsmodels", "matplotlib", "pandas", "scipy.stats", "pyarrow")
SCRIPT = """
import json, sys
import humanexp.wsgi
from django.urls import get_resolver

def names(resolver):
    for pattern in resolver.url_patterns:
        if hasattr(pattern, "url_patterns"):
            yield from names(pattern)
        else:
            yield pattern.name

count = len(list(names(get_resolver())))
json.dump({"urls": count, "modules": sorted(sys.modules)}, sys.stdout)
"""


def test_the_web_process_imports_none_of_the_heavy_packages(tmp_path: Path) -> None:
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "humanexp.settings", "MEDIA_ROOT": str(tmp_path)}
    environment.pop("PYTEST_CURRENT_TEST", None)
    ran = subprocess.run(  # noqa: S603  our own interpreter and script
        [sys.executable, "-c", SCRIPT],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=LIMIT,
    )
    found = json.loads(ran.stdout)
    assert found["urls"] > 10
    assert [name for name in HEAVY if name in found["modules"]] == []
