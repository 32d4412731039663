"""An upgraded database as its platform finds it: `python -m tests.upgrades.upgraded` with DATABASE_URL and MEDIA_ROOT.

A process of its own, because the test run has a database of its own. Prints what it found as JSON.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys

import django

#: Columns of answers that came later.
LATER = ("set_aside", "input_kind", "focus_lost_ms", "last_input_ms", "input_watched_ms")


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "humanexp.settings")
    django.setup()
    from humanexp.jobs.models import Job, JobState
    from humanexp.jobs.registry import registered
    from humanexp.jobs.runner import run_waiting
    from humanexp.jobs.services import schedule_periodic
    from humanexp.participation.selectors import iter_trial_rows
    from humanexp.studies.selectors import study_by_slug

    digest = hashlib.sha256()
    for row in iter_trial_rows(study_by_slug("demo")):
        later = [row.pop(name, None) for name in LATER]
        if any(later):
            raise AssertionError(f"an answer was given something that it did not have: {later}")
        digest.update(json.dumps(row, sort_keys=True).encode() + b"\n")
    waiting = Job.objects.filter(state=JobState.QUEUED)
    former = sorted(kind for kind in set(waiting.values_list("kind", flat=True)) if kind != registered(kind).kind)
    schedule_periodic()
    doubled = [kind for kind in former if waiting.filter(kind=registered(kind).kind).exists()]
    waiting.update(run_after=None)
    run_waiting(kinds=former)
    ended = Job.objects.filter(kind__in=former).exclude(subject="periodic", state=JobState.DONE)
    json.dump(
        {
            "rows": digest.hexdigest(),
            "former": former,
            "doubled": doubled,
            "ended": sorted(ended.values_list("kind", "state", "error")),
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
