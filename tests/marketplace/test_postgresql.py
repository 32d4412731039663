"""The same site on PostgreSQL: its way from a HIT to the money, with people and clients racing."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.marketplace.queues import Queues
from tests.marketplace.requester import code, places
from tests.marketplace.server import running
from tests.marketplace.test_qualifications import quiz

MakeHit = Callable[..., dict[str, Any]]


@pytest.mark.slow
@pytest.mark.postgres
def test_the_whole_way_on_postgresql(
    postgres_url: str,
    tmp_path: Path,
    queues: Queues,
    make_hit: MakeHit,
) -> None:
    environment = {"MARKETPLACE_DATABASE_URL": postgres_url, "MARKETPLACE_SQS_ENDPOINT_URL": queues.url}
    with running(tmp_path, **environment) as server:
        client = server.client(server.create_requester("lab", "100.00"))
        type_id = quiz(client, "Plates")
        asked = [{"QualificationTypeId": type_id, "Comparator": "EqualTo", "IntegerValues": [100]}]
        hit = make_hit(client, MaxAssignments=3, Reward="1.00", QualificationRequirements=asked)
        client.update_notification_settings(
            HITTypeId=hit["HITTypeId"], Notification=queues.queue("postgresql", "AssignmentSubmitted", "HITReviewable")
        )
        workers = [server.worker() for _ in range(6)]
        for worker in workers:
            assert worker.take_test(type_id, first="12", second="nothing")["outcome"] == "Granted"
        with ThreadPoolExecutor(12) as pool:
            answers = list(pool.map(lambda worker: worker.try_accept(hit["HITId"]), workers * 2))
        assert {answer.status_code for answer in answers} == {200, 409}
        accepted = {answer.json()["assignment_id"] for answer in answers if answer.status_code == 200}
        assert len(accepted) == 3
        for assignment_id in accepted:
            workers[0].submit(assignment_id)
        assert places(client.get_hit(HITId=hit["HITId"])["HIT"]) == ("Reviewable", 0, 0, 0)

        def pay(number: int) -> str:
            assignment = client.get_assignment(AssignmentId=sorted(accepted)[number % 3])["Assignment"]
            try:
                client.send_bonus(
                    WorkerId=assignment["WorkerId"],
                    AssignmentId=assignment["AssignmentId"],
                    BonusAmount="0.50",
                    Reason="r",
                    UniqueRequestToken=f"bonus-{number % 3}",
                )
            except ClientError as err:
                return code(err)
            return "paid"

        with ThreadPoolExecutor(6) as pool:
            results = list(pool.map(pay, range(9)))
        assert results.count("paid") == 3
        for assignment_id in accepted:
            client.approve_assignment(AssignmentId=assignment_id)
        assert client.get_account_balance() | {"ResponseMetadata": None} == {
            "AvailableBalance": "94.60",  # 3 x 1.20 and 3 x 0.60
            "OnHoldBalance": "0.00",
            "ResponseMetadata": None,
        }
        told = sorted(event["EventType"] for event in queues.events("postgresql", 4))
        assert told == ["AssignmentSubmitted"] * 3 + ["HITReviewable"]
        client.delete_hit(HITId=hit["HITId"])
        assert client.list_hits()["HITs"] == []
