"""Every recruiter that is known here, as a value: what it can do, what it is called, how people come and go.

A new recruiter is one file in this package that implements `port.Recruiter`, registers a `Kind`, and stands in
`shipped.py`; it passes tests/recruitment/test_recruiter_contract.py, where `RECRUITERS` and its `people` know how
somebody takes part there.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from django.apps import apps
from django.db.models import Q

from analysis.entry import Entry
from analysis.study.link import Link
from analysis.study.terms import WorkerRequirements
from humanexp.core.errors import InvalidRequest, NotFound
from humanexp.recruiters.money import FeeTable, Quote, QuoteTerms, quote
from humanexp.recruiters.port import Capabilities, Recruiter
from humanexp.recruiters.tickets import OPTIONS, Hint, Nothing, Outcome, Ticket, WayOut, Words
from humanexp.studies.facts import Way


@dataclass(frozen=True, kw_only=True)
class OwnSite:
    """A site of this distribution that answers for a kind, and that this machine can run."""

    #: the package that serves it; its port is that of the kind's address
    package: str
    #: the module that makes an account there and prints it as JSON
    account_maker: str
    #: setting of that site which holds its address
    address_setting: str
    #: where its own pages begin
    front: str = "/"
    #: where a person moves its clock, its money and its people; empty: nowhere
    control: str = ""


@dataclass(frozen=True, kw_only=True)
class Account:
    """Whose keys, money and books: the first of a kind is known by the kind's own code, others are rows."""

    #: stored as the environment of every row about it
    code: str
    kind: Kind
    #: empty: as its kind is called
    own_name: str = ""
    #: ISO code
    currency: str
    #: the recruiter's name of what the account stands for, where it has several under one key
    workspace: str = ""

    @property
    def name(self) -> str:
        return self.own_name or str(self.kind.name)

    @property
    def is_first(self) -> bool:
        return self.code == self.kind.code


