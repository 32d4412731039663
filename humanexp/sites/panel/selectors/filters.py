"""Whom a study is for: the filters that there are, and who passes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils import timezone

from humanexp.sites.panel.models.people import Participant, Workspace
from humanexp.sites.panel.models.studies import Study
from humanexp.sites.panel.states import StudyStatus

_SEXES = {"0": "Male", "1": "Female"}
_COUNTRIES = {"0": "United Kingdom", "1": "United States", "2": "Germany"}
_YES_NO = {"0": "Yes", "1": "No"}
#: Everybody speaks that of their country.
_LANGUAGES = {"0": "English", "1": "German"}


def _select(filter_id: str, title: str, choices: Mapping[str, str], kind: str = "ChoiceID") -> dict[str, Any]:
    return {
        "filter_id": filter_id,
        "title": title,
        "description": title,
        "question": title,
        "type": "select",
        "choices": dict(choices),
        "data_type": kind,
    }


FILTERS: list[dict[str, Any]] = [
    {
        "filter_id": "age",
        "title": "Age",
        "description": "Age in years",
        "question": "What is your date of birth?",
        "type": "range",
        "min": 18,
        "max": 100,
        "data_type": "integer",
    },
    _select("sex", "Sex", _SEXES),
    _select("current-country-of-residence", "Country of residence", _COUNTRIES),
    _select("fluent-languages", "Fluent languages", _LANGUAGES),
    _select("vision", "Normal or corrected-to-normal vision", _YES_NO),
    _select("previous_studies_allowlist", "Took part in these studies", {}, "StudyID"),
    _select("previous_studies_blocklist", "Took part in none of these studies", {}, "StudyID"),
    _select("participant_group_allowlist", "In one of these groups", {}, "ParticipantGroupID"),
    _select("participant_group_blocklist", "In none of these groups", {}, "ParticipantGroupID"),
    _select("custom_allowlist", "One of these people", {}, "ParticipantID"),
]
#: Fewer people than this are reported as none.
LEAST_COUNT = 25


def filters_of(workspace: Workspace | None) -> list[dict[str, Any]]:
    """With the workspace's own studies and groups to choose from, where one is named."""
    if workspace is None:
        return FILTERS
    studies = Study.objects.filter(project__workspace=workspace).exclude(status=StudyStatus.UNPUBLISHED)
    own = {
        "StudyID": {one.study_id: one.terms["name"] for one in studies},
        "ParticipantGroupID": {one.group_id: one.name for one in workspace.groups.all()},
    }
    return [{**one, "choices": own[one["data_type"]]} if one["data_type"] in own else one for one in FILTERS]


def is_eligible(participant: Participant, filters: Iterable[Mapping[str, Any]]) -> bool:
    return all(_passes(participant, one) for one in filters)


def _passes(participant: Participant, one: Mapping[str, Any]) -> bool:
    name = one["filter_id"]
    if name in ("and", "or"):
        parts = [_passes(participant, part) for part in one["selected_filters"]]
        return all(parts) if name == "and" else any(parts)
    if name == "age":
        ends = one["selected_range"]
        return int(ends.get("lower", 0)) <= _age(participant) <= int(ends.get("upper", 1_000))
    wanted = set(one["selected_values"])
    match name:
        case "sex":
            return any(_SEXES.get(value) == participant.sex for value in wanted)
        case "current-country-of-residence":
            return any(_COUNTRIES.get(value) == participant.country for value in wanted)
        case "fluent-languages":
            spoken = "German" if participant.country == "Germany" else "English"
            return any(_LANGUAGES.get(value) == spoken for value in wanted)
        case "vision":
            return ("0" if participant.has_good_vision else "1") in wanted
        case "custom_allowlist":
            return participant.participant_id in wanted
    if name.startswith("participant_group"):
        found = participant.memberships.filter(group__group_id__in=wanted).exists()
    else:
        # Also those who timed out or returned: excluding a study excludes everyone who ever began it.
        found = participant.submissions.filter(study__study_id__in=wanted).exists()
    return found if name.endswith("_allowlist") else not found


def _age(participant: Participant) -> int:
    today, born = timezone.now().date(), participant.born_on
    return today.year - born.year - ((today.month, today.day) < (born.month, born.day))
