"""Several accounts of one kind: each has its own books, caps and pauses, and the kind's name space of ids."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command

from humanexp.core.errors import CapExceeded, Conflict, InvalidRequest, KeysRefused, NotAllowed
from humanexp.core.models import User
from humanexp.jobs import runner
from humanexp.ledger.budgets import set_month_cap
from humanexp.ledger.delivery import pause
from humanexp.ledger.reconciliation import reconcile
from humanexp.ledger.sender import send
from humanexp.ledger.settlement import clear
from humanexp.recruiters import keys, registry
from humanexp.recruiters.keys import TAKEN
from humanexp.recruiters.memory import Memory
from humanexp.recruiters.models import Assignment, Campaign, Pause, RecruiterAccount
from humanexp.recruiters.people import code_of
from humanexp.recruiters.registry import recruiter_for, registered
from humanexp.recruiting.accounts import open_account, pause_account, resume_account
from humanexp.recruiting.alerts import attention
from humanexp.recruiting.extension import stop_campaign
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.recruiting.polling import sync
from humanexp.studies.models import Study
from tests.addresses import VALUES, addresses

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def memory() -> Iterator[Memory]:
    kind = Memory()
    with registered(kind):
        yield kind


@pytest.fixture
def second(memory: Memory) -> RecruiterAccount:
    return open_account(kind="memory", code="memory-2", name="Second grant", workspace="w-2", by=None)


def launched(study: Study, to: str) -> Campaign:
    terms = LaunchTerms(to=to, assignments=2, reward_cents=50, cap_cents=1_000)
    return publish(study=study, terms=terms)


def worked(memory: Memory, campaign: Campaign) -> Assignment:
    """Somebody whom we never saw has submitted there."""
    account = memory.of(campaign.environment)
    ticket = account.accept(campaign.hits.get().hit_id, "P1")
    account.submit(ticket.submission)
    sync()
    row = Assignment.objects.get(assignment_id=ticket.submission, environment=campaign.environment)
    clear(assignment=row, by=None)
    return row


def test_each_has_its_own_outbox_money_and_books(study: Study, memory: Memory, second: RecruiterAccount) -> None:
    for to in ("memory", "memory-2"):
        launched(study, to)
    send()
    for campaign in Campaign.objects.order_by("pk"):
        worked(memory, campaign)
    before = [memory.of(to).held_cents for to in ("memory", "memory-2")]
    send(environment="memory-2")
    spent = [was - memory.of(to).held_cents for was, to in zip(before, ("memory", "memory-2"), strict=True)]
    assert spent == [0, 55]
    send()
    books = reconcile()
    assert [(book.environment, book.ledger_cents, book.adds_up) for book in books] == [
        ("memory", 50, True),
        ("memory-2", 50, True),
    ]


def test_a_pause_and_a_cap_hold_for_one_account(study: Study, memory: Memory, second: RecruiterAccount) -> None:
    pause("memory-2", Pause.KEYS, "refused")
    set_month_cap(environment="memory-2", cap_cents=10, by=None)
    assert RecruiterAccount.objects.filter(environment="memory", pause=Pause.KEYS).count() == 0
    with pytest.raises(CapExceeded):
        launched(study, "memory-2")
    launched(study, "memory")


def test_a_persons_pause_holds_back_money_and_places_and_lets_offers_close(
    study: Study, memory: Memory, second: RecruiterAccount
) -> None:
    campaign = launched(study, "memory-2")
    send()
    worked(memory, campaign)
    held = memory.of("memory-2").held_cents
    pause_account(code="memory-2", by=None)
    stop_campaign(campaign=campaign)
    report = send(environment="memory-2")
    assert memory.of("memory-2").held_cents == held and report.waiting == 1
    assert not memory.of("memory-2").offer(campaign.hits.get().hit_id).is_open
    assert [one.text for one in attention(study) if one.kind == "paused"] == [
        "Second grant is paused: no places are opened and nobody is paid through it."
    ]
    resume_account(code="memory-2", by=None)
    runner.run_waiting()
    assert memory.of("memory-2").held_cents == held - 55


def test_it_is_known_by_its_own_name_and_is_of_its_kind(study: Study, memory: Memory, second: RecruiterAccount) -> None:
    account = registry.account_of("memory-2")
    assert (account.name, account.currency, account.workspace) == ("Second grant", "USD", "w-2")
    assert registry.name_of("memory-2") == "Second grant"
    assert "memory-2" in registry.codes()
    assert "memory-2" in registry.those(vouches=True)
    assert "memory-2" not in registry.those(vouches=False)
    rows = RecruiterAccount.objects.filter(registry.at(vouches=True))
    assert set(rows.values_list("environment", flat=True)) >= {"memory-2"}
    assert not RecruiterAccount.objects.filter(registry.at(vouches=False), environment="memory-2").exists()
    # the same id is the same person, whichever account paid for the place
    codes = {code_of(environment=to, worker_id="P1", family=study.family) for to in ("memory", "memory-2")}
    assert len(codes) == 1


def test_a_second_account_has_keys_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    open_account(kind="marketplace", code="market-b", name="Class of 2026", by=None)
    with pytest.raises(KeysRefused, match="RECRUITER_MARKET_B_ACCESS_KEY_ID and RECRUITER_MARKET_B_SECRET_ACCESS_KEY"):
        recruiter_for("market-b")
    monkeypatch.setenv("RECRUITER_MARKET_B_ACCESS_KEY_ID", "AKIAMARKETB")
    monkeypatch.setenv("RECRUITER_MARKET_B_SECRET_ACCESS_KEY", "secret")
    assert recruiter_for("market-b").environment == "market-b"


def test_no_account_has_the_name_of_another_page() -> None:
    """Of every address below that of all recruiters, the word in an account's place."""
    words = {path.split("/")[2] for path in addresses() if path.startswith("/recruiters/")}
    assert words - {"", VALUES["slug"]} == TAKEN


