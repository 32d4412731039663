from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_noop

from humanexp.console.preflight.running import JOB, run_preflight
from humanexp.core.models import User
from humanexp.jobs.registry import Progress, handler
from humanexp.studies.models import Study


@handler(JOB, title=gettext_noop("Pre-flight check"))
def preflight(progress: Progress, *, study_id: int, to: str, by_id: int | None = None) -> dict[str, Any]:
    """Try out everything that a launch depends on."""
    study = Study.objects.select_related("family", "protocol", "stimulus_set").get(pk=study_id)
    by = User.objects.filter(pk=by_id).first() if by_id else None
    made = run_preflight(study=study, to=to, by=by, report=progress)
    return {"preflight": made.pk, "is_green": made.is_green}
