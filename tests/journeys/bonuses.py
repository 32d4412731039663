"""A bonus for everybody who has submitted, as a researcher gives it on a page: `python -m tests.journeys.bonuses`."""

from __future__ import annotations

import os
import sys

import django


def main(slug: str, cents: str) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "humanexp.settings")
    django.setup()
    from humanexp.ledger.settlement import plan_bonus
    from humanexp.recruiters.models import Assignment
    from humanexp.recruiters.states import LISTED

    for assignment in Assignment.objects.filter(campaign__study__slug=slug, state__in=LISTED):
        plan_bonus(assignment=assignment, amount_cents=int(cents), cause="thanks", reason="Well done.")


if __name__ == "__main__":
    main(*sys.argv[1:])
