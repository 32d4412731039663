"""When people are paid: as the study's `[recruitment]` table says, which is frozen with the study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import cast

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Sum
from django.utils.translation import gettext as _, ngettext

from analysis.spec.terms import SettlePolicy
from humanexp.core import clock
from humanexp.recruitment import money
from humanexp.recruitment.models import Assignment, CallKind, Payment
from humanexp.recruitment.recruiters import currency_of
from humanexp.recruitment.states import AssignmentState, WriteState
from humanexp.screening.models import Verdict
from humanexp.studies.models import Study

#: How often the job looks; whoever is due is paid within `WITHIN`.
LOOKS_EVERY = timedelta(minutes=10)
WITHIN = timedelta(hours=1)
#: The cap of an hourly policy is on what was promised without a person since so long.
CAP_OVER = timedelta(hours=24)


@dataclass(frozen=True, kw_only=True)
class Policy:
    """Of one study."""

    kind: SettlePolicy = "hand"
    #: from the submission
    after: timedelta = timedelta()
    #: in each currency; None: no cap
    cap_cents: int | None = None

    @property
    def is_automatic(self) -> bool:
        return self.kind != "hand"

    def due(self, finished: str) -> Q:
        """Whom the job pays now; `finished`: the field that tells when somebody was done."""
        if self.kind == "verdict":
            # nobody judges what time cut short
            judged = Exists(Verdict.objects.filter(session=OuterRef("session"), is_current=True))
            return Q(judged) | Q(session__out_of_time=True)
        return Q(**{f"{finished}__lte": clock.now() - self.after})

    def words(self, currency: str) -> str:
        """What a person who launches the study should know; the cap in the currency of the launch."""
        match self.kind:
            case "hand":
                return _(
                    "You release each payment in Monitor. Without you, people are paid after the days that the launch "
                    "sets."
                )
            case "verdict":
                return _(
                    "Everyone is paid within an hour after their session has a verdict, whichever it is. If the "
                    "recruiter does not answer, within an hour after it does."
                )
        hours = round((self.after + WITHIN) / timedelta(hours=1))
        said = ngettext(
            "Everyone is paid within %(hours)d hour after they submitted. If the recruiter does not answer, within an "
            "hour after it does.",
            "Everyone is paid within %(hours)d hours after they submitted. If the recruiter does not answer, within an "
            "hour after it does.",
            hours,
        ) % {"hours": hours}
        if self.cap_cents is None:
            return said
        cap = money.shown(self.cap_cents, currency)
        return f"{said} " + _("At most %(cap)s in 24 hours; what is beyond it waits for you.") % {"cap": cap}


def policy_of(study: Study) -> Policy:
    stated = study.configuration.get("recruitment") or {}
    return Policy(
        kind=cast(SettlePolicy, stated.get("settle", "hand")),
        after=timedelta(hours=stated.get("settle_after_hours", 0)),
        cap_cents=stated.get("settle_cap_cents"),
    )


def settled_by_jobs() -> QuerySet[Study]:
    """Studies in which a job pays and somebody has submitted, or ran out of time, who may not be paid yet."""
    automatic = Study.objects.filter(configuration__recruitment__settle__in=["verdict", "hourly"])
    unpaid = (AssignmentState.SUBMITTED, AssignmentState.TIMED_OUT)
    waiting = Assignment.objects.filter(campaign__study=OuterRef("pk"), state__in=unpaid)
    return automatic.filter(Exists(waiting)).order_by("pk")


def released_cents(study: Study, currency: str) -> int:
    """Rewards that were promised without a person in the last 24 hours, with fees."""
    return _released([study]).get((study.pk, currency), 0)


def _released(studies: Collection[Study]) -> Mapping[tuple[int, str], int]:
    rows = Payment.objects.filter(
        campaign__study__in=studies,
        kind=CallKind.REWARD,
        created_by=None,
        created_at__gt=clock.now() - CAP_OVER,
    ).exclude(state=WriteState.REFUSED)
    sums: Counter[tuple[int, str]] = Counter()
    groups = rows.order_by().values_list("campaign__study", "environment")
    for study, environment, cents in groups.annotate(cents=Sum(F("amount_cents") + F("fee_cents"))):
        sums[study, currency_of(environment)] += cents
    return sums
