"""In which currency an account pays: its other side says so before anything is launched through it."""

from __future__ import annotations

from django.db import transaction

from humanexp.core import clock
from humanexp.core.audit import record
from humanexp.core.errors import Conflict, KeysRefused, RecruiterError, RecruiterUnavailable, WrongCurrency
from humanexp.recruiters import money, registry
from humanexp.recruiters.models import RecruiterAccount

#: Those that the recruiters pay in, all with two decimals; sums are kept in each, and nothing is ever converted.
CURRENCIES = tuple(money.SIGNS)


def take_over_currency(*, code: str) -> None:
    """As the other side names it, until something was launched: from then on another one is a fault.

    A limit in the earlier currency was not meant in this one.
    """
    account = registry.account_of(code)
    if not account.kind.names_currency or registry.is_settled(code):
        return
    named = account.kind.named_currency(account)
    if named not in CURRENCIES:
        raise WrongCurrency(f"{account.name} pays in {named}; sums are kept here in {', '.join(CURRENCIES)} alone.")
    with transaction.atomic():
        told = {"currency": named, "balance_at": clock.now()}
        RecruiterAccount.objects.update_or_create(environment=code, defaults=told)
        if named != account.currency:
            RecruiterAccount.objects.filter(environment=code, month_cap_cents__gt=0).update(month_cap_cents=0)
            changed = {"currency": named, "before": account.currency}
            record(action="account-currency", subject=f"recruiter:{code}", by=None, **changed)
    registry.forget(code)


def check_currency_named(code: str) -> None:
    """Before a launch: its sums are in the account's currency for good, so it cannot be one that we only suppose.

    It is asked for where it was not named yet. Never call it in a transaction.
    """
    if registry.is_currency_named(code) or registry.is_settled(code):
        return
    name, supposed = registry.name_of(code), registry.currency_of(code)
    try:
        take_over_currency(code=code)
    except (KeysRefused, WrongCurrency):
        raise
    except RecruiterError as error:
        raise RecruiterUnavailable(
            f"{name} has never said in which currency this account pays, and cannot be asked now ({error.message}) "
            "Nothing was launched. Try again when it answers."
        ) from error
    named = registry.currency_of(code)
    if named != supposed:
        raise Conflict(
            f"{name} says that this account pays in {named}; until now prices were shown in {supposed}. Nothing was "
            "launched: look at the price again, then launch it."
        )
