"""The paid check of an account, at a real panel with each of the two properties that sources dispute."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from humanexp.core import clock
from humanexp.core.errors import CapExceeded
from humanexp.core.models import AuditEvent
from humanexp.ledger.budgets import committed_cents
from humanexp.ledger.rejections import reject
from humanexp.ledger.sender import send
from humanexp.ledger.settlement import plan_bonus
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiting import attendance
from humanexp.recruiting.accounts import price_of_check, rejection_reopens
from humanexp.recruiting.polling import sync
from humanexp.studies.models import Study
from tests.clocks import LaterClock
from tests.panel.server import Lab, PanelServer
from tests.recruitment.at_panel import come, reserve

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def unlimited() -> None:
    attendance.ASKING.clear()


class Time(LaterClock):
    """The platform's clock, which goes forward with the panel's."""

    def agrees_with(self, panel: PanelServer) -> None:
        """Both sides have the same time; earlier tests may have moved the panel's."""
        self.ahead = datetime.fromisoformat(panel.shown("clock")["now"]) - timezone.now()

    def wait(self, panel: PanelServer, **span: float) -> None:
        self.go(**span)
        panel.advance(timedelta(**span).total_seconds())


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    found = Time()
    monkeypatch.setattr(clock, "system_clock", found)
    return found


def check(study: Study, *options: str) -> str:
    out = StringIO()
    call_command("recruiter", "check", "panel", "--study", study.slug, *options, stdout=out)
    return out.getvalue()


def total(study: Study, spend_cents: int = 500) -> str:
    price = price_of_check(study=study, to="panel", spend_cents=spend_cents)
    return f"{price.total_cents / 100:.2f}"


@pytest.mark.parametrize(("awaits", "word"), [(False, "COMPLETED"), (True, "AWAITING REVIEW")])
def test_a_check_pays_honestly_and_says_where_stop_ends(
    lab: Lab, panel: PanelServer, study: Study, time: Time, tmp_path: Path, awaits: bool, word: str
) -> None:
    panel.control("switches", stop_awaits_review=awaits)
    with pytest.raises(CommandError, match=f"repeat with --confirm-total {total(study)}$"):
        check(study)
    with pytest.raises(CommandError, match=total(study)):
        check(study, "--confirm-total", "0.01")
    assert not study.campaigns.exists()
    assert "Launched" in check(study, "--confirm-total", total(study))
    campaign = study.campaigns.get()
    assert "submitted 0, approved 0" in (said := check(study)) and "nobody has finished" in said
    unwilling = reserve(panel, campaign)
    unwilling.go_back(campaign.site.codes["no-consent"].code)
    time.wait(panel, minutes=1)
    guest = come(panel, campaign)
    guest.finish()
    assert "Not over yet: no bonus shows in its list." in check(study)
    for _ in range(4):
        time.wait(panel, minutes=10)
        said = check(study, "--json", str(tmp_path / "seen.json"))
    assert "submitted 1, approved 1" in said and "The check is over." in said, said
    assert f"STOP with a free place ends in: {word}" in said
    assert "a rejection under review reopens the study by itself: not seen yet" in said
    told = json.loads((tmp_path / "seen.json").read_text())
    assert (
        told["is_over"]
        and told["account"] == "panel"
        and told["seen"]
        == {
            "bonus_seen_after_s": told["seen"]["bonus_seen_after_s"],
            "stop_ends_in": word,
            "rejection_reopens": None,
            "currency_code": "GBP",
            "status_words_taken": {
                "APPROVED": True,
                "PARTIALLY APPROVED": True,
                "REJECTED": True,
                "RETURNED": True,
                "TIMED-OUT": True,
            },
            "other_status_words_refused": True,
            "ordering_taken": True,
            "other_orderings_refused": True,
            "order_of_list": "latest first",
            "bonuses_in_list": True,
            "after_no_consent": {"status": "AWAITING REVIEW", "return_requested": True},
        }
    )
    assert unwilling.submission not in str(told) and guest.submission not in str(told)
    for sentence in ("the account pays in: GBP", "takes the words for states that we send: yes", "latest first"):
        assert sentence in said
    assert "without having agreed is then: AWAITING REVIEW, asked to return the place" in said
    paid = panel.shown("books")["payments"]
    mine = sorted((one["kind"], one["amount_cents"]) for one in paid if one["submission_id"] == guest.submission)
    assert mine == [("bonus", 10), ("reward", campaign.reward_cents)]
    [event] = AuditEvent.objects.filter(action="check-recruiter")
    assert event.facts["stop_ends_in"] == word and event.facts["bonus_seen_after_s"] >= 0
    campaign.refresh_from_db()
    assert committed_cents(campaign) <= campaign.cap_cents <= 500
    check(study)
    assert AuditEvent.objects.filter(action="check-recruiter").count() == 1


