from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from humanexp.core.models import User
from humanexp.ledger.budgets import launchers_of, month_budget
from humanexp.ledger.models import Payment
from humanexp.participation.models import Participant, Session
from humanexp.recruiters.models import Campaign
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.polling import sync
from humanexp.studies.models import Study
from tests.recruitment.studies import Visitor, make_study
from tests.recruitment.workers import Worker

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


def test_caps_extensions_and_top_ups_on_the_command_line(study: Study, marketplace: Any, new_worker: NewWorker) -> None:
    run("publish", "noise", "--to", "marketplace", "--assignments", "1", "--reward", "0.50", "--cap", "100")
    assert "study: $0.60 promised, cap $1.25" in run("budget", "noise", "--cap", "1.25")
    assert "rewards $0.50 + fees $0.10 = $0.60" in run("extend", "noise", "--places", "1", "--days", "20")
    with pytest.raises(CommandError, match="study's cap"):
        run("extend", "noise", "--places", "1")
    assert "marketplace, this month: $1.20 promised, no cap" in run("budget", "noise", "--cap", "none")
    new_worker().do(Campaign.objects.get())
    run("sync", "noise")
    Session.objects.update(opened_at=timezone.now() - timedelta(minutes=10))
    floor = ("top_up", "noise", "--floor", "6.00")
    assert "to $6.00 an hour: 1 people, $0.50 + fees $0.10 = $0.60; time unknown: 0" in run(*floor)
    with pytest.raises(CommandError, match=r"cost is \$0\.60"):
        run(*floor, "--confirm-total", "0.61")
    assert "1 confirmed" in run(*floor, "--confirm-total", "0.60")
    for wrong in (("extend", "noise"), ("extend", "nothing", "--places", "1")):
        with pytest.raises(CommandError):
            run(*wrong)


def test_who_may_spend_on_the_command_line(closed_accounts: None) -> None:
    User.objects.create_user("eve")
    shown = run("recruiter", "spending", "marketplace")
    assert "at most $0.00 in a month" in shown and "treasurers, administrators and nobody else may launch" in shown
    assert "at most $5.00" in run("recruiter", "spending", "marketplace", "--limit", "5", "--launchers", "eve")
    assert launchers_of("marketplace").usernames == ("eve",)
    for wrong in (("--limit", "7", "--launchers", "eva"), ("--limit", "a lot")):
        with pytest.raises(CommandError):
            run("recruiter", "spending", "marketplace", *wrong)
    assert month_budget("marketplace").cap_cents == 500
    said = run("recruiter", "spending", "marketplace", "--limit", "none", "--everybody")
    assert "no limit in a month" in said and "everybody may launch" in said
    with pytest.raises(CommandError, match="No money goes through"):
        run("recruiter", "spending", "link", "--limit", "5")


@pytest.mark.django_db
def test_lists_of_people_go_in_and_out(tmp_path: Path) -> None:
    study, other = make_study(), make_study("blur")
    Visitor(publish(study=study, terms=LaunchTerms(to="link", assignments=1)), worker_id="panel-1").open()
    ids, hashes = tmp_path / "ids.txt", tmp_path / "hashes.txt"
    ids.write_text("panel-7\n\npanel-8\n")
    assert "2 added, 0 were" in run(
        "exclusions", "blur", "--worker-ids", str(ids), "--to", "link", "--note", "pilot of May"
    )
    assert "1 people" in run("exclusions", "noise", "--export", str(hashes))
    assert "1 added" in run("exclusions", "blur", "--hashes", str(hashes))
    assert "0 added, 1 were" in run("exclusions", "blur", "--took-part", "noise")
    listed = run("exclusions", "blur")
    assert listed.count("X-") == 3
    assert "pilot of May" in listed
    assert "panel" not in listed
    assert other.family.exclusions.count() == 3
    one = listed.split()[0]
    assert "1 taken off" in run("exclusions", "blur", "--lift", one)
    assert one not in run("exclusions", "blur")
    for wrong in (
        ("exclusions", "nobody"),
        ("exclusions", "blur", "--lift", "nobody"),
        ("exclusions", "blur", "--worker-ids", str(ids)),
        ("exclusions", "blur", "--hashes", str(ids)),
        ("exclusions", "blur", "--hashes", str(tmp_path / "none")),
    ):
        with pytest.raises(CommandError):
            run(*wrong)


