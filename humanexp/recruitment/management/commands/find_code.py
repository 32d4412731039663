from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from humanexp.recruiting.people import FoundCode, codes_in, find_codes
from humanexp.recruitment.management.base import RecruitmentCommand


class Command(RecruitmentCommand):
    help = "Whose completion codes these are; fails if one of them was never given out."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="STUDY")
        parser.add_argument("codes", metavar="CODE", nargs="+", help="like C-7K3QX2AB")

    def handle(self, *args: Any, **options: Any) -> None:
        found = find_codes(self.study(options["study"]), codes_in(" ".join(options["codes"])))
        for one in found:
            self.stdout.write(f"{one.code}: {_told(one)}")
        unknown = sum(one.session is None for one in found)
        if unknown:
            raise CommandError(f"{unknown} of {len(found)} codes were never given out in this study.")


def _told(found: FoundCode) -> str:
    session = found.session
    if session is None or session.completed_at is None:
        return "no finished session has it"
    told = f"{session.participant.code}, session {session.code}, finished {session.completed_at:%Y-%m-%d %H:%M} UTC, "
    told += session.get_state_display()
    return f"{told}; assignment {found.assignment.get_state_display()}" if found.assignment else told
