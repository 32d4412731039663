from __future__ import annotations

from humanexp.marketplace.money import cents_to_dollars
from humanexp.marketplace.registry import Answer, Call, operation
from humanexp.marketplace.selectors.accounts import balance_of


@operation("GetAccountBalance")
def get_account_balance(call: Call) -> Answer:
    """Available: paid in and not yet paid out. On hold: the part of it that open HITs may still cost."""
    balance = balance_of(call.requester, call.now)
    return {
        "AvailableBalance": cents_to_dollars(balance.available),
        "OnHoldBalance": cents_to_dollars(balance.on_hold),
    }
