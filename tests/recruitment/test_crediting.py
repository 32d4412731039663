"""Course credit by the server: over real HTTP, once a person, and never a secret in a page, a log or an error."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from analysis.errors import InvalidInput
from analysis.spec.link import Link
from humanexp.core import clock
from humanexp.core.errors import Conflict, InvalidRequest, NotAllowed
from humanexp.core.models import AuditEvent, User
from humanexp.recruitment import services
from humanexp.recruitment.jobs import run_credits
from humanexp.recruitment.models import Campaign, Credit
from humanexp.recruitment.selectors.desk import credits_to_decide
from humanexp.recruitment.services.crediting import token_of
from humanexp.recruitment.states import WriteState
from humanexp.studies.models import Study
from tests.recruitment import credit_site as sites
from tests.recruitment.credit_site import CreditSite
from tests.recruitment.studies import Visitor, make_study

pytestmark = pytest.mark.django_db(transaction=True)
TOKEN, PERSON = "b7c1-secret-token", "10234"


@pytest.fixture
def site(settings: Any) -> Iterator[CreditSite]:
    settings.CREDIT_TOKENS = {"55": TOKEN}
    with sites.credit_site() as site:
        yield site


@pytest.fixture
def study(transactional_db: None) -> Study:
    return make_study("credit")


def launched(study: Study, site: CreditSite, **changes: Any) -> Campaign:
    given = {"preset": "sona", "alternative": "Read a paper.", "credit_site": site.address, "experiment": "55"}
    link = Link(**given | changes)
    return services.publish(study=study, terms=services.LaunchTerms(to="link", assignments=4, link=link))


@pytest.fixture
def campaign(study: Study, site: CreditSite) -> Campaign:
    return launched(study, site)


def finishes(campaign: Campaign, person: str = PERSON) -> Visitor:
    visitor = Visitor(campaign, worker_id=person)
    assert visitor.open().status_code == 201
    visitor.answer_all()
    return visitor


def round_of_the_job() -> dict[str, Any]:
    found: dict[str, Any] = run_credits(lambda *_: None)
    return found


def owner_of(study: Study, role: str = "owner") -> User:
    user = User.objects.create_user(role, password="x")
    study.memberships.create(user=user, role=role)
    return user


def state() -> str:
    return Credit.objects.get().state


@pytest.mark.process
def test_who_has_finished_is_credited_once(campaign: Campaign, site: CreditSite) -> None:
    under_way = Visitor(campaign, worker_id="10999")
    under_way.open()
    finishes(campaign)
    for _twice in range(2):
        round_of_the_job()
    assert site.calls == [{"experiment_id": "55", "credit_token": TOKEN, "survey_code": PERSON}]
    assert site.credited == [PERSON] and state() == WriteState.CONFIRMED


@pytest.mark.process
def test_who_left_is_not_credited(campaign: Campaign, site: CreditSite) -> None:
    visitor = Visitor(campaign, worker_id=PERSON)
    visitor.open()
    visitor.call("POST", "/api/v1/run/withdraw/", {"keep": True})
    assert round_of_the_job()["planned"] == 0 and site.calls == []


@pytest.mark.process
def test_an_invited_person_has_no_id_of_the_site(campaign: Campaign, site: CreditSite, study: Study) -> None:
    invited = services.invite(campaign=campaign, labels=["Ada"], by=owner_of(study))[0]
    visitor = Visitor(campaign)
    visitor.open(invitation=invited.address.partition("#")[2])
    visitor.answer_all()
    assert round_of_the_job()["planned"] == 0 and site.calls == []


@pytest.mark.process
def test_already_credited_is_credited(campaign: Campaign, site: CreditSite) -> None:
    site.answer = sites.ALREADY
    finishes(campaign)
    round_of_the_job()
    assert state() == WriteState.CONFIRMED


@pytest.mark.process
def test_a_lost_answer_is_not_sent_again_by_itself(campaign: Campaign, site: CreditSite, study: Study) -> None:
    site.loses_answer = True
    finishes(campaign)
    for _twice in range(2):
        round_of_the_job()
    assert len(site.calls) == 1 and state() == WriteState.SENDING
    credit = credits_to_decide([study]).get()
    site.loses_answer = False
    services.send_credit_again(credit=credit, by=owner_of(study))
    round_of_the_job()
    assert len(site.calls) == 2 and site.credited == [PERSON] and state() == WriteState.CONFIRMED
    assert AuditEvent.objects.filter(action="send-credit-again").count() == 1


@pytest.mark.process
def test_a_runner_killed_in_the_middle_leaves_it_to_a_person(
    campaign: Campaign, site: CreditSite, study: Study
) -> None:
    finishes(campaign)
    services.plan_credits()
    Credit.objects.update(state=WriteState.SENDING, sent_at=clock.now() - timedelta(minutes=6))
    round_of_the_job()
    assert site.calls == [] and credits_to_decide([study]).count() == 1
    services.credit_by_hand(credit=Credit.objects.get(), by=owner_of(study))
    assert state() == WriteState.CONFIRMED and not credits_to_decide([study])


@pytest.mark.process
@pytest.mark.parametrize(
    ("answer", "status", "found"),
    [
        (sites.REFUSED, 200, WriteState.REFUSED),
        ("<broken", 200, WriteState.SENDING),
        (sites.BOMB, 200, WriteState.SENDING),
        ("<html><body>Sign in</body></html>", 502, WriteState.SENDING),
        ("<A>" + "x" * 70_000 + "</A>", 200, WriteState.SENDING),
    ],
    ids=["refused", "broken", "bomb", "status", "long"],
)
def test_what_the_site_says_reaches_the_desk_and_no_secret_does(
    campaign: Campaign, site: CreditSite, study: Study, caplog: Any, answer: str, status: int, found: str
) -> None:
    caplog.set_level(logging.DEBUG)
    site.answer, site.status = answer, status
    finishes(campaign)
    told = round_of_the_job()
    assert state() == found and credits_to_decide([study]).count() == 1
    console = Client()
    console.force_login(owner_of(study))
    desk = console.get(f"/studies/{study.slug}/desk/").text
    monitor = console.get(f"/studies/{study.slug}/monitor/").text
    assert "The credit site" in desk or "The answer of the credit site" in desk
    assert "was not confirmed by the site" in monitor
    everything = [desk, monitor, caplog.text, str(told), str(AuditEvent.objects.values_list("facts", flat=True))]
    assert not any(secret in text for text in everything for secret in (TOKEN, PERSON))


@pytest.mark.process
def test_a_site_that_cannot_be_reached_is_tried_again(campaign: Campaign, site: CreditSite) -> None:
    finishes(campaign)
    services.plan_credits()
    terms = campaign.link_terms
    address, terms.credit_site = terms.credit_site, "http://127.0.0.1:9"
    terms.save()
    services.send_credits()
    assert state() == WriteState.PLANNED and "cannot be reached" in Credit.objects.get().last_error
    terms.credit_site = address
    terms.save()
    services.send_credits()
    assert state() == WriteState.CONFIRMED


@pytest.mark.process
def test_only_a_payer_decides_and_only_what_is_open(campaign: Campaign, site: CreditSite, study: Study) -> None:
    site.answer = sites.REFUSED
    finishes(campaign)
    round_of_the_job()
    credit = Credit.objects.get()
    with pytest.raises(NotAllowed):
        services.send_credit_again(credit=credit, by=owner_of(study, "reviewer"))
    payer = owner_of(study, "payer")
    services.credit_by_hand(credit=credit, by=payer)
    with pytest.raises(Conflict, match="nothing has to be decided"):
        services.send_credit_again(credit=credit, by=payer)


class TestLaunch:
    @pytest.mark.process
    def test_both_ways_at_once_are_refused(self, study: Study, site: CreditSite) -> None:
        with pytest.raises(InvalidRequest, match="never both"):
            launched(study, site, return_address="https://school.sona-systems.com/done")
        with pytest.raises(InvalidRequest, match="webstudy_credit"):
            launched(study, site, return_address="https://school.sona-systems.com/webstudy_credit.aspx")

    @pytest.mark.process
    def test_a_token_is_needed_from_environment_or_file(
        self, study: Study, site: CreditSite, settings: Any, request: pytest.FixtureRequest
    ) -> None:
        settings.CREDIT_TOKENS = {}
        with pytest.raises(InvalidRequest, match="keys/credit_token_56"):
            launched(study, site, experiment="56")
        file = Path(settings.MEDIA_ROOT) / "keys" / "credit_token_56"
        file.parent.mkdir(exist_ok=True)
        request.addfinalizer(file.unlink)
        file.write_text(f"{TOKEN}\n")
        assert token_of("56") == TOKEN
        assert launched(study, site, experiment="56").link_terms.credit_site == site.address

    @pytest.mark.process
    @pytest.mark.parametrize("address", ["http://school.example.org", "https://school.example.org/x", "school"])
    def test_the_site_is_an_https_address(self, study: Study, site: CreditSite, address: str) -> None:
        with pytest.raises(InvalidRequest, match="https address"):
            launched(study, site, credit_site=address)

    @pytest.mark.process
    def test_a_site_without_such_a_call_is_refused(self, study: Study, site: CreditSite) -> None:
        with pytest.raises(InvalidRequest, match="takes no call"):
            launched(study, site, preset="class")

    def test_address_and_number_belong_together(self) -> None:
        with pytest.raises(InvalidInput, match="needs the number"):
            Link(preset="sona", credit_site="https://school.sona-systems.com")

    @pytest.mark.process
    def test_no_page_of_a_participant_names_site_or_secret(self, campaign: Campaign, site: CreditSite) -> None:
        visitor = Visitor(campaign, worker_id=PERSON)
        page = visitor.get(survey_code=PERSON).text + Client().get(f"/take/{campaign.entry}/run/").text
        assert TOKEN not in page and site.address not in page
