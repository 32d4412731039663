"""What has to hold on both sides once everything is over, read from the two databases with nobody's code between."""

from __future__ import annotations

import boto3

from tests.journeys.site import PROCESSES, Heard, Site

_ANSWERS = """
    SELECT s.id AS session, r.position AS position, r.response AS response
    FROM experiments_response r
    JOIN experiments_trial t ON t.id = r.trial_id AND t.position = r.position
    JOIN experiments_session s ON s.id = r.session_id AND s.id = t.session_id
"""
_THEIR_ASSIGNMENTS = """
    SELECT a.assignment_id, a.submitted_at, a.approved_at, a.rejected_at, w.worker_id, t.reward_cents, h.fee_cents
    FROM marketplace_assignment a
    JOIN marketplace_worker w ON w.id = a.worker_id
    JOIN marketplace_hit h ON h.id = a.hit_id
    JOIN marketplace_hittype t ON t.id = h.hit_type_id
"""
_OUR_PAYMENTS = """
    SELECT a.assignment_id, p.kind, p.state, p.amount_cents, p.fee_cents, s.state AS session_state
    FROM recruitment_call p
    JOIN recruitment_assignment a ON a.id = p.assignment_id
    LEFT JOIN experiments_session s ON s.id = a.session_id
    WHERE p.kind IN ('reward', 'bonus', 'compensation')
"""


def check_faults(site: Site, heard: Heard) -> None:
    """A server dies without a word; while it lives, it never says that it has failed, nor writes it into its log."""
    assert not [line for line in heard if line.get("status", 0) >= 500]
    for name in PROCESSES:
        assert "Traceback" not in site.log(name), site.log(name)


def check_answers(site: Site, heard: Heard, *, complete: int) -> None:
    """Every acknowledged answer is stored once, as it was given; so many sessions are complete and submitted."""
    rows = site.platform(_ANSWERS)
    stored = {(row["session"], row["position"]): row["response"] for row in rows}
    assert len(stored) == len(rows) == site.platform("SELECT count(*) FROM experiments_response")[0][0]
    acknowledged = heard.answers()
    assert acknowledged, "nobody answered anything"
    assert acknowledged.items() <= stored.items()

    sessions = site.platform("SELECT * FROM experiments_session")
    done = [session for session in sessions if session["state"] == "submitted"]
    assert len(done) == complete
    for session in done:
        positions = sorted(position for of, position in stored if of == session["id"])
        assert positions == list(range(session["total"]))
        assert session["cursor"] == session["total"]
    for session in sessions:
        answered = sorted(position for of, position in stored if of == session["id"])
        assert answered == list(range(session["cursor"])), "an answer without its step of the cursor, or the reverse"
    slots = [session["slot"] for session in sessions if session["state"] != "withdrawn"]
    assert len(slots) == len(set(slots))


def check_money(site: Site, heard: Heard, *, paid: int, bonus_cents: int = 0) -> None:
    """Everybody who submitted is paid once on the marketplace, nobody else, and the two ledgers say the same."""
    theirs = site.marketplace(_THEIR_ASSIGNMENTS)
    submitted = {row["assignment_id"]: row for row in theirs if row["submitted_at"]}
    assert heard.submitted() <= set(submitted), "a submission that was acknowledged is gone"
    assert len(submitted) == paid == len({row["worker_id"] for row in submitted.values()})
    assert all(row["approved_at"] and not row["rejected_at"] for row in submitted.values())
    assert not any(row["approved_at"] for row in theirs if not row["submitted_at"])
    bonuses = site.marketplace(
        "SELECT a.assignment_id, b.amount_cents, b.fee_cents FROM marketplace_bonuspayment b "
        "JOIN marketplace_assignment a ON a.id = b.assignment_id"
    )
    expected = sorted(submitted) if bonus_cents else []
    assert sorted(row["assignment_id"] for row in bonuses) == expected, "a bonus paid twice, or not at all"
    assert {row["amount_cents"] for row in bonuses} <= {bonus_cents}

    ours = site.platform(_OUR_PAYMENTS)
    rewards = [row for row in ours if row["kind"] == "reward"]
    assert {row["state"] for row in ours} == {"confirmed"}
    assert {row["session_state"] for row in ours} == {"submitted"}
    assert sorted(row["assignment_id"] for row in rewards) == sorted(submitted)
    assert sorted(row["assignment_id"] for row in ours if row["kind"] == "bonus") == expected

    spent = sum(row["reward_cents"] + row["fee_cents"] for row in submitted.values())
    spent += sum(row["amount_cents"] + row["fee_cents"] for row in bonuses)
    assert sum(row["amount_cents"] + row["fee_cents"] for row in ours) == spent
    assert balance_cents(site) == 1000_00 - spent
    said = site.must("reconcile")
    assert f"{len(ours)} payments" in said
    assert "0 on their way" in said


def balance_cents(site: Site) -> int:
    """The requester's money, as the marketplace itself counts it."""
    client = boto3.client(
        "mturk",
        region_name="us-east-1",
        endpoint_url=f"{site.addresses.marketplace}/requester/",
        aws_access_key_id=site.keys["MARKETPLACE_ACCESS_KEY_ID"],
        aws_secret_access_key=site.keys["MARKETPLACE_SECRET_ACCESS_KEY"],
    )
    dollars, _, cents = client.get_account_balance()["AvailableBalance"].partition(".")
    client.close()
    return int(dollars) * 100 + int(cents)
