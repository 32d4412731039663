"""Recruiters and their accounts."""

from __future__ import annotations

from dataclasses import dataclass, field

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from humanexp.console import sites
from humanexp.console.sites import SiteState
from humanexp.core.errors import ApplicationError, InvalidRequest, NotAllowed, NotFound
from humanexp.core.ownership import is_head, keeps_money
from humanexp.core.pages.rendering import render_part
from humanexp.core.selectors import head_of, user_of
from humanexp.jobs.models import Job
from humanexp.jobs.selectors import latest_for
from humanexp.ledger.budgets import launchers_of, set_launchers, set_month_cap
from humanexp.ledger.pages.money import MoneyField, refusals_told
from humanexp.recruiters import keys, money, registry
from humanexp.recruiters.models import Pause, RecruiterAccount
from humanexp.recruiters.port import Capabilities
from humanexp.recruiters.registry import Account, Kind
from humanexp.recruiting import accounts
from humanexp.recruiting.accounts import TRY_JOB, pause_account, rename_account, request_try, resume_account, store_keys
from humanexp.recruiting.approvals import CURRENCIES
from humanexp.recruitment.templatetags.recruitment import typed


@dataclass(frozen=True, kw_only=True)
class State:
    """In a word, with its colour, and what somebody can do about it."""

    word: str
    tone: str
    detail: str = ""
    #: there is nothing to test before somebody enters them
    needs_keys: bool = False


@dataclass(frozen=True, kw_only=True)
class Key:
    """A key that an account needs. Its value is on no page."""

    name: str
    #: a setting or a variable of the environment has it; a file then counts for nothing
    is_configured: bool
    is_there: bool
    #: the file, below MEDIA_ROOT
    file: str


@dataclass(frozen=True, kw_only=True)
class AccountRow:
    """One account."""

    account: Account
    row: RecruiterAccount
    #: it is being tried out
    job: Job | None

    @property
    def can(self) -> Capabilities:
        return self.account.kind.capabilities

    @property
    def is_needed(self) -> bool:
        """There is something to test, and money to limit."""
        return not self.account.kind.words.no_account

    @property
    def is_paused(self) -> bool:
        return self.row.pause == Pause.HAND

    @property
    def keys(self) -> list[Key]:
        return [
            Key(
                name=name,
                is_configured=keys.is_configured(name),
                is_there=not keys.missing([name]),
                file=f"keys/{keys.file_of(name).name}",
            )
            for name in self.account.kind.key_names(self.account)
        ]

    @property
    def takes_keys(self) -> bool:
        return not all(key.is_configured for key in self.keys)

    @property
    def balance(self) -> str:
        cents = self.row.balance_cents
        return "" if cents is None else money.shown(cents, self.account.currency)

    @property
    def state(self) -> State:
        missing = [key for key in self.keys if not key.is_there]
        if self.can.is_closed:
            return State(word="closed", tone="plain")
        if missing:
            names = " and ".join(key.name for key in missing)
            detail = f"There is no {names} yet."
            return State(word="needs keys", tone="warn", detail=detail, needs_keys=True)
        if self.is_paused:
            waits = "No places are opened and nobody is paid through it. Closing still works."
            return State(word="paused", tone="warn", detail=waits)
        if self.row.pause == Pause.KEYS:
            return State(word="keys refused", tone="bad", detail=self.row.pause_detail)
        if self.row.fault:
            return State(word="test failed", tone="bad", detail=self.row.fault)
        if not self.is_needed:
            return State(word="ready", tone="good", detail=str(self.account.kind.words.no_account))
        if self.row.tried_at is None:
            return State(word="not tested yet", tone="plain")
        return State(word="works", tone="good")


