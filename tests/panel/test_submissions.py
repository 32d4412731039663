"""Submissions, approvals and bonuses over HTTP."""

from __future__ import annotations

import threading

import pytest

from tests.panel.server import CODE, Lab, PanelServer

DAY = 86_400
REASON = "You did not look at any of the pictures, as the times of your answers show without any doubt. " * 2


def test_a_reservation_lapses_and_an_attempt_times_out(lab: Lab, panel: PanelServer) -> None:
    study = lab.study(total_available_places=2)
    reserved, active = lab.people(study, 1, "RESERVED")[0], lab.people(study, 1, "ACTIVE")[0]
    assert lab.get(f"studies/{study}/")["places_taken"] == 2
    panel.advance(10 * 60 + 1)
    assert lab.submission(reserved)["status"] == "TIMED-OUT"
    assert lab.submission(active)["status"] == "ACTIVE"
    panel.advance(20 * 60)  # 29 minutes are allowed
    assert lab.submission(active)["status"] == "TIMED-OUT"
    assert lab.get(f"studies/{study}/")["places_taken"] == 0
    lab.refused("POST", f"submissions/{active}/transition/", {"action": "APPROVE"})
    panel.control("switches", timed_out_can_be_approved=True)
    assert lab.decide(active, "APPROVE")["status"] == "APPROVED"


def test_approving_pays_once_and_is_safe_to_repeat(lab: Lab) -> None:
    study = lab.study(total_available_places=1)
    submission = lab.people(study, 1)[0]
    assert lab.balance() == (1_000_000, 1_000_000 - 200)
    for _ in range(2):
        assert lab.decide(submission, "APPROVE")["status"] == "APPROVED"
    assert lab.balance() == (1_000_000 - 200, 1_000_000 - 200)
    assert lab.status(study) == "COMPLETED"
    lab.refused("POST", f"submissions/{submission}/transition/", {"action": "RETURN"})


def test_unreviewed_work_is_approved_after_21_days(lab: Lab, panel: PanelServer) -> None:
    submission = lab.people(lab.study(), 1)[0]
    panel.advance(21 * DAY - 60)
    assert lab.submission(submission)["status"] == "AWAITING REVIEW"
    panel.advance(120)
    assert lab.submission(submission)["status"] == "APPROVED"
    assert lab.balance()[0] == 1_000_000 - 200


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"message": REASON[:99], "rejection_category": "NO_DATA"}, "100 characters"),
        ({"message": REASON, "rejection_category": "BORED_ME"}, "rejection_category"),
    ],
)
def test_a_rejection_says_why(lab: Lab, more: dict, field: str) -> None:
    submission = lab.people(lab.study(), 1)[0]
    said = lab.refused("POST", f"submissions/{submission}/transition/", {"action": "REJECT", **more})
    assert field in said and lab.submission(submission)["status"] == "AWAITING REVIEW"


def test_a_rejection_can_be_taken_back(lab: Lab) -> None:
    submission = lab.people(lab.study(), 1)[0]
    assert lab.decide(submission, "REJECT", message=REASON, rejection_category="NO_DATA")["status"] == "REJECTED"
    assert lab.decide(submission, "UNREJECT")["status"] == "AWAITING REVIEW"


def test_bulk_approval_is_accepted_first_and_done_later(lab: Lab, panel: PanelServer) -> None:
    panel.control("switches", approving_s=3600)
    study = lab.study(total_available_places=4)
    done, active = lab.people(study, 3), lab.people(study, 1, "ACTIVE")[0]
    assert lab.call("POST", "submissions/bulk-approve/", {"submission_ids": [*done, active]}).status_code == 200
    assert lab.get(f"studies/{study}/submissions/counts/")["APPROVED"] == 0
    panel.advance(3601)
    counts = lab.get(f"studies/{study}/submissions/counts/")
    # Whoever was still at work is left out without a word.
    assert (counts["APPROVED"], counts["TIMED-OUT"]) == (3, 1)


def test_a_return_request_is_a_message_and_a_mark(lab: Lab) -> None:
    submission = lab.people(lab.study(), 1, code="NOCODE")[0]
    assert lab.submission(submission)["entered_code"] == "NOCODE"
    answer = lab.post(f"submissions/{submission}/request-return/", request_return_reasons=["No data arrived"])
    assert answer["return_requested"] == "No data arrived" and answer["status"] == "AWAITING REVIEW"
    assert len(lab.get("messages/", user_id=answer["participant"])["results"]) == 1


def test_actions_of_codes(lab: Lab, panel: PanelServer) -> None:
    codes = [
        {"code": "YES", "code_type": "COMPLETED", "actions": [{"action": "AUTOMATICALLY_APPROVE"}]},
        {"code": "NO", "code_type": "NO_CONSENT", "actions": [{"action": "REQUEST_RETURN", "return_reason": "Bye"}]},
        {"code": "OURS", "code_type": "OTHER", "actions": [], "actor": "researcher"},
    ]
    study = lab.study(completion_codes=codes)
    yes, no = lab.people(study, 1, code="YES")[0], lab.people(study, 1, code="NO")[0]
    ours = lab.people(study, 1, "ACTIVE")[0]
    assert lab.decide(ours, "COMPLETE", completion_code="OURS")["entered_code"] == "OURS"
    assert lab.submission(yes)["status"] == "APPROVED"
    assert lab.submission(no)["return_requested"] == "Bye"


