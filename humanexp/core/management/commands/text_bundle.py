from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from humanexp.core.commands import RefusableCommand
from humanexp.core.text_bundles import TextBundle, bundle_template


class Command(RefusableCommand):
    help = "Print the template of a text bundle, or check one that was filled in. Nothing is stored."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE.toml", nargs="?", help="a bundle to check; without it, the template")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["file"] is None:
            self.stdout.write(bundle_template(), ending="")
            return
        path = Path(options["file"])
        try:
            bundle = TextBundle.read(path.read_text(encoding="utf-8"), source=path.name)
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}.") from error
        except UnicodeDecodeError as error:
            raise CommandError(f"{path} is not UTF-8: save it as UTF-8.") from error
        said = f"{path.name} is complete: {bundle.name}, {len(bundle.texts)} texts, digest {bundle.digest[:12]}"
        self.stdout.write(self.style.SUCCESS(said))
