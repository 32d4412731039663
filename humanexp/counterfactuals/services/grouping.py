from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from humanexp.core import clock, ownership
from humanexp.core.errors import Conflict
from humanexp.core.models import User
from humanexp.core.ownership import Right
from humanexp.counterfactuals.groups import Group
from humanexp.counterfactuals.models import SearchGroup
from humanexp.jobs import selectors as job_selectors
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job

GROUP_KIND = "counterfactuals.transfer"


def start_transfer(*, group: Group, by: User | None = None) -> Job:
    """Queue the tests of every model on the pictures made against the others; one under way is left alone."""
    for run in group.runs:
        ownership.check(by, Right.READ, run)
    if not group.is_transferable:
        raise Conflict("Pictures are tested on other models: search against a second one first.")
    found, _created = SearchGroup.objects.get_or_create(key=group.key)
    job = job_selectors.latest_for(found.job_subject, GROUP_KIND)
    if job is not None and not job.is_finished:
        return job
    return jobs.submit(GROUP_KIND, subject=found.job_subject, by=by, group_key=group.key)


def store_group(*, found: SearchGroup, run_ids: Sequence[int], result: Mapping[str, Any]) -> SearchGroup:
    found.run_ids, found.result, found.computed_at = list(run_ids), dict(result), clock.now()
    found.save(update_fields=["run_ids", "result", "computed_at"])
    return found
