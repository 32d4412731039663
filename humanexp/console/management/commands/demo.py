from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from humanexp.console import demo_report, demo_steps, sites
from humanexp.console.demo_steps import STEPS, Demo, Options
from humanexp.console.scripted_participants import whole_number
from humanexp.console.sites import Addresses
from humanexp.core.commands import RefusableCommand
from humanexp.core.errors import InputRefused
from humanexp.simulation.participant import ParticipationFailed


class Command(RefusableCommand):
    help = "The whole loop on fresh data: pictures, stimuli, people, networks, dashboard; then keep serving it."
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--no-serve", action="store_true", help="end with status 0 instead of serving; any free ports"
        )
        parser.add_argument("--fresh", action="store_true", help="remove what an earlier demo made and make it anew")
        parser.add_argument("--images", metavar="DIR", default="", help="folders of photographs named by category")
        parser.add_argument("--participants", metavar="N", type=whole_number(4), default=32)
        parser.add_argument(
            "--recruiter",
            choices=("marketplace", "panel"),
            default="marketplace",
            help="the site on which its people are found",
        )
        parser.add_argument("--seed", metavar="S", type=whole_number(0), default=1)
        parser.add_argument("--json", metavar="FILE", type=Path, help="write every number to this file")

    def handle(self, *args: Any, **options: Any) -> None:
        self.console = Console(file=sys.stderr if options["json"] == Path("-") else sys.stdout)
        images = str(Path(options["images"]).resolve()) if options["images"] else ""
        chosen = Options(
            participants=options["participants"], seed=options["seed"], images=images, recruiter=options["recruiter"]
        )
        signal.signal(signal.SIGTERM, _interrupt)
        try:
            self._run(chosen, options)
        except ParticipationFailed as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt:
            if not demo_steps.is_finished():
                raise CommandError("Stopped before the demo was complete; the next one begins anew.") from None
            self.console.print("\nStopped.")

    def _run(self, chosen: Options, options: dict[str, Any]) -> None:
        # What cannot be done is said before anything is removed or made.
        addresses = Addresses.free() if options["no_serve"] else Addresses.fixed(chosen.recruiter)
        demo_steps.check(chosen)
        is_there = not options["fresh"] and demo_steps.finished_with(chosen)
        if not is_there:
            demo_steps.check_photographs(chosen)
        _check_writable(options["json"])
        if options["fresh"]:
            with demo_steps.owned():
                demo_steps.set_aside_other_tables()
        call_command("migrate", verbosity=0)
        if is_there and options["no_serve"]:
            self.console.print("The demo of these options is there already; --fresh makes it anew.")
            self._tell(options)
            return
        with contextlib.ExitStack() as stack:
            stack.enter_context(demo_steps.owned())
            if not is_there:
                demo_steps.clear()
            watch = self._start(stack, addresses, chosen.recruiter)
            if not is_there:
                started_at = time.monotonic()
                self._make(Demo(options=chosen, watch=watch))
                demo_steps.record_finished(chosen)
                self.console.print(f"Made in {time.monotonic() - started_at:.0f} s.\n")
            self._tell(options)
            if not options["no_serve"]:
                demo_report.print_addresses(self.console, addresses, chosen.recruiter)
                while True:
                    watch()
                    time.sleep(1)

    def _start(self, stack: contextlib.ExitStack, addresses: Addresses, recruiter: str) -> Any:
        """Start the three processes; returns a function that raises when one of them has died."""
        # This process publishes and simulates: it needs the same addresses and keys as the ones it starts.
        settings.PUBLIC_URL, settings.MARKETPLACE_URL = addresses.web, addresses.marketplace
        settings.PANEL_URL = addresses.panel
        keys = sites.account_keys(recruiter, addresses)
        for name, value in keys.items():
            setattr(settings, name, value)
        processes: dict[str, subprocess.Popen[bytes]] = {
            name: stack.enter_context(sites.started(name, addresses, keys)) for name in (recruiter, "web", "run_jobs")
        }
        for name in (recruiter, "web"):
            url = getattr(addresses, name)
            sites.wait_until_ready(name, processes[name], url, tell=self.console.print)

        def watch() -> None:
            for name, process in processes.items():
                sites.check_alive(name, process)

        return watch

    def _make(self, demo: Demo) -> None:
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed}/{task.total}"),
        )
        with Progress(*columns, TimeElapsedColumn(), console=self.console) as progress:
            for title, step in STEPS:
                task = progress.add_task(title, total=None)

                def told(done: int, total: int, task: Any = task) -> None:
                    progress.update(task, completed=done, total=total)

                n_notes = len(demo.notes)
                step(demo, told)
                for note in demo.notes[n_notes:]:
                    self.console.print(f"Note: {note}")
                finished = progress.tasks[task]
                progress.update(task, total=finished.total or 1, completed=finished.total or 1)
        numbers = demo_report.collect(demo)
        demo_report.store(numbers)

    def _tell(self, options: dict[str, Any]) -> None:
        numbers = demo_report.stored()
        if options["json"]:
            text = json.dumps(numbers, indent=1, sort_keys=True, allow_nan=False) + "\n"
            if options["json"] == Path("-"):
                self.stdout.write(text)
            else:
                options["json"].write_text(text, encoding="utf-8")
        demo_report.print_summary(self.console, numbers)


def _check_writable(file: Path | None) -> None:
    """Two minutes of work must not end in an error about a folder that is not there."""
    if file is None or file == Path("-"):
        return
    if file.is_dir() or not os.access(file if file.exists() else file.parent, os.W_OK):
        raise InputRefused(f"{file} cannot be written: name a file in a folder that exists and is yours.")


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
