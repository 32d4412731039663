"""What belongs to no study, attacked by accounts that have made studies of their own."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from humanexp.core.accounts import set_house_role
from humanexp.core.errors import CapExceeded, InvalidRequest, NotAllowed
from humanexp.core.models import AuditEvent, HouseRole, User
from humanexp.ledger.budgets import (
    Launchers,
    launchers_of,
    may_launch_on,
    month_budget,
    raise_cap,
    set_launchers,
    set_month_cap,
)
from humanexp.recruiters.models import Campaign, RecruiterAccount
from humanexp.recruiting.accounts import open_account
from humanexp.recruiting.extension import extend
from humanexp.recruiting.launch import LaunchTerms, publish
from humanexp.studies.models import Study
from tests.recruitment.studies import make_study

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("closed_accounts", "open_gates")]
CODE = "marketplace"


@pytest.fixture
def people() -> dict[str, User]:
    found = {name: User.objects.create_user(name) for name in ("eve", "treasurer", "head")}
    set_house_role(user=found["treasurer"], role=HouseRole.TREASURER)
    set_house_role(user=found["head"], role=HouseRole.ADMINISTRATOR)
    return found


@pytest.fixture
def own(people: dict[str, User]) -> Study:
    """Anybody can make a study, and is its owner."""
    study = make_study("own")
    study.memberships.create(user=people["eve"], role="owner")
    return study


def launch(study: Study, by: User | None) -> Campaign:
    return publish(study=study, terms=LaunchTerms(to=CODE, assignments=2, reward_cents=100), by=by)


def test_an_account_begins_with_nothing_to_spend_and_for_nobody(people: dict[str, User], own: Study) -> None:
    opened = open_account(kind=CODE, code="grant", name="A grant", by=people["head"])
    assert (opened.month_cap_cents, opened.is_open, opened.launchers.count()) == (0, False, 0)
    for row in RecruiterAccount.objects.exclude(environment="link"):
        assert month_budget(row.environment).left_cents == 0
    RecruiterAccount.objects.all().delete()
    assert month_budget(CODE).left_cents == 0, "without a row, too"
    with pytest.raises(CapExceeded):
        launch(own, None)


@pytest.mark.promise(3)
def test_nobody_launches_where_they_are_not_named(people: dict[str, User], own: Study) -> None:
    set_month_cap(environment=CODE, cap_cents=None, by=people["treasurer"])
    with pytest.raises(NotAllowed, match="not among those who may launch"):
        launch(own, people["eve"])
    assert not Campaign.objects.exists()
    set_launchers(code=CODE, usernames=["eve"], is_open=False, by=people["treasurer"])
    campaign = launch(own, people["eve"])
    set_launchers(code=CODE, usernames=[], is_open=False, by=people["treasurer"])
    with pytest.raises(NotAllowed):
        extend(campaign=campaign, places=1, by=people["eve"])
    with pytest.raises(NotAllowed):
        raise_cap(campaign=campaign, cap_cents=10**6, by=people["eve"])
    set_launchers(code=CODE, usernames=[], is_open=True, by=people["head"])
    assert may_launch_on(people["eve"], CODE)
    people["eve"].is_active = False
    assert not may_launch_on(people["eve"], CODE)


def test_a_link_is_everybodys(people: dict[str, User], own: Study) -> None:
    assert publish(study=own, terms=LaunchTerms(to="link"), by=people["eve"]).environment == "link"


@pytest.mark.promise(3)
@pytest.mark.parametrize(
    "act",
    [
        lambda by: set_month_cap(environment=CODE, cap_cents=None, by=by),
        lambda by: set_launchers(code=CODE, usernames=["eve"], is_open=True, by=by),
    ],
    ids=["cap", "launchers"],
)
def test_who_may_spend_is_the_treasurers_business(
    act: Callable[[User], object], people: dict[str, User], own: Study
) -> None:
    with pytest.raises(NotAllowed, match="treasurer"):
        act(people["eve"])
    row = RecruiterAccount.objects.get(environment=CODE)
    assert (row.month_cap_cents, row.is_open, row.launchers.count()) == (0, False, 0)
    for name in ("treasurer", "head"):
        act(people[name])
    assert (
        AuditEvent.objects.filter(by__in=[people["treasurer"], people["head"]], subject=f"recruiter:{CODE}").count()
        == 2
    )


def test_a_name_that_nobody_has_changes_nothing(people: dict[str, User]) -> None:
    set_launchers(code=CODE, usernames=["eve"], is_open=False, by=people["head"])
    with pytest.raises(InvalidRequest, match="'eva'"):
        set_launchers(code=CODE, usernames=["eve", "eva"], is_open=True, by=people["head"])
    assert launchers_of(CODE) == Launchers(is_open=False, usernames=("eve",))


def test_a_treasurer_has_no_more_of_a_study_and_no_keys(people: dict[str, User], own: Study, client: Client) -> None:
    client.force_login(people["treasurer"])
    assert client.get(f"/studies/{own.slug}/").status_code == 404
    assert client.get("/accounts/").status_code == 403 and client.get("/record/").status_code == 403
    address = f"/recruiters/{CODE}/"
    page = client.get(address).content.decode()
    assert 'value="spending"' in page and 'value="keys"' not in page and 'value="pause"' not in page
    for act in ("keys", "pause", "test", "name"):
        client.post(address, {"do": act, "MARKETPLACE_ACCESS_KEY_ID": "mine", "name": "Mine"})
    assert not AuditEvent.objects.filter(by=people["treasurer"]).exists()
    assert (
        client.post("/recruiters/open/", {"kind": CODE, "code": "mine", "name": "Mine", "currency": "USD"}).status_code
        == 403
    )
    assert client.get("/money/").status_code == 200


def test_the_page_stores_both_or_nothing(people: dict[str, User], own: Study, client: Client) -> None:
    client.force_login(people["eve"])
    address = f"/recruiters/{CODE}/"
    for refused in (client.get(address), client.post(address, {"do": "spending", "month_cap": "", "launchers": "eve"})):
        assert refused.status_code == 403
    client.force_login(people["treasurer"])
    wrong = client.post(address, {"do": "spending", "month_cap": "250", "launchers": "eve, nobody"})
    assert wrong.status_code == 422 and "nobody" in wrong.content.decode()
    assert month_budget(CODE).cap_cents == 0
    assert client.post(address, {"do": "spending", "month_cap": "250", "launchers": "eve"}).status_code == 302
    assert month_budget(CODE).cap_cents == 25_000
    assert 'value="eve"' in client.get(address).content.decode()


def test_the_page_of_a_launch_says_who_can_help(people: dict[str, User], own: Study, client: Client) -> None:
    client.force_login(people["eve"])
    asked = {"to": CODE, "assignments": "2", "reward": "1.00", "hits": "small"}

    def price() -> str:
        return client.get(f"/studies/{own.slug}/recruit/price/", asked).content.decode()

    assert "not among those who may launch" in price() and "disabled" in price()
    set_launchers(code=CODE, usernames=["eve"], is_open=False, by=people["head"])
    assert "sets the limit on its page" in price() and "disabled" in price()
    set_month_cap(environment=CODE, cap_cents=10_000, by=people["head"])
    assert "data-refusal" not in price() and "disabled" not in price()
