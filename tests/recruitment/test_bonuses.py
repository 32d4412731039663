"""Bonuses of a person's choice: the list, what it comes to, and that it is paid once."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from humanexp.core.errors import CapExceeded, CostNotConfirmed, InputRefused, InvalidRequest, NotAllowed
from humanexp.core.models import AuditEvent, User
from humanexp.ledger.bonuses import BonusList, pay_bonuses, read_bonuses
from humanexp.ledger.models import Call, Payment
from humanexp.recruiters.models import Assignment, RecruiterAccount
from humanexp.recruiters.states import AssignmentState, WriteState
from tests.recruitment.bonuses_at_panel import Bonuses

pytestmark = pytest.mark.django_db(transaction=True)
MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
REASON = "You were careful. Thank you."


@pytest.fixture
def payer(bonuses: Bonuses) -> User:
    found = User.objects.create_user("olga", password="x")
    bonuses.campaign.study.memberships.create(user=found, role="owner")
    return found


@pytest.fixture
def console(payer: User) -> Client:
    client = Client()
    client.force_login(payer)
    return client


@pytest.fixture
def proved(bonuses: Bonuses) -> None:
    RecruiterAccount.objects.update_or_create(
        environment="panel", defaults={"bonus_proved_at": bonuses.campaign.launched_at}
    )


def code_of(row: Assignment) -> str:
    assert row.person is not None
    return row.person.participant.code


def read(bonuses: Bonuses, text: str) -> BonusList:
    return read_bonuses(study=bonuses.campaign.study, content=text.encode(), source="list.csv")


def pay(bonuses: Bonuses, found: BonusList, by: User, **changed: Any) -> list[Payment]:
    terms = {"reason": REASON, "shown_total_cents": found.total_cents, **changed}
    return pay_bonuses(study=bonuses.campaign.study, bonuses=found, by=by, **terms)


class TestReading:
    @pytest.mark.parametrize(
        "header", ["", "id,amount\n", "Amount;Code\n", "\N{ZERO WIDTH NO-BREAK SPACE}id,amount\r\n"]
    )
    def test_whoever_is_meant_by_whichever_name(self, bonuses: Bonuses, header: str) -> None:
        first, second, third = bonuses.people(3)
        worker = first.person.worker_id  # type: ignore[union-attr]
        names = [(worker, "0.50"), (code_of(second).lower(), "1"), (third.assignment_id, "£12.5")]
        is_turned = header.startswith("Amount")
        lines = (f"{amount};{name}" if is_turned else f"{name},{amount}" for name, amount in names)
        found = read(bonuses, header + "\n".join(lines))
        assert [(line.assignment, line.amount_cents) for line in found.lines] == [
            (first, 50), (second, 100), (third, 1_250),
        ]  # fmt: skip
        assert (found.currency, found.amount_cents) == ("GBP", 1_400)
        assert found.total_cents == 1_400 + sum(line.charge.cents for line in found.lines)

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("{0},0.50\nnobody,1.00", "list.csv, row 2: nobody of this study"),
            ("{0},0.50\n{1},1.00", "rows 1 and 2: these are one person"),
            ("{0},0", "row 1: a bonus is at least a cent"),
            ("{0},-1", "row 1: '-1' is not an amount of money"),
            ("{0},1.005", "row 1: '1.005' is not an amount of money"),
            ("{0},1e3", "row 1: '1e3' is not an amount of money"),
            ("id,sum\n{0},1", "no column is called amount"),
            ("id,code,amount\n{0},{0},1", "id and code can each hold the ids"),
            ("id,amount\n", "a list has 1 to 1000 rows"),
            ("PK\x03\x04", "workbook"),
        ],
    )
    def test_what_is_no_such_list_is_refused_by_row_and_remedy(self, bonuses: Bonuses, text: str, said: str) -> None:
        [row] = bonuses.people(1)
        with pytest.raises(Exception, match=said) as caught:
            read(bonuses, text.format(row.assignment_id, code_of(row)))
        assert row.assignment_id not in str(caught.value)
        assert Payment.objects.count() == 0

    def test_nobody_of_another_study_or_under_way(self, bonuses: Bonuses) -> None:
        [row] = bonuses.people(1)
        Assignment.objects.update(state=AssignmentState.OPENED)
        with pytest.raises(InputRefused):
            read(bonuses, f"{row.assignment_id},1")
        Assignment.objects.update(state=AssignmentState.RETURNED)
        assert read(bonuses, f"{row.assignment_id},1").lines[0].assignment == row


class TestPaying:
    @pytest.mark.usefixtures("proved")
    def test_a_list_is_paid_once_and_arrives(self, bonuses: Bonuses, payer: User) -> None:
        rows = bonuses.people(3)
        found = read(
            bonuses,
            "\n".join(f"{row.assignment_id},{cents / 100}" for row, cents in zip(rows, (50, 175, 300), strict=True)),
        )
        assert len(pay(bonuses, found, payer)) == 3
        assert len(pay(bonuses, found, payer)) == 3, "a second click"
        assert Payment.objects.count() == 3
        bonuses.send()
        bonuses.settle()
        assert [bonuses.got(row) for row in rows] == [[50], [175], [300]]
        assert set(Payment.objects.values_list("state", "reason")) == {(WriteState.CONFIRMED, REASON)}
        event = AuditEvent.objects.filter(action="pay-bonuses").earliest("pk")
        assert (event.facts["people"], event.facts["cents"]) == (3, found.total_cents)
        another = read(bonuses, f"{rows[0].assignment_id},0.50")
        pay(bonuses, another, payer)
        bonuses.send()
        bonuses.settle()
        assert bonuses.got(rows[0]) == [50, 50], "another list is another bonus"

    @pytest.mark.usefixtures("proved")
    def test_all_or_nothing(self, bonuses: Bonuses, payer: User) -> None:
        first, second = bonuses.people(2)
        bonuses.campaign.cap_cents = bonuses.campaign.quoted_cents + 200
        bonuses.campaign.save()
        found = read(bonuses, f"{first.assignment_id},1\n{second.assignment_id},1")
        with pytest.raises(CapExceeded):
            pay(bonuses, found, payer)
        assert Payment.objects.count() == 0

    def test_what_was_shown_is_what_is_paid(self, bonuses: Bonuses, payer: User) -> None:
        [row] = bonuses.people(1)
        found = read(bonuses, f"{row.assignment_id},0.50")
        with pytest.raises(CostNotConfirmed):
            pay(bonuses, found, payer, shown_total_cents=found.total_cents - 1)
        for reason in ("", "  ", "x" * 801):
            with pytest.raises(InvalidRequest, match="reason"):
                pay(bonuses, found, payer, reason=reason)
        with pytest.raises(NotAllowed):
            pay(bonuses, found, User.objects.create_user("mia"))
        assert Payment.objects.count() == 0

    def test_the_first_dear_one_of_an_account_goes_alone(self, bonuses: Bonuses, payer: User) -> None:
        rows = bonuses.people(2)
        both = read(bonuses, "\n".join(f"{row.assignment_id},2" for row in rows))
        with pytest.raises(CapExceeded, match="one person first"):
            pay(bonuses, both, payer)
        pay(bonuses, read(bonuses, f"{rows[0].assignment_id},2"), payer)
        with pytest.raises(CapExceeded):
            pay(bonuses, read(bonuses, f"{rows[1].assignment_id},2"), payer)
        bonuses.send()
        bonuses.settle()
        pay(bonuses, read(bonuses, f"{rows[1].assignment_id},2"), payer)
        bonuses.send()
        bonuses.settle()
        assert [bonuses.got(row) for row in rows] == [[200], [200]]


class TestPage:
    @pytest.mark.usefixtures("proved")
    def test_from_a_persons_page_to_the_money(self, bonuses: Bonuses, console: Client) -> None:
        [row] = bonuses.people(1)
        study = bonuses.campaign.study.slug
        page = console.get(f"/studies/{study}/assignments/{row.pk}/").content.decode()
        address = f"/studies/{study}/monitor/bonuses/"
        assert f"{address}?to={row.pk}" in page
        assert f"{code_of(row)}," in console.get(f"{address}?to={row.pk}").content.decode()
        given = {"people": f"{code_of(row)},1.75", "reason": REASON}
        page = console.post(address, given).content.decode()
        assert "1 bonus: £2.34 with fees" in page and Payment.objects.count() == 0
        shown = _hidden(page, "shown")
        asked = {**given, "step": "pay", "shown": shown, "shown_total": "234"}
        assert console.post(address, {**asked, "shown_total": "233"}).status_code == 409
        assert console.post(address, asked).status_code == 302
        assert console.post(address, asked).status_code == 302
        assert Payment.objects.get().amount_cents == 175
        for nonsense in ("", "{}", '{"key": "x", "amounts": {}}', '{"key": "0123456789abcdef", "amounts": {"999": 1}}'):
            assert console.post(address, {**asked, "shown": nonsense}).status_code in (409, 422)
        assert Payment.objects.count() == 1

    def test_a_list_that_is_none_is_told_and_kept(self, bonuses: Bonuses, console: Client) -> None:
        bonuses.people(1)
        address = f"/studies/{bonuses.campaign.study.slug}/monitor/bonuses/"
        reply = console.post(address, {"people": "somebody,1", "reason": REASON})
        assert reply.status_code == 422
        assert "row 1: nobody of this study" in reply.content.decode() and "somebody,1" in reply.content.decode()


def test_the_command_tells_and_then_pays(bonuses: Bonuses, proved: None, tmp_path: Path, capsys: Any) -> None:
    [row] = bonuses.people(1)
    file = tmp_path / "bonuses.csv"
    file.write_text(f"id,amount\n{row.assignment_id},1.75\n")
    study = bonuses.campaign.study.slug
    call_command("bonus", study, str(file), reason=REASON)
    assert "1 bonuses, £1.75 + fees £0.59 = £2.34" in capsys.readouterr().out
    assert Payment.objects.count() == 0
    with pytest.raises(CommandError):
        call_command("bonus", study, str(file), reason=REASON, confirm_total="2.33")
    with pytest.raises(CommandError, match="waiting|sent"):  # accepted, and not seen to arrive yet
        call_command("bonus", study, str(file), reason=REASON, confirm_total="2.34")
    bonuses.settle()
    assert bonuses.got(row) == [175]


def test_a_message_to_some_by_name(bonuses: Bonuses, console: Client) -> None:
    first, second, _third = bonuses.people(3)
    address = f"/studies/{bonuses.campaign.study.slug}/recruit/notify/"
    assert code_of(first) in console.get(f"{address}?to={first.pk}").content.decode()
    said = {"to": "named", "subject": "Your question", "text": "Yes, you were paid."}
    assert console.post(address, {**said, "people": "nobody"}).status_code == 422
    assert console.post(address, {**said, "people": ""}).status_code == 422
    assert Call.objects.filter(kind="message").count() == 0
    names = f"{code_of(first)}\n{second.assignment_id}"
    assert console.post(address, {**said, "people": names}).status_code == 302
    assert set(Call.objects.filter(kind="message").values_list("assignment", flat=True)) == {first.pk, second.pk}


def _hidden(page: str, name: str) -> str:
    [found] = re.findall(rf'name="{name}" value="([^"]*)"', page)
    assert json.loads(html.unescape(found))["key"]
    return html.unescape(found)
