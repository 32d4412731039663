"""Researchers, practice money, and practice people, played or scripted."""

from __future__ import annotations

import random
from datetime import date, timedelta
from itertools import islice
from typing import Any

from django.db import transaction

from humanexp.sites.panel.models.people import Deposit, Participant, Project, Researcher, Workspace
from humanexp.sites.panel.models.studies import Study, Submission
from humanexp.sites.panel.models.switches import now as panel_now
from humanexp.sites.panel.selectors.studies import why_closed
from humanexp.sites.panel.services import submissions
from humanexp.sites.panel.states import AT_WORK, SubmissionStatus

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
        submission = submissions.reserve(person, study, now)
        came.append(submission)
        if until == SubmissionStatus.RESERVED:
            continue
        submissions.start(submission, now)
        if until == SubmissionStatus.RETURNED:
            submissions.give_back(submission, now)
        elif until == SubmissionStatus.AWAITING_REVIEW:
            submissions.finish(submission, code or submissions.NO_CODE, now)
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
