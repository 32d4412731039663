"""What asks for a round of the sender, and what a round tells."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Self

from humanexp.core.audit import record
from humanexp.core.models import User
from humanexp.jobs import services as jobs
from humanexp.recruitment.models import Assignment, Call, CallKind


@dataclass
class Report:
    """Counts of one round, and a sentence about each thing that somebody should know."""

    remarks: list[str] = field(default_factory=list)

    def add(self, other: Self) -> None:
        for one in fields(self):
            if one.name != "remarks":
                setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))
        for remark in other.remarks:
            self.remark(remark)

    def remark(self, sentence: str) -> None:
        if sentence not in self.remarks:
            self.remarks.append(sentence)


def plan_about(assignment: Assignment, kind: CallKind, *, by: User | None = None, **facts: object) -> Call:
    """A call about one submission; part of the caller's transaction, which requests the sending."""
    call: Call = Call.objects.plan(
        kind,
        environment=assignment.environment,
        assignment=assignment,
        campaign_id=assignment.campaign_id,
        by=by,
        **facts,
    )
    return call


def request_sending(*, environment: str) -> None:
    """Have the job runner send soon; committed with the caller's rows."""
    jobs.submit("recruitment.send", subject=f"recruiter:{environment}", environment=environment)


def try_keys_again(*, environment: str, by: User) -> None:
    """Ask the recruiter whether it accepts the keys now, not within the minute; that ends the pause."""
    record(action="try-keys-again", subject=f"recruiter:{environment}", by=by)
    jobs.submit("recruitment.sync", subject=f"recruiter:{environment}", by=by)
