"""Processes as the kernel tells of them in /proc: who descends from whom, and what they cost."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def family(pid: int) -> list[int]:
    """A process and all its descendants."""
    members = [pid]
    for member in members:
        for task in Path(f"/proc/{member}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                members += [int(child) for child in task.read_text().split()]
    return members


def cpu_seconds(pid: int) -> float:
    """Processor time of a process with all its descendants, also those that have ended."""
    return sum(_ticks(member) for member in family(pid)) / TICKS_PER_S


def _ticks(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    # Its own, and what its children used that have ended: servers of connections come and go.
    return sum(int(field) for field in fields[11:15])
