"""What researchers, participants and scripted people do. Callers hold a transaction."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from itertools import islice
from typing import Any

from django.db import transaction

from humanexp.sites.panel.errors import Refused, invalid, wrong_state
from humanexp.sites.panel.models import (
    Deposit,
    Membership,
    Message,
    Participant,
    ParticipantGroup,
    Project,
    Researcher,
    Study,
    Submission,
    Switches,
    Workspace,
    now as panel_now,
)
from humanexp.sites.panel.progress import move_study, move_submission
from humanexp.sites.panel.states import (
    AT_WORK,
    DRAFTS,
    STUDY_TRANSITIONS,
    SUBMISSION_TRANSITIONS,
    StudyStatus,
    SubmissionStatus,
)
from humanexp.sites.panel.studies import places_taken, why_closed, work_in_hand
from humanexp.sites.panel.wallet import least_hourly_cents, require_solvent
from humanexp.sites.rows import change

#: The rest cannot change after publication.
CHANGEABLE = frozenset({"internal_name", "total_available_places", "submissions_config", "access_details"})


def create_study(project: Project, terms: Mapping[str, Any], now: datetime) -> Study:
    _require_minimum_rate(project, terms)
    return Study.objects.create(
        project=project,
        terms=dict(terms),
        reward_cents=terms["reward"],
        places=terms["total_available_places"],
        created_at=now,
    )


def change_study(study: Study, terms: Mapping[str, Any], named: set[str], now: datetime) -> Study:
    """`terms` are all of them, with those that the call `named` changed."""
    if study.status not in DRAFTS:
        late = sorted(name for name in named - CHANGEABLE if terms.get(name) != study.terms.get(name))
        if late:
            raise Refused(
                400,
                "Validation error",
                {name: ["This field cannot change after the study is published."] for name in late},
            )
        if terms["total_available_places"] < study.places:
            raise invalid("total_available_places", "The number of places can only increase.")
    _require_minimum_rate(study.project, terms)
    gains = terms["total_available_places"] > study.places
    study.terms, study.reward_cents, study.places = dict(terms), terms["reward"], terms["total_available_places"]
    study.save()
    if study.status not in DRAFTS:
        if gains and study.status in (StudyStatus.AWAITING_REVIEW, StudyStatus.COMPLETED):
            move_study(study, StudyStatus.ACTIVE, now)
        require_solvent(study.project.workspace)
    return study


def delete_study(study: Study) -> None:
    if study.status not in DRAFTS:
        raise wrong_state("Only a draft can be deleted.")
    study.delete()


def transition_study(study: Study, action: str, now: datetime, publish_at: datetime | None) -> Study:
    target = STUDY_TRANSITIONS.get((StudyStatus(study.status), action))
    if target is None:
        raise wrong_state(f"{action} is not possible while the study is {study.status}.")
    switches = Switches.current()
    if action == "SCHEDULE_PUBLISH":
        if publish_at is None or publish_at <= now:
            raise invalid("publish_at", "A time in the future is needed.")
        wait = (publish_at - now).total_seconds()
        study = move_study(study, target, now, after_s=wait, then=StudyStatus.ACTIVE)
    elif action == "PUBLISH":
        study = move_study(study, StudyStatus.PUBLISHING, now, after_s=switches.publishing_s, then=target)
    elif action == "STOP":
        end = StudyStatus.AWAITING_REVIEW if switches.stop_awaits_review else target
        if switches.processing_s:
            study = move_study(study, StudyStatus.PROCESSING, now, after_s=switches.processing_s, then=end)
        else:
            study = move_study(study, end, now)
    else:
        if target is StudyStatus.ACTIVE and places_taken(study) >= study.places:
            raise wrong_state("Every place is taken: there is none to open again.")
        study = move_study(study, target, now)
    if action == "PUBLISH":
        require_solvent(study.project.workspace)
    return study


def clone_study(study: Study, *, blocks_previous: bool, now: datetime) -> Study:
    """A draft with the same terms; by default it is closed to people who took part in the original."""
    terms = {**study.terms, "name": f"{study.name} Copy"}
    if blocks_previous:
        block = {"filter_id": "previous_studies_blocklist", "selected_values": [study.study_id]}
        terms["filters"] = [*terms["filters"], block]
    return create_study(study.project, terms, now)


def _require_minimum_rate(project: Project, terms: Mapping[str, Any]) -> None:
    least = least_hourly_cents(project.workspace.currency)
    if terms["reward"] * 60 < least * terms["estimated_completion_time"]:
        raise invalid("reward", f"The reward is below the minimum of {least} an hour.")


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


_NAMES = (
    "Ada",
    "Ben",
    "Cleo",
    "Dana",
    "Emil",
    "Fay",
    "Gus",
    "Hana",
    "Ian",
    "June",
    "Kai",
    "Lea",
    "Milo",
    "Nora",
    "Otto",
)


@transaction.atomic
def make_researcher(name: str, *, balance_cents: int, currency: str = "GBP", is_academic: bool = True) -> Workspace:
    """With a workspace, a project and practice money; the workspace of this name if there is one."""
    known = Workspace.objects.filter(researcher__name=name).first()
    if known is not None:
        return known
    workspace = Workspace.objects.create(
        researcher=Researcher.objects.create(name=name), title=name, currency=currency, is_academic=is_academic
    )
    Project.objects.create(workspace=workspace, title="First project")
    if balance_cents:
        deposit(workspace, balance_cents)
    return workspace


def deposit(workspace: Workspace, amount_cents: int) -> Deposit:
    return Deposit.objects.create(workspace=workspace, amount_cents=amount_cents, made_at=panel_now())


def make_people(count: int, *, is_scripted: bool, **same: Any) -> list[Participant]:
    """Invented, with addresses that are reserved for documentation; `same` is what all of them share."""
    first = Participant.objects.count()
    made = []
    for number in range(first, first + count):
        chance = random.Random(number)  # noqa: S311  (an invented person)
        person = {
            "name": f"{_NAMES[number % len(_NAMES)]} {number + 1}",
            "ip": f"203.0.113.{number % 254 + 1}",
            "born_on": date(1960, 1, 1) + timedelta(days=chance.randrange(45 * 365)),
            "sex": chance.choice(("Male", "Female")),
            "ethnicity": chance.choice(("White", "Black", "Asian", "Mixed", "Other")),
            "country": chance.choice(("United Kingdom", "United States")),
            **same,
        }
        made.append(Participant(is_scripted=is_scripted, **person))
    return Participant.objects.bulk_create(made)


def act(study: Study, *, people: int, until: str, code: str) -> list[Submission]:
    """Scripted people come to a study; each goes as far as `until`, a submission's status."""
    now = panel_now()
    came = []
    for person in _idle(study, people):
        submission = reserve(person, study, now)
        came.append(submission)
        if until == SubmissionStatus.RESERVED:
            continue
        start(submission, now)
        if until == SubmissionStatus.RETURNED:
            give_back(submission, now)
        elif until == SubmissionStatus.AWAITING_REVIEW:
            finish(submission, code or NO_CODE, now)
    return came


def _idle(study: Study, count: int) -> list[Participant]:
    """Scripted people without work for whom this study is open; new ones where there are too few."""
    known = Participant.objects.filter(is_scripted=True).exclude(submissions__status__in=AT_WORK)
    unknown = known.exclude(submissions__study=study).order_by("pk")
    idle = list(islice((one for one in unknown if not why_closed(study, one)), count))
    return [*idle, *make_people(count - len(idle), is_scripted=True)]


def account(workspace: Workspace) -> dict[str, Any]:
    """What a client needs to know of an account."""
    return {
        "token": workspace.researcher.token,
        "researcher_id": workspace.researcher.researcher_id,
        "workspace_id": workspace.workspace_id,
        "project_id": workspace.projects.order_by("pk")[0].project_id,
        "currency": workspace.currency,
    }