class Kind(ABC):
    """A sort of recruiter, before there are keys or accounts."""

    #: stored in every row about it, and typed in commands
    code: ClassVar[str]
    #: what people call it, within a sentence
    name: ClassVar[str]
    #: those with one name space of ids: the same id is the same person
    namespace: ClassVar[str]
    #: every database has its first account from the beginning; else it is made when it is first used
    is_at_hand: ClassVar[bool] = False
    #: what a launch through it asks beyond what it asks for all: fields of its form
    fields: ClassVar[frozenset[str]] = frozenset()
    #: what usually stands in them
    usual: ClassVar[Mapping[str, object]] = {}
    #: its other side names the currency in which an account pays; until it was asked, that of the capabilities is taken
    names_currency: ClassVar[bool] = False
    #: what it does not decide on is approved after so many days, whatever a launch says; None: as the launch says
    approved_after_days: ClassVar[int | None] = None
    #: it shows the entry page in a frame of its own, and takes its form
    frames: ClassVar[bool] = False
    #: how its people's pages speak of what they came by
    way: ClassVar[Way] = "hit"
    #: how pages of the console call the id by which it knows a person
    id_name: ClassVar[str] = "Id in the link"
    #: ids of people; never an address, which names them
    person_id: ClassVar[re.Pattern[str]] = re.compile(r"[A-Za-z0-9_.:-]{1,64}")

    #: what its campaigns are frozen with beyond what all have: a value that checks itself; as here, it is empty
    Terms: ClassVar[type[Entry]] = Entry

    def terms_for(self, account: Account, *, reward_cents: int, link: Link) -> Entry | None:
        """What a launch freezes, `link` being what was said of a link. Raises InvalidRequest."""
        return None

    @property
    @abstractmethod
    def capabilities(self) -> Capabilities:
        """As the settings stand now."""

    @property
    @abstractmethod
    def fees(self) -> FeeTable:
        """Without building a client: prices are shown before there are keys."""

    def quote(self, terms: QuoteTerms, account: Account) -> Quote:
        """What these places cost through this account, and whether that is a formula or was asked from the recruiter.

        By the fee table, unless a kind knows better. One that asks must not be called inside a transaction.
        """
        return quote(terms, fees=self.fees, currency=account.currency)

    def places_of_offer(self, places: int, wanted: int | None = None) -> int:
        """Most places that one offer has of a campaign with so many."""
        return wanted or places

    def named_currency(self, account: Account) -> str:
        """In which currency the account pays; asked from the other side where that names one."""
        return account.currency

    def hourly_minimum_cents(self, currency: str) -> int | None:
        """Least pay of an hour that the recruiter itself asks for in this currency; None where it asks for none."""
        return None

    def refusal(
        self,
        account: Account,
        *,
        reward_cents: int,
        minutes: int,
        people: WorkerRequirements,
        stated: Collection[str] = (),
    ) -> str:
        """Why it would not take a campaign on these terms, and what to change; empty where it would, as far as it says.

        `stated`: other fields of the launch that somebody has filled in. One that asks must not be called inside a
        transaction. Whoever cannot be asked is asked by the sender.
        """
        wanted = {*stated, *(name for name, value in people.to_dict().items() if value)}
        unknown = [name for name in OPTIONS if name in wanted and name not in self.fields]
        if not unknown:
            return ""
        words = ", ".join(OPTIONS[name] for name in unknown)
        elsewhere = [
            kind.name for kind in kinds() if kind.fields.issuperset(unknown) and not kind.capabilities.is_closed
        ]
        where = f", or launch through: {', '.join(elsewhere)}" if elsewhere else ""
        return f"{account.name[:1].upper()}{account.name[1:]} does not have this: {words}. Leave it out{where}."

    @abstractmethod
    def recruiter(self, account: Account) -> Recruiter:
        """With the keys and the address of this account and no other. Raises KeysRefused where there are none."""

    @abstractmethod
    def ticket(self, query: Mapping[str, str]) -> Ticket:
        """Who comes, as the entry page's address says."""

    def way_out(self, outcome: Outcome, ticket: Ticket) -> WayOut:
        """Where somebody goes with this outcome, unless the campaign has a site (`SiteTerms.way_out`).

        Raises InvalidRequest for a ticket from nowhere of its own.
        """
        return Nothing()

    def check_submission(self, submission: str) -> None:
        """Raises InvalidRequest for an id under which nobody can begin."""
        return

    @property
    def origins(self) -> list[str]:
        """Whose pages may show the entry page in a frame, and take its form."""
        return []

    @property
    def address(self) -> str:
        """Where it answers; empty where there is no other side."""
        return ""

    @property
    def told_apart_by(self) -> list[object]:
        """Settings that a check of it depends on."""
        return []

    @property
    def listens(self) -> bool:
        """A queue is set up that it puts events into."""
        return False

    #: a refusal of the reward is at least so long, and names one of these grounds, by the recruiter's own words for
    #: them, where there are any
    least_reason: ClassVar[int] = 20
    rejection_grounds: ClassVar[Mapping[str, str]] = {}

    def told(self, account: Account, headers: Mapping[str, str], body: bytes) -> Hint:
        """The event that its other side posts. Raises NotFound where none does, and NotAllowed for a forged one."""
        raise NotFound

    def findings(self, account: Account, *, offer_id: str, no_consent: str) -> dict[str, Any]:
        """What its documents leave open, read from an offer of ours, by name; nothing is changed there."""
        return {}

    words: ClassVar[Words] = Words()
    #: how its pages of the console explain it, where it needs more words than its name
    note: ClassVar[str] = ""
    #: what its keys are and where somebody gets them
    about_keys: ClassVar[str] = ""
    #: the site of this distribution that is its other side
    own_site: ClassVar[OwnSite | None] = None

    def key_names(self, account: Account) -> tuple[str, ...]:
        """Of the keys that this account needs, as `keys.key` takes them."""
        return ()

    def keys_from(self, made: Mapping[str, str]) -> dict[str, str]:
        """Of its first account, from what `own_site.account_maker` prints."""
        return {}


_KINDS: dict[str, Kind] = {}


def register(kind: Kind) -> Kind:
    _KINDS[kind.code] = kind
    return kind


@contextmanager
def registered(kind: Kind) -> Iterator[Kind]:
    """Known for a while alone: a test, or a try-out."""
    register(kind)
    try:
        yield kind
    finally:
        del _KINDS[kind.code]
        _opened.clear()
        _settled.clear()


#: Accounts that were looked up: of which kind one is never changes.
_opened: dict[str, Account] = {}
#: Currencies of those through which something was launched: from then on they never change.
_settled: dict[str, str] = {}


def kinds() -> list[Kind]:
    """Every sort of recruiter, in the order in which they were registered."""
    return list(_KINDS.values())


def accounts() -> list[Account]:
    """All that studies can be launched through."""
    rows = {row.environment: row for row in _rows().filter(kind__in=list(_KINDS)).order_by("pk")}
    opened = [_of_row(row) for code, row in rows.items() if code not in _KINDS]
    _opened.update({account.code: account for account in opened})
    return [*(_as_named(_first(kind), rows.get(kind.code)) for kind in _KINDS.values()), *opened]


def codes() -> list[str]:
    return [account.code for account in accounts()]


def is_known(code: str) -> bool:
    return _found(code) is not None


def forget(code: str) -> None:
    """Its row has changed."""
    _opened.pop(code, None)
    _settled.pop(code, None)


