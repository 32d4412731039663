"""Copies of a database and a folder from before payments were sent, put back after them: nobody is paid twice.

Real files and real processes on the other side: the marketplace, which takes a token with every payment and forgets it
after a day, and the panel, which takes none.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from humanexp.console.archives import keys
from humanexp.console.archives.backup import back_up
from humanexp.console.archives.restoration import restore
from humanexp.console.archives.shelf import Shelf
from humanexp.ledger import sender
from humanexp.ledger.delivery import file_of
from humanexp.ledger.models import Call, Payment
from humanexp.ledger.reconciliation import open_differences, reconcile
from humanexp.ledger.settlement import clear, plan_bonus
from humanexp.recruiters.models import Assignment, Campaign
from humanexp.recruiters.states import WriteState
from humanexp.studies.models import Study
from tests.attacks.test_money import bonuses as listed_there, status, submitted
from tests.attacks.test_restored_money import WORDS, silent
from tests.marketplace.server import MarketplaceServer
from tests.panel.server import PanelServer
from tests.recruitment.bonuses_at_panel import Bonuses, at_panel
from tests.recruitment.studies import make_study

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.process]


@pytest.fixture
def study(transactional_db: None, settings: Any, tmp_path: Path) -> Study:
    if connection.vendor != "sqlite":
        pytest.skip("a database that is a file is copied")
    settings.MEDIA_ROOT = tmp_path / "machine"
    settings.MEDIA_ROOT.mkdir()
    return make_study("copied")


class Side(Protocol):
    """A recruiter at which two people of a study have submitted."""

    code: str
    rows: list[Assignment]

    def send(self) -> None: ...

    def wait(self) -> None:
        """Until what was sent has arrived there, and every token is forgotten."""

    def rewarded(self, row: Assignment) -> bool: ...

    def bonuses(self, row: Assignment) -> list[int]: ...

    def pay_by_hand(self, row: Assignment, cents: int) -> None:
        """On the recruiter's own pages."""


class AtMarketplace:
    code = "marketplace"

    def __init__(self, site: MarketplaceServer, other_side: Any, rows: list[Assignment]) -> None:
        self.site, self.other_side, self.rows = site, other_side, rows

    def send(self) -> None:
        sender.send(environment=self.code)

    def wait(self) -> None:
        self.site.advance(30 * 3600)

    def rewarded(self, row: Assignment) -> bool:
        return status(self.other_side, row) == "Approved"

    def bonuses(self, row: Assignment) -> list[int]:
        return [round(100 * float(amount)) for amount in listed_there(self.other_side, row)]

    def pay_by_hand(self, row: Assignment, cents: int) -> None:
        assert row.person is not None
        self.other_side.send_bonus(
            WorkerId=row.person.worker_id,
            AssignmentId=row.assignment_id,
            BonusAmount=f"{cents / 100:.2f}",
            Reason="by hand",
        )


class AtPanel:
    code = "panel"

    def __init__(self, there: Bonuses) -> None:
        self.there, self.rows = there, there.people(2)

    def send(self) -> None:
        self.there.send()

    def wait(self) -> None:
        self.there.pass_time(minutes=20)

    def rewarded(self, row: Assignment) -> bool:
        return bool(self.there.lab.submission(row.assignment_id)["status"] == "APPROVED")

    def bonuses(self, row: Assignment) -> list[int]:
        return self.there.got(row)

    def pay_by_hand(self, row: Assignment, cents: int) -> None:
        plan = self.there.lab.plan(self.there.study, (row.assignment_id, f"{cents / 100:.2f}"))
        self.there.lab.post(f"bulk-bonus-payments/{plan['id']}/pay/")


@pytest.fixture
def at_marketplace(
    launch: Callable[..., Campaign],
    new_worker: Callable[[], Any],
    marketplace: MarketplaceServer,
    other_side: Any,
) -> AtMarketplace:
    return AtMarketplace(marketplace, other_side, submitted(launch(cap_cents=5_000), new_worker, 2))


@pytest.fixture
def at_the_panel(panel: PanelServer, lab: Any, study: Study, monkeypatch: pytest.MonkeyPatch) -> AtPanel:
    return AtPanel(at_panel(lab, study, monkeypatch))


@pytest.fixture(params=["at_marketplace", "at_the_panel"])
def side(request: pytest.FixtureRequest, study: Study) -> Side:
    found: Side = request.getfixturevalue(request.param)
    return found


class Copy:
    """Of the database's file and of the folder beside it, as a person makes one while nothing runs."""

    def __init__(self, settings: Any, folder: Path) -> None:
        self.settings, self.folder = settings, folder
        self.database = Path(str(connection.settings_dict["NAME"]))
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        folder.mkdir()
        shutil.copyfile(self.database, folder / "database")
        shutil.copytree(settings.MEDIA_ROOT, folder / "files")

    def put_back_database(self) -> None:
        connection.close()
        for beside in ("-wal", "-shm"):
            Path(f"{self.database}{beside}").unlink(missing_ok=True)
        shutil.copyfile(self.folder / "database", self.database)

    def put_back_files(self) -> None:
        shutil.rmtree(self.settings.MEDIA_ROOT)
        shutil.copytree(self.folder / "files", self.settings.MEDIA_ROOT)


