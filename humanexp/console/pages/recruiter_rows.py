"""What the pages about recruiters show of each kind and of each account."""

from __future__ import annotations

from dataclasses import dataclass, field

from django.utils.functional import Promise
from django.utils.translation import gettext as _

from humanexp.console import sites
from humanexp.console.sites import Standing
from humanexp.jobs import selectors as jobs
from humanexp.jobs.models import Job
from humanexp.recruiters import keys, money, registry
from humanexp.recruiters.models.campaigns import Pause, RecruiterAccount
from humanexp.recruiters.port import Capabilities
from humanexp.recruiters.registry import Account, Kind
from humanexp.recruiting.accounts import TRY_JOB


@dataclass(frozen=True, kw_only=True)
class State:
    """In a word, with its colour, and what somebody can do about it."""

    word: str | Promise
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
            return State(word=_("closed"), tone="plain")
        if missing:
            names = _(" and ").join(key.name for key in missing)
            detail = _("There is no %(names)s yet.") % {"names": names}
            return State(word=_("needs keys"), tone="warn", detail=detail, needs_keys=True)
        if self.is_paused:
            waits = _("No places are opened and nobody is paid through it. Closing still works.")
            return State(word=_("paused"), tone="warn", detail=waits)
        if self.row.pause == Pause.KEYS:
            return State(word=_("keys refused"), tone="bad", detail=self.row.pause_detail)
        if self.row.fault:
            return State(word=_("test failed"), tone="bad", detail=self.row.fault)
        if not self.is_needed:
            return State(word=_("ready"), tone="good", detail=str(self.account.kind.words.no_account))
        if self.row.tried_at is None:
            return State(word=_("not tested yet"), tone="plain")
        return State(word=_("works"), tone="good")


@dataclass(frozen=True, kw_only=True)
class KindCard:
    """One sort of recruiter with all its accounts."""

    kind: Kind
    accounts: list[AccountRow] = field(default_factory=list)
    site: Standing | None = None

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
    job = jobs.latest_for(f"recruiter:{account.code}", TRY_JOB)
    return AccountRow(account=account, row=row, job=job if job is not None and not job.is_finished else None)
