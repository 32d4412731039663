from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from humanexp.console.archives.keys import VARIABLE, passphrase
from humanexp.console.archives.restoration import Restored, restore, restore_files
from humanexp.console.archives.shelf import Shelf, is_packed, unpacked
from humanexp.core import sealing
from humanexp.core.commands import ProgressLine, RefusableCommand
from humanexp.core.errors import InputRefused


class Command(RefusableCommand):
    help = "Bring an installation back from an archive: into the empty database of DATABASE_URL, and MEDIA_ROOT."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("archive", type=Path, metavar="DIR|DIR/archives/NAME|FILE.tar", help="the newest of DIR")
        parser.add_argument("--dry-run", action="store_true", help="check everything, write nothing")
        parser.add_argument("--files", action="store_true", help="only bring back files that are missing or altered")
        keys = parser.add_mutually_exclusive_group()
        keys.add_argument("--passphrase-file", type=Path, metavar="FILE", help=f"instead of the variable {VARIABLE}")
        keys.add_argument("--without-keys", action="store_true", help="the keys are here already, or will be")

    def handle(self, *args: Any, **options: Any) -> None:
        is_rehearsal = options["dry_run"]
        with _opened(options["archive"]) as (shelf, name), ProgressLine(sys.stderr) as progress:
            if options["files"]:
                files = restore_files(shelf=shelf, name=name, is_rehearsal=is_rehearsal, progress=progress)
                self.stdout.write(f"{len(files)} files {'would be' if is_rehearsal else 'were'} brought back.")
                for path in files[:20]:
                    self.stdout.write(f"  {path}")
                return
            done = restore(
                shelf=shelf,
                name=name,
                passphrase=passphrase(options["passphrase_file"]),
                with_keys=not options["without_keys"],
                is_rehearsal=is_rehearsal,
                progress=progress,
            )
        self._tell(done, is_rehearsal)
        if options["without_keys"] and not is_rehearsal and (fault := sealing.fault_of_key()):
            self.stderr.write(f"{fault} {sealing.REMEDY}")

    def _tell(self, done: Restored, is_rehearsal: bool) -> None:
        manifest = done.manifest
        began = "Nothing was changed. A restore would bring back" if is_rehearsal else "Restored"
        self.stdout.write(
            f"{began} {manifest.name} of {manifest.made_at:%d %B %Y %H:%M} UTC, made by version {manifest.product}: "
            f"{manifest.facts.rows} rows, {done.files} files ({done.bytes} bytes), "
            f"keys: {', '.join(done.keys) or 'none'}."
        )
        if done.sites:
            self.stdout.write(f"Databases of sites: {', '.join(done.sites)}.")
        if done.sites_kept:
            self.stdout.write(f"Left as they are, for they know what happened since: {', '.join(done.sites_kept)}.")
        if is_rehearsal:
            self.stdout.write("Every content has its digest. Unsent writes would be asked about before they are sent.")
            return
        self.stdout.write(
            f"{done.asked_first} unsent writes to recruiters wait until the recruiter was asked whether it has them. "
            "Bonuses wait until the ledger was compared.\n"
            "Next: start web and jobs, then: doctor"
        )


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Shelf, str]]:
    if not path.exists():
        raise InputRefused(f"{path} does not exist.")
    if is_packed(path):
        with unpacked(path) as shelf:
            yield shelf, _newest(shelf, path)
    elif path.parent.name == "archives" and (path / "manifest.json").is_file():
        yield Shelf(path.parent.parent), path.name
    else:
        shelf = Shelf(path)
        yield shelf, _newest(shelf, path)


def _newest(shelf: Shelf, path: Path) -> str:
    if not (names := shelf.names()):
        raise InputRefused(f"There is no archive in {path}.")
    return names[-1]