@dataclass(frozen=True, kw_only=True)
class KindCard:
    """One sort of recruiter with all its accounts."""

    kind: Kind
    accounts: list[AccountRow] = field(default_factory=list)
    site: SiteState | None = None

    @property
    def is_changing(self) -> bool:
        """The page asks again soon."""
        is_tried = any(row.job is not None for row in self.accounts)
        return is_tried or (self.site is not None and self.site.is_changing)

    @property
    def is_usable(self) -> bool:
        return (
            any(row.state.tone in ("good", "plain") for row in self.accounts) and not self.kind.capabilities.is_closed
        )


def kind_cards() -> list[KindCard]:
    rows = {row.environment: row for row in RecruiterAccount.objects.all()}
    cards = {
        kind.code: KindCard(kind=kind, site=sites.standing_of(kind, kind.own_site) if kind.own_site else None)
        for kind in registry.kinds()
    }
    for account in registry.accounts():
        row = rows.get(account.code) or RecruiterAccount(environment=account.code)
        cards[account.kind.code].accounts.append(_row_of(account, row))
    return list(cards.values())


def account_row(code: str) -> AccountRow:
    """Raises InvalidRequest for a name that none has."""
    account = registry.account_of(code)
    row = RecruiterAccount.objects.filter(environment=code).first()
    return _row_of(account, row or RecruiterAccount(environment=code))


def _row_of(account: Account, row: RecruiterAccount) -> AccountRow:
    job = latest_for(f"recruiter:{account.code}", TRY_JOB)
    return AccountRow(account=account, row=row, job=job if job is not None and not job.is_finished else None)


class AccountForm(forms.Form):
    """A further account."""

    kind = forms.ChoiceField(label="With", choices=lambda: _kinds())
    name = forms.CharField(label="Name", max_length=80, help_text="As pages show it.")
    code = forms.CharField(
        label="Short name",
        max_length=12,
        help_text="2 to 12 small letters, digits and hyphens. Commands and keys are named after it.",
    )
    currency = forms.ChoiceField(
        label="Currency",
        choices=[("", "as the recruiter pays"), *((code, code) for code in CURRENCIES)],
        required=False,
        help_text="A recruiter that names its own is asked for it when the account is tested.",
    )
    workspace = forms.CharField(
        label="Workspace",
        max_length=64,
        required=False,
        help_text="Its id there, if the key belongs to several workspaces.",
    )


