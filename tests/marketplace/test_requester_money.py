"""What the requester API holds, takes and pays."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from tests.marketplace.requester import MakeHit, code, hit_now, refused
from tests.marketplace.server import MarketplaceServer


def test_balance_and_fees_to_the_cent(marketplace: MarketplaceServer, fresh_mturk: Any, make_hit: MakeHit) -> None:
    def balance() -> tuple[str, str]:
        answer = fresh_mturk.get_account_balance()
        return answer["AvailableBalance"], answer["OnHoldBalance"]

    assert balance() == ("100.00", "0.00")
    small = make_hit(fresh_mturk, Reward="0.52", MaxAssignments=2)  # fee 10.4 -> 10 cents: 62 a piece
    large = make_hit(fresh_mturk, Reward="0.52", MaxAssignments=10)  # fee 20.8 -> 21 cents: 73 a piece
    assert balance() == ("100.00", "8.54")  # 2 x 62 + 10 x 73
    worker, other = marketplace.worker(), marketplace.worker()
    paid, rejected, in_large = worker.do(small["HITId"]), other.do(small["HITId"]), worker.do(large["HITId"])
    assert balance() == ("100.00", "8.54")
    fresh_mturk.approve_assignment(AssignmentId=paid)
    assert balance() == ("99.38", "7.92")
    fresh_mturk.reject_assignment(AssignmentId=rejected, RequesterFeedback="empty")
    assert balance() == ("99.38", "7.30")  # a rejection costs nothing, and its place is gone
    fresh_mturk.approve_assignment(AssignmentId=in_large)
    fresh_mturk.update_expiration_for_hit(HITId=large["HITId"], ExpireAt=datetime(2020, 1, 1, tzinfo=UTC))
    assert balance() == ("98.65", "0.00")
    send = {"WorkerId": worker.worker_id, "AssignmentId": paid, "Reason": "more"}
    fresh_mturk.send_bonus(**send, BonusAmount="0.02")  # the least fee: 1 cent
    fresh_mturk.send_bonus(**send, BonusAmount="10")
    assert balance() == ("86.62", "0.00")
    err = refused(fresh_mturk.send_bonus, **send, BonusAmount="72.20")  # with fees 86.64
    assert code(err) == "InsufficientFunds"
    assert balance() == ("86.62", "0.00")
    worker_totals = worker.get("/earnings/")["totals"]
    assert worker_totals == {
        "total_cents": 1106,
        "approved_cents": 104,
        "bonus_cents": 1002,
        "waiting_cents": 0,
        "paid_out_cents": 0,
        "owed_cents": 1106,
    }


def test_money_of_open_hits_is_spoken_for(fresh_mturk: Any, make_hit: MakeHit) -> None:
    make_hit(fresh_mturk, Reward="10", MaxAssignments=8)  # 96.00 of 100.00
    err = refused(lambda **values: make_hit(fresh_mturk, **values), Reward="4")
    assert code(err) == "InsufficientFunds"
    assert "$4.80" in str(err)
    assert "$96.00 is on hold" in str(err)
    make_hit(fresh_mturk, Reward="3")
    assert fresh_mturk.list_hits()["NumResults"] == 2


def test_bonuses_go_to_workers_of_the_assignment_alone(
    marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit
) -> None:
    hit = make_hit(mturk, MaxAssignments=2)
    worker, stranger = marketplace.worker(), marketplace.worker()
    done, open_one = worker.do(hit["HITId"]), stranger.accept(hit["HITId"])["assignment_id"]
    bonus = {"BonusAmount": "1", "Reason": "r"}
    for wrong in (
        {"WorkerId": stranger.worker_id, "AssignmentId": done},
        {"WorkerId": stranger.worker_id, "AssignmentId": open_one},
        {"WorkerId": worker.worker_id, "AssignmentId": done, "BonusAmount": "0"},
    ):
        assert code(refused(mturk.send_bonus, **bonus | wrong)) == "InvalidParameterValue"
    assert code(refused(mturk.list_bonus_payments)) == "InvalidParameterValue"


def test_a_hit_that_changes_its_type_pays_what_was_promised(
    marketplace: MarketplaceServer, fresh_mturk: Any, make_hit: MakeHit
) -> None:
    """Who accepted at 50 cents gets 50 cents; the places still free cost what the new type says."""
    mturk = fresh_mturk
    hit = make_hit(mturk, Reward="0.50", MaxAssignments=3)  # 60 a piece with the fee
    early, late = marketplace.worker(), marketplace.worker()
    accepted = early.accept(hit["HITId"])["assignment_id"]
    other = make_hit(mturk, Reward="1.00")  # 120
    assert mturk.get_account_balance()["OnHoldBalance"] == "3.00"
    mturk.update_hit_type_of_hit(HITId=hit["HITId"], HITTypeId=other["HITTypeId"])
    found = hit_now(mturk, hit)
    assert (found["HITTypeId"], found["Reward"]) == (other["HITTypeId"], "1.00")
    assert mturk.get_account_balance()["OnHoldBalance"] == "4.20"  # 60 + 2 x 120 + 120
    early.submit(accepted)
    for assignment_id in (accepted, late.do(hit["HITId"])):
        mturk.approve_assignment(AssignmentId=assignment_id)
    assert mturk.get_account_balance()["AvailableBalance"] == "98.20"
    assert early.get("/earnings/")["totals"]["approved_cents"] == 50
    assert late.get("/earnings/")["totals"]["approved_cents"] == 100
    dear = mturk.create_hit_type(Title="Dear", Description="d", Reward="99", AssignmentDurationInSeconds=60)
    err = refused(mturk.update_hit_type_of_hit, HITId=hit["HITId"], HITTypeId=dear["HITTypeId"])
    assert code(err) == "InsufficientFunds"
