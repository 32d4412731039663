from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from humanexp.experiments.models import Participant, Study
from humanexp.recruitment import services
from humanexp.recruitment.models import Campaign, Payment
from tests.recruitment.conftest import Worker
from tests.recruitment.studies import Visitor, make_study

NewWorker = Callable[[], Worker]


def run(*arguments: str) -> str:
    printed = StringIO()
    call_command(*arguments, stdout=printed, stderr=printed)
    return printed.getvalue()


def test_the_whole_way_on_the_command_line(study: Study, marketplace: Any, new_worker: NewWorker) -> None:
    printed = run("publish", "noise", "--to", "marketplace", "--assignments", "3", "--reward", "1.20")
    assert "rewards $3.60 + fees $0.72 = $4.32" in printed
    campaign = Campaign.objects.get()
    assert f"/take/{campaign.entry}/" in printed
    for _ in range(2):
        new_worker().do(campaign)
    assert "2 newly submitted (0 without a session of ours)" in run("sync", "noise")
    assert "2 payments planned, $2.88" in run("settle", "noise")
    assert "0 payments planned" in run("settle", "noise")
    assert "2 payments, ledger $2.40, recruiter $2.40, 0 on their way" in run("reconcile")
    assert "stopped: noise on marketplace" in run("stop", "noise")
    assert "nothing is recruiting" in run("stop", "noise")
    campaign.refresh_from_db()
    assert campaign.state == "stopped"


def test_a_lost_reply_fails_the_command_and_the_next_run_mends_it(
    study: Study, marketplace: Any, new_worker: NewWorker
) -> None:
    run("publish", "noise", "--to", "marketplace", "--assignments", "1", "--reward", "0.50")
    new_worker().do(Campaign.objects.get())
    run("sync", "noise")
    marketplace.arm("ApproveAssignment", "drop_after_commit")
    with pytest.raises(CommandError, match="nothing is sent twice"):
        run("settle", "noise")
    assert "1 confirmed, 0 refused, 0 waiting" in run("settle", "noise")


def test_books_that_differ_fail_the_command(
    study: Study, marketplace: Any, new_worker: NewWorker, other_side: Any
) -> None:
    run("publish", "noise", "--to", "marketplace", "--assignments", "1", "--reward", "0.50")
    new_worker().do(Campaign.objects.get())
    hit = Campaign.objects.get().hits.get()
    [row] = other_side.list_assignments_for_hit(HITId=hit.hit_id)["Assignments"]
    other_side.approve_assignment(AssignmentId=row["AssignmentId"])
    with pytest.raises(CommandError, match="differ"):
        run("reconcile")
    assert "1 approved" in run("sync", "noise")
    assert "ledger $0.50, recruiter $0.50" in run("reconcile")


@pytest.mark.django_db
class TestRefusals:
    @pytest.fixture(autouse=True)
    def planned(self) -> Study:
        return make_study()

    def refused(self, *arguments: str) -> str:
        with pytest.raises(CommandError) as caught:
            run(*arguments)
        assert not Campaign.objects.exists()
        return str(caught.value)

    def test_an_unknown_study(self) -> None:
        for command in ("sync", "settle", "stop"):
            assert "There is no study 'nothing'" in self.refused(command, "nothing")

    def test_an_unknown_recruiter(self) -> None:
        assert "invalid choice: 'mars'" in self.refused("publish", "noise", "--to", "mars")

    def test_more_places_than_the_plan_has(self) -> None:
        said = self.refused("publish", "noise", "--to", "link", "--assignments", "25")
        assert "24 free sessions, fewer than the 25" in said

    def test_an_amount_that_is_none(self) -> None:
        assert "not an amount of money" in self.refused("publish", "noise", "--to", "marketplace", "--reward", "1,20")

    def test_money_through_a_link(self) -> None:
        assert "No money goes through" in self.refused("publish", "noise", "--to", "link", "--reward", "1.20")

    def test_a_cap_under_the_price(self) -> None:
        said = self.refused("publish", "noise", "--to", "marketplace", "--reward", "1", "--cap", "1")
        assert "costs 28.80, its cap is 1.00" in said

    @pytest.mark.parametrize("to", ["sandbox", "production"])
    def test_amazon_needs_an_https_address(self, to: str, settings: Any) -> None:
        settings.PUBLIC_URL = "http://127.0.0.1:8000"
        assert "https addresses only" in self.refused("publish", "noise", "--to", to, "--reward", "1")

    def test_real_money_needs_the_exact_total(self, settings: Any) -> None:
        settings.PUBLIC_URL = "https://lab.example"
        wanted = ("publish", "noise", "--to", "production", "--assignments", "10", "--reward", "1")
        assert "real money: 12.00" in self.refused(*wanted)
        assert "cost is 12.00 dollars, not 11.99" in self.refused(*wanted, "--confirm-total", "11.99")
        services.publish(
            study=Study.objects.get(), to="production", assignments=10, reward_cents=100, confirm_total_cents=1200
        )
        assert Campaign.objects.get().quoted_cents == 1200


@pytest.mark.django_db
def test_deleting_says_what_goes_and_wants_a_yes() -> None:
    link = services.publish(study=make_study(), to="link", assignments=1)
    visitor = Visitor(link)
    visitor.open()
    visitor.answer_all()
    services.sync()
    code = Participant.objects.get().code
    with pytest.raises(CommandError, match="Nothing was deleted"):
        run("delete_participant", code)
    assert Participant.objects.exists()
    assert "1 sessions with 3 answers" in run("delete_participant", code, "--yes")
    assert not Participant.objects.exists()
    with pytest.raises(CommandError, match="no participant"):
        run("delete_participant", code, "--yes")
    assert not Payment.objects.exists()
