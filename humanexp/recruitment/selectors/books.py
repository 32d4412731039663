"""What the last comparison of the books said."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from humanexp.core.models import AuditEvent
from humanexp.experiments.models import Study
from humanexp.recruitment.models import Campaign, Environment


@dataclass(frozen=True, kw_only=True)
class Books:
    """One recruiter's side against ours, over all studies there; nothing is known before the first comparison."""

    environment: str
    at: datetime | None
    ledger_cents: int | None
    theirs_cents: int | None
    payments: int
    on_the_way: int
    differences: int
    #: HITs whose lists could not be read
    unread: int

    @property
    def label(self) -> str:
        return str(Environment(self.environment).label)

    @property
    def adds_up(self) -> bool:
        return not self.differences


def books(study: Study) -> list[Books]:
    """Of every recruiter that the study was published with and that money goes through."""
    environments = set(Campaign.objects.filter(study=study).values_list("environment", flat=True))
    return [_last(environment) for environment in sorted(environments - {Environment.LINK.value})]


def _last(environment: str) -> Books:
    lines = AuditEvent.objects.filter(action="reconcile", subject=f"recruiter:{environment}")
    last = lines.order_by("-pk").first()
    facts = last.facts if last else {}
    return Books(
        environment=environment,
        at=last.at if last else None,
        ledger_cents=facts.get("ledger_cents"),
        theirs_cents=facts.get("theirs_cents"),
        payments=facts.get("payments", 0),
        on_the_way=facts.get("on_the_way", 0),
        differences=facts.get("differences", 0),
        unread=facts.get("unread", 0),
    )
