from __future__ import annotations

import sys
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from humanexp.core import file_store
from humanexp.core.commands import ProgressLine, RefusableCommand
from humanexp.core.errors import Conflict


class Command(RefusableCommand):
    help = "Files that several machines share (FILE_STORE): publish those that are here, compare, tidy up."

    def add_arguments(self, parser: CommandParser) -> None:
        does = parser.add_mutually_exclusive_group(required=True)
        does.add_argument("--publish", action="store_true", help="let every machine have what is under MEDIA_ROOT here")
        does.add_argument("--fetch", action="store_true", help="have every file here, before it is needed")
        does.add_argument("--check", action="store_true", help="read every content in the storage")
        does.add_argument("--sweep", action="store_true", help="delete what nobody names, there and here")
        parser.add_argument("--mend", action="store_true", help="with --check: store again what is whole here")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.FILE_STORE:
            raise Conflict("FILE_STORE is not set: the files are those under MEDIA_ROOT, and no machine shares them.")
        with ProgressLine(sys.stderr) as progress:
            if options["publish"]:
                done = file_store.publish(
                    *file_store.shared_folders(), tell=lambda count: progress(count, count, "files published")
                )
                self.stdout.write(f"{done} files published, {file_store.store_again()} contents stored again.")
            elif options["fetch"]:
                done = file_store.bring("", tell=lambda count: progress(count, count, "files fetched"))
                self.stdout.write(f"{done} files fetched.")
            elif options["sweep"]:
                collected, copies = file_store.collect(), file_store.sweep_copies()
                self.stdout.write(f"{collected} contents and {copies} copies deleted.")
            else:
                self._check(mend=options["mend"])

    def _check(self, *, mend: bool) -> None:
        left = 0
        for path, error in file_store.damaged():
            is_mended = mend and file_store.mend(path)
            left += not is_mended
            self.stdout.write(f"{path}: stored again." if is_mended else error.message)
        if left:
            raise CommandError(f"{left} files are missing or damaged in FILE_STORE.")
        self.stdout.write("Every content is there and whole.")
