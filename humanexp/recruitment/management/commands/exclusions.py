from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from analysis.tables.reading import text_of
from humanexp.recruiters.people import (
    exclude_family,
    exclude_people,
    exclusions,
    ids_of,
    lift_exclusion,
    participant_hashes,
)
from humanexp.recruitment.management.base import RecruitmentCommand, recruiter_code


class Command(RecruitmentCommand):
    help = "Who may not take part in a family of studies: lists in and out, as keyed hashes."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("family", metavar="FAMILY", help="name of the family; a study alone is its own")
        add = parser.add_mutually_exclusive_group()
        add.add_argument(
            "--worker-ids",
            metavar="FILE",
            type=Path,
            help="one id a line, or a table with a column of ids; hashed, and not kept",
        )
        add.add_argument("--hashes", metavar="FILE", type=Path, help="one hash a line, as --export wrote them")
        add.add_argument("--took-part", metavar="FAMILY", help="everybody who took part in that family so far")
        add.add_argument("--export", metavar="FILE", type=Path, help="write hashes of who took part in FAMILY so far")
        add.add_argument("--lift", metavar="HASH", help="take one off the list, as it stands there")
        parser.add_argument("--to", type=recruiter_code, metavar="NAME", help="whose ids --worker-ids are")
        parser.add_argument("--note", default="", help="what the list is, for whoever reads it later")

    def handle(self, *args: Any, **options: Any) -> None:
        family = self.family(options["family"])
        if options["export"]:
            hashes = participant_hashes(family)
            options["export"].write_text("".join(f"{code}\n" for code in hashes), encoding="ascii")
            self.stdout.write(f"{len(hashes)} people")
            return
        if options["lift"]:
            exclusion = exclusions(family).filter(code=options["lift"]).first()
            if exclusion is None:
                raise CommandError(f"{options['lift']} is not on the list of {family}: without an option it is shown.")
            lift_exclusion(exclusion=exclusion)
            self.stdout.write("1 taken off")
            return
        if options["took_part"]:
            report = exclude_family(family=family, other=self.family(options["took_part"]))
        elif options["worker_ids"] or options["hashes"]:
            if options["worker_ids"] and not options["to"]:
                raise CommandError("Say by --to whose worker ids these are.")
            report = exclude_people(
                family=family,
                worker_ids=ids_of(*_content(options["worker_ids"])) if options["worker_ids"] else (),
                hashes=_lines(*_content(options["hashes"])) if options["hashes"] else (),
                environment=options["to"] or "",
                note=options["note"],
            )
        else:
            for one in exclusions(family):
                self.stdout.write(f"{one.code}  {one.added_at:%Y-%m-%d}  {one.note}")
            return
        self.stdout.write(f"{report.added} added, {report.known} were on the list")


def _content(path: Path) -> tuple[bytes, str]:
    try:
        return path.read_bytes(), path.name
    except OSError as err:
        raise CommandError(f"{path} cannot be read: {err.strerror}.") from err


def _lines(content: bytes, source: str) -> list[str]:
    return [line.strip() for line in text_of(content, source=source).splitlines() if line.strip()]
