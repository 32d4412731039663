"""Accounts with recruiters: the first of every kind is there from the beginning, others are opened."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction

from humanexp.core import clock
from humanexp.core.audit import record
from humanexp.core.errors import Conflict, InvalidRequest, KeysRefused, NotAllowed, RecruiterError, WrongCurrency
from humanexp.core.models import User
from humanexp.core.ownership import is_head
from humanexp.jobs import services as jobs
from humanexp.jobs.models import Job
from humanexp.recruitment import money, recruiters
from humanexp.recruitment.account_codes import fault_of_code
from humanexp.recruitment.models import Pause, RecruiterAccount
from humanexp.recruitment.recruiters import keys
from humanexp.recruitment.services.lease import pause
from humanexp.recruitment.services.outbox import request_sending
from humanexp.recruitment.services.synchronising import refresh_balance

#: Those that the recruiters pay in, all with two decimals; sums are kept in each, and nothing is ever converted.
CURRENCIES = tuple(money.SIGNS)
TRY_JOB = "recruitment.try-account"


def check_administrator(by: User | None) -> None:
    """The command line and jobs have no account, and may."""
    if by is not None and not is_head(by):
        raise NotAllowed("Only an administrator changes accounts with recruiters: their money is for every study.")


def open_first_accounts(*, using: str) -> None:
    """Done whenever tables were made or emptied. Accounts that are there stay as they are."""
    accounts = RecruiterAccount.objects.using(using)
    there = set(accounts.values_list("environment", flat=True))
    missing = [kind.code for kind in recruiters.kinds() if kind.is_at_hand and kind.code not in there]
    accounts.bulk_create(RecruiterAccount(environment=code, kind=code) for code in missing)


@transaction.atomic
def open_account(
    *, kind: str, code: str, name: str, currency: str = "", workspace: str = "", by: User | None
) -> RecruiterAccount:
    """A further account of a kind, with books, caps and pauses of its own. Its keys are in no database.

    Nothing can be spent through it before `set_month_cap` and `set_launchers`.
    """
    check_administrator(by)
    known = {one.code: one for one in recruiters.kinds()}
    if kind not in known:
        raise InvalidRequest(f"{kind!r} is no kind of recruiter: choose one of {', '.join(known)}.")
    currency = currency or known[kind].capabilities.currency
    faults = {
        "code": fault_of_code(code),
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
    record(action="add-account", subject=f"recruiter:{code}", by=by, kind=kind, currency=currency)
    return account


@transaction.atomic
def rename_account(*, code: str, name: str, by: User | None) -> None:
    """What pages call it; its code stays. The first account of a kind is called as its kind is."""
    check_administrator(by)
    account = recruiters.account_of(code)
    if account.is_first or not 0 < len(name.strip()) <= 80:
        raise InvalidRequest("Only a further account has a name of its own, of 1 to 80 characters.")
    RecruiterAccount.objects.filter(environment=code).update(name=name.strip())
    recruiters.forget(code)
    record(action="rename-account", subject=f"recruiter:{code}", by=by)


def request_try(*, code: str, by: User | None) -> Job:
    """Have the job runner try the account out: a page does not wait for another site."""
    check_administrator(by)
    recruiters.account_of(code)
    subject = f"recruiter:{code}"
    record(action="try-account", subject=subject, by=by)
    return jobs.submit(TRY_JOB, subject=subject, by=by, code=code)


def try_account(*, code: str) -> str:
    """One cheap read with its keys. What came of it is kept for the pages, and returned: a sentence, or nothing."""
    fault = ""
    try:
        take_over_currency(code=code)
        refresh_balance(environment=code)
    except RecruiterError as error:
        fault = error.message
        if isinstance(error, KeysRefused):
            pause(code, Pause.KEYS, fault)
    RecruiterAccount.objects.update_or_create(
        environment=code, defaults={"tried_at": clock.now(), "fault": fault[:500]}
    )
    return fault


def take_over_currency(*, code: str) -> None:
    """As the other side names it, until something was launched: from then on another one is a fault.

    A limit in the earlier currency was not meant in this one.
    """
    account = recruiters.account_of(code)
    if not account.kind.names_currency or recruiters.is_settled(code):
        return
    named = account.kind.named_currency(account)
    if named not in CURRENCIES:
        raise WrongCurrency(f"{account.name} pays in {named}; sums are kept here in {', '.join(CURRENCIES)} alone.")
    if named == account.currency:
        return
    with transaction.atomic():
        told = {"currency": named, "balance_at": clock.now()}
        RecruiterAccount.objects.update_or_create(environment=code, defaults=told)
        RecruiterAccount.objects.filter(environment=code, month_cap_cents__gt=0).update(month_cap_cents=0)
        record(action="account-currency", subject=f"recruiter:{code}", by=None, currency=named, before=account.currency)
    recruiters.forget(code)


@transaction.atomic
def pause_account(*, code: str, by: User | None) -> None:
    """Until it is resumed, no place is opened and nobody is paid through it. Offers can be closed all the same."""
    check_administrator(by)
    recruiters.account_of(code)
    pause(code, Pause.HAND, "")
    record(action="pause-account", subject=f"recruiter:{code}", by=by)


@transaction.atomic
def resume_account(*, code: str, by: User | None) -> None:
    """What has waited is sent at once."""
    check_administrator(by)
    RecruiterAccount.objects.filter(environment=code, pause=Pause.HAND).update(pause=Pause.NO, pause_detail="")
    record(action="resume-account", subject=f"recruiter:{code}", by=by)
    request_sending(environment=code)


@transaction.atomic
def store_keys(*, code: str, given: Mapping[str, str], by: User | None) -> None:
    """Into files beside the other keys; the record says that it was done, and nothing of them."""
    check_administrator(by)
    account = recruiters.account_of(code)
    names = account.kind.key_names(account)
    named = {name: given.get(name, "").strip() for name in names if not keys.is_configured(name)}
    if not named:
        raise InvalidRequest(f"{account.name} takes no keys here: its keys are set in the environment, or it has none.")
    keys.store(named)
    record(action="store-keys", subject=f"recruiter:{code}", by=by, names=", ".join(named))
