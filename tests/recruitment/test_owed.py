"""Who is owed money and why it waits: nobody who did the work is in no list, and every reason has a way out."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from humanexp.core import clock
from humanexp.core.errors import Conflict, CostNotConfirmed
from humanexp.core.models import User
from humanexp.ledger.budgets import raise_cap, set_month_cap, set_study_cap
from humanexp.ledger.decisions import look_again
from humanexp.ledger.models import CampaignTopUp, Payment
from humanexp.ledger.owed import Hold, Why, owed, payable, sums_of
from humanexp.ledger.sender import send
from humanexp.ledger.settlement import clear, pay_first_late, settle, settle_by_policies
from humanexp.participation.models import SessionState
from humanexp.participation.openings import note_deadline
from humanexp.recruiters.models import Assignment, Campaign, RecruiterAccount
from humanexp.recruiters.states import AssignmentState, WriteState
from humanexp.recruiting.alerts import attention
from humanexp.recruiting.polling import sync
from humanexp.studies.models import Study, StudyState
from tests.factories import new_session
from tests.panel.server import Lab, PanelServer
from tests.recruitment.at_panel import Guest, come
from tests.recruitment.bonuses_at_panel import Bonuses

Launch = Callable[..., Campaign]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def payer(study: Study) -> User:
    found = User.objects.create_user("olga", password="x")
    study.memberships.create(user=found, role="owner")
    return found


@pytest.fixture
def console(payer: User) -> Client:
    client = Client()
    client.force_login(payer)
    return client


def waits(study: Study) -> dict[str, tuple[Why, Hold | None]]:
    """By submission."""
    names = dict(Assignment.objects.values_list("pk", "assignment_id"))
    return {names[row.assignment]: (row.why, row.hold) for row in owed(study)}


def late(panel: PanelServer, campaign: Campaign, count: int = 1) -> list[Guest]:
    """They do the whole of it, after the panel has ended their time."""
    guests = [come(panel, campaign) for _ in range(count)]
    sync()
    panel.advance(31 * 60)
    sync()
    for guest in guests:
        guest.visitor.answer_all()
    sync()
    return guests


def arrived(panel: PanelServer) -> None:
    """What is on its way is paid there, and seen."""
    send(environment="panel")
    panel.advance(20 * 60)
    look_again(study=Study.objects.get(), by=User.objects.get(username="olga"))
    send(environment="panel")


class TestLate:
    """An ordinary reward under the cap that a launch has by itself."""

    def test_everything_that_holds_it_is_said_and_can_be_ended(
        self, panel: PanelServer, launch_at_panel: Launch, study: Study, payer: User
    ) -> None:
        campaign = launch_at_panel(reward_cents=175, assignments=3)
        assert campaign.cap_cents == campaign.quoted_cents, "what a launch has by itself"
        first, second = late(panel, campaign, 2)
        assert waits(study) == dict.fromkeys((first.submission, second.submission), (Why.LATE, Hold.CAMPAIGN_CAP))
        done = settle(study=study, by=payer)
        assert (done.planned, done.held) == (0, {Hold.CAMPAIGN_CAP: 2})
        raise_cap(campaign=campaign, cap_cents=campaign.cap_cents + 1_000, by=payer)
        assert set(waits(study).values()) == {(Why.LATE, Hold.FIRST_BONUS)}
        row = Assignment.objects.get(assignment_id=first.submission)
        other = Assignment.objects.get(assignment_id=second.submission)
        assert pay_first_late(assignment=row, by=payer).amount_cents == 175
        assert waits(study) == {second.submission: (Why.LATE, Hold.FIRST_BONUS_SENT)}
        with pytest.raises(Conflict):
            pay_first_late(assignment=other, by=payer)
        arrived(panel)
        assert waits(study) == {second.submission: (Why.LATE, None)}
        assert settle(study=study, by=payer).planned == 1
        arrived(panel)
        assert waits(study) == {}
        assert set(Payment.objects.values_list("state", "amount_cents")) == {(WriteState.CONFIRMED, 175)}

    def test_a_job_pays_one_who_is_the_only_one_left(
        self, panel: PanelServer, launch_at_panel: Launch, study: Study
    ) -> None:
        study.configuration = {**study.configuration, "recruitment": {"settle": "hourly"}}
        study.save(update_fields=["configuration"])
        campaign = launch_at_panel(reward_cents=175, assignments=2, cap_cents=2_000)
        RecruiterAccount.objects.filter(environment="panel").update(bonus_proved_at=campaign.launched_at)
        late(panel, campaign)
        assert [done.planned for done in settle_by_policies()] == [1]

    def test_the_pages_and_the_command_tell_of_them(
        self, panel: PanelServer, launch_at_panel: Launch, study: Study, console: Client, capsys: Any
    ) -> None:
        campaign = launch_at_panel(reward_cents=175, assignments=3)
        late(panel, campaign)
        for room in ("monitor/", "monitor/settle/"):
            page = console.get(f"/studies/{study.slug}/{room}").content.decode()
            assert "Finished, and the recruiter’s time ran out" in page.replace("&#x27;", "’").replace("'", "’")
            assert "Beyond the cap of the campaign" in page and "Raise the cap" in page
            assert ("0 returned or given up, 1 ran out of time" in " ".join(page.split())) == (room == "monitor/")
            assert "No one is owed anything" not in page
        page = console.get(f"/studies/{study.slug}/monitor/money/").content.decode()
        assert "1 person, £2.34 with fees" in page
        call_command("settle", study.slug)
        assert "not paid: 1 (beyond the cap of the campaign)" in capsys.readouterr().out
        raise_cap(campaign=campaign, cap_cents=2_000, by=User.objects.get())
        page = console.get(f"/studies/{study.slug}/monitor/settle/").content.decode()
        assert "Pay this one first" in page and "Each payment waits for something" in page
        assert "No one can be paid now" not in page
        row = Assignment.objects.get()
        answer = console.post(f"/studies/{study.slug}/monitor/settle/", {"first": row.pk}, follow=True)
        assert "£1.75 is on its way" in answer.content.decode()

    @pytest.mark.parametrize(("cap", "said"), [("study", "Raise the cap"), ("month", "The account&#x27;s cap")])
    def test_each_cap_leads_to_whoever_can_raise_it(
        self, panel: PanelServer, launch_at_panel: Launch, study: Study, console: Client, cap: str, said: str
    ) -> None:
        campaign = launch_at_panel(reward_cents=90, cap_cents=5_000)
        late(panel, campaign)
        treasurer = User.objects.create_superuser("mara")
        limit = campaign.quoted_cents
        if cap == "study":
            set_study_cap(study=study, cap_cents=limit, currency="GBP", by=treasurer)
        else:
            set_month_cap(environment="panel", cap_cents=limit, by=treasurer)
        assert list(waits(study).values()) == [(Why.LATE, Hold(f"{cap}-cap"))]
        page = console.get(f"/studies/{study.slug}/monitor/").content.decode()
        assert said in page or said.replace("&#x27;", "'") in page


class TestTopUp:
    """Whoever comes after an equal top-up is owed it, too."""

    def test_a_held_top_up_is_no_reason_to_pay_the_reward_again(self, bonuses: Bonuses, payer: User) -> None:
        [row] = bonuses.people(1)
        CampaignTopUp.objects.create(
            campaign=bonuses.campaign, amount_cents=150, floor_cents=600, before_cents=500, after_cents=600,
            total_cents=150,
        )  # fmt: skip
        Payment.objects.create(
            environment="panel", assignment=row, campaign=row.campaign, kind="reward", cause="submission",
            amount_cents=150, fee_cents=0, token="t",
        )  # fmt: skip
        assert waits(bonuses.campaign.study) == {row.assignment_id: (Why.TOP_UP, Hold.FIRST_BONUS)}
        with pytest.raises(Conflict):
            pay_first_late(assignment=row, by=payer)
        assert Payment.objects.count() == 1
        client = Client()
        client.force_login(payer)
        page = client.get(f"/studies/{bonuses.campaign.study.slug}/monitor/").content.decode()
        assert "Pay a first bonus" in page and "Pay this one first" not in page


class TestShown:
    """What was shown is what is paid."""

    def test_whoever_came_since_is_shown_first(
        self, panel: PanelServer, launch_at_panel: Launch, study: Study, console: Client
    ) -> None:
        campaign = launch_at_panel(reward_cents=175)
        come(panel, campaign).finish()
        sync()
        address = f"/studies/{study.slug}/monitor/settle/"
        shown = sums_of(payable(owed(study)))
        assert shown == {"GBP": 234}
        come(panel, campaign).finish()
        sync()
        answer = console.post(address, {"shown": json.dumps(shown)})
        assert answer.status_code == 409 and "It comes to £4.68 by now" in answer.content.decode()
        assert Payment.objects.count() == 0
        for nonsense in ({}, {"shown": "no"}, {"shown": "[1]"}):
            assert console.post(address, nonsense).status_code == 422
        assert console.post(address, {"shown": '{"GBP": 468}'}).status_code == 302
        assert Payment.objects.count() == 2
        assert console.post(address, {"shown": '{"GBP": 468}'}).status_code == 302, "a second click"
        assert Payment.objects.count() == 2

    def test_no_less_is_paid_either(self, panel: PanelServer, launch_at_panel: Launch, study: Study) -> None:
        come(panel, launch_at_panel()).finish()
        sync()
        with pytest.raises(CostNotConfirmed):
            settle(study=study, shown={"GBP": 1_000})
        assert Payment.objects.count() == 0


class TestNoPictures:
    """Somebody who answered without having seen anything."""

    def test_nobody_is_paid_for_it_by_a_rule_and_a_person_can(
        self, lab: Lab, panel: PanelServer, launch_at_panel: Launch, study: Study, payer: User
    ) -> None:
        study.configuration = {**study.configuration, "recruitment": {"settle": "hourly"}}
        study.save(update_fields=["configuration"])
        guest = come(panel, launch_at_panel())
        guest.visitor.answer_all(fetches=False)
        guest.go_back(guest.way_out()["code"])
        sync()
        assert waits(study) == {guest.submission: (Why.SUBMITTED, Hold.NO_PICTURES)}
        assert [done.planned for done in settle_by_policies()] == [0]
        assert settle(study=study).planned == 0
        [told] = [one for one in attention(study) if one.kind == "no-pictures"]
        assert told.text == "1 person finished without fetching a single picture."
        clear(assignment=Assignment.objects.get(), by=payer)
        send(environment="panel")
        send(environment="panel")
        assert lab.submission(guest.submission)["status"] == "APPROVED"

    def test_one_who_ran_out_of_time_waits_too(self, panel: PanelServer, launch_at_panel: Launch, study: Study) -> None:
        campaign = launch_at_panel(cap_cents=2_000, reward_cents=90)
        guest = come(panel, campaign)
        sync()
        panel.advance(31 * 60)
        sync()
        guest.visitor.answer_all(fetches=False)
        sync()
        assert waits(study) == {guest.submission: (Why.LATE, Hold.NO_PICTURES)}
        assert settle(study=study).planned == 0


def cut_short(guest: Guest, share: float) -> None:
    """The study ends it after this share of the trials, because the next round does not fit."""
    session = guest.visitor.session
    guest.visitor.answer_until(int(session.total * share))
    note_deadline(session=session, due_at=clock.now())
    reply = guest.visitor.call("POST", "/api/v1/run/withdraw/", {"keep": True, "reason": "time"})
    assert reply.json() == {"state": "out-of-time"}


class TestOutOfTime:
    """Somebody whose place would have ended within the next round: the study was too long, and they did not stop."""

    def test_they_go_back_like_those_who_finished_and_a_job_pays_them(
        self, lab: Lab, panel: PanelServer, launch_at_panel: Launch, study: Study
    ) -> None:
        # what nobody judges waits for no verdict
        study.configuration = {**study.configuration, "recruitment": {"settle": "verdict"}}
        study.save(update_fields=["configuration"])
        guest = come(panel, launch_at_panel())
        cut_short(guest, 0.75)
        back = guest.way_out()
        assert (back["outcome"], back["kind"]) == ("finished", "redirect")
        guest.go_back(back["code"])
        sync()
        assert Assignment.objects.get().get_evidence_display() == "time ran out before the last round"
        assert waits(study) == {guest.submission: (Why.SUBMITTED, None)}
        assert [done.planned for done in settle_by_policies()] == [1]
        send(environment="panel")
        send(environment="panel")
        assert lab.submission(guest.submission)["status"] == "APPROVED"
        assert Payment.objects.get().amount_cents == 120

    def test_a_person_looks_first_where_less_than_half_is_done(
        self, lab: Lab, panel: PanelServer, launch_at_panel: Launch, study: Study, payer: User, console: Client
    ) -> None:
        guest = come(panel, launch_at_panel())
        cut_short(guest, 0.25)
        guest.go_back(guest.way_out()["code"])
        sync()
        assert waits(study) == {guest.submission: (Why.SUBMITTED, Hold.LOOK)}
        assert lab.submission(guest.submission)["return_requested"] is None, "nobody asks them to give it back"
        page = console.get(f"/studies/{study.slug}/monitor/settle/").content.decode()
        assert "time ran out before half of the trials were answered" in page
        clear(assignment=Assignment.objects.get(), by=payer)
        assert Payment.objects.get().amount_cents == 120

    @pytest.mark.parametrize(("share", "hold"), [(0.75, None), (0.25, Hold.LOOK)])
    def test_who_comes_too_late_even_so_is_owed_the_reward_as_a_bonus(
        self, panel: PanelServer, launch_at_panel: Launch, study: Study, share: float, hold: Hold | None
    ) -> None:
        guest = come(panel, launch_at_panel(cap_cents=2_000, reward_cents=90))
        sync()
        cut_short(guest, share)
        panel.advance(31 * 60)
        sync()
        assert waits(study) == {guest.submission: (Why.LATE, hold)}
        assert settle(study=study).planned == (hold is None)

    def test_whoever_never_goes_back_is_owed_all_of_it_too(
        self, panel: PanelServer, launch_at_panel: Launch, study: Study
    ) -> None:
        study.configuration = {**study.configuration, "recruitment": {"pay_on_leaving": "share"}}
        study.save(update_fields=["configuration"])
        guest = come(panel, launch_at_panel())
        cut_short(guest, 0.75)
        Assignment.objects.update(state=AssignmentState.RETURNED)
        [row] = owed(study)
        assert (row.why, row.amount_cents) == (Why.NOT_SUBMITTED, 120)
        assert guest.way_out()["outcome"] == "finished"


BEGUN = (AssignmentState.OPENED, AssignmentState.RETURNED)


class TestAgainstAList:
    """Everybody of a study in every state, by lot, against a list that is made person by person."""

    @pytest.fixture(params=[7, 8, 9])
    def rows(self, bonuses: Bonuses, request: Any) -> list[Assignment]:
        dice, now = random.Random(request.param), clock.now()
        Study.objects.update(state=StudyState.COLLECTING)
        study = Study.objects.get()
        found = bonuses.people(24)  # as many as the plan has
        for row in found:
            session = new_session(study, code=f"S{row.pk}")
            session.state = dice.choice([SessionState.SUBMITTED, SessionState.COMPLETED, SessionState.OPEN])
            session.pictures_fetched = dice.choice(["", "f", "f"])
            session.completed_at = now
            session.save()
            row.session = session
            row.state = dice.choice([*AssignmentState, *3 * [AssignmentState.SUBMITTED, AssignmentState.TIMED_OUT]])
            row.evidence = dice.choice(["receipt", "session", "unknown", "no-pictures", "extra"])
            row.cleared_at = dice.choice([None, None, now])
            row.return_due_at = dice.choice([None, None, now + timedelta(days=1), now - timedelta(days=1)])
            row.opened_at = now - timedelta(hours=9)
            row.save()
            if dice.random() < 0.2:
                Payment.objects.create(
                    environment="panel", assignment=row, campaign=row.campaign, kind="reward", cause="submission",
                    amount_cents=150, fee_cents=0, token=f"t{row.pk}",
                )  # fmt: skip
        return found

    def test_nobody_lacks_and_nobody_is_there_twice(self, rows: list[Assignment], bonuses: Bonuses) -> None:
        now = clock.now()
        paid = set(Payment.objects.values_list("assignment", flat=True))
        expected: dict[int, tuple[Why, Hold | None]] = {}
        for row in rows:
            session = row.session
            assert session is not None
            if row.state == AssignmentState.SUBMITTED and row.pk not in paid:
                hold = None
                if row.evidence in ("unknown", "extra", "no-pictures") and row.cleared_at is None:
                    hold = Hold.NO_PICTURES if row.evidence == "no-pictures" else Hold.LOOK
                    hold = Hold.RETURN if row.return_due_at is not None and row.return_due_at > now else hold
                expected[row.pk] = (Why.SUBMITTED, hold)
            elif row.state == AssignmentState.TIMED_OUT and session.state == SessionState.SUBMITTED:
                hold = Hold.FIRST_BONUS if session.pictures_fetched else Hold.NO_PICTURES
                expected[row.pk] = (Why.LATE, hold)
            elif row.state in BEGUN and session.state == SessionState.COMPLETED:
                expected[row.pk] = (Why.NOT_SUBMITTED, Hold.OFFER)
        found = owed(bonuses.campaign.study)
        assert len(found) == len({row.assignment for row in found})
        assert {row.assignment: (row.why, row.hold) for row in found} == expected
        assert len(set(expected.values())) >= 4, "the lot has met most of it"
