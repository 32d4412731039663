from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from humanexp.console.archives.backup import Made, back_up
from humanexp.console.archives.keys import VARIABLE, passphrase, required
from humanexp.console.archives.shelf import is_packed
from humanexp.core.commands import ProgressLine, RefusableCommand
from humanexp.core.errors import InputRefused


class Command(RefusableCommand):
    help = "Write an archive of database, files and keys, and prove that it can be restored; the site may run."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--to", required=True, type=Path, metavar="DIR|FILE.tar", help="folder with archives")
        parser.add_argument("--keep", type=int, metavar="N", help="afterwards, remove all but the newest N archives")
        parser.add_argument("--no-verify", action="store_true", help="do not restore it into a scratch database")
        keys = parser.add_mutually_exclusive_group()
        keys.add_argument("--passphrase-file", type=Path, metavar="FILE", help=f"instead of the variable {VARIABLE}")
        keys.add_argument("--without-keys", action="store_true", help="the keys are kept elsewhere")

    def handle(self, *args: Any, **options: Any) -> None:
        to, keep = options["to"], options["keep"]
        if keep is not None and (keep < 1 or is_packed(to)):
            raise InputRefused("--keep takes a number of archives in a folder, at least 1.")
        words = None if options["without_keys"] else required(passphrase(options["passphrase_file"]))
        with ProgressLine(sys.stderr) as progress:
            made = back_up(to=to, passphrase=words, is_verified=not options["no_verify"], keep=keep, progress=progress)
        self._tell(made, to)

    def _tell(self, made: Made, to: Path) -> None:
        manifest = made.manifest
        proof = "restored into a scratch database and compared" if manifest.verified_at else "not verified"
        self.stdout.write(
            f"Archive {manifest.name} in {to}: {manifest.facts.rows} rows, {manifest.listing.files} files "
            f"({manifest.listing.bytes} bytes); {made.bytes_new} bytes in {made.contents_new} new contents; {proof}."
        )
        if not manifest.has_keys:
            self.stdout.write("It has no keys. Without SECRET_KEY it cannot be used: keep a copy elsewhere.")
        if manifest.lost:
            more = f" and {len(manifest.lost) - 3} more" if len(manifest.lost) > 3 else ""
            self.stdout.write(
                f"Missing or altered, and so not in it: {', '.join(manifest.lost[:3])}{more}. See: doctor"
            )
        if made.removed:
            self.stdout.write(f"Removed: {', '.join(made.removed)}.")
