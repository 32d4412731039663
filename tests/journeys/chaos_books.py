"""The platform's books as JSON, from either database: `python -m tests.journeys.chaos_books STUDY [--later MINUTES]`.

With `--later`, first every assignment is made to have been opened that much earlier: what waiting would do.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from datetime import timedelta

import django


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("study")
    parser.add_argument("--later", type=int, default=0)
    chosen = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "humanexp.settings")
    django.setup()
    from django.conf import settings
    from django.db.models import F

    from humanexp.participation.models import Response, Session, Trial
    from humanexp.recruiters.models import Assignment, Campaign
    from humanexp.studies.models import Study

    if chosen.later:
        earlier = timedelta(minutes=chosen.later)
        Assignment.objects.update(opened_at=F("opened_at") - earlier)
        Session.objects.update(last_seen_at=F("last_seen_at") - earlier)
    study = Study.objects.get(slug=chosen.study)
    campaign = Campaign.objects.filter(study=study).first()
    mine = {"session__study": study}
    trials = ("session_id", "position", "task", "role", "stimulus__key", "second_stimulus__key")
    books = {
        "entry": f"{settings.PUBLIC_URL}/take/{campaign.entry}/" if campaign else "",
        "places": campaign.assignments if campaign else 0,
        "planned_sessions": study.planned_sessions,
        "plan": (settings.MEDIA_ROOT / study.plan_file).read_text(),
        "sessions": list(
            Session.objects.filter(study=study).values("id", "slot", "state", "cursor", "total", "participant_id")
        ),
        "trials": list(Trial.objects.filter(**mine).values_list(*trials)),
        "responses": list(
            Response.objects.filter(**mine).values_list(
                "session_id", "position", "response", "trial__session_id", "trial__position"
            )
        ),
        "assignments": list(Assignment.objects.values("id", "state", "session_id")),
    }
    json.dump(books, sys.stdout)


if __name__ == "__main__":
    main()
