"""A real archive, made before payments were sent and restored after them: the marketplace pays nobody twice."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from humanexp.console.archives import keys
from humanexp.console.archives.backup import back_up
from humanexp.console.archives.restoration import restore
from humanexp.console.archives.shelf import Shelf
from humanexp.ledger.models import Call, Payment
from humanexp.ledger.reconciliation import open_differences, reconcile
from humanexp.ledger.settlement import settle
from humanexp.recruiters.models import Assignment, Campaign, RecruiterAccount
from humanexp.recruiters.states import WriteState
from humanexp.recruiting.extension import extend
from humanexp.studies.models import Study
from tests.attacks.test_money import bonus_for, bonuses, send, status, submitted
from tests.marketplace.server import MarketplaceServer
from tests.recruitment.studies import make_study

pytestmark = pytest.mark.django_db(transaction=True)

WORDS = "correct horse battery"


@pytest.fixture
def study(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    monkeypatch.setattr(keys, "_N", 2**4)
    call_command("migrate", verbosity=0)
    for code in ("link", "marketplace", "sandbox", "production"):  # what an earlier test's flush took away
        RecruiterAccount.objects.get_or_create(environment=code)
    return make_study("restored")


def silent(_done: int, _total: int, _what: str) -> None:
    """No terminal."""


@pytest.mark.gate
@pytest.mark.promise(2)
def test_nothing_is_sent_twice_after_a_restore(
    launch: Callable[..., Campaign],
    new_worker: Callable[[], Any],
    marketplace: MarketplaceServer,
    other_side: Any,
    settings: Any,
    tmp_path: Path,
) -> None:
    """A bonus, rewards and a HIT went out after the backup. One bonus was even planned after it."""
    campaign = launch(assignments=3, cap_cents=5_000)
    first, second, late = submitted(campaign, new_worker, 3)
    settle(study=campaign.study)
    bonus_for(first)
    extend(campaign=campaign, places=9, by=None)
    back_up(to=tmp_path / "archives", passphrase=WORDS, is_verified=True, keep=None, progress=silent)
    bonus_for(late, cents=55, cause="forgotten")
    send()
    there = other_side.get_account_balance()["AvailableBalance"]
    assert bonuses(other_side, late) == ["0.55"] and bonuses(other_side, first) == ["0.33"]
    marketplace.advance(30 * 3600)  # every token is forgotten

    call_command("flush", interactive=False, verbosity=0)
    settings.MEDIA_ROOT = tmp_path / "another-machine"
    settings.MEDIA_ROOT.mkdir()
    shelf = Shelf(tmp_path / "archives")
    done = restore(
        shelf=shelf, name=shelf.names()[0], passphrase=WORDS, with_keys=True, is_rehearsal=False, progress=silent
    )
    assert done.asked_first == Call.objects.filter(state=WriteState.PLANNED).count() == 6
    compared = RecruiterAccount.objects.filter(to_compare_since__isnull=False)
    assert [account.environment for account in compared] == ["marketplace"], "the others have never sent anything"
    assert Payment.objects.filter(cause="forgotten").count() == 0

    for _ in range(3):
        send()
        reconcile(environment="marketplace")
        Call.objects.filter(state="planned").update(missed_at=timezone.now() - timedelta(minutes=2))
    assert set(Call.objects.values_list("state", flat=True)) == {WriteState.CONFIRMED}
    assert {status(other_side, row) for row in (first, second, late)} == {"Approved"}
    assert bonuses(other_side, first) == ["0.33"]
    assert other_side.get_account_balance()["AvailableBalance"] == there
    # the bonus that the ledger has forgotten is a difference, and its person gets no other one meanwhile
    [difference] = open_differences(campaign.study)
    assert (difference.ours_cents, difference.theirs_cents) == (None, 55)
    bonus_for(Assignment.objects.get(pk=late.pk), cents=55, cause="forgotten")
    send()
    assert bonuses(other_side, late) == ["0.55"]
