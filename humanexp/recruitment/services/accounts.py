"""Accounts with recruiters: the first of every kind is there from the beginning, others are opened."""

from __future__ import annotations

import re

from django.db import transaction

from humanexp.core.audit import record
from humanexp.core.errors import Conflict, InvalidRequest, NotAllowed
from humanexp.core.models import User
from humanexp.recruitment import money, recruiters
from humanexp.recruitment.models import RecruiterAccount

#: It is typed in commands, and ends tokens and names of files.
_CODE = re.compile(r"[a-z][a-z0-9-]{1,11}")
#: Those that the recruiters pay in, all with two decimals; sums are kept in each, and nothing is ever converted.
CURRENCIES = tuple(money.SIGNS)


@transaction.atomic
def open_account(
    *, kind: str, code: str, name: str, currency: str = "", workspace: str = "", by: User | None
) -> RecruiterAccount:
    """A further account of a kind, with books, caps and pauses of its own. Its keys are in no database."""
    if by is not None and not by.is_superuser:
        raise NotAllowed("Only an administrator opens an account: its money is for every study.")
    known = {one.code: one for one in recruiters.kinds()}
    if kind not in known:
        raise InvalidRequest(f"{kind!r} is no kind of recruiter: choose one of {', '.join(known)}.")
    currency = currency or known[kind].capabilities.currency
    faults = {
        "code": "" if _CODE.fullmatch(code) else "2 to 12 small letters, digits and hyphens, a letter first",
        "name": "" if 0 < len(name.strip()) <= 80 else "1 to 80 characters",
        "currency": "" if currency in CURRENCIES else f"one of {', '.join(CURRENCIES)}: sums are never converted",
    }
    if faults := {field: fault for field, fault in faults.items() if fault}:
        raise InvalidRequest("An account needs a code, a name and a currency.", fields=faults)
    if recruiters.is_known(code) or RecruiterAccount.objects.filter(environment=code).exists():
        raise Conflict(f"There is an account {code!r} already.")
    account = RecruiterAccount.objects.create(
        environment=code, kind=kind, name=name.strip(), currency=currency, workspace=workspace
    )
    record(action="open-account", subject=f"recruiter:{code}", by=by, kind=kind, currency=currency)
    return account
