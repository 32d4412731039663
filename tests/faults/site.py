"""An installation of the product in a folder of its own, with real processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.limits import LIMIT
from tests.served import free_port

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Installation:
    media: Path
    environment: dict[str, str] = field(default_factory=dict)

    def environ(self, **changed: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in os.environ if name not in ("PYTEST_CURRENT_TEST", "DATABASE_URL")}
        places = {"MEDIA_ROOT": str(self.media), "DJANGO_SETTINGS_MODULE": "humanexp.settings"}
        return {**kept, **places, **self.environment, **changed}

    def manage(self, *arguments: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        return self.run([sys.executable, "manage.py", *arguments], env=env)

    def python(self, script: str, env: Mapping[str, str] | None = None) -> str:
        """What a script prints that runs inside the product."""
        done = self.run([sys.executable, "-c", f"import django; django.setup()\n{script}"], env=env)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def web(self, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        port = free_port()
        return subprocess.Popen(
            [sys.executable, "-m", "gunicorn", f"--bind=127.0.0.1:{port}", "humanexp.wsgi"],
            cwd=ROOT,
            env={**self.environ(**(env or {})), "PORT_UNDER_TEST": str(port)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, command: list[str], env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=ROOT,
            env=self.environ(**(env or {})),
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
