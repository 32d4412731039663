"""What every recruiter promises. A new one is added to `RECRUITERS` and has to pass all of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from humanexp.core.errors import AlreadyDone, NotAtRecruiter, RecruiterError
from humanexp.recruitment import services
from humanexp.recruitment.models import Campaign, Hit
from humanexp.recruitment.recruiters import fees_of, recruiter_for
from humanexp.recruitment.recruiters.base import (
    AssignmentReport,
    BonusOrder,
    HitOrder,
    Holds,
    QualificationOrder,
    Recruiter,
)
from humanexp.recruitment.services.deliveries.hits import terms_of
from humanexp.recruitment.states import AssignmentState
from humanexp.studies.models import Study
from tests.recruitment.studies import Visitor
from tests.recruitment.workers import Worker

RECRUITERS = ("link", "marketplace")


@pytest.fixture(params=RECRUITERS)
def environment(request: pytest.FixtureRequest, marketplace: object) -> str:
    return str(request.param)


@pytest.fixture
def recruiter(environment: str) -> Recruiter:
    return recruiter_for(environment)


@pytest.fixture
def campaign(environment: str, study: Study) -> Campaign:
    reward = 0 if environment == "link" else 120
    campaign = services.publish(
        study=study, terms=services.LaunchTerms(to=environment, assignments=2, reward_cents=reward)
    )
    services.send(environment=environment)
    return campaign


@pytest.fixture
def hit(campaign: Campaign) -> Hit:
    return campaign.hits.get()


@pytest.fixture
def take_part(campaign: Campaign, new_worker: Callable[[], Worker]) -> Callable[[], Visitor]:
    """Somebody comes, does everything and submits."""

    def take() -> Visitor:
        if campaign.capabilities.vouches:
            return new_worker().do(campaign)
        visitor = Visitor(campaign)
        visitor.open()
        visitor.answer_all()
        return visitor

    return take


def only(recruiter: Recruiter, hit: Hit) -> AssignmentReport:
    [report] = recruiter.assignments(hit.hit_id)
    return report


def test_a_published_hit_is_found_by_id_and_by_annotation(recruiter: Recruiter, hit: Hit) -> None:
    annotation = hit.writes.get(kind="create").annotation
    found = recruiter.find_hit(annotation)
    assert found is not None
    assert found == recruiter.hit(hit.hit_id)
    assert (found.is_open, found.max_assignments, found.available, found.completed) == (True, 2, 2, 0)
    assert recruiter.find_hit("nobody wrote this") is None
    with pytest.raises(NotAtRecruiter):
        recruiter.hit("H0")


def test_nobody_is_listed_before_submission(recruiter: Recruiter, hit: Hit, take_part: Callable[[], Visitor]) -> None:
    assert list(recruiter.assignments(hit.hit_id)) == []
    take_part()
    report = only(recruiter, hit)
    assert report.state == AssignmentState.SUBMITTED
    assert report.hit_id == hit.hit_id
    assert report.answers["receipt"]
    assert report.submitted_at.tzinfo is not None
    assert recruiter.assignment(report.assignment_id) == report
    assert recruiter.hit(hit.hit_id).available == 1
    assert recruiter.assignment("A0") is None


def test_sync_matches_it_with_its_session(
    campaign: Campaign, recruiter: Recruiter, take_part: Callable[[], Visitor]
) -> None:
    visitor = take_part()
    report = services.sync(study=campaign.study)
    assert (report.submitted, report.unmatched, report.remarks) == (1, 0, [])
    assert visitor.status()["state"] == "submitted"
    again = services.sync(study=campaign.study)
    assert (again.submitted, again.approved, again.rejected, again.returned) == (0, 0, 0, 0)


def test_an_expired_hit_takes_nobody_and_expiring_twice_is_expiring_once(recruiter: Recruiter, hit: Hit) -> None:
    recruiter.expire_hit(hit.hit_id)
    recruiter.expire_hit(hit.hit_id)
    found = recruiter.hit(hit.hit_id)
    assert not found.is_open
    assert found.expires_at is not None


def test_a_hit_stays_open_longer_and_twice_is_once(recruiter: Recruiter, hit: Hit) -> None:
    until = timezone.now().replace(microsecond=0) + timedelta(days=20)
    recruiter.prolong_hit(hit.hit_id, until=until)
    recruiter.prolong_hit(hit.hit_id, until=until)
    assert recruiter.hit(hit.hit_id).expires_at == until


def test_a_hit_is_extended_once_for_a_token(recruiter: Recruiter, hit: Hit) -> None:
    token = f"extend-{hit.hit_id}"
    if not recruiter.capabilities.pays:
        with pytest.raises(RecruiterError, match="cannot be extended"):
            recruiter.extend_hit(hit.hit_id, places=3, token=token)
        return
    recruiter.extend_hit(hit.hit_id, places=3, token=token)
    with pytest.raises(AlreadyDone):
        recruiter.extend_hit(hit.hit_id, places=3, token=token)
    assert recruiter.hit(hit.hit_id).max_assignments == 5
    with pytest.raises(RecruiterError):  # two places can never become ten: the fee would change
        recruiter.extend_hit(hit.hit_id, places=5, token=f"{token}-again")


def test_money_goes_through_it_or_is_refused(recruiter: Recruiter, hit: Hit, take_part: Callable[[], Visitor]) -> None:
    take_part()
    report = only(recruiter, hit)
    order = BonusOrder(
        assignment_id=report.assignment_id,
        worker_id=report.worker_id,
        amount_cents=33,
        reason="For your care. [p7]",
        token=f"contract-{hit.hit_id}",
    )
    if not recruiter.capabilities.pays:
        assert recruiter.balance_cents() is None
        calls: list[Callable[[], Any]] = [
            lambda: recruiter.approve(report.assignment_id),
            lambda: recruiter.reject(report.assignment_id, reason="no"),
            lambda: recruiter.bonus(order),
        ]
        for call in calls:
            with pytest.raises(RecruiterError):
                call()
        assert list(recruiter.bonuses(hit_id=hit.hit_id)) == []
        return
    before = recruiter.balance_cents()
    recruiter.approve(report.assignment_id, feedback="Thank you.")
    recruiter.bonus(order)
    with pytest.raises(RecruiterError):
        recruiter.bonus(order)
    assert only(recruiter, hit).state == AssignmentState.APPROVED
    for found in (recruiter.bonuses(hit_id=hit.hit_id), recruiter.bonuses(assignment_id=report.assignment_id)):
        [bonus] = found
        assert (bonus.amount_cents, bonus.reason, bonus.worker_id) == (33, order.reason, report.worker_id)
    after = recruiter.balance_cents()
    assert before is not None
    assert after is not None
    fees = recruiter.fees
    assert before - after == 120 + fees.reward_fee_cents(120, hit_size=2) + 33 + fees.bonus_fee_cents(33)


def test_a_rejection_takes_effect_and_can_be_overridden(
    recruiter: Recruiter, hit: Hit, take_part: Callable[[], Visitor]
) -> None:
    if not recruiter.capabilities.pays:
        pytest.skip("no money goes through it")
    take_part()
    report = only(recruiter, hit)
    recruiter.reject(report.assignment_id, reason="Two people answered from one account.")
    assert only(recruiter, hit).state == AssignmentState.REJECTED
    recruiter.approve(report.assignment_id, override_rejection=True)
    assert only(recruiter, hit).state == AssignmentState.APPROVED


def test_a_qualification_is_made_once_for_a_name_and_given_and_taken_back(
    recruiter: Recruiter, hit: Hit, new_worker: Callable[[], Worker]
) -> None:
    order = QualificationOrder(name=f"Contract {hit.hit_id}", description="Has met the contract.")
    type_id = recruiter.publish_qualification(order)
    assert type_id
    assert recruiter.publish_qualification(order) == type_id
    worker_id = new_worker().worker_id
    assert recruiter.score(type_id, worker_id) is None
    if not recruiter.capabilities.qualifies:
        for mark in (
            lambda: recruiter.grant(type_id, worker_id),
            lambda: recruiter.revoke(type_id, worker_id, reason="-"),
        ):
            with pytest.raises(RecruiterError):
                mark()
        return
    for value in (7, 7, 3):
        recruiter.grant(type_id, worker_id, value=value)
    assert recruiter.score(type_id, worker_id) == 3
    for _ in range(2):
        recruiter.revoke(type_id, worker_id, reason="It is open to you again.")
    assert recruiter.score(type_id, worker_id) is None


def test_work_is_hidden_from_who_may_not_do_it(
    recruiter: Recruiter, campaign: Campaign, new_worker: Callable[[], Worker]
) -> None:
    """The same terms with different conditions are different groups of work."""
    if not recruiter.capabilities.qualifies:
        pytest.skip("our own check at the entry is all there is")
    name = f"Members {campaign.pk}-{campaign.entry}"
    type_id = recruiter.publish_qualification(QualificationOrder(name=name, description="Members."))
    terms = terms_of(campaign, recruiter)
    for_members = replace(terms, title=name, holds=(Holds(type_id=type_id),), lacks=())
    for_others = replace(terms, title=name, holds=(), lacks=(type_id,))
    types = [recruiter.publish_type(one) for one in (for_members, for_others)]
    assert len({*types, recruiter.publish_type(for_members)}) == 2
    for number, type_of in enumerate(types):
        order = HitOrder(
            hit_type_id=type_of,
            places=1,
            lifetime_s=3600,
            url="https://lab.example/take/x/",
            annotation=f"{name}-{number}",
            token=f"c-{campaign.entry}-{number}",
        )
        recruiter.publish_hit(order)
    member, other = new_worker(), new_worker()
    recruiter.grant(type_id, member.worker_id)
    seen = [{group["hit_type_id"] for group in worker.client.groups()} & set(types) for worker in (member, other)]
    assert seen == [{types[0]}, {types[1]}]


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
