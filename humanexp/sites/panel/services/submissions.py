"""What participants and researchers do with submissions. Callers hold a transaction."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from humanexp.sites.panel.errors import Refused, invalid, wrong_state
from humanexp.sites.panel.models.people import Membership, Message, Participant, ParticipantGroup
from humanexp.sites.panel.models.studies import Study, Submission
from humanexp.sites.panel.models.switches import Switches
from humanexp.sites.panel.selectors.studies import why_closed, work_in_hand
from humanexp.sites.panel.services.payments import require_solvent
from humanexp.sites.panel.services.progress import move_submission
from humanexp.sites.panel.states import AT_WORK, SUBMISSION_TRANSITIONS, SubmissionStatus
from humanexp.sites.rows import change

RESERVED_MINUTES = 10
#: What people enter who have no code.
NO_CODE = "NOCODE"


def reserve(participant: Participant, study: Study, now: datetime) -> Submission:
    """A place for ten minutes; the one in hand, if it is of this study."""
    in_hand = work_in_hand(participant)
    if in_hand is not None:
        if in_hand.study_id == study.pk:
            return in_hand
        raise wrong_state("Finish or return the study that you have begun first.")
    why = why_closed(study, participant)
    if why:
        raise wrong_state(why)
    submission = Submission(study=study, participant=participant, reserved_at=now)
    submission = move_submission(submission, SubmissionStatus.RESERVED, now)
    return change(submission, due_at=now + timedelta(minutes=RESERVED_MINUTES))


def start(submission: Submission, now: datetime) -> str:
    """The researcher's address with the placeholders filled in; starting again leads there again."""
    if submission.status == SubmissionStatus.RESERVED:
        move_submission(submission, SubmissionStatus.ACTIVE, now)
    if submission.status != SubmissionStatus.ACTIVE:
        raise wrong_state(f"This study cannot be started: your submission is {submission.status}.")
    address: str = submission.study.terms["external_study_url"]
    for name, value in (
        ("PROLIFIC_PID", submission.participant.participant_id),
        ("STUDY_ID", submission.study.study_id),
        ("SESSION_ID", submission.submission_id),
    ):
        address = address.replace(f"{{{{%{name}%}}}}", value)
    return address


def finish(submission: Submission, code: str, now: datetime) -> Submission:
    """With a code of the study, whose actions follow, or with `NO_CODE`; twice equals once."""
    if submission.completed_at is not None and submission.entered_code == code:
        return submission
    if submission.status != SubmissionStatus.ACTIVE:
        raise wrong_state(f"This cannot be finished: your submission is {submission.status}.")
    known = next((one for one in submission.study.completion_codes if one["code"] == code), None)
    if (known is None and code != NO_CODE) or (known and known["actor"] == "researcher"):
        raise invalid("completion_code", "This code does not belong to the study.")
    submission.entered_code = code
    move_submission(submission, SubmissionStatus.AWAITING_REVIEW, now)
    for action in known["actions"] if known else ():
        _act(submission, action, now)
    return submission


def _act(submission: Submission, action: dict[str, Any], now: datetime) -> None:
    match action["action"]:
        case "AUTOMATICALLY_APPROVE":
            change(submission, next_status=SubmissionStatus.APPROVED, due_at=now)
        case "REQUEST_RETURN":
            change(submission, return_requested=str(action.get("return_reason") or "Return requested"))
        case "ADD_TO_PARTICIPANT_GROUP":
            group = ParticipantGroup.objects.get(group_id=action["participant_group"])
            add_members(group, [submission.participant], now)
        case "REMOVE_FROM_PARTICIPANT_GROUP":
            submission.participant.memberships.filter(group__group_id=action["participant_group"]).delete()


def give_back(submission: Submission, now: datetime) -> Submission:
    if submission.status not in (*AT_WORK, SubmissionStatus.AWAITING_REVIEW, SubmissionStatus.RETURNED):
        raise wrong_state(f"This cannot be returned: your submission is {submission.status}.")
    return transition(submission, "RETURN", now)


def transition(submission: Submission, action: str, now: datetime) -> Submission:
    """An action whose end is reached already is ignored."""
    ends = {target for (_, name), target in SUBMISSION_TRANSITIONS.items() if name == action}
    if submission.status in ends:
        return submission
    target = SUBMISSION_TRANSITIONS.get((SubmissionStatus(submission.status), action))
    late = submission.status == SubmissionStatus.TIMED_OUT and action == "APPROVE"
    if late and Switches.current().timed_out_can_be_approved:
        target = SubmissionStatus.APPROVED
    if target is None:
        raise wrong_state(f"{action} is not possible while the submission is {submission.status}.")
    move_submission(submission, target, now)
    require_solvent(submission.study.project.workspace)
    return submission


def approve_soon(submissions: list[Submission], now: datetime) -> None:
    """Accepted now, done later; those that cannot be approved are passed over in silence."""
    due_at = now + timedelta(seconds=Switches.current().approving_s)
    for submission in submissions:
        if submission.status == SubmissionStatus.AWAITING_REVIEW:
            change(submission, next_status=SubmissionStatus.APPROVED, due_at=due_at)


def request_return(submission: Submission, reasons: list[str], now: datetime) -> Submission:
    """Asked again, it is sent again."""
    if submission.status not in (*AT_WORK, SubmissionStatus.AWAITING_REVIEW):
        raise wrong_state(f"A return cannot be requested while the submission is {submission.status}.")
    change(submission, return_requested="; ".join(reasons) or "Return requested")
    body = f"The researcher asks you to return this study: {submission.return_requested}"
    send(submission.study, [submission.participant], body, now)
    return submission


def add_members(group: ParticipantGroup, people: list[Participant], now: datetime) -> None:
    Membership.objects.bulk_create(
        [Membership(group=group, participant=one, made_at=now) for one in people], ignore_conflicts=True
    )


def send(study: Study, people: list[Participant], body: str, now: datetime) -> None:
    """To people who have a submission of the study."""
    known = set(study.submissions.values_list("participant_id", flat=True))
    strangers = [one.participant_id for one in people if one.pk not in known]
    if strangers:
        raise Refused(400, "Validation error", {"recipient_id": [f"Not in the study: {', '.join(strangers)}"]})
    for person in people:
        Message.objects.create(
            researcher=study.project.workspace.researcher,
            participant=person,
            study=study,
            body=body,
            is_from_participant=False,
            sent_at=now,
        )