class SpendingForm(forms.Form):
    """How much may be promised in a month, and by whom."""

    month_cap = MoneyField(
        label="Limit in a calendar month",
        required=False,
        help_text="0: nothing. Empty: no limit.",
    )
    is_open = forms.BooleanField(label="Everybody with an account here may launch", required=False)
    launchers = forms.CharField(
        label="Who else may launch",
        required=False,
        help_text="Names of accounts, with commas. Treasurers and administrators always may.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )

    def clean_launchers(self) -> list[str]:
        return [name for name in map(str.strip, self.cleaned_data["launchers"].split(",")) if name]


def _kinds() -> list[tuple[str, str]]:
    open_now = (kind for kind in registry.kinds() if not kind.words.no_account and not kind.capabilities.is_closed)
    return [(kind.code, str(kind.name)) for kind in open_now]


@login_required
@require_GET
def recruiters_page(request: HttpRequest) -> HttpResponse:
    """Every sort of recruiter with its state; htmx asks for the part that changes."""
    return _page(request, AccountForm())


@login_required
@require_POST
def open_account(request: HttpRequest) -> HttpResponse:
    head, form = head_of(request), AccountForm(request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    given = form.cleaned_data
    try:
        accounts.open_account(
            kind=given["kind"],
            code=given["code"],
            name=given["name"],
            currency=given["currency"],
            workspace=given["workspace"],
            by=head,
        )
    except NotAllowed:
        raise
    except ApplicationError as error:
        for field, fault in (error.fields or {"code": error.message}).items():
            form.add_error(field if field in form.fields else None, str(fault))
        return _page(request, form, status=error.status_code)
    messages.success(request, "The account is open. Enter its keys, then test it.")
    return redirect("console:account", code=given["code"])


@login_required
@require_http_methods(["GET", "POST"])
def account(request: HttpRequest, code: str) -> HttpResponse:
    """One account: who may spend how much through it, for treasurers, too; keys, pause and name for administrators.

    Each form says by its button what it does.
    """
    if not keeps_money(request.user):
        raise NotAllowed("Only treasurers and administrators see an account's settings.")
    if not registry.is_known(code):
        raise NotFound("There is no account of this name.")
    if request.method == "POST":
        return _change(request, code)
    found = account_row(code)
    return _account_page(request, found, SpendingForm(initial=_spending(found)))


def _spending(found: AccountRow) -> dict[str, object]:
    who = launchers_of(found.account.code)
    return {
        "month_cap": typed(found.row.month_cap_cents),
        "is_open": who.is_open,
        "launchers": ", ".join(who.usernames),
    }


def _account_page(request: HttpRequest, found: AccountRow, form: SpendingForm, status: int = 200) -> HttpResponse:
    context = {"found": found, "spending": form, "is_head": is_head(request.user)}
    response = render_part(request, "console/recruiters/account.html", context)
    response.status_code = status
    return response


def _change(request: HttpRequest, code: str) -> HttpResponse:
    by = user_of(request)
    with refusals_told(request):
        match request.POST.get("do"):
            case "keys":
                store_keys(code=code, given=request.POST.dict(), by=by)
                request_try(code=code, by=by)
                messages.success(request, "The keys are stored and are being tested.")
            case "spending":
                return _change_spending(request, code)
            case "name":
                rename_account(code=code, name=request.POST.get("name", ""), by=by)
                messages.success(request, "The name is stored.")
            case "pause":
                pause_account(code=code, by=by)
                messages.success(request, "Paused. What is due waits until you resume it.")
            case "resume":
                resume_account(code=code, by=by)
                messages.success(request, "Resumed. What has waited is being sent.")
            case "test":
                request_try(code=code, by=by)
            case _:
                raise InvalidRequest("Nothing was changed: this page knows no such button. Load it again.")
    if request.POST.get("back") == "list":
        return redirect("console:recruiters")
    return redirect("console:account", code=code)


def _change_spending(request: HttpRequest, code: str) -> HttpResponse:
    form, by = SpendingForm(request.POST), user_of(request)
    if form.is_valid():
        given = form.cleaned_data
        try:
            with transaction.atomic():
                set_month_cap(environment=code, cap_cents=given["month_cap"], by=by)
                set_launchers(code=code, usernames=given["launchers"], is_open=given["is_open"], by=by)
            messages.success(request, "Stored. It counts for everything that is launched from now on.")
            return redirect("console:account", code=code)
        except NotAllowed:
            raise
        except ApplicationError as error:
            form.add_error("launchers" if "launchers" in error.fields else "month_cap", error.message)
    return _account_page(request, account_row(code), form, status=422)


@login_required
@require_POST
def site(request: HttpRequest, kind: str) -> HttpResponse:
    """Start or stop a site of this distribution on this machine."""
    head = head_of(request)
    if kind not in sites.own_sites():
        raise NotFound("This is no site of this distribution.")
    with refusals_told(request):
        (sites.start if "start" in request.POST else sites.stop)(kind=kind, by=head)
    return redirect("console:recruiters")


def _page(request: HttpRequest, form: AccountForm, status: int = 200) -> HttpResponse:
    cards = kind_cards()
    context = {
        "cards": [card for card in cards if not card.kind.capabilities.is_closed],
        "closed": [card for card in cards if card.kind.capabilities.is_closed],
        "usable": [card for card in cards if card.is_usable],
        "is_changing": any(card.is_changing for card in cards),
        "is_head": is_head(request.user),
        "keeps_money": keeps_money(request.user),
        "form": form,
    }
    response = render_part(request, "console/recruiters/list.html", context)
    response.status_code = status
    return response