@pytest.mark.parametrize("kind", ["marketplace", "panel", "production"])
@pytest.mark.parametrize("code", ["metrics", "aws", "panel-2"])
def test_no_account_takes_the_secret_of_something_else_for_its_key(
    kind: str, code: str, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever an account is called: names of its keys begin with a word that nothing else begins with."""
    settings.METRICS_TOKEN = "opens the metrics"  # noqa: S105
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_TOKEN", "PANEL_2_TOKEN", "METRICS_ACCESS_KEY_ID"):
        monkeypatch.setenv(name, "of-something-else")
    open_account(kind=kind, code=code, name="Another", by=None)
    account = registry.account_of(code)
    names = account.kind.key_names(account)
    assert names and keys.missing(names) == list(names)
    prefix = f"RECRUITER_{code.upper().replace('-', '_')}_"
    assert all(name.startswith(prefix) for name in names)
    for kind_of_first in ("panel", "prolific", "marketplace"):
        first = registry.account_of(kind_of_first)
        assert all(name.startswith(kind_of_first.upper()) for name in first.kind.key_names(first))


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"code": "Ab"}, "code"),
        ({"code": "open"}, "code"),
        ({"code": "sites"}, "code"),
        ({"code": "a" * 13}, "code"),
        ({"name": " "}, "name"),
        ({"currency": "CHF"}, "currency"),
    ],
)
def test_what_an_account_needs(memory: Memory, given: dict[str, str], field: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        open_account(**{"kind": "memory", "code": "other", "name": "Other", "by": None, **given})
    assert list(caught.value.fields) == [field]
    assert not RecruiterAccount.objects.filter(name="Other").exists()


def test_who_opens_one_and_how_often(memory: Memory, second: RecruiterAccount) -> None:
    for code in ("memory", "memory-2"):
        with pytest.raises(Conflict):
            open_account(kind="memory", code=code, name="Again", by=None)
    with pytest.raises(InvalidRequest, match="'mars' is no kind"):
        open_account(kind="mars", code="mars", name="Mars", by=None)
    with pytest.raises(NotAllowed):
        open_account(kind="memory", code="mine", name="Mine", by=User.objects.create(username="ada"))


def test_the_first_accounts_are_there_from_the_beginning_and_once() -> None:
    first = ["link", "marketplace", "production", "sandbox"]
    assert list(RecruiterAccount.objects.order_by("environment").values_list("environment", flat=True)) == first
    RecruiterAccount.objects.exclude(environment="sandbox").delete()
    RecruiterAccount.objects.update(month_cap_cents=700)
    for _twice in range(2):
        call_command("migrate", verbosity=0)
    rows = RecruiterAccount.objects.order_by("environment").values_list("environment", "kind", "month_cap_cents")
    assert list(rows) == [
        ("link", "link", None),
        ("marketplace", "marketplace", None),
        ("production", "production", None),
        ("sandbox", "sandbox", 700),
    ]