@pytest.fixture
def copy(side: Side, settings: Any, tmp_path: Path) -> Copy:
    """Made after a first payment, with a reward and two bonuses planned."""
    first, second = side.rows
    clear(assignment=second, by=None)
    side.send()
    side.wait()
    side.send()
    assert side.rewarded(second) and not side.rewarded(first)
    clear(assignment=first, by=None)
    for row, cents in ((first, 33), (second, 44)):
        plan_bonus(assignment=row, amount_cents=cents, cause="care", reason="For your care.")
    return Copy(settings, tmp_path / "copy")


def pay(side: Side) -> None:
    for _ in range(2):
        side.send()
        side.wait()
    side.send()
    assert set(Call.objects.values_list("state", flat=True)) == {WriteState.CONFIRMED}
    assert_paid_once(side)


def assert_paid_once(side: Side) -> None:
    assert [side.rewarded(row) for row in side.rows] == [True, True]
    assert [side.bonuses(row) for row in side.rows] == [[33], [44]]


def go_on(side: Side) -> None:
    """As jobs do for some rounds."""
    for _ in range(3):
        side.send()
        side.wait()
        reconcile(environment=side.code)
        Call.objects.filter(state=WriteState.PLANNED).update(missed_at=timezone.now() - timedelta(minutes=2))


def is_known(side: Side, study: Study) -> bool:
    """Every bonus is confirmed, or a person is told of it and it goes nowhere before."""
    waiting = Payment.objects.filter(kind="bonus").exclude(state=WriteState.CONFIRMED)
    return all(row.state == WriteState.PARKED or bool(open_differences(study)) for row in waiting)


@pytest.mark.gate
@pytest.mark.promise(2)
def test_folder_and_database_put_back_together_pay_nobody_twice(side: Side, copy: Copy, study: Study) -> None:
    """Nothing on this machine remembers that anything was sent."""
    pay(side)
    copy.put_back_database()
    copy.put_back_files()
    assert Payment.objects.filter(state=WriteState.PLANNED).count() == 3
    go_on(side)
    assert_paid_once(side)
    assert is_known(side, study)


@pytest.mark.gate
@pytest.mark.promise(2)
def test_the_database_alone_put_back_pays_nobody_twice(side: Side, copy: Copy, study: Study) -> None:
    pay(side)
    copy.put_back_database()
    assert Payment.objects.filter(state=WriteState.PLANNED).count() == 3
    go_on(side)
    assert_paid_once(side)
    assert is_known(side, study)


def test_the_folder_alone_put_back_pays_nobody_twice_and_keeps_nobody_waiting(side: Side, copy: Copy) -> None:
    """The database knows what was sent: the file that counts less than it does is behind, and nothing else."""
    pay(side)
    copy.put_back_files()
    go_on(side)
    assert_paid_once(side)
    plan_bonus(assignment=side.rows[0], amount_cents=5, cause="more", reason="For more.")
    go_on(side)
    assert sorted(side.bonuses(side.rows[0])) == [5, 33] and side.bonuses(side.rows[1]) == [44]


@pytest.mark.gate
@pytest.mark.promise(2)
def test_an_older_database_on_another_machine_pays_nobody_twice(
    side: Side, copy: Copy, study: Study, settings: Any, tmp_path: Path
) -> None:
    """Its folder was not copied."""
    pay(side)
    copy.put_back_database()
    settings.MEDIA_ROOT = tmp_path / "another-machine"
    settings.MEDIA_ROOT.mkdir()
    assert not file_of(side.code).exists()
    go_on(side)
    assert_paid_once(side)
    assert is_known(side, study)


@pytest.mark.gate
@pytest.mark.promise(2)
def test_an_archive_restored_on_another_machine_pays_nobody_twice(
    side: Side, copy: Copy, study: Study, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what else went out after it: `test_restored_money`."""
    monkeypatch.setattr(keys, "_N", 2**4)
    shelf = Shelf(tmp_path / "archives")
    back_up(to=tmp_path / "archives", passphrase=WORDS, is_verified=False, keep=None, progress=silent)
    pay(side)
    call_command("flush", interactive=False, verbosity=0)
    settings.MEDIA_ROOT = tmp_path / "another-machine"
    settings.MEDIA_ROOT.mkdir()
    restore(shelf=shelf, name=shelf.names()[0], passphrase=WORDS, with_keys=True, is_rehearsal=False, progress=silent)
    go_on(side)
    assert_paid_once(side)
    assert is_known(side, study)


@pytest.mark.gate
@pytest.mark.promise(2)
def test_what_was_paid_by_hand_meanwhile_is_not_paid_again(side: Side, copy: Copy, study: Study) -> None:
    """The machine was lost before it sent anything; people were paid on the recruiter's own pages, and it came back."""
    for row, cents in zip(side.rows, (33, 44), strict=True):
        side.pay_by_hand(row, cents)
    side.wait()
    copy.put_back_database()
    copy.put_back_files()
    go_on(side)
    assert_paid_once(side)
    assert is_known(side, study)
