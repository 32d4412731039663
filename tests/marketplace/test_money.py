from __future__ import annotations

import pytest

from humanexp.sites.marketplace.errors import InvalidParameterValue
from humanexp.sites.marketplace.money import FeeSchedule, cents_to_dollars, dollars_to_cents


@pytest.mark.parametrize(
    ("text", "cents"), [("1", 100), ("1.", 100), ("0.5", 50), ("1.05", 105), ("0.01", 1), ("0", 0)]
)
def test_reads_amounts_as_mturk_writes_them(text: str, cents: int) -> None:
    assert dollars_to_cents(text) == cents


def test_writes_two_decimals() -> None:
    assert [cents_to_dollars(cents) for cents in (0, 5, 105, -105)] == ["0.00", "0.05", "1.05", "-1.05"]


def test_refuses_an_amount_too_large_for_the_books() -> None:
    with pytest.raises(InvalidParameterValue):
        dollars_to_cents("9" * 40)


@pytest.mark.parametrize(
    ("reward", "assignments", "masters", "fee"),
    [
        (50, 1, False, 10),
        (50, 9, False, 10),
        (50, 10, False, 20),  # 40 %
        (50, 10, True, 23),  # 45 % of 50 = 22.5, half up
        (100, 1, True, 25),
        (2, 1, False, 1),  # 0.4 of a cent: the minimum
        (0, 1, False, 1),
        (13, 1, False, 3),  # 2.6
        (12, 1, False, 2),  # 2.4
    ],
)
def test_assignment_fees(reward: int, assignments: int, masters: bool, fee: int) -> None:
    schedule = FeeSchedule()
    found = schedule.assignment_fee_cents(reward_cents=reward, max_assignments=assignments, masters=masters)
    assert found == fee


@pytest.mark.parametrize(("bonus", "fee"), [(1, 1), (5, 1), (8, 2), (100, 20), (1234, 247)])
def test_bonus_fees(bonus: int, fee: int) -> None:
    assert FeeSchedule().bonus_fee_cents(bonus) == fee