def test_requirements_on_the_command_line(study: Study, marketplace: Any) -> None:
    terms = (
        "--to",
        "marketplace",
        "--assignments",
        "1",
        "--reward",
        "0.50",
        "--approval",
        "95",
        "--countries",
        "US,DE",
    )
    run("publish", "noise", *terms, "--masters")
    campaign = Campaign.objects.get()
    assert (campaign.asks_for.approval_percent, campaign.asks_for.countries) == (95, ("US", "DE"))
    assert (campaign.asks_for.masters, campaign.quoted_cents) == (True, 63)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (
            ["--masters"],
            r"Plain link does not have this: Masters only \(--masters\). Leave it out, or launch through: ",
        ),
        (["--per-hit", "5"], r"the number of places in a HIT \(--per-hit\)"),
        (["--approved-hits", "5"], r"a least number of approved HITs \(--approved-hits\)"),
        (["--adult"], r"people who say to be of age \(--adult\)"),
        (["--countries", "DE"], r"countries of people \(--countries\)"),
        (["--compared-with", "noise"], r"see next to their own \(--compared-with\). Leave it out, or .*volunteers"),
    ],
)
def test_options_that_a_recruiter_does_not_have_are_refused(study: Study, option: list[str], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        run("publish", "noise", "--to", "link", "--assignments", "1", "--skip-preflight", *option)
    assert not Campaign.objects.exists()


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
        assert "'mars' is no recruiter: choose one of link, marketplace" in self.refused(
            "publish", "noise", "--to", "mars"
        )

    def test_more_places_than_the_plan_has(self) -> None:
        said = self.refused("publish", "noise", "--to", "link", "--assignments", "25")
        assert "24 free sessions, fewer than the 25" in said

    def test_an_amount_that_is_none(self) -> None:
        assert "not an amount of money" in self.refused("publish", "noise", "--to", "marketplace", "--reward", "1,20")

    def test_money_through_a_link(self) -> None:
        assert "No money goes through" in self.refused("publish", "noise", "--to", "link", "--reward", "1.20")

    def test_a_cap_under_the_price(self) -> None:
        said = self.refused("publish", "noise", "--to", "marketplace", "--reward", "1", "--cap", "1")
        assert "costs $28.80, its cap is $1.00" in said

    @pytest.mark.parametrize("to", ["sandbox", "production"])
    def test_amazon_needs_an_https_address(self, to: str, settings: Any) -> None:
        settings.PUBLIC_URL = "http://127.0.0.1:8000"
        assert "https addresses only" in self.refused("publish", "noise", "--to", to, "--reward", "1")

    def test_real_money_needs_the_exact_total(self, settings: Any) -> None:
        settings.PUBLIC_URL = "https://lab.example"
        wanted = ("publish", "noise", "--to", "production", "--assignments", "10", "--reward", "1")
        assert "real money: $12.00" in self.refused(*wanted)
        assert "cost is $12.00, not $11.99" in self.refused(*wanted, "--confirm-total", "11.99")
        publish(
            study=Study.objects.get(),
            terms=LaunchTerms(to="production", assignments=10, reward_cents=100),
            confirm_total_cents=1200,
        )
        assert Campaign.objects.get().quoted_cents == 1200


@pytest.mark.django_db
def test_deleting_says_what_goes_and_wants_a_yes() -> None:
    link = publish(study=make_study(), terms=LaunchTerms(to="link", assignments=1))
    visitor = Visitor(link)
    visitor.open()
    visitor.answer_all()
    sync()
    code = Participant.objects.get().code
    with pytest.raises(CommandError, match="Nothing was deleted"):
        run("delete_participant", code)
    assert Participant.objects.exists()
    assert "1 sessions with 3 answers" in run("delete_participant", code, "--yes")
    assert not Participant.objects.exists()
    with pytest.raises(CommandError, match="no participant"):
        run("delete_participant", code, "--yes")
    assert not Payment.objects.exists()
