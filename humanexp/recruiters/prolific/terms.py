"""A study on Prolific as it is sent, and whether what came of it is what was meant."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from analysis.study.terms import WorkerRequirements
from humanexp.core.errors import RecruiterError
from humanexp.recruiters.port import OfferOrder, OfferTerms, WayBackCode
from humanexp.recruiters.presets import Preset, address_for_site
from humanexp.recruiters.prolific.replies import Filter, Study
from humanexp.recruiters.tickets import Outcome

#: Always under a day.
MOST_MINUTES = 24 * 60 - 1
#: Its names for what somebody comes back with; the rest has none.
CODE_TYPES = {
    Outcome.FINISHED: "COMPLETED",
    Outcome.NO_CONSENT: "NO_CONSENT",
    Outcome.WRONG_DEVICE: "INCOMPATIBLE_DEVICE",
}
#: People read these on the service's pages, which are in English.
RETURN_REASONS = {
    Outcome.NO_CONSENT: "You did not agree to take part.",
    Outcome.WRONG_DEVICE: "The study does not work on your device.",
    Outcome.LEFT: "You stopped before the end.",
    Outcome.ALREADY_TOOK_PART: "You have taken part in this study before.",
    Outcome.FULL: "All places were taken when you came.",
    Outcome.CLOSED: "The study was closed when you came.",
    Outcome.INELIGIBLE: "The study is not open to you.",
    Outcome.TECHNICAL_FAILURE: "The study failed on our side. We pay you for your time by a bonus.",
}


def least_minutes(minutes: int) -> int:
    """The shortest limit of time that the service takes for a study of so many minutes."""
    return math.ceil(2 + 2 * minutes + 2 * math.sqrt(minutes))


def body_of(
    order: OfferOrder, terms: OfferTerms, *, preset: Preset, project: str, filters: list[dict[str, Any]], group: str
) -> dict[str, Any]:
    """Without anything that approves or rejects by a rule."""
    limit = max(least_minutes(terms.minutes), math.ceil(terms.assignment_duration_s / 60))
    return {
        "name": terms.title,
        "internal_name": order.annotation,
        "metadata": order.annotation,
        "description": escape(terms.description, quote=False).replace("\n", " "),
        "external_study_url": address_for_site(order.url, preset.parameters, preset.placeholders),
        "prolific_id_option": "url_parameters",
        "completion_codes": [_code(one, group) for one in order.codes],
        "total_available_places": order.places,
        "estimated_completion_time": terms.minutes,
        "maximum_allowed_time": min(limit, MOST_MINUTES),
        "reward": terms.reward_cents,
        "device_compatibility": ["desktop"] if terms.needs_computer else [],
        "filters": filters,
        "project": project,
        "submissions_config": {
            "max_submissions_per_participant": 1,
            "max_concurrent_submissions": -1,
            "auto_rejection_categories": [],
        },
    }


def _code(one: WayBackCode, group: str) -> dict[str, Any]:
    actions: list[dict[str, str]] = [{"action": "MANUALLY_REVIEW"}]
    if not one.is_reviewed:
        actions = [{"action": "REQUEST_RETURN", "return_reason": RETURN_REASONS[one.outcome]}]
    elif group and one.outcome == Outcome.FINISHED:
        actions.append({"action": "ADD_TO_PARTICIPANT_GROUP", "participant_group": group})
    return {
        "code": one.code,
        "code_type": CODE_TYPES.get(one.outcome, "OTHER"),
        "actor": "participant",
        "actions": actions,
    }


#: All of it is money, people, or where they go.
_COMPARED = (
    "name",
    "internal_name",
    "external_study_url",
    "total_available_places",
    "estimated_completion_time",
    "maximum_allowed_time",
    "reward",
    "device_compatibility",
)


def differences(study: Study, body: Mapping[str, Any]) -> list[str]:
    """Names of what the draft says otherwise than it was told."""
    found = study.model_dump()
    wrong = [name for name in _COMPARED if found[name] != body[name]]
    if found["project"] not in ("", body["project"]):
        wrong.append("project")
    for name, told in (("completion_codes", _codes), ("filters", _filters)):
        if told(found[name]) != told(body[name]):
            wrong.append(name)
    return wrong


def _codes(codes: list[Mapping[str, Any]]) -> object:
    return {
        (one["code"], one["code_type"], frozenset(str(action["action"]) for action in one["actions"])) for one in codes
    }


def _filters(filters: list[Mapping[str, Any]]) -> object:
    """Without what the service adds to them."""
    return {
        (
            one.get("filter_id"),
            frozenset(map(str, one.get("selected_values") or ())),
            tuple(str((one.get("selected_range") or {}).get(end)) for end in ("lower", "upper")),
            _shares(one.get("weightings") or {}),
        )
        for one in filters
    }


def _shares(weightings: Mapping[str, float]) -> frozenset[tuple[str, float]]:
    """Percentages, ratios and numbers of places say the same."""
    total = sum(weightings.values())
    return frozenset((choice, round(weight / total, 4)) for choice, weight in weightings.items())


#: Nobody in a group sees the study. A list of people to leave out has no filter that the service names anywhere.
NOT_IN_GROUPS = "participant_group_blocklist"


def people_filters(terms: OfferTerms, known: list[Filter], *, kept_out: str = "") -> list[dict[str, Any]]:
    """Whom the study is for, in the service's own filters: their ids are looked up, for they change there.

    `kept_out`: the group of those who are not asked for.
    """
    wanted = asked_filters(terms.requirements, known)
    # Everybody there is of age.
    if groups := [group for group in (terms.hidden_from, kept_out) if group]:
        _check_groups(known)
        wanted.append({"filter_id": NOT_IN_GROUPS, "selected_values": groups})
    return wanted


def _check_groups(known: list[Filter]) -> None:
    if all(one.filter_id != NOT_IN_GROUPS for one in known):
        raise RecruiterError(f"This recruiter has no filter {NOT_IN_GROUPS} any more, so nobody can be kept apart.")


def asked_filters(asks: WorkerRequirements, known: list[Filter]) -> list[dict[str, Any]]:
    """Raises RecruiterError, with what to take out, for what this recruiter cannot ask for."""
    wanted: list[dict[str, Any]] = []
    if asks.countries:
        wanted.append(
            _choose(
                _titled(known, "country of residence"), [_COUNTRIES.get(code, code) for code in asks.countries], "of"
            )
        )
    if asks.approval_percent:
        rate = next((one for one in known if one.filter_id == "approval_rate"), None)
        if rate is None:
            raise RecruiterError("This recruiter has no filter by approval rate any more: take it out.")
        wanted.append(_range(rate.filter_id, asks.approval_percent, 100))
    if asks.age_from is not None or asks.age_to is not None:
        wanted.append(_range(_titled(known, "age").filter_id, asks.age_from or 18, asks.age_to or 100))
    if asks.languages:
        wanted.append(_choose(_titled(known, "fluent languages"), list(asks.languages), "who speak"))
    if asks.good_vision:
        wanted.append(_choose(_titled(known, "vision"), ["Yes"], "who say of their sight"))
    if asks.balanced_sex:
        halves = _choose(_titled(known, "sex"), ["Female", "Male"], "of the sexes")
        wanted.append({**halves, "weightings": dict.fromkeys(halves["selected_values"], 50)})
    for filter_id, ids, what in (
        ("previous_studies_allowlist", asks.took_part_in, "those who took part in earlier studies"),
        ("previous_studies_blocklist", asks.not_in, "those who did not take part in earlier studies"),
        ("custom_allowlist", asks.only_people, "a list of people"),
    ):
        if ids:
            wanted.append(_listed(known, filter_id, ids, what))
    if asks.not_people:
        _check_groups(known)
    return wanted


#: As its lists of countries name them.
_COUNTRIES = {
    "AT": "Austria",
    "AU": "Australia",
    "CA": "Canada",
    "CH": "Switzerland",
    "DE": "Germany",
    "ES": "Spain",
    "FR": "France",
    "GB": "United Kingdom",
    "IE": "Ireland",
    "IT": "Italy",
    "NL": "Netherlands",
    "NZ": "New Zealand",
    "PL": "Poland",
    "PT": "Portugal",
    "US": "United States",
    "ZA": "South Africa",
}


def _titled(known: list[Filter], title: str) -> Filter:
    """The one of this title, or the only one whose title ends so."""
    exact = [one for one in known if one.title.casefold() == title]
    found = exact or [one for one in known if re.search(rf"\b{title}$", one.title, re.IGNORECASE)]
    if len(found) != 1:
        raise RecruiterError(f"This recruiter has no filter by {title} any more: take that requirement out.")
    return found[0]


def _choose(known: Filter, labels: list[str], whose: str) -> dict[str, Any]:
    ids = {label.casefold(): choice for choice, label in known.choices.items()}
    missing = [label for label in labels if label.casefold() not in ids]
    if missing:
        raise RecruiterError(
            f"This recruiter has no people {whose} {', '.join(missing)} by its filter “{known.title}”: write it as "
            "that filter does, or take it out."
        )
    return {"filter_id": known.filter_id, "selected_values": [ids[label.casefold()] for label in labels]}


def _listed(known: list[Filter], filter_id: str, ids: Sequence[str], what: str) -> dict[str, Any]:
    """By ids of studies or people. Where the service says which it knows, others are refused; people are not named."""
    found = next((one for one in known if one.filter_id == filter_id), None)
    if found is None:
        raise RecruiterError(f"This recruiter has no filter {filter_id} any more: do not ask for {what}.")
    missing = [one for one in ids if found.choices and one not in found.choices]
    if missing:
        raise RecruiterError(f"This recruiter knows no study {', '.join(missing)} in this workspace: take it out.")
    return {"filter_id": filter_id, "selected_values": list(ids)}


def _range(filter_id: str, lower: int, upper: int) -> dict[str, Any]:
    return {"filter_id": filter_id, "selected_range": {"lower": lower, "upper": upper}}
