"""Studies and submissions: a researcher's own (another's do not exist), and those that people are eligible for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from humanexp.sites.panel.errors import Refused, not_found
from humanexp.sites.panel.models import Participant, ParticipantGroup, Project, Researcher, Study, Submission, Workspace
from humanexp.sites.panel.states import AT_WORK, TAKEN, StudyStatus, SubmissionStatus
from humanexp.sites.rows import Row, first_or

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


def one(rows: QuerySet[Row], what: str) -> Row:
    return first_or(rows, not_found(what))


def workspace_of(researcher: Researcher, workspace_id: str) -> Workspace:
    return one(researcher.workspaces.filter(workspace_id=workspace_id), "workspace")


def project_of(researcher: Researcher, project_id: str) -> Project:
    return one(Project.objects.filter(workspace__researcher=researcher, project_id=project_id), "project")


def studies_of(researcher: Researcher) -> QuerySet[Study]:
    return Study.objects.filter(project__workspace__researcher=researcher).select_related("project__workspace")


def study_of(researcher: Researcher, study_id: str) -> Study:
    return one(studies_of(researcher).filter(study_id=study_id), "study")


def group_of(researcher: Researcher, group_id: str) -> ParticipantGroup:
    return one(ParticipantGroup.objects.filter(workspace__researcher=researcher, group_id=group_id), "group")


def submissions_of(researcher: Researcher) -> QuerySet[Submission]:
    return Submission.objects.filter(study__project__workspace__researcher=researcher).select_related(
        "participant", "study__project__workspace"
    )


def submission_of(researcher: Researcher, submission_id: str) -> Submission:
    return one(submissions_of(researcher).filter(submission_id=submission_id), "submission")


def participants_by_id(ids: Iterable[str]) -> list[Participant]:
    wanted = list(dict.fromkeys(ids))
    found = {one.participant_id: one for one in Participant.objects.filter(participant_id__in=wanted)}
    unknown = [one for one in wanted if one not in found]
    if unknown:
        raise Refused(400, "Validation error", {"participant_ids": [f"Not participants: {', '.join(unknown)}"]})
    return [found[one] for one in wanted]


def places_taken(study: Study) -> int:
    """Without those who timed out, returned or were rejected: while a study is active, their places are open again."""
    return study.submissions.filter(status__in=TAKEN).count()


def work_in_hand(participant: Participant) -> Submission | None:
    """A person has one study at a time."""
    return participant.submissions.filter(status__in=AT_WORK).select_related("study__project__workspace").first()


def why_closed(study: Study, participant: Participant) -> str:
    """What keeps this person from a place; empty when there is one."""
    config = study.terms["submissions_config"]
    allowed = config["max_submissions_per_participant"]
    earlier = study.submissions.filter(participant=participant)
    at_once = config["max_concurrent_submissions"]
    if study.status in (StudyStatus.AWAITING_REVIEW, StudyStatus.COMPLETED):
        return "This study has ended: no place is left."
    if study.status != StudyStatus.ACTIVE:
        return "This study is not open."
    if allowed is not None and earlier.exclude(status=SubmissionStatus.RETURNED).count() >= allowed:
        return "You have taken part in this study."
    if earlier.filter(status=SubmissionStatus.RETURNED).exists():
        return "You have returned this study."
    if not is_eligible(participant, study.terms["filters"]):
        return "This study asks for other people."
    if places_taken(study) >= study.places:
        return "All places of this study are taken."
    if at_once not in (None, -1) and study.submissions.filter(status__in=AT_WORK).count() >= at_once:
        return "Too many people are at work on this study. Look again in a few minutes."
    return ""


def open_to(participant: Participant) -> list[Study]:
    studies = Study.objects.filter(status=StudyStatus.ACTIVE).select_related("project__workspace__researcher")
    return [study for study in studies.order_by("-published_at") if not why_closed(study, participant)]
