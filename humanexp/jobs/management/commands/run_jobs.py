from __future__ import annotations

import logging
import os
import signal

from django.core.management.base import BaseCommand, CommandError, CommandParser

from humanexp.core import checks
from humanexp.jobs import lanes, runner
from humanexp.jobs.lanes import ToldBySignal


class Command(BaseCommand):
    help = "Run waiting jobs (stimulus generation, evaluation, analysis, sync) until stopped."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="run what waits now, then stop")

    def handle(self, *args: object, **options: object) -> None:
        try:
            checks.check()
        except checks.REFUSALS as refusal:
            raise CommandError(f"The job runner does not start. {refusal}") from refusal
        if options["once"]:
            self.stdout.write(f"{runner.run_waiting()} jobs run")
            return
        stop = ToldBySignal()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, stop.note)
        self.stdout.write("waiting for jobs")
        self.stdout.flush()
        if not lanes.run_forever(stop):
            logging.shutdown()
            os._exit(0)  # the interpreter would wait for work that does not stop
