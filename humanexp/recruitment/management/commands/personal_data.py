from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.core.serializers.json import DjangoJSONEncoder

from humanexp.core.storage import write_whole
from humanexp.recruiting.personal_data import Holding, holdings, take_personal_data
from humanexp.recruitment.management.base import RecruitmentCommand

_HEADS = {"participants": "Participants", "accounts": "People who use the console"}


class Command(RecruitmentCommand):
    help = "Everything that is stored about a participant, as a file; without a code: in which tables such data lie."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("code", metavar="CODE", nargs="?", help="the participant's code, like P-7K3QX2ABCD")
        parser.add_argument("--to", type=Path, metavar="FILE", help="JSON; it must not exist")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["code"] is None:
            for kind, tables in holdings().items():
                self.stdout.write(f"\n### {_HEADS[kind]}\n\n{_listed(tables)}")
            return
        if options["to"] is None or options["to"].exists():
            raise CommandError("Name a file that does not exist by --to: everything about the person goes there.")
        data = take_personal_data(code=options["code"])
        text = json.dumps(data.to_dict(), cls=DjangoJSONEncoder, indent=1, ensure_ascii=False)
        write_whole(options["to"], text.encode())
        for table, rows in data.counts:
            self.stdout.write(f"{rows:6} {table}")


def _listed(tables: list[Holding]) -> str:
    rows = [f"| `{one.table}` | {one.about} | {', '.join(f'`{name}`' for name in one.fields)} |" for one in tables]
    return "\n".join(["| table | what it holds | fields |", "| --- | --- | --- |", *rows])
