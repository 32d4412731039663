"""The job of notices in a process of its own, to be killed: python -m tests.notices.teller_process ACTION...

Several actions are done in turn.

prepare ADDRESS  an owner with this address, a study, and a parked payment in it
tell             one turn of the job
time-passes      the lease of a turn that was killed runs out
"""

from __future__ import annotations

import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "humanexp.settings")
django.setup()

from humanexp.core.models import User  # noqa: E402
from humanexp.notices.models import Address  # noqa: E402
from tests.notices.surroundings import (  # noqa: E402
    address_of,
    new_campaign,
    new_study,
    park,
    runner_beats,
    tell,
)


def main(*words: str) -> None:
    waiting = iter(words)
    for action in waiting:
        if action == "prepare":
            owner = User.objects.create_user("olga")
            address_of(owner, next(waiting))
            park(new_campaign(new_study("one", owner)))
        elif action == "tell":
            runner_beats()
            tell()
        else:
            Address.objects.update(lease_until=None)


if __name__ == "__main__":
    main(*sys.argv[1:])
