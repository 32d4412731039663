"""Jobs for runners that are killed, stopped and cut off: an app of the tests, beside the product's."""

from __future__ import annotations

import time
from pathlib import Path

from django.apps import AppConfig

from humanexp.jobs.registry import Progress, handler


class Work(AppConfig):
    name = "tests.faults"
    label = "faults"

    def ready(self) -> None:
        @handler("faults.long")
        def run_long(progress: Progress, *, seconds: float) -> dict[str, float]:
            """Tells its progress ten times a second."""
            for step in range(int(10 * seconds)):
                progress(step, int(10 * seconds))
                time.sleep(0.1)
            return {"seconds": seconds}

        @handler("faults.gated")
        def run_gated(progress: Progress, *, gate: str) -> dict[str, str]:
            """Tells its progress until there is such a file."""
            step = 0
            while not Path(gate).exists():
                progress(step := step + 1, step + 1)
                time.sleep(0.1)
            return {"gate": gate}

        @handler("faults.deaf")
        def run_deaf(progress: Progress, *, seconds: float) -> None:
            """Says and hears nothing until it has ended."""
            time.sleep(seconds)

        @handler("faults.payment", is_prompt=True)
        def run_payment(progress: Progress) -> None:
            """What nobody should wait for."""
