"""What a launch is said to cost is what the marketplace takes, to the cent: random shapes, real boto3."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.conf import settings as platform_settings

from analysis.study.terms import WorkerRequirements
from humanexp.recruiters import money
from humanexp.recruiters.mturk.recruiter import MTurkRecruiter
from humanexp.recruiters.port import OfferOrder, OfferTerms, RewardOrder
from humanexp.recruiters.registry import capabilities_of
from humanexp.recruiting.launch import quote
from tests.marketplace.server import MarketplaceServer, RequesterKeys, WorkerClient

#: People who take every place; a HIT is done by each at most once.
CROWD = 14


class Shape:
    """A campaign: places, their reward, how they are split, and for whom."""

    def __init__(self, number: int) -> None:
        draw = random.Random(number)
        self.number = number
        self.places = draw.choice([1, 2, 5, 8, 9, 10, 11, 12, 13, 14])
        self.per_hit = draw.choice([1, 3, 9, 9, 10, self.places, None])
        self.reward_cents = draw.choice([0, 1, 2, 3, draw.randint(4, 60), draw.randint(61, 3_000)])
        self.bonuses = [draw.choice([1, 2, 7, draw.randint(8, 500)]) for _ in range(draw.randint(0, 2))]

    @property
    def quoted(self) -> Any:
        return quote(
            to="marketplace",
            assignments=self.places,
            reward_cents=self.reward_cents,
            assignments_per_hit=self.per_hit,
        )


@pytest.fixture(scope="module")
def keys(marketplace_process: MarketplaceServer) -> RequesterKeys:
    return marketplace_process.create_requester("A lab that counts", "9000000.00")


@pytest.fixture(scope="module")
def crowd(marketplace_process: MarketplaceServer) -> Iterator[list[WorkerClient]]:
    with ThreadPoolExecutor(4) as pool:
        yield list(pool.map(lambda _: marketplace_process.worker(), range(CROWD)))


@pytest.fixture
def recruiter(marketplace_process: MarketplaceServer, keys: RequesterKeys, transactional_db: None) -> MTurkRecruiter:
    return MTurkRecruiter(
        environment="marketplace",
        endpoint_url=f"{marketplace_process.url}/requester/",
        fees=platform_settings.MARKETPLACE_FEES,
        capabilities=capabilities_of("marketplace"),
        access_key_id=keys.access_key_id,
        secret_access_key=keys.secret_access_key,
        writes_per_second=10_000,
    )


def publish(recruiter: MTurkRecruiter, shape: Shape, **terms: Any) -> list[str]:
    hit_type = recruiter.publish_terms(
        OfferTerms(
            title=f"Shape {shape.number}",
            description="Counted.",
            keywords="",
            reward_cents=shape.reward_cents,
            assignment_duration_s=3600,
            auto_approval_s=86_400,
            **terms,
        )
    )
    return [
        recruiter.publish(
            OfferOrder(
                terms_id=hit_type,
                places=size,
                lifetime_s=3600,
                url="https://lab.example/take/x/",
                annotation=f"shape {shape.number}-{place}",
                token=f"shape-{shape.number}-{place}",
            )
        )
        for place, size in enumerate(shape.quoted.hit_sizes)
    ]


def held_cents(client: Any) -> int:
    return money.cents(client.get_account_balance()["OnHoldBalance"])


def take_and_pay(recruiter: MTurkRecruiter, crowd: list[WorkerClient], shape: Shape, pool: ThreadPoolExecutor) -> int:
    """Every place is taken, submitted and approved, and some get bonuses; what should have been charged."""
    due: int = shape.quoted.total_cents
    done: list[tuple[str, str]] = []
    for hit_id, size in zip(publish(recruiter, shape), shape.quoted.hit_sizes, strict=True):
        people = crowd[:size]
        taken = pool.map(lambda worker, hit=hit_id: worker.do(hit), people)
        done += [(worker.worker_id, assignment) for worker, assignment in zip(people, taken, strict=True)]
    for _, assignment_id in done:
        recruiter.pay(RewardOrder(submission_id=assignment_id))
    for cents, (worker_id, assignment_id) in zip(shape.bonuses, done, strict=False):
        recruiter._write(
            "send_bonus",
            WorkerId=worker_id,
            AssignmentId=assignment_id,
            BonusAmount=money.decimal(cents),
            Reason="For your care.",
            UniqueRequestToken=f"bonus-{shape.number}-{assignment_id}"[:64],
        )
        due += cents + recruiter.fees.bonus_fee_cents(cents)
    return due


def charged(recruiter: MTurkRecruiter, crowd: list[WorkerClient], numbers: range) -> None:
    before = recruiter.balance_cents() or 0
    with ThreadPoolExecutor(4) as pool:
        for number in numbers:
            due = take_and_pay(recruiter, crowd, Shape(number), pool)
            after = recruiter.balance_cents() or 0
            assert before - after == due, f"shape {number}"
            before = after


def test_what_is_quoted_is_charged_when_everybody_is_paid(recruiter: MTurkRecruiter, crowd: list[WorkerClient]) -> None:
    charged(recruiter, crowd, range(40))


@pytest.mark.slow
@pytest.mark.timeout(5400)
def test_five_hundred_shapes_are_charged_as_quoted(recruiter: MTurkRecruiter, crowd: list[WorkerClient]) -> None:
    charged(recruiter, crowd, range(1_000, 1_500))


def test_masters_and_many_places_are_held_as_quoted(
    recruiter: MTurkRecruiter, marketplace_process: MarketplaceServer, keys: RequesterKeys
) -> None:
    """Money of open places is put aside at the launch: no place has to be taken to see what it will cost."""
    client = marketplace_process.client(keys)
    draw = random.Random(5)
    for number in range(2_000, 2_010):
        shape = Shape(number)
        shape.places, shape.per_hit = draw.randint(1, 150), draw.choice([9, 10, 57, 150])
        masters = bool(number % 2)
        quoted = quote(
            to="marketplace",
            assignments=shape.places,
            reward_cents=shape.reward_cents,
            assignments_per_hit=shape.per_hit,
            masters=masters,
        )
        before = held_cents(client)
        publish(recruiter, shape, requirements=WorkerRequirements(masters=masters))
        assert held_cents(client) - before == quoted.total_cents, f"shape {number}"
