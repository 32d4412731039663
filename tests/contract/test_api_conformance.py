"""The API answers as its description says, to whatever the description allows and to what it forbids.

Cases are made of the committed description, so that nobody who adds a call has to think of its hostile values. Every
operation is called by nobody in particular, by a researcher who is signed in, by a participant under way, and by one
who has finished.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from django.test import Client
from hypothesis import HealthCheck, Phase, given, settings as bounded, strategies as st
from schemathesis import Case, GenerationMode, checks
from schemathesis.specs.openapi import checks as openapi

from humanexp.core.models import User
from humanexp.participation.models import Session
from humanexp.recruiters.models import Campaign
from humanexp.recruiting.launch import LaunchTerms, publish
from tests import state
from tests.contract.test_openapi import COMMITTED
from tests.factories import Tab, draft_study

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.verify,
    pytest.mark.usefixtures("unhurried", "open_gates"),
]

SCHEMA = schemathesis.openapi.from_path(COMMITTED)
SCHEMA.app = WSGIHandler()
OPERATIONS = {operation.label: operation for operation in (found.ok() for found in SCHEMA.get_all_operations())}
EXAMPLES = 15
CHECKS = [
    checks.not_a_server_error,
    openapi.status_code_conformance,
    openapi.content_type_conformance,
    openapi.response_headers_conformance,
    openapi.response_schema_conformance,
    openapi.ignored_auth,
]
#: Where somebody stands who has answered nothing yet.
HERE = {"first": 0, "last": 0, "position": 0, "showing": 0}

#: What of a body has to fit where somebody stands, so that the rest of it is read at all.
FITTING = {"position": 0, "response": "dog"}

#: Headers and cookies of a caller.
Shown = Mapping[str, dict[str, str]]


@contextmanager
def undone() -> Iterator[None]:
    """Calls share the connection of their test, whose transaction they would end, and leave nothing behind."""
    moments = (request_started, request_finished)
    for moment in moments:
        moment.disconnect(close_old_connections)
    try:
        with transaction.atomic():
            state.forget()
            yield
            transaction.set_rollback(True)
    finally:
        for moment in moments:
            moment.connect(close_old_connections)


@pytest.fixture
def researcher(stimulus_set: object) -> User:
    return User.objects.create_user("ada")


@pytest.fixture
def campaign(researcher: User) -> Campaign:
    """A plain link to the researcher's study."""
    study = draft_study(by=researcher)
    return publish(study=study, terms=LaunchTerms(to="link", assignments=6))


def nobody(campaign: Campaign) -> Shown:
    return {"headers": {}, "cookies": {}}


def signed_in(campaign: Campaign) -> Shown:
    client = Client()
    client.force_login(User.objects.get(username="ada"))
    return {"headers": {}, "cookies": {name: morsel.value for name, morsel in client.cookies.items()}}


def under_way(campaign: Campaign) -> Shown:
    """Somebody who has agreed, and whose tab holds the lease."""
    client = Client()
    opened = client.post(
        f"/take/{campaign.entry}/open/",
        {"consent": True, "consentDigest": "", "minutes": 0},
        content_type="application/json",
    ).json()
    tab = Tab(client, None, token=opened["token"])
    assert tab.take_lease().status_code == 200
    return {"headers": {**tab.headers, "X-Lease": tab.lease}, "cookies": {}}


def finished(campaign: Campaign) -> Shown:
    """The same person after the last trial."""
    shown = under_way(campaign)
    session = Session.objects.get()
    tab = Tab(Client(), session)
    for position in range(session.total):
        assert tab.answer(position).status_code == 201
    assert tab.post("complete/", {}).json()["completion_code"]
    return shown


def fitting(case: Case) -> Case:
    case.body = {**case.body, **FITTING}
    return case


@pytest.mark.parametrize("label", OPERATIONS)
@pytest.mark.parametrize("caller", [nobody, signed_in, under_way, finished])
def test_every_answer_is_as_described(campaign: Campaign, caller: Callable[[Campaign], Shown], label: str) -> None:
    operation, shown = OPERATIONS[label], caller(campaign)
    names = {parameter.name for parameter in operation.path_parameters}
    places = {name: value for name, value in {**HERE, "entry": campaign.entry}.items() if name in names}
    modes = [GenerationMode.POSITIVE]
    if operation.body or names:
        modes.append(GenerationMode.NEGATIVE)
    cases = [operation.as_strategy(mode) for mode in modes]
    if places:
        cases.append(operation.as_strategy(GenerationMode.POSITIVE, path_parameters=places))
    if operation.label == "POST /api/v1/run/responses/":
        cases.append(operation.as_strategy(GenerationMode.POSITIVE).map(fitting))

    @bounded(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=st.one_of(cases))
    def answers(case: Case) -> None:
        with undone():
            case.call_and_validate(**shown, checks=CHECKS)

    answers()
