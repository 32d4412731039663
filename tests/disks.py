"""File systems that a test can fill."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

#: its number in the kernel's capability.h
CAP_SYS_ADMIN = 21


@contextlib.contextmanager
def mounted(folder: Path, size: str) -> Iterator[Path]:
    """One of this size, e.g. "3m", in an empty folder. Where CI has the right to mount it, it is not skipped."""
    mount = shutil.which("mount")
    options = ["-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    made = mount and subprocess.run([mount, *options], capture_output=True, check=False)
    if not made or made.returncode:
        if os.environ.get("CI") == "true" and _may_mount():
            pytest.fail("a small file system cannot be mounted, although this process has the right to")
        pytest.skip("mounting a small file system needs root and a kernel that allows it")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def _may_mount() -> bool:
    """Root in a container has not: it takes the capability CAP_SYS_ADMIN."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    capabilities = int(status.partition("CapEff:")[2].split()[0], 16)
    return bool(capabilities >> CAP_SYS_ADMIN & 1)
