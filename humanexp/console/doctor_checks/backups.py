"""Would anything be left if this machine were lost?"""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings

from humanexp.console.doctor_checks.questions import question
from humanexp.console.models import Backup
from humanexp.core import clock
from humanexp.core.problems import Problem, bad, good, note
from humanexp.participation.models import Session

_REMEDY = "python manage.py backup --to DIR, every night (docs/operate/backup.md)"


@question("Backup")
def backup() -> Problem:
    """The age of the last archive, and of the last one that was proved."""
    last, proved = Backup.objects.first(), Backup.objects.exclude(verified_at=None).first()
    if last is None:
        at_stake = Session.objects.filter(is_scripted=False).exists()
        detail = "no archive was ever made" + ("; people's answers are on this machine only" if at_stake else "")
        return (bad if at_stake else note)(detail, _REMEDY)
    told = f"the last archive is {_age(last)} old, in {last.place}"
    if proved is None:
        return bad(f"{told}; none was ever verified", _REMEDY)
    told += f"; the last verified one is {_age(proved)} old"
    if clock.now() - proved.made_at > timedelta(hours=settings.BACKUP_MAX_AGE_HOURS):
        return bad(told, _REMEDY)
    if last.lost_files:
        return note(f"{told}; {last.lost_files} files were missing or altered by then", "see Files")
    return good(told)


def _age(row: Backup) -> str:
    hours = (clock.now() - row.made_at) / timedelta(hours=1)
    return f"{hours / 24:.0f} days" if hours >= 48 else f"{hours:.0f} hours"