def test_a_check_to_which_nobody_comes_is_stopped_and_costs_nothing(
    lab: Lab, panel: PanelServer, study: Study, time: Time
) -> None:
    check(study, "--confirm-total", total(study))
    before = lab.balance()[0]
    said = check(study, "--stop")
    assert "Not over yet" in said and "the list then comes: not seen yet" in said
    [made] = lab.get("studies/")["results"]
    assert made["status"] in ("COMPLETED", "AWAITING REVIEW")
    check(study, "--stop")
    assert lab.balance()[0] == before and study.campaigns.get().state == "stopped"


@pytest.mark.parametrize("reopens", [False, True])
def test_a_rejection_that_somebody_made_tells_whether_it_reopens(
    lab: Lab,
    panel: PanelServer,
    launch_at_panel: Callable[..., Campaign],
    django_user_model: Any,
    time: Time,
    reopens: bool,
) -> None:
    time.agrees_with(panel)
    panel.control("switches", rejection_reopens=reopens)
    boss = django_user_model.objects.create_superuser("boss")
    campaign = launch_at_panel(assignments=2)
    for _ in range(2):
        come(panel, campaign).finish()
    sync()
    assert rejection_reopens("panel") is None
    reject(
        assignment=Assignment.objects.order_by("pk")[0],
        reason="Nothing of what was sent can be read. " * 4,
        evidence="Looked at it twice, in both files.",
        category="NO_DATA",
        by=boss,
    )
    for _ in range(2):
        send(environment="panel")
        sync()
    assert rejection_reopens("panel") is reopens


def test_a_rejection_while_places_are_free_tells_nothing(
    lab: Lab, panel: PanelServer, launch_at_panel: Callable[..., Campaign], django_user_model: Any, time: Time
) -> None:
    time.agrees_with(panel)
    boss = django_user_model.objects.create_superuser("boss")
    campaign = launch_at_panel(assignments=3)
    come(panel, campaign).finish()
    sync()
    reject(
        assignment=Assignment.objects.get(),
        reason="Nothing of what was sent can be read. " * 4,
        evidence="Looked at it twice, in both files.",
        category="NO_DATA",
        by=boss,
    )
    send(environment="panel")
    sync()
    assert rejection_reopens("panel") is None


def test_a_large_bonus_is_refused_before_one_was_seen(
    lab: Lab, panel: PanelServer, launch_at_panel: Callable[..., Campaign], settings: Any
) -> None:
    campaign = launch_at_panel(assignments=2, cap_cents=100_000)
    come(panel, campaign).finish()
    sync()
    row, most = Assignment.objects.get(), settings.FIRST_BONUS_CAP_CENTS
    with pytest.raises(CapExceeded, match="seen to arrive"):
        plan_bonus(assignment=row, amount_cents=most + 1, cause="large", reason="Thank you.")
    assert plan_bonus(assignment=row, amount_cents=most, cause="small", reason="Thank you.").pk


def test_what_is_no_check_is_refused(lab: Lab, panel: PanelServer, study: Study) -> None:
    with pytest.raises(CommandError, match="do not pay"):
        check(study, "--spend", "0.20")
    study.configuration["recruitment"] = {"estimated_minutes": 10}
    study.save(update_fields=["configuration"])
    with pytest.raises(CommandError, match="10 minutes"):
        check(study)
    with pytest.raises(CommandError, match="leaves nothing open"):
        call_command("recruiter", "check", "marketplace", "--study", study.slug)
