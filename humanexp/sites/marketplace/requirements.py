"""Qualification requirements: what a requester may ask, and whether a worker meets it. Pure: no database, no clock."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from humanexp.sites.marketplace.errors import (
    InvalidParameterValue,
    NotFound,
    NotQualified,
    QualificationTypeDoesNotExist,
)

#: A QualificationRequirement as MTurk's model writes it.
Requirement = Mapping[str, Any]

PERCENT_APPROVED = "000000000000000000L0"
HITS_APPROVED = "00000000000000000040"
LOCALE = "00000000000000000071"
ADULT = "00000000000000000060"
#: Production's and the Sandbox's.
MASTERS = ("2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6")
#: Below this many judged assignments a worker's approval rate counts as 100 %, so that one rejection does not shut a
#: newcomer out.
RATE_COUNTS_FROM = 100

SYSTEM_TYPES = {
    PERCENT_APPROVED: ("Worker_PercentAssignmentsApproved", "Percent of the worker's judged assignments approved."),
    HITS_APPROVED: ("Worker_NumberHITsApproved", "Number of the worker's assignments approved."),
    LOCALE: ("Worker_Locale", "Where the worker says to live."),
    ADULT: ("Worker_Adult", "1 when the worker says to be 18 or older."),
    MASTERS[0]: ("Masters", "1 for workers this marketplace has marked as masters."),
    MASTERS[1]: ("Masters", "1 for workers this marketplace has marked as masters."),
}


class Action(StrEnum):
    DISCOVER = "discover"
    PREVIEW = "preview"
    ACCEPT = "accept"


_GUARDED = {
    "Accept": frozenset({Action.ACCEPT}),
    "PreviewAndAccept": frozenset({Action.PREVIEW, Action.ACCEPT}),
    "DiscoverPreviewAndAccept": frozenset(Action),
}
_INTEGER_COMPARISONS = {
    "LessThan": int.__lt__,
    "LessThanOrEqualTo": int.__le__,
    "GreaterThan": int.__gt__,
    "GreaterThanOrEqualTo": int.__ge__,
    "EqualTo": int.__eq__,
    "NotEqualTo": int.__ne__,
}
_SET_COMPARATORS = ("In", "NotIn")
_EXISTENCE_COMPARATORS = ("Exists", "DoesNotExist")


@dataclass(frozen=True)
class Locale:
    """ISO 3166 country, and subdivision where one is known."""

    country: str
    subdivision: str = ""

    def lies_in(self, other: Locale) -> bool:
        """A country without a subdivision means all of it."""
        return self.country == other.country and (not other.subdivision or self.subdivision == other.subdivision)


@dataclass(frozen=True, kw_only=True)
class WorkerProfile:
    """What is known about a worker; the default is a visitor's."""

    #: Custom qualification type id -> value, granted ones only.
    qualifications: Mapping[str, int] = field(default_factory=dict)
    approved: int = 0
    rejected: int = 0
    locale: Locale | None = None
    is_adult: bool = False
    is_master: bool = False

    @property
    def percent_approved(self) -> int:
        judged = self.approved + self.rejected
        return 100 if judged < RATE_COUNTS_FROM else 100 * self.approved // judged

    def value(self, qualification_type_id: str) -> int | Locale | None:
        """Of the qualification; None when the worker does not have it."""
        known: dict[str, int | Locale | None] = {
            PERCENT_APPROVED: self.percent_approved,
            HITS_APPROVED: self.approved,
            LOCALE: self.locale,
            ADULT: int(self.is_adult),
            **dict.fromkeys(MASTERS, 1 if self.is_master else None),
        }
        return known.get(qualification_type_id, self.qualifications.get(qualification_type_id))


def guarded_actions(requirement: Requirement) -> frozenset[Action]:
    """Accept alone unless the requirement says more."""
    if requirement.get("RequiredToPreview"):
        return _GUARDED["PreviewAndAccept"]
    return _GUARDED[requirement.get("ActionsGuarded", "Accept")]


def is_met(requirement: Requirement, profile: WorkerProfile) -> bool:
    """A worker without the qualification meets DoesNotExist alone."""
    comparator: str = requirement["Comparator"]
    value = profile.value(requirement["QualificationTypeId"])
    if comparator in _EXISTENCE_COMPARATORS:
        return (value is None) == (comparator == "DoesNotExist")
    if value is None:
        return False
    if isinstance(value, Locale):
        places = [Locale(place["Country"], place.get("Subdivision", "")) for place in requirement["LocaleValues"]]
        inside = any(value.lies_in(place) for place in places)
        return inside == (comparator in ("EqualTo", "In"))
    wanted: Sequence[int] = requirement["IntegerValues"]
    if comparator in _SET_COMPARATORS:
        return (value in wanted) == (comparator == "In")
    return bool(_INTEGER_COMPARISONS[comparator](value, wanted[0]))


def unmet(requirements: Iterable[Requirement], profile: WorkerProfile, action: Action) -> list[Requirement]:
    """The requirements that keep this worker from this action."""
    return [one for one in requirements if action in guarded_actions(one) and not is_met(one, profile)]


def require(requirements: Sequence[Requirement], profile: WorkerProfile, action: Action) -> None:
    """Work that is hidden from this worker is nowhere; what else is guarded against them is refused."""
    if unmet(requirements, profile, Action.DISCOVER):
        raise NotFound
    if unmet(requirements, profile, action):
        raise NotQualified


def matching_system_types(query: str) -> list[str]:
    """Ids of the system's types in which every word of the query occurs."""
    words = query.lower().split()
    return [
        type_id for type_id, texts in SYSTEM_TYPES.items() if all(word in " ".join(texts).lower() for word in words)
    ]


def asks_for_masters(requirements: Iterable[Requirement]) -> bool:
    return any(one["QualificationTypeId"] in MASTERS for one in requirements)


def custom_type_ids(requirements: Iterable[Requirement]) -> set[str]:
    return {one["QualificationTypeId"] for one in requirements} - set(SYSTEM_TYPES)


def check_requirements(requirements: Sequence[Requirement], *, known_custom_ids: Collection[str]) -> None:
    """Refuse what the model's text forbids; counts and enums were checked with the request."""
    unknown = custom_type_ids(requirements) - set(known_custom_ids)
    if unknown:
        raise QualificationTypeDoesNotExist(f"QualificationType {sorted(unknown)[0]} does not exist.")
    for number, requirement in enumerate(requirements, start=1):
        problem = _problem(requirement)
        if problem:
            raise InvalidParameterValue(f"QualificationRequirements: number {number}: {problem}")


def _problem(requirement: Requirement) -> str | None:
    comparator = requirement["Comparator"]
    integers, locales = requirement.get("IntegerValues") or [], requirement.get("LocaleValues") or []
    if "RequiredToPreview" in requirement and "ActionsGuarded" in requirement:
        return "RequiredToPreview and ActionsGuarded cannot be used together; use ActionsGuarded."
    if comparator in _EXISTENCE_COMPARATORS:
        return f"{comparator} takes no values." if integers or locales else None
    if requirement["QualificationTypeId"] == LOCALE:
        if integers or not locales:
            return "Worker_Locale is compared with LocaleValues."
        if comparator not in ("EqualTo", "NotEqualTo", *_SET_COMPARATORS):
            return f"Worker_Locale cannot be compared by {comparator}."
        values = locales
    else:
        if locales or not integers:
            return "IntegerValues are needed, and LocaleValues belong to Worker_Locale alone."
        values = integers
    if comparator not in _SET_COMPARATORS and len(values) != 1:
        return f"{comparator} takes one value, not {len(values)}."
    return None
