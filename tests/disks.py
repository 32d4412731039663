"""File systems that a test can fill."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def mounted(folder: Path, size: str) -> Iterator[Path]:
    """One of this size, e.g. "3m", in an empty folder. It takes root; whoever tests as root in CI has it, or fails."""
    mount = shutil.which("mount")
    options = ["-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    made = mount and subprocess.run([mount, *options], capture_output=True, check=False)
    if not made or made.returncode:
        if os.environ.get("CI") == "true" and os.geteuid() == 0:
            pytest.fail("a small file system cannot be mounted, by root")
        pytest.skip("mounting a small file system needs root and a kernel that allows it")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)
