"""What becomes of a HIT and its assignments as time goes on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.marketplace.requester import DAY, MakeHit, code, hit_now, places, refused
from tests.marketplace.server import MarketplaceServer


def test_auto_approval_abandonment_and_expiry_follow_the_clock(
    marketplace: MarketplaceServer, fresh_mturk: Any, make_hit: MakeHit
) -> None:
    mturk = fresh_mturk
    hit = make_hit(mturk, Reward="1", MaxAssignments=3, AutoApprovalDelayInSeconds=3600, LifetimeInSeconds=7200)
    worker, slow, returning = (marketplace.worker() for _ in range(3))
    done = worker.do(hit["HITId"])
    never = slow.accept(hit["HITId"])["assignment_id"]
    returning.give_back(returning.accept(hit["HITId"])["assignment_id"])
    assert places(hit_now(mturk, hit)) == ("Assignable", 1, 1, 0)

    marketplace.advance(601)  # the time allowed is 600 s
    assert places(hit_now(mturk, hit)) == ("Assignable", 2, 0, 0)
    assert slow.get(f"/work/{never}/")["state"] == "Abandoned"
    assert slow.try_submit(never).status_code == 409
    again = slow.accept(hit["HITId"])["assignment_id"]
    assert again != never

    marketplace.advance(300)
    slow.submit(again)
    assert mturk.get_assignment(AssignmentId=done)["Assignment"]["AssignmentStatus"] == "Submitted"
    assert mturk.get_account_balance()["AvailableBalance"] == "100.00"

    marketplace.advance(2790)
    approved = mturk.get_assignment(AssignmentId=done)["Assignment"]
    assert approved["AssignmentStatus"] == "Approved"
    assert approved["ApprovalTime"] == approved["AutoApprovalTime"]
    assert mturk.get_account_balance()["AvailableBalance"] == "98.80"
    assert code(refused(mturk.reject_assignment, AssignmentId=done, RequesterFeedback="late")) == (
        "InvalidAssignmentState"
    )
    assert worker.get("/earnings/")["totals"]["approved_cents"] == 100

    marketplace.advance(7200)
    assert places(hit_now(mturk, hit)) == ("Reviewable", 1, 0, 2)
    assert marketplace.worker().try_accept(hit["HITId"]).status_code == 409
    mturk.delete_hit(HITId=hit["HITId"])


def test_expiring_stops_nobody_who_has_accepted(marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit) -> None:
    hit = make_hit(mturk, MaxAssignments=3)
    worker = marketplace.worker()
    accepted = worker.accept(hit["HITId"])
    past = datetime.now(UTC) - timedelta(days=1)
    mturk.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=past)
    assert places(hit_now(mturk, hit)) == ("Unassignable", 2, 1, 0)
    assert marketplace.worker().try_accept(hit["HITId"]).status_code == 409
    assert code(refused(mturk.delete_hit, HITId=hit["HITId"])) == "InvalidHITState"
    worker.submit(accepted["assignment_id"])
    assert places(hit_now(mturk, hit)) == ("Reviewable", 2, 0, 0)
    assert code(refused(mturk.delete_hit, HITId=hit["HITId"])) == "InvalidHITState"  # one is not judged yet
    # Clients end a HIT again and again, when they shut down.
    mturk.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=past)
    assert places(hit_now(mturk, hit)) == ("Reviewable", 2, 0, 0)
    later = datetime.now(UTC) + timedelta(days=300)
    mturk.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=later)
    assert places(hit_now(mturk, hit))[0] == "Assignable"
    # Seen at the real service: the same future time twice counts as a repeated token.
    again = refused(mturk.update_expiration_for_hit, HITId=hit["HITId"], ExpireAt=later)
    assert "has already been processed" in str(again)


def test_ending_a_deleted_hit_does_nothing(mturk: Any, make_hit: MakeHit) -> None:
    hit = make_hit(mturk)
    past = datetime(2015, 1, 1, tzinfo=UTC)
    mturk.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=past)
    mturk.delete_hit(HITId=hit["HITId"])
    mturk.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=past)
    assert hit_now(mturk, hit)["HITStatus"] == "Disposed"
    assert code(refused(mturk.delete_hit, HITId=hit["HITId"])) == "InvalidHITState"
    future = datetime.now(UTC) + timedelta(days=1)
    assert refused(mturk.update_expiration_for_hit, HITId=hit["HITId"], ExpireAt=future)


def test_a_hit_under_ten_does_not_grow_to_ten(mturk: Any, make_hit: MakeHit) -> None:
    hit = make_hit(mturk, MaxAssignments=9)
    err = refused(mturk.create_additional_assignments_for_hit, HITId=hit["HITId"], NumberOfAdditionalAssignments=1)
    assert code(err) == "InvalidMaximumAssignmentsIncrease"
    large = make_hit(mturk, MaxAssignments=10)
    mturk.create_additional_assignments_for_hit(HITId=large["HITId"], NumberOfAdditionalAssignments=5)
    assert hit_now(mturk, large)["NumberOfAssignmentsAvailable"] == 15


def test_an_override_ends_with_the_hit_and_after_30_days(
    marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit
) -> None:
    hits = [make_hit(mturk) for _ in range(3)]
    worker = marketplace.worker()
    in_time, deleted, late = (worker.do(hit["HITId"]) for hit in hits)
    for assignment_id in (in_time, deleted, late):
        mturk.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="empty")
    mturk.delete_hit(HITId=hits[1]["HITId"])
    assert "deleted" in str(refused(mturk.approve_assignment, AssignmentId=deleted, OverrideRejection=True))
    marketplace.advance(29 * DAY)
    mturk.approve_assignment(AssignmentId=in_time, OverrideRejection=True)
    marketplace.advance(2 * DAY)
    assert "30 days" in str(refused(mturk.approve_assignment, AssignmentId=late, OverrideRejection=True))


def test_reviewing_is_a_note_that_an_extension_takes_away(
    marketplace: MarketplaceServer, mturk: Any, make_hit: MakeHit
) -> None:
    hit = make_hit(mturk)
    marketplace.worker().do(hit["HITId"])
    mturk.update_hit_review_status(HITId=hit["HITId"])
    assert places(hit_now(mturk, hit))[0] == "Reviewing"
    assert hit["HITId"] not in [row["HITId"] for row in mturk.list_reviewable_hits(MaxResults=100)["HITs"]]
    reviewing = mturk.list_reviewable_hits(Status="Reviewing", MaxResults=100)["HITs"]
    assert hit["HITId"] in [row["HITId"] for row in reviewing]
    assert code(refused(mturk.update_hit_review_status, HITId=hit["HITId"])) == "InvalidHITState"
    mturk.update_hit_review_status(HITId=hit["HITId"], Revert=True)
    mturk.update_hit_review_status(HITId=hit["HITId"])
    mturk.create_additional_assignments_for_hit(HITId=hit["HITId"], NumberOfAdditionalAssignments=1)
    assert places(hit_now(mturk, hit))[0] == "Assignable"
    marketplace.worker().do(hit["HITId"])
    assert places(hit_now(mturk, hit))[0] == "Reviewable"
