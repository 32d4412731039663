"""Requests that are sent again, lost or held up."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.marketplace.requester import DAY, MakeHit, code, hit_now, refused
from tests.marketplace.server import MarketplaceServer, RequesterKeys


def test_a_token_works_once_a_day_and_its_repeat_names_the_hit(
    marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit
) -> None:
    hit = make_hit(mturk, UniqueRequestToken="row-1", MaxAssignments=2)
    err = refused(lambda **values: make_hit(mturk, **values), UniqueRequestToken="row-1")
    assert code(err) == "HitAlreadyExists"
    assert err.response["Error"]["Code"] == "RequestError"
    assert hit["HITId"] in str(err)

    add = {"HITId": hit["HITId"], "NumberOfAdditionalAssignments": 3, "UniqueRequestToken": "row-1"}
    mturk.create_additional_assignments_for_hit(**add)
    assert "has already been processed" in str(refused(mturk.create_additional_assignments_for_hit, **add))
    assert hit_now(mturk, hit)["MaxAssignments"] == 5

    worker = marketplace.worker()
    assignment_id = worker.do(hit["HITId"])
    bonus = {"WorkerId": worker.worker_id, "AssignmentId": assignment_id, "BonusAmount": "0.10", "Reason": "r"}
    mturk.send_bonus(**bonus, UniqueRequestToken="row-1")
    again = refused(mturk.send_bonus, **bonus | {"BonusAmount": "0.20"}, UniqueRequestToken="row-1")
    assert 'The idempotency token "row-1" has already been processed.' in str(again)
    assert mturk.list_bonus_payments(AssignmentId=assignment_id)["NumResults"] == 1
    mturk.send_bonus(**bonus)  # without a token a repeat pays again

    marketplace.advance(DAY + 1)
    mturk.send_bonus(**bonus, UniqueRequestToken="row-1")  # forgotten after a day, as on MTurk
    assert mturk.list_bonus_payments(AssignmentId=assignment_id)["NumResults"] == 3


def test_a_token_sent_many_times_at_once_works_once(mturk: Any, make_hit: MakeHit) -> None:
    def send(number: int) -> str:
        try:
            return str(make_hit(mturk, UniqueRequestToken="race", RequesterAnnotation="race")["HITId"])
        except ClientError as err:
            assert code(err) == "HitAlreadyExists"
            return ""

    with ThreadPoolExecutor(8) as pool:
        made = [hit_id for hit_id in pool.map(send, range(8)) if hit_id]
    assert len(made) == 1


def test_a_refused_request_does_not_use_its_token_up(mturk: Any, make_hit: MakeHit) -> None:
    broken = {"Question": "<nonsense", "UniqueRequestToken": "row-2"}
    assert code(refused(lambda **values: make_hit(mturk, **values), **broken)) == "XMLParseError"
    make_hit(mturk, UniqueRequestToken="row-2")


def test_a_lost_answer_is_found_by_asking(marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit) -> None:
    """One attempt: the connection is cut after the work was done, and reading tells so."""
    from botocore.exceptions import ConnectionClosedError

    marketplace.arm("CreateHIT", "drop_after_commit")
    with pytest.raises(ConnectionClosedError):
        make_hit(mturk, RequesterAnnotation="lost", UniqueRequestToken="lost-1")
    lost = [hit for hit in mturk.list_hits(MaxResults=100)["HITs"] if hit.get("RequesterAnnotation") == "lost"]
    assert len(lost) == 1
    err = refused(lambda **values: make_hit(mturk, **values), UniqueRequestToken="lost-1")
    assert lost[0]["HITId"] in str(err)

    worker = marketplace.worker()
    bonus = {"WorkerId": worker.worker_id, "AssignmentId": worker.do(lost[0]["HITId"]), "Reason": "r"}
    marketplace.arm("SendBonus", "drop_before")
    with pytest.raises(ConnectionClosedError):
        mturk.send_bonus(**bonus, BonusAmount="1")
    assert mturk.list_bonus_payments(HITId=lost[0]["HITId"])["NumResults"] == 0


def test_botocores_repeats_pay_twice_without_a_token(
    marketplace: MarketplaceServer, rich_keys: RequesterKeys, make_hit: MakeHit
) -> None:
    """What the platform's ledger is for; the marketplace must not hide it."""
    repeating = marketplace.client(rich_keys, attempts=3)
    worker = marketplace.worker()
    assignment_id = worker.do(make_hit(repeating)["HITId"])
    marketplace.arm("SendBonus", "drop_after_commit")
    repeating.send_bonus(
        WorkerId=worker.worker_id, AssignmentId=assignment_id, BonusAmount="0.10", Reason="once, please"
    )
    assert repeating.list_bonus_payments(AssignmentId=assignment_id)["NumResults"] == 2


def test_throttling_faults_and_delays(marketplace: MarketplaceServer, rich_keys: RequesterKeys, mturk: Any) -> None:
    from botocore.exceptions import ReadTimeoutError

    marketplace.arm("GetAccountBalance", "throttle")
    err = refused(mturk.get_account_balance)
    assert (err.response["Error"]["Code"], err.response["Error"]["Message"]) == ("ThrottlingException", "Rate exceeded")
    marketplace.arm("*", "service_fault")
    with pytest.raises(mturk.exceptions.ServiceFault):
        mturk.list_hits()
    marketplace.arm("GetAccountBalance", "delay", seconds=1.5)
    with pytest.raises(ReadTimeoutError):
        marketplace.client(rich_keys, read_timeout=0.3).get_account_balance()
    assert marketplace.client(rich_keys, attempts=3).get_account_balance()["AvailableBalance"]