def test_one_list_says_too_much_about_people(lab: Lab) -> None:
    study = lab.study()
    lab.people(study, 1)
    telltale = lab.get(f"studies/{study}/submissions/")["results"][0]
    assert telltale["ip"].startswith("203.0.113.") and "ethnicity" in telltale["strata"]
    assert {"ip", "strata"}.isdisjoint(lab.get("submissions/", study=study)["results"][0])


def test_a_bonus_is_paid_later_and_again_with_each_post(lab: Lab, panel: PanelServer) -> None:
    study = lab.study()
    submission, other = lab.people(study, 2)
    person = lab.submission(other)["participant"]
    plan = lab.plan(study, (submission, "3.00"), (person, "0.50"))
    assert plan == {**plan, "study": study, "amount": 350, "fees": 117, "vat": 0, "total_amount": 467}
    before = lab.balance()
    for posted in (1, 2):
        assert lab.call("POST", f"bulk-bonus-payments/{plan['id']}/pay/").status_code == 202
        assert lab.submission(submission)["bonus_payments"] == [300] * (posted - 1)
        assert lab.balance()[1] == before[1] - posted * 467
        panel.advance(4 * 3600)
        assert lab.submission(submission)["bonus_payments"] == [300] * posted
        assert lab.submission(other)["bonus_payments"] == [50] * posted
    cost = lab.get(f"studies/{study}/cost/")
    assert cost["bonuses"]["rewards"] == {"amount": 700, "currency": "GBP"}
    assert cost["rewards"]["rewards"]["amount"] == 0
    assert lab.get(f"studies/{study}/cost/", is_projected="true")["rewards"]["rewards"]["amount"] == 450


def test_a_batch_settles_line_by_line_and_some_lines_never(lab: Lab, panel: PanelServer) -> None:
    study = lab.study(total_available_places=60)
    submissions = lab.people(study, 60)
    panel.control("switches", lost_share=0.2, late_share=0.0, settling_s=600, seed=3)
    plan = lab.plan(study, *((one, "1.00") for one in submissions))
    lab.post(f"bulk-bonus-payments/{plan['id']}/pay/")

    def paid() -> int:
        return sum(len(lab.submission(one)["bonus_payments"]) for one in submissions)

    panel.advance(300)
    halfway = paid()
    panel.advance(2 * 3600)
    assert 0 < halfway < paid() < 60
    assert lab.balance()[0] == 1_000_000 - paid() * 134


@pytest.mark.parametrize(
    ("line", "said"),
    [("{}", "id and an amount"), ("{},0", "not an amount"), ("{},1.005", "not an amount"), ("nobody,1", "nobody")],
)
def test_a_plan_names_what_is_wrong(lab: Lab, line: str, said: str) -> None:
    study = lab.study()
    submission = lab.people(study, 1)[0]
    body = {"study_id": study, "csv_bonuses": line.format(submission)}
    assert said in lab.refused("POST", "submissions/bonus-payments/", body)


def test_bonuses_beyond_the_balance_are_refused(panel: PanelServer) -> None:
    lab = panel.lab(balance_cents=1_000)
    study = lab.study(total_available_places=1)
    plan = lab.plan(study, (lab.people(study, 1)[0], "7.00"))
    lab.refused("POST", f"bulk-bonus-payments/{plan['id']}/pay/")
    assert lab.balance() == (1_000, 800)
    panel.control("deposits", workspace_id=lab.workspace_id, amount_cents=500)
    lab.post(f"bulk-bonus-payments/{plan['id']}/pay/")
    assert lab.balance() == (1_500, 1_500 - 200 - 934)


def test_money_moves_one_call_at_a_time(lab: Lab, panel: PanelServer) -> None:
    panel.control("switches", wallet_s=1.0)
    study = lab.study()
    submissions = lab.people(study, 3)
    answers: list[int] = []

    def approve(submission: str) -> None:
        answers.append(lab.call("POST", f"submissions/{submission}/transition/", {"action": "APPROVE"}).status_code)

    threads = [threading.Thread(target=approve, args=(one,)) for one in submissions]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(answers) == [200, 429, 429]
    assert lab.get(f"studies/{study}/submissions/counts/")["APPROVED"] == 1


def test_a_finished_submission_may_be_in_motion_first(lab: Lab, panel: PanelServer) -> None:
    panel.control("switches", processing_s=30)
    study = lab.study()
    submission = lab.people(study, 1)[0]
    assert lab.submission(submission)["status"] == "PROCESSING"
    panel.advance(31)
    assert lab.submission(submission)["status"] == "AWAITING REVIEW"
    assert lab.submission(submission)["entered_code"] == CODE
