"""Whatever people and a requester do, in any order and at any time: places and money add up."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.marketplace.server import MarketplaceServer, external_question

FINAL = {"Approved", "Rejected"}


class Books:
    """A lab, six people, and what must be true after each step."""

    def __init__(self, marketplace: MarketplaceServer, client: Any, rng: random.Random) -> None:
        self.marketplace, self.client, self.rng = marketplace, client, rng
        self.workers = [marketplace.worker() for _ in range(6)]
        self.hits: list[str] = []
        self.given: list[str] = []
        self.refusals = 0

    def step(self) -> None:
        actions: list[Callable[[], Any]] = [
            self.make,
            *[self.accept] * 5,
            *[self.submit] * 3,
            self.give_back,
            self.judge,
            self.judge,
            self.extend,
            self.expire,
            self.bonus,
            self.wait,
            self.delete,
        ]
        try:
            self.rng.choice(actions)()
        except ClientError as err:
            assert err.response["Error"]["Code"] == "RequestError"
            self.refusals += 1

    def make(self) -> None:
        made = self.client.create_hit(
            Title=f"t{len(self.hits)}",
            Description="d",
            Reward=self.rng.choice(["0.00", "0.07", "1.13", "2.50"]),
            AssignmentDurationInSeconds=self.rng.choice([60, 3600]),
            AutoApprovalDelayInSeconds=self.rng.choice([0, 1800, 86_400]),
            LifetimeInSeconds=self.rng.choice([3600, 86_400]),
            MaxAssignments=self.rng.choice([2, 3, 12]),
            Question=external_question(),
        )
        self.hits.append(made["HIT"]["HITId"])

    def any_hit(self) -> str:
        if not self.hits:
            self.make()
        return self.rng.choice(self.hits)

    def accept(self) -> None:
        hit_id = self.rng.choice(self.hits[-3:] or [self.any_hit()])
        answer = self.rng.choice(self.workers).try_accept(hit_id)
        assert answer.status_code in (200, 403, 409)
        if answer.status_code == 200:
            self.given.append(answer.json()["assignment_id"])

    def submit(self) -> None:
        if self.given:
            assert self.workers[0].try_submit(self.rng.choice(self.given)).status_code in (200, 409)

    def give_back(self) -> None:
        if self.given:
            worker, assignment_id = self.rng.choice(self.workers), self.rng.choice(self.given)
            assert worker.give_back(assignment_id).status_code in (200, 404, 409)

    def judge(self) -> None:
        if not self.given:
            return
        assignment_id = self.rng.choice(self.given)
        if self.rng.random() < 0.4:
            self.client.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="r")
        else:
            self.client.approve_assignment(AssignmentId=assignment_id, OverrideRejection=self.rng.random() < 0.5)

    def extend(self) -> None:
        self.client.create_additional_assignments_for_hit(HITId=self.any_hit(), NumberOfAdditionalAssignments=1)

    def expire(self) -> None:
        if self.rng.random() < 0.7:
            return
        self.client.update_expiration_for_hit(
            HITId=self.any_hit(), ExpireAt=datetime.fromtimestamp(self.rng.randrange(10**9), UTC)
        )

    def bonus(self) -> None:
        if self.given:
            found = self.client.get_assignment(AssignmentId=self.rng.choice(self.given))["Assignment"]
            self.client.send_bonus(
                WorkerId=found["WorkerId"], AssignmentId=found["AssignmentId"], BonusAmount="0.33", Reason="r"
            )

    def wait(self) -> None:
        self.marketplace.advance(self.rng.choice([30, 300, 2000]))

    def delete(self) -> None:
        self.client.delete_hit(HITId=self.any_hit())

    def check(self) -> None:
        """Places of each HIT; money of the lab against the money of its people, to the cent."""
        spent = rewards = bonuses = 0
        for hit_id in self.hits:
            hit = self.client.get_hit(HITId=hit_id)["HIT"]
            rows = self.client.list_assignments_for_hit(HITId=hit_id, MaxResults=100)["Assignments"]
            states = [row["AssignmentStatus"] for row in rows]
            waiting = (
                hit["MaxAssignments"]
                - hit["NumberOfAssignmentsAvailable"]
                - hit["NumberOfAssignmentsPending"]
                - hit["NumberOfAssignmentsCompleted"]
            )
            assert waiting == states.count("Submitted")
            assert hit["NumberOfAssignmentsCompleted"] == sum(state in FINAL for state in states)
            assert len({row["WorkerId"] for row in rows}) == len(rows) <= hit["MaxAssignments"]
            if hit["HITStatus"] in ("Reviewable", "Disposed"):
                assert hit["NumberOfAssignmentsPending"] == 0
            reward = round(float(hit["Reward"]) * 100)
            large = hit["MaxAssignments"] >= 12  # the two smaller sizes never grow to ten
            fee = max(1, (reward * (40 if large else 20) + 50) // 100)
            rewards += reward * states.count("Approved")
            spent += (reward + fee) * states.count("Approved")
            for paid in self.client.list_bonus_payments(HITId=hit_id, MaxResults=100)["BonusPayments"]:
                bonuses += round(float(paid["BonusAmount"]) * 100)
                spent += round(float(paid["BonusAmount"]) * 100) + 7  # 6.6 of a cent
        balance = self.client.get_account_balance()
        assert round(float(balance["AvailableBalance"]) * 100) == 10_000 - spent
        assert 0 <= float(balance["OnHoldBalance"]) <= float(balance["AvailableBalance"])
        totals = [worker.get("/earnings/")["totals"] for worker in self.workers]
        assert sum(one["approved_cents"] for one in totals) == rewards
        assert sum(one["bonus_cents"] for one in totals) == bonuses


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 8))])
def test_the_books_add_up(marketplace: MarketplaceServer, fresh_mturk: Any, seed: int) -> None:
    books = Books(marketplace, fresh_mturk, random.Random(seed))
    for number in range(100):
        books.step()
        if number % 20 == 19:
            books.check()
    assert len(books.given) >= 5
    assert books.refusals > 5
