"""What every recruiter promises. A new one is added to `RECRUITERS` and has to pass all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Protocol

import pytest
from django.utils import timezone

from humanexp.core.errors import AlreadyDone, NotAtRecruiter, RecruiterError, StateRefused
from humanexp.ledger.hit_calls import terms_of
from humanexp.ledger.sender import send
from humanexp.recruiters.memory import Memory, MemoryRecruiter
from humanexp.recruiters.models import Campaign, Hit
from humanexp.recruiters.money import BonusLine
from humanexp.recruiters.port import (
    BonusOrder,
    Capabilities,
    OfferOrder,
    Proof,
    QualificationOrder,
    Recruiter,
    RewardOrder,
    SubmissionReport,
    WayBackCode,
)
from humanexp.recruiters.prolific.recruiter import ProlificRecruiter
from humanexp.recruiters.registry import capabilities_of, fees_of, kind_of, recruiter_for, registered
from humanexp.recruiters.states import AssignmentState
from humanexp.recruiters.tickets import Outcome
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.polling import sync
from humanexp.studies.models import Study
from tests.panel.server import Lab, PanelServer
from tests.recruitment.at_panel import come
from tests.recruitment.studies import Visitor
from tests.recruitment.workers import Worker

RECRUITERS = ("link", "volunteer", "marketplace", "memory", "panel")


@pytest.fixture(autouse=True)
def memory() -> Iterator[MemoryRecruiter]:
    """An account that nobody has used; the kind is known while the test runs."""
    kind = Memory()
    with registered(kind):
        yield kind.of()


@pytest.fixture(params=RECRUITERS)
def environment(request: pytest.FixtureRequest, marketplace: object, lab: Lab) -> str:
    return str(request.param)


@pytest.fixture
def recruiter(environment: str, transactional_db: None) -> Recruiter:
    return recruiter_for(environment)


@pytest.fixture
def can(environment: str) -> Capabilities:
    return capabilities_of(environment)


@pytest.fixture
def campaign(environment: str, study: Study, can: Capabilities) -> Campaign:
    campaign = publish(
        study=study, terms=LaunchTerms(to=environment, assignments=2, reward_cents=120 if can.vouches else 0)
    )
    send(environment=environment)
    return campaign


@pytest.fixture
def hit(campaign: Campaign) -> Hit:
    return campaign.hits.get()


class People(Protocol):
    """How somebody takes part who comes from a recruiter."""

    def begin(self) -> Visitor:
        """Comes and has agreed."""

    def finish(self, visitor: Visitor) -> None:
        """Answers everything and submits."""


@dataclass
class OfLink:
    """By the address alone."""

    campaign: Campaign

    def begin(self) -> Visitor:
        visitor = Visitor(self.campaign)
        visitor.open()
        return visitor

    def finish(self, visitor: Visitor) -> None:
        visitor.answer_all()


@dataclass
class OfMarketplace:
    """With an account there."""

    campaign: Campaign
    new_worker: Callable[[], Worker]

    def begin(self) -> Visitor:
        self.worker = self.new_worker()
        visitor = self.worker.accept(self.campaign)
        assert visitor.open().status_code == 201
        return visitor

    def finish(self, visitor: Visitor) -> None:
        self.worker.submit(visitor, visitor.answer_all()["receipt"])


@dataclass
class OfMemory:
    """By calling what people do."""

    campaign: Campaign
    account: MemoryRecruiter

    def begin(self) -> Visitor:
        ticket = self.account.accept(self.campaign.hits.get().hit_id, f"P{self.account.calls.total()}")
        visitor = Visitor(self.campaign, worker_id=ticket.person, assignment_id=ticket.submission)
        assert visitor.open().status_code == 201
        return visitor

    def finish(self, visitor: Visitor) -> None:
        self.account.submit(visitor.person["assignmentId"], receipt=visitor.answer_all()["receipt"])


@dataclass
class OfPanel:
    """With a place that was reserved and begun there."""

    campaign: Campaign
    panel: PanelServer

    def begin(self) -> Visitor:
        self.guest = come(self.panel, self.campaign)
        return self.guest.visitor

    def finish(self, visitor: Visitor) -> None:
        self.guest.finish()


@pytest.fixture
def people(
    environment: str,
    campaign: Campaign,
    new_worker: Callable[[], Worker],
    memory: MemoryRecruiter,
    panel: PanelServer,
) -> People:
    of: dict[str, People] = {
        "link": OfLink(campaign),
        "volunteer": OfLink(campaign),
        "marketplace": OfMarketplace(campaign, new_worker),
        "memory": OfMemory(campaign, memory),
        "panel": OfPanel(campaign, panel),
    }
    return of[environment]


@pytest.fixture
def somebody(environment: str, new_worker: Callable[[], Worker], panel: PanelServer) -> Callable[[], str]:
    """The id of a person whom the recruiter knows."""
    if environment == "panel":
        return lambda: str(panel.control("people", count=1)["participant_ids"][0])
    return lambda: new_worker().worker_id


@pytest.fixture
def take_part(people: People) -> Callable[[], Visitor]:
    """Somebody comes, does everything and submits."""

    def take() -> Visitor:
        visitor = people.begin()
        people.finish(visitor)
        return visitor

    return take


def only(recruiter: Recruiter, hit: Hit) -> SubmissionReport:
    [report] = recruiter.submissions(hit.hit_id)
    return report


@pytest.mark.gate
def test_a_published_hit_is_found_by_id_and_by_annotation(recruiter: Recruiter, hit: Hit) -> None:
    annotation = hit.calls.get(kind="create").token
    found = recruiter.find(annotation)
    assert found is not None
    assert found == recruiter.offer(hit.hit_id)
    assert (found.is_open, found.places, found.available, found.completed) == (True, 2, 2, 0)
    assert recruiter.find("nobody wrote this") is None
    with pytest.raises(NotAtRecruiter):
        recruiter.offer("H0")


def test_bonuses_that_a_repeat_would_pay_twice_are_paid_by_calls(recruiter: Recruiter, can: Capabilities) -> None:
    assert (recruiter.bonus_calls is not None) == (can.repeats.bonus == "never")


def test_nobody_is_listed_before_submission(recruiter: Recruiter, hit: Hit, take_part: Callable[[], Visitor]) -> None:
    assert list(recruiter.submissions(hit.hit_id)) == []
    take_part()
    report = only(recruiter, hit)
    assert report.state == AssignmentState.SUBMITTED
    assert report.offer_id == hit.hit_id
    assert report.answers.get("receipt") or report.code
    assert report.submitted_at.tzinfo is not None
    assert recruiter.submission(report.submission_id) == report
    about = recruiter.offer(hit.hit_id)
    assert (about.available, about.submitted, about.completed) == (1, 1, 0)
    assert recruiter.submission("A0") is None


@pytest.mark.gate
@pytest.mark.promise(1)
def test_sync_matches_it_with_its_session(
    campaign: Campaign, recruiter: Recruiter, take_part: Callable[[], Visitor]
) -> None:
    visitor = take_part()
    report = sync(study=campaign.study)
    assert (report.submitted, report.unmatched, report.remarks) == (1, 0, [])
    assert visitor.status()["state"] == "submitted"
    again = sync(study=campaign.study)
    assert (again.submitted, again.approved, again.rejected, again.returned) == (0, 0, 0, 0)


@pytest.mark.gate
def test_an_expired_hit_takes_nobody_and_expiring_twice_is_expiring_once(recruiter: Recruiter, hit: Hit) -> None:
    recruiter.close(hit.hit_id)
    recruiter.close(hit.hit_id)
    found = recruiter.offer(hit.hit_id)
    assert not found.is_open
    assert found.is_over or found.expires_at is not None


def test_a_hit_stays_open_longer_and_twice_is_once(recruiter: Recruiter, hit: Hit, can: Capabilities) -> None:
    until = timezone.now().replace(microsecond=0) + timedelta(days=20)
    if can.pauses:
        with pytest.raises(RecruiterError, match="no end"):
            recruiter.change(hit.hit_id, until=until, token="until")
        return
    recruiter.change(hit.hit_id, until=until, token="until")
    recruiter.change(hit.hit_id, until=until, token="until")
    assert recruiter.offer(hit.hit_id).expires_at == until


@pytest.mark.gate
@pytest.mark.promise(2)
def test_places_are_added_up_to_a_number_and_twice_is_once(recruiter: Recruiter, hit: Hit, can: Capabilities) -> None:
    token = f"extend-{hit.hit_id}"
    if not can.vouches:
        with pytest.raises(RecruiterError, match="cannot be extended"):
            recruiter.change(hit.hit_id, places=5, token=token)
        return
    for _ in range(2):
        recruiter.change(hit.hit_id, places=5, token=token)
        assert recruiter.offer(hit.hit_id).places == 5


def test_many_offers_are_listed_together_and_one_that_is_gone_is_left_out(
    recruiter: Recruiter, hit: Hit, campaign: Campaign
) -> None:
    assert list(recruiter.offers([hit.hit_id, "H0"])) == [recruiter.offer(hit.hit_id)]
    assert list(recruiter.offers([hit.hit_id, *(f"H{n}" for n in range(200))])) == [recruiter.offer(hit.hit_id)]


@pytest.mark.gate
@pytest.mark.promise(2)
def test_money_goes_through_it_or_is_refused(
    recruiter: Recruiter, hit: Hit, can: Capabilities, take_part: Callable[[], Visitor]
) -> None:
    take_part()
    report = only(recruiter, hit)
    reward = RewardOrder(submission_id=report.submission_id, feedback="Thank you.")
    bonus = BonusOrder(
        submission_id=report.submission_id,
        person_id=report.person_id,
        amount_cents=33,
        reason="For your care. [p7]",
        marker="[p7]",
        token=f"contract-{hit.hit_id}",
    )
    if not can.vouches:
        assert recruiter.balance_cents() is None
        calls: list[Callable[[], Any]] = [
            lambda: recruiter.pay(reward),
            lambda: recruiter.pay(bonus),
            lambda: recruiter.reject(report.submission_id, reason="no"),
        ]
        for call in calls:
            with pytest.raises(RecruiterError):
                call()
        assert list(recruiter.bonuses(hit.hit_id)) == []
        return
    before = recruiter.balance_cents()
    by_calls = recruiter.bonus_calls
    for order in (reward, bonus) if by_calls is None else (reward,):
        assert recruiter.evidence(order) == Proof.NOT_PAID
        assert recruiter.pay(order).is_paid
        assert recruiter.evidence(order) == Proof.PAID
        with pytest.raises((AlreadyDone, StateRefused)):
            recruiter.pay(order)
    if by_calls is None:
        another = replace(bonus, marker="[p8]")
        assert recruiter.evidence(another) == Proof.UNCLEAR, "nobody says what the listed one is"
        assert recruiter.evidence(replace(another, known_markers=frozenset({"[p7]"}))) == Proof.NOT_PAID
    else:
        assert recruiter.evidence(bonus) == Proof.UNCLEAR
        line = BonusLine(submission_id=report.submission_id, amount_cents=33)
        plan = by_calls.plan(hit.hit_id, [line])
        assert by_calls.listed(report.submission_id) == plan.listed[report.submission_id] == ()
        by_calls.pay(plan.plan_id)
        assert by_calls.listed(report.submission_id) == (33,)
        assert by_calls.standing(hit.hit_id).bonuses_cents == plan.standing.bonuses_cents + 33
    assert only(recruiter, hit).state == AssignmentState.APPROVED
    [paid] = recruiter.bonuses(hit.hit_id)
    said = bonus.reason if by_calls is None else ""
    assert (paid.amount_cents, paid.reason, paid.person_id) == (33, said, report.person_id)
    after = recruiter.balance_cents()
    assert before is not None
    assert after is not None
    fees = recruiter.fees
    assert before - after == 120 + fees.reward_fee_cents(120, hit_size=2) + 33 + fees.bonus_fee_cents(33)


def test_a_rejection_takes_effect_and_can_be_overridden(
    recruiter: Recruiter, hit: Hit, can: Capabilities, take_part: Callable[[], Visitor]
) -> None:
    if not can.vouches:
        pytest.skip("no money goes through it")
    take_part()
    report = only(recruiter, hit)
    reason = "Two people answered from one account. We have written to you about this, and there was no answer to it."
    grounds = kind_of(recruiter.environment).rejection_grounds
    recruiter.reject(report.submission_id, reason=reason, category="OTHER" if grounds else "")
    assert only(recruiter, hit).state == AssignmentState.REJECTED
    recruiter.pay(RewardOrder(submission_id=report.submission_id, overrides_rejection=True))
    assert only(recruiter, hit).state == AssignmentState.APPROVED


def test_a_qualification_is_made_once_for_a_name_and_given_and_taken_back(
    recruiter: Recruiter, hit: Hit, somebody: Callable[[], str]
) -> None:
    order = QualificationOrder(name=f"Contract {hit.hit_id}", description="Has met the contract.")
    type_id = recruiter.publish_qualification(order)
    assert type_id
    assert recruiter.publish_qualification(order) == type_id
    worker_id = somebody()
    assert not recruiter.holds(type_id, worker_id)
    if not recruiter.capabilities.vouches:
        for mark in (
            lambda: recruiter.grant(type_id, worker_id),
            lambda: recruiter.revoke(type_id, worker_id, reason="-"),
        ):
            with pytest.raises(RecruiterError):
                mark()
        return
    for _ in range(2):
        recruiter.grant(type_id, worker_id)
    assert recruiter.holds(type_id, worker_id)
    for _ in range(2):
        recruiter.revoke(type_id, worker_id, reason="It is open to you again.")
    assert not recruiter.holds(type_id, worker_id)


def test_work_is_hidden_from_who_has_the_mark(
    recruiter: Recruiter, campaign: Campaign, new_worker: Callable[[], Worker], panel: PanelServer
) -> None:
    """The same terms with different conditions are different groups of work."""
    if not recruiter.capabilities.vouches:
        pytest.skip("our own check at the entry is all there is")
    name = f"Members {campaign.pk}-{campaign.entry}"
    type_id = recruiter.publish_qualification(QualificationOrder(name=name, description="Members."))
    terms = terms_of(campaign, recruiter)
    for_all = replace(terms, title=name, hidden_from="")
    for_others = replace(terms, title=name, hidden_from=type_id)
    types = [recruiter.publish_terms(one) for one in (for_all, for_others)]
    assert types[0] == recruiter.publish_terms(for_all)
    codes = (WayBackCode(outcome=Outcome.FINISHED, code="C0DE", is_reviewed=True),)
    offers = [
        recruiter.publish(
            OfferOrder(
                terms_id=type_of,
                places=1,
                lifetime_s=3600,
                url="https://lab.example/take/x/",
                annotation=f"{name}-{number}",
                token=f"c-{campaign.entry}-{number}",
                terms=terms_of_them,
                codes=codes,
            )
        )
        for number, (type_of, terms_of_them) in enumerate(zip(types, (for_all, for_others), strict=True))
    ]
    if isinstance(recruiter, MemoryRecruiter):
        member, other, shown = "M", "O", recruiter.visible_to
    elif isinstance(recruiter, ProlificRecruiter):
        types = offers
        member, other = panel.control("people", count=2)["participant_ids"]

        def shown(person_id: str) -> list[str]:
            page = panel.person(person_id).get("/studies/").text
            return [study for study in types if study in page]
    else:
        workers = {worker.worker_id: worker for worker in (new_worker(), new_worker())}
        member, other = workers

        def shown(person_id: str) -> list[str]:
            return [group["hit_type_id"] for group in workers[person_id].client.groups()]

    recruiter.grant(type_id, member)
    assert len(set(types)) == 2
    seen = [set(shown(person_id)) & set(types) for person_id in (member, other)]
    assert seen == [{types[0]}, set(types)]


def test_hints_are_none_without_a_queue(recruiter: Recruiter) -> None:
    recruiter.ask_for_hints("T0")
    assert recruiter.hints() == []


def test_its_fees_are_known_before_there_are_keys(recruiter: Recruiter, environment: str) -> None:
    assert recruiter.fees == fees_of(environment)
    assert recruiter.environment == environment


def test_nobody_can_be_reached_who_did_not_work_for_us(recruiter: Recruiter) -> None:
    assert recruiter.notify(["A00000000000"], subject="Thank you", text="Your payment is on its way.") == [
        "A00000000000"
    ]