def account_of(code: str) -> Account:
    """Raises InvalidRequest for a name that none has."""
    found = _found(code)
    if found is None:
        raise InvalidRequest(f"{code!r} is no recruiter: choose one of {', '.join(codes())}.")
    if not found.kind.names_currency:
        return found
    if code not in _settled:
        found = _as_named(found, _rows().filter(environment=code).first())
        if not is_settled(code):
            return found
        _settled[code] = found.currency
    return replace(found, currency=_settled[code])


def kind_of(code: str) -> Kind:
    """Raises InvalidRequest for a name that no account has."""
    found = _found(code)
    return found.kind if found is not None else account_of(code).kind


def is_settled(code: str) -> bool:
    """Something was launched through this account: its books are in its currency for good."""
    campaigns: Any = apps.get_model("recruitment", "Campaign").objects
    return bool(campaigns.filter(environment=code).exists())


def is_currency_named(code: str) -> bool:
    """By the account's other side, or by its kind where that other side names none."""
    return not kind_of(code).names_currency or bool(_rows().filter(environment=code, balance_at__isnull=False).exists())


def capabilities_of(code: str) -> Capabilities:
    return kind_of(code).capabilities


def currency_of(code: str) -> str:
    """ISO code of the money that the account pays in. Raises InvalidRequest for a name that no account has."""
    return account_of(code).currency


def name_of(code: str) -> str:
    """What people call it; its code where it is not known any more."""
    found = _found(code)
    return found.name if found else code


def those(**wanted: object) -> list[str]:
    """Codes of all that have these capabilities, as they are named in `Capabilities`: `those(vouches=True)`."""
    return [account.code for account in accounts() if account.kind.code in _with(wanted)]


def at(**wanted: object) -> Q:
    """The same for rows that have an `environment`, without a question of its own to the database; `at()` is all."""
    return _rows_at(_with(wanted))


def _rows_at(kinds: list[str]) -> Q:
    return Q(environment__in=kinds) | Q(environment__in=_rows().filter(kind__in=kinds).values("environment"))


def asks(code: str, field: str) -> bool:
    """Whether a launch through this account asks for a field."""
    return field in kind_of(code).fields


def asking(field: str) -> Q:
    """The same for rows at kinds whose launches ask for a field."""
    return _rows_at([code for code, kind in _KINDS.items() if field in kind.fields])


def choices() -> list[tuple[str, str]]:
    """For forms."""
    return [(account.code, account.name) for account in accounts()]


def _with(wanted: Mapping[str, object]) -> list[str]:
    """Codes of kinds."""
    known = ((code, kind.capabilities) for code, kind in _KINDS.items())
    return [code for code, can in known if all(getattr(can, name) == value for name, value in wanted.items())]


def _found(code: str) -> Account | None:
    if code in _KINDS:
        return _first(_KINDS[code])
    if code not in _opened:
        row = _rows().filter(environment=code, kind__in=list(_KINDS)).first()
        if row is None:
            return None
        _opened[code] = _of_row(row)
    return _opened[code]


def _first(kind: Kind) -> Account:
    return Account(code=kind.code, kind=kind, currency=kind.capabilities.currency)


def _as_named(account: Account, row: Any) -> Account:
    """In the currency that its other side has named, which has come with the balance."""
    is_named = account.kind.names_currency and row is not None and row.balance_at is not None
    return replace(account, currency=row.currency) if is_named else account


def _of_row(row: Any) -> Account:
    return Account(
        code=row.environment,
        kind=_KINDS[row.kind],
        own_name=row.name,
        currency=row.currency,
        workspace=row.workspace,
    )


def _rows() -> Any:
    """The models of this app import this module."""
    return apps.get_model("recruitment", "RecruiterAccount").objects.all()


def recruiter_for(environment: str) -> Recruiter:
    """The recruiter of an environment, with the keys and the address of that environment and no other."""
    account = account_of(environment)
    return account.kind.recruiter(account)


def fees_of(environment: str) -> FeeTable:
    """The fee table, without building a client: prices are shown before there are keys."""
    return kind_of(environment).fees


def offered() -> dict[str, str]:
    """Every environment, those that can be used now first and the closed ones last, with what keeps it from use now."""
    known = {account.code: account.kind.capabilities for account in accounts()}
    found = {name: "closed" if can.is_closed else "" if can.is_set_up else "no keys yet" for name, can in known.items()}
    return dict(sorted(found.items(), key=lambda one: ["", "no keys yet", "closed"].index(one[1])))


def usual_ground() -> str:
    """Where a study is rehearsed as if it were paid: the paid recruiter of our own house."""
    return next(iter(those(vouches=True, is_own_ground=True) or codes()))


def preferred() -> str:
    """Where a check and a launch begin: the paid recruiter that is set up, or one through which no money goes."""
    return next(iter(those(vouches=True, is_set_up=True) or those(vouches=False)))
