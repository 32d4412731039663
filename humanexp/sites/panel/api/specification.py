"""The operations of the service's published interface that the panel serves; whatever they do not name is refused.

Written by hand after the interface of July 2026. What the service has and the panel does not is left out: a client that
sends it is told so, and does not go on in the belief that it was heeded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pydantic import BaseModel

from humanexp.sites.panel.api.bodies import (
    Bonuses,
    BulkApproval,
    BulkMessage,
    Clone,
    Confirmation,
    CostQuestion,
    Filtered,
    NewGroup,
    NewMessage,
    NewProject,
    NewSubscription,
    OfWorkspace,
    People,
    ReturnRequest,
    StudyAction,
    StudyTerms,
    SubmissionAction,
    SubscriptionChange,
)
from humanexp.sites.panel.errors import Refused

#: What is wrong with a value of a query; empty: nothing.
Check = Callable[[str], str]


def text(value: str) -> str:
    return "" if value else "This parameter may not be blank."


def whole(value: str) -> str:
    return "" if value.isdecimal() and int(value) else "A valid integer of at least 1 is required."


def offset(value: str) -> str:
    return "" if value.isdecimal() else "A valid integer is required."


def one_of(*words: str) -> Check:
    return lambda value: "" if value in words else f"{value!r} is not a valid choice."


def any_case_of(*words: str) -> Check:
    return lambda value: one_of(*words)(value.upper())


def ordering(*fields: str) -> Check:
    return one_of(*fields, *(f"-{name}" for name in fields))


def states(value: str) -> str:
    """One word, or `(ACTIVE|PAUSED)`."""
    wrong = [one for one in value.strip("()").upper().replace("_", " ").split("|") if one not in STUDY_STATES]
    return f"{', '.join(wrong)} is not a valid choice." if wrong else ""


STUDY_STATES = frozenset(
    {"ACTIVE", "AWAITING REVIEW", "COMPLETED", "PAUSED", "PUBLISHING", "SCHEDULED", "UNKNOWN", "UNPUBLISHED"}
)
_BOOLEAN = one_of("true", "false")
_BY_PAGE: Mapping[str, Check] = {"page": whole, "page_size": whole}
#: Named for one list alone; the service's own client reads the others in this way, too.
_BY_OFFSET: Mapping[str, Check] = {"limit": whole, "offset": offset}


@dataclass(frozen=True, kw_only=True)
class Operation:
    query: Mapping[str, Check] = field(default_factory=dict)
    #: of the query
    needs: frozenset[str] = frozenset()
    body: type[BaseModel] | None = None
    #: the body names what changes, and the rest of it stays as it is
    is_change: bool = False

    def check_query(self, sent: Mapping[str, str]) -> None:
        wrong = {name: "This call has no such parameter here." for name in sent if name not in self.query}
        wrong |= {name: why for name, value in sent.items() if name in self.query and (why := self.query[name](value))}
        wrong |= {name: "This parameter is required." for name in self.needs if name not in sent}
        _refuse(wrong)

    def check_names(self, sent: Mapping[str, object]) -> None:
        """Of the body."""
        known = self.body.model_fields if self.body is not None else {}
        _refuse({name: "This call has no such field here." for name in sent if name not in known})


def _refuse(wrong: Mapping[str, str]) -> None:
    if wrong:
        raise Refused(400, "Validation error", {name: [why] for name, why in wrong.items()}, code=140_100)


#: By the name of the path (`urls.API`) and the method.
SPECIFICATION: Mapping[str, Operation] = {
    "me.GET": Operation(),
    "workspaces.GET": Operation(query=_BY_OFFSET),
    "balance.GET": Operation(),
    "projects.GET": Operation(query=_BY_OFFSET),
    "projects.POST": Operation(body=NewProject),
    "studies-of-project.GET": Operation(query={**_BY_PAGE, "ordering": ordering("date_created")}),
    "studies.GET": Operation(query={**_BY_OFFSET, "state": states}),
    "studies.POST": Operation(body=StudyTerms),
    "study.GET": Operation(),
    "study.PATCH": Operation(body=StudyTerms, is_change=True),
    "study.DELETE": Operation(),
    "study-transition.POST": Operation(body=StudyAction),
    "clone.POST": Operation(body=Clone),
    "cost.GET": Operation(query={"is_projected": _BOOLEAN}),
    "submissions-of-study.GET": Operation(
        query={
            **_BY_OFFSET,
            "ordering": ordering(
                "started_at", "completed_at", "status", "ip", "time_taken", "participant_id", "study_code"
            ),
        }
    ),
    "counts.GET": Operation(),
    "cost-calculator.POST": Operation(body=CostQuestion),
    "recommendations.GET": Operation(
        query={"workspace_id": text, "currency": one_of("GBP", "USD")}, needs=frozenset({"workspace_id", "currency"})
    ),
    "filters.GET": Operation(query={"workspace_id": text}),
    "eligibility.POST": Operation(body=Filtered),
    "groups.GET": Operation(
        query={**_BY_OFFSET, "workspace_id": text, "active": _BOOLEAN}, needs=frozenset({"workspace_id"})
    ),
    "groups.POST": Operation(body=NewGroup),
    "members.GET": Operation(),
    "members.POST": Operation(body=People),
    "members.DELETE": Operation(body=People),
    "submissions.GET": Operation(
        query={
            **_BY_PAGE,
            "study": text,
            "status": any_case_of(
                "ACTIVE",
                "APPROVED",
                "AWAITING_REVIEW",
                "PARTIALLY_APPROVED",
                "REJECTED",
                "RETURNED",
                "SCREENED_OUT",
                "TIMED-OUT",
                "UNKNOWN",
            ),
            "ordering": ordering("started_at", "submission_reward", "study_name"),
        },
        needs=frozenset({"study"}),
    ),
    "submission.GET": Operation(),
    "submission-transition.POST": Operation(body=SubmissionAction),
    "request-return.POST": Operation(body=ReturnRequest),
    "bulk-approve.POST": Operation(body=BulkApproval),
    "bonus-plans.POST": Operation(body=Bonuses),
    "bonus-payment.POST": Operation(),
    "messages.GET": Operation(query={"user_id": text, "created_after": text}),
    "messages.POST": Operation(body=NewMessage),
    "bulk-messages.POST": Operation(body=BulkMessage),
    "unread.GET": Operation(),
    "event-types.GET": Operation(),
    "secrets.GET": Operation(query={"workspace_id": text}, needs=frozenset({"workspace_id"})),
    "secrets.POST": Operation(body=OfWorkspace),
    "subscriptions.GET": Operation(query={**_BY_OFFSET, "workspace_id": text, "is_enabled": _BOOLEAN}),
    "subscriptions.POST": Operation(body=NewSubscription),
    "subscription.GET": Operation(),
    "subscription.POST": Operation(body=Confirmation),
    "subscription.PATCH": Operation(body=SubscriptionChange),
    "subscription.DELETE": Operation(),
    "events.GET": Operation(query={**_BY_OFFSET, "status": text, "resource_id": text}),
}
