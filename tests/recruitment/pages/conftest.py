from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from humanexp.core.models import User
from humanexp.participation.places import verify_session
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiters.people import person_for
from humanexp.recruiters.states import AssignmentState
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.studies.models import Study
from tests.recruitment.studies import Visitor, make_study
from tests.recruitment.workers import LISTED_WORKER_ID


@pytest.fixture
def researcher(db: None) -> User:
    return User.objects.create_user("ada", password="x")


@pytest.fixture
def study(researcher: User) -> Study:
    study = make_study()
    study.memberships.create(user=researcher, role="owner")
    return study


@pytest.fixture
def signed_in() -> Callable[[User], Client]:
    def sign_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return sign_in


@pytest.fixture
def console(researcher: User, signed_in: Callable[[User], Client]) -> Client:
    return signed_in(researcher)


@pytest.fixture
def member(study: Study, signed_in: Callable[[User], Client]) -> Callable[[str], Client]:
    """Somebody with another role in the study."""

    def join(role: str) -> Client:
        user = User.objects.create_user(f"a-{role}", password="x")
        study.memberships.create(user=user, role=role)
        return signed_in(user)

    return join


@pytest.fixture
def launched(study: Study) -> Campaign:
    return publish(study=study, terms=LaunchTerms(to="marketplace", assignments=4, reward_cents=120, cap_cents=1_000))


@pytest.fixture
def submission(launched: Campaign) -> Callable[..., Assignment]:
    """A listed submission without a session, as `sync` stores it."""

    def make(evidence: str = "receipt", **facts: Any) -> Assignment:
        person = person_for(environment="marketplace", worker_id=LISTED_WORKER_ID, family=launched.study.family)
        return Assignment.objects.create(
            campaign=launched,
            hit=launched.hits.first(),
            environment="marketplace",
            assignment_id="A1",
            person=person,
            state=AssignmentState.SUBMITTED,
            evidence=evidence,
            submitted_at=timezone.now(),
            auto_approves_at=timezone.now() + timedelta(days=3),
            **facts,
        )

    return make


@pytest.fixture
def finished(launched: Campaign, settings: Any) -> Callable[..., Assignment]:
    """Somebody who has answered everything; submitted, unless told otherwise."""
    settings.MARKETPLACE_URL = "http://localhost:8001"

    def finish(worker_id: str = "AFINISHED", *, submitted: bool = True) -> Assignment:
        visitor = Visitor(
            launched, worker_id=worker_id, assignment_id=f"B{worker_id}", submit_to=settings.MARKETPLACE_URL
        )
        assert visitor.open().status_code == 201
        visitor.answer_all()
        row = Assignment.objects.get(assignment_id=f"B{worker_id}")
        if submitted:
            row.state, row.evidence = AssignmentState.SUBMITTED, "receipt"
            row.hit, row.submitted_at = launched.hits.get(), timezone.now()
            row.auto_approves_at = row.submitted_at + timedelta(days=3)
            row.save()
            assert verify_session(session=row.session)
        return row

    return finish
