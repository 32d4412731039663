from __future__ import annotations

import pytest

from humanexp.core.errors import InvalidRequest
from humanexp.recruiters import money
from humanexp.recruiters.money import NO_FEES, PUBLISHED_FEES, hourly_cents, split, terms_of
from humanexp.recruiting.launch import quote


@pytest.mark.parametrize(
    ("reward", "size", "fee"),
    [
        (120, 9, 24),  # 20 %
        (120, 10, 48),  # 40 % from ten assignments on
        (52, 2, 10),  # 10.4
        (52, 10, 21),  # 20.8
        (1, 1, 1),  # 0.2: the minimum
        (0, 1, 1),
        (53, 1, 11),  # 10.6: half up, not down
        (1_250, 1, 250),
    ],
)
def test_fee_of_a_reward(reward: int, size: int, fee: int) -> None:
    assert PUBLISHED_FEES.reward_fee_cents(reward, hit_size=size) == fee


def test_fee_of_masters_and_of_a_bonus() -> None:
    assert PUBLISHED_FEES.reward_fee_cents(100, hit_size=10, masters=True) == 45
    assert PUBLISHED_FEES.bonus_fee_cents(33) == 7
    assert PUBLISHED_FEES.bonus_fee_cents(2) == 1
    assert NO_FEES.reward_fee_cents(120, hit_size=100) == 0


def test_small_hits_cost_less_and_the_sum_is_exact() -> None:
    small = money.quote(terms_of(reward_cents=120, assignments=52, per_hit=9), fees=PUBLISHED_FEES)
    assert small.hit_sizes == (9, 9, 9, 9, 9, 7)
    assert (small.rewards_cents, small.fees_cents, small.total_cents) == (6240, 1248, 7488)
    large = money.quote(terms_of(reward_cents=120, assignments=52, per_hit=52), fees=PUBLISHED_FEES)
    assert large.total_cents == 52 * 168


def test_a_rest_under_ten_has_the_lower_fee() -> None:
    mixed = money.quote(terms_of(reward_cents=100, assignments=13, per_hit=10), fees=PUBLISHED_FEES)
    assert mixed.hit_sizes == (10, 3)
    assert mixed.fees_cents == 10 * 40 + 3 * 20


def test_split_covers_every_place() -> None:
    assert split(1, 9) == (1,)
    assert split(18, 9) == (9, 9)


@pytest.mark.django_db
def test_quote_of_the_service_knows_the_recruiters() -> None:
    assert quote(to="link", assignments=40, reward_cents=0).total_cents == 0
    assert quote(to="link", assignments=40, reward_cents=0).hit_sizes == (40,)
    assert quote(to="marketplace", assignments=10, reward_cents=100).total_cents == 1200
    with pytest.raises(InvalidRequest, match="choose one of link, marketplace"):
        quote(to="mturk", assignments=1, reward_cents=1)
    with pytest.raises(InvalidRequest):
        quote(to="marketplace", assignments=0, reward_cents=1)


def test_hourly() -> None:
    assert hourly_cents(reward_cents=250, minutes=10) == 1500
    assert hourly_cents(reward_cents=250, minutes=0) is None


@pytest.mark.parametrize(("text", "cents"), [("123.45", 12345), ("$1.2", 120), (" 7 ", 700), ("0.01", 1)])
def test_money_as_typed(text: str, cents: int) -> None:
    assert money.cents(text) == cents


@pytest.mark.parametrize("text", ["", "1.234", "1,20", "-1", "1e3", "abc", "١.٢٠"])
def test_money_that_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest, match="amount of money"):
        money.cents(text)


def test_amounts_have_two_decimals() -> None:
    assert [money.decimal(cents) for cents in (0, 5, 120, -250, 1_000_000)] == [
        "0.00",
        "0.05",
        "1.20",
        "-2.50",
        "10000.00",
    ]
