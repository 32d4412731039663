from __future__ import annotations

from typing import Any

import pytest

from humanexp.sites.marketplace.errors import InvalidParameterValue, QualificationTypeDoesNotExist
from humanexp.sites.marketplace.requirements import (
    ADULT,
    HITS_APPROVED,
    LOCALE,
    MASTERS,
    PERCENT_APPROVED,
    Action,
    Locale,
    WorkerProfile,
    check_requirements,
    is_met,
    unmet,
)

SKILL = "3SKILL"


def requirement(type_id: str, comparator: str, *values: Any, **more: Any) -> dict[str, Any]:
    kind = "LocaleValues" if type_id == LOCALE else "IntegerValues"
    return {
        "QualificationTypeId": type_id,
        "Comparator": comparator,
        **({kind: list(values)} if values else {}),
        **more,
    }


@pytest.mark.parametrize(
    ("comparator", "values", "met_at"),
    [
        ("LessThan", [5], {4}),
        ("LessThanOrEqualTo", [5], {4, 5}),
        ("GreaterThan", [5], {6}),
        ("GreaterThanOrEqualTo", [5], {5, 6}),
        ("EqualTo", [5], {5}),
        ("NotEqualTo", [5], {4, 6}),
        ("In", [4, 6], {4, 6}),
        ("NotIn", [4, 6], {5}),
        ("Exists", [], {4, 5, 6}),
        ("DoesNotExist", [], set()),
    ],
)
def test_every_comparator_on_a_custom_qualification(comparator: str, values: list[int], met_at: set[int]) -> None:
    asked = requirement(SKILL, comparator, *values)
    met = {value for value in (4, 5, 6) if is_met(asked, WorkerProfile(qualifications={SKILL: value}))}
    assert met == met_at


def test_without_the_qualification_only_does_not_exist_is_met() -> None:
    comparators = {"LessThan": [5], "NotEqualTo": [5], "NotIn": [5], "Exists": [], "DoesNotExist": []}
    met = {name for name, values in comparators.items() if is_met(requirement(SKILL, name, *values), WorkerProfile())}
    assert met == {"DoesNotExist"}


def test_a_newcomers_approval_rate_is_100_percent_until_100_judged() -> None:
    asked = requirement(PERCENT_APPROVED, "GreaterThanOrEqualTo", 95)
    assert is_met(asked, WorkerProfile(approved=10, rejected=89))
    assert not is_met(asked, WorkerProfile(approved=94, rejected=6))
    assert is_met(asked, WorkerProfile(approved=95, rejected=5))


def test_system_qualifications() -> None:
    worker = WorkerProfile(approved=100, is_adult=True, is_master=True)
    assert is_met(requirement(HITS_APPROVED, "GreaterThan", 99), worker)
    assert is_met(requirement(ADULT, "EqualTo", 1), worker)
    assert not is_met(requirement(ADULT, "EqualTo", 1), WorkerProfile())
    assert all(is_met(requirement(masters, "Exists"), worker) for masters in MASTERS)
    assert not any(is_met(requirement(masters, "Exists"), WorkerProfile()) for masters in MASTERS)


def test_locale_with_and_without_subdivision() -> None:
    us, california, germany = {"Country": "US"}, {"Country": "US", "Subdivision": "CA"}, {"Country": "DE"}
    in_california = WorkerProfile(locale=Locale("US", "CA"))
    somewhere_in_us = WorkerProfile(locale=Locale("US"))
    assert is_met(requirement(LOCALE, "EqualTo", us), in_california)
    assert is_met(requirement(LOCALE, "In", germany, california), in_california)
    assert not is_met(requirement(LOCALE, "EqualTo", california), somewhere_in_us)
    assert is_met(requirement(LOCALE, "NotEqualTo", germany), somewhere_in_us)
    assert not is_met(requirement(LOCALE, "NotIn", germany, us), somewhere_in_us)
    assert not is_met(requirement(LOCALE, "NotEqualTo", germany), WorkerProfile())


@pytest.mark.parametrize(
    ("guard", "refused"),
    [
        ({}, {Action.ACCEPT}),
        ({"ActionsGuarded": "Accept"}, {Action.ACCEPT}),
        ({"ActionsGuarded": "PreviewAndAccept"}, {Action.PREVIEW, Action.ACCEPT}),
        ({"RequiredToPreview": True}, {Action.PREVIEW, Action.ACCEPT}),
        ({"RequiredToPreview": False}, {Action.ACCEPT}),
        ({"ActionsGuarded": "DiscoverPreviewAndAccept"}, set(Action)),
    ],
)
def test_which_actions_a_requirement_guards(guard: dict[str, Any], refused: set[Action]) -> None:
    asked = [requirement(SKILL, "Exists", **guard)]
    assert {action for action in Action if unmet(asked, WorkerProfile(), action)} == refused


@pytest.mark.parametrize(
    "wrong",
    [
        requirement(SKILL, "Exists", 1),
        requirement(SKILL, "EqualTo"),
        requirement(SKILL, "EqualTo", 1, 2),
        requirement(LOCALE, "EqualTo", {"Country": "US"}, {"Country": "DE"}),
        requirement(LOCALE, "GreaterThan", {"Country": "US"}),
        requirement(LOCALE, "Exists") | {"IntegerValues": [1]},
        requirement(SKILL, "EqualTo", 1) | {"LocaleValues": [{"Country": "US"}]},
        requirement(SKILL, "Exists", RequiredToPreview=True, ActionsGuarded="Accept"),
    ],
)
def test_refuses_what_the_model_forbids(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameterValue, match="number 1"):
        check_requirements([wrong], known_custom_ids={SKILL})


def test_refuses_an_unknown_type() -> None:
    with pytest.raises(QualificationTypeDoesNotExist, match="3OTHER"):
        check_requirements([requirement("3OTHER", "Exists")], known_custom_ids={SKILL})
