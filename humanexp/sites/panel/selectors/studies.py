"""A researcher's studies and submissions (another's do not exist), and what people see of them."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import QuerySet

from humanexp.sites.panel.errors import Refused, not_found
from humanexp.sites.panel.models.people import Participant, ParticipantGroup, Project, Researcher, Workspace
from humanexp.sites.panel.models.studies import Study, Submission
from humanexp.sites.panel.selectors.filters import is_eligible
from humanexp.sites.panel.states import AT_WORK, TAKEN, StudyStatus, SubmissionStatus
from humanexp.sites.rows import Row, first_or


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
