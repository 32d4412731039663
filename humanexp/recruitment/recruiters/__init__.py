"""Whom studies find people through. What each can do is asked here; which one it is nobody needs to know."""

from __future__ import annotations

from humanexp.recruitment.pricing import FeeTable
from humanexp.recruitment.recruiters.base import Recruiter
from humanexp.recruitment.recruiters.registry import (
    Account,
    account_of,
    accounts,
    at,
    capabilities_of,
    choices,
    codes,
    currency_of,
    forget,
    is_known,
    is_settled,
    kind_of,
    kinds,
    name_of,
    those,
)

__all__ = [
    "Account",
    "account_of",
    "accounts",
    "at",
    "capabilities_of",
    "choices",
    "codes",
    "currency_of",
    "fees_of",
    "forget",
    "is_known",
    "is_settled",
    "kind_of",
    "kinds",
    "name_of",
    "offered",
    "preferred",
    "recruiter_for",
    "those",
    "usual_ground",
]


def recruiter_for(environment: str) -> Recruiter:
    """The recruiter of an environment, with the keys and the address of that environment and no other."""
    account = account_of(environment)
    return account.kind.recruiter(account)


def fees_of(environment: str) -> FeeTable:
    """The fee table, without building a client: prices are shown before there are keys."""
    return kind_of(environment).fees


def offered() -> list[str]:
    """Every environment, those that can be used now first and the closed ones last."""
    known = {account.code: account.kind.capabilities for account in accounts()}
    return sorted(known, key=lambda environment: (known[environment].is_closed, not known[environment].is_set_up))


def usual_ground() -> str:
    """Where a study is rehearsed as if it were paid: the paid recruiter of our own house."""
    return next(iter(those(pays=True, is_own_ground=True) or codes()))


def preferred() -> str:
    """Where a check and a launch begin: the paid recruiter that is set up, or one through which no money goes."""
    return next(iter(those(pays=True, is_set_up=True) or those(pays=False)))
