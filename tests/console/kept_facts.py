"""What is kept beside the rows it tells of: `python -m tests.console.kept_facts` with DATABASE_URL and MEDIA_ROOT set.

A process of its own, because threads and migrations cannot share the in-memory database of the test run. Prints what
it found as JSON.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import django

BEFORE = {"screening": "0003", "recruitment": "0012", "experiments": "0017"}
WRITERS = 8


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "humanexp.settings")
    django.setup()
    from django.core.management import call_command
    from django.db import connections

    call_command("migrate", verbosity=0)
    _fill()
    found: dict[str, Any] = {"there": _facts()}
    for app, migration in BEFORE.items():
        call_command("migrate", app, migration, verbosity=0)
    call_command("migrate", verbosity=0)
    found |= {"and_back": _facts(), "writers": _many_judge_one()}
    connections.close_all()
    json.dump(found, sys.stdout)


def _fill() -> None:
    """Sessions with none, one and two verdicts; payments of two campaigns."""
    from benchmarks.console import fill
    from humanexp.core.models import User
    from humanexp.recruitment.models import Campaign, Payment
    from humanexp.screening.models import Verdict
    from humanexp.screening.services import append_verdict
    from humanexp.studies.plans import blocks_digest

    fill(12, User.objects.create_user("ada"))
    verdicts = list(Verdict.objects.select_related("session"))
    for verdict in verdicts[:4]:
        append_verdict(session=verdict.session, accepted=False, reasons=["timing"], rule_set="vcr", rule_version="1")
    verdicts[-1].delete()
    session = verdicts[0].session
    session.blocks = session.blocks[:1]
    session.blocks_digest = blocks_digest(session.blocks)
    session.save()
    other = Campaign.objects.get()
    other.pk, other.entry, other._state.adding = None, "other", True
    other.save()
    for payment in Payment.objects.all()[:3]:
        payment.assignment.campaign = payment.campaign = other
        payment.assignment.save()
        payment.save()


def _facts() -> dict[str, Any]:
    from humanexp.participation.models import Session
    from humanexp.recruitment.models import Payment
    from humanexp.screening.models import Verdict

    return {
        "sessions": list(Session.objects.order_by("pk").values_list("pk", "blocks_digest")),
        "verdicts": list(Verdict.objects.order_by("pk").values_list("pk", "study", "is_current")),
        "payments": list(Payment.objects.order_by("pk").values_list("pk", "campaign")),
    }


def _many_judge_one() -> dict[str, Any]:
    """So many decide about one session at the same moment."""
    from humanexp.participation.models import Session
    from humanexp.screening.models import Verdict
    from humanexp.screening.services import append_verdict
    from tests.participation.races import together

    session = Session.objects.order_by("pk")[0]
    before = session.verdicts.count()

    def judge() -> int:
        return append_verdict(session=session, accepted=True, rule_set="vcr", rule_version="2").pk

    appended = together([judge] * WRITERS)
    current = list(Verdict.objects.filter(session=session, is_current=True).values_list("pk", flat=True))
    return {
        "appended": len(set(appended)),
        "rows": session.verdicts.count() - before,
        "current": current,
        "last": max(appended),
    }


if __name__ == "__main__":
    main()
