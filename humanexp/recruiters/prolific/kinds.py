"""Prolific, by its API, its webhooks, and the practice panel of this distribution, which answers in the same way.

Webhooks are hints: at least once, in no order, up to a day late. A hint says only what to look at; no state is taken
from its body, and whoever is told looks at the lists.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
from abc import abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from django.conf import settings
from django.core.cache import cache
from django.db import connection
from pydantic import BaseModel, ValidationError

from analysis.study.link import Link
from analysis.study.terms import WorkerRequirements
from humanexp.addresses import is_loopback
from humanexp.core import clock
from humanexp.core.errors import InvalidRequest, KeysRefused, NotAllowed, RecruiterError, WrongCurrency
from humanexp.recruiters import keys, money
from humanexp.recruiters.money import Charge, FeeTable, Quote, QuoteTerms
from humanexp.recruiters.port import Capabilities, Repeats
from humanexp.recruiters.presets import SiteTerms, codes_for, preset_called, ticket_of
from humanexp.recruiters.prolific.replies import REVIEWED_WITHIN
from humanexp.recruiters.registry import Account, Kind, OwnSite
from humanexp.recruiters.tickets import PAYS_OUT, Hint, Ticket

if TYPE_CHECKING:
    from humanexp.recruiters.prolific.client import ProlificClient
    from humanexp.recruiters.prolific.recruiter import ProlificRecruiter


#: A delivery that was signed earlier, or later, than this is refused: it may be an old one, sent again by a stranger.
FRESH = timedelta(minutes=5)
#: A stamp has ten digits until the year 2286.
_LONGEST_STAMP = 12


#: What we want to be told of, as far as the service knows it.
EVENT_TYPES = ("submission.status.change", "study.status.change")


@dataclass(frozen=True)
class HookAddress:
    """Where events are posted, and the name of the key that holds the secret they are signed with."""

    url: str
    secret_name: str


class HookRefused(NotAllowed):
    """This is not a fresh delivery with the signature of the account's secret."""


class _Body(BaseModel):
    event_type: str
    resource_id: str


def signature(secret: str, stamp: str, body: bytes) -> str:
    """Of the bytes as they came: JSON that is written again may look different."""
    return base64.b64encode(hmac.new(secret.encode(), stamp.encode() + body, hashlib.sha256).digest()).decode()


def verified(secret: str, headers: Mapping[str, str], body: bytes, now: datetime) -> Hint:
    """The hint that a delivery contains.

    Raises
    ------
    HookRefused
        Whatever is wrong, without saying what.
    """
    stamp, signed = headers.get("X-Prolific-Request-Timestamp", ""), headers.get("X-Prolific-Request-Signature", "")
    if not secret or not hmac.compare_digest(signature(secret, stamp, body).encode(), signed.encode()):
        raise HookRefused
    if not (stamp.isascii() and stamp.isdecimal() and len(stamp) <= _LONGEST_STAMP):
        raise HookRefused
    if abs(now.timestamp() - int(stamp)) > FRESH.total_seconds():
        raise HookRefused
    try:
        told = _Body.model_validate_json(body)
    except ValidationError:
        raise HookRefused from None
    return Hint(delivery=signed, about=told.resource_id)


def subscribe(client: ProlificClient, workspace: str, at: HookAddress) -> None:
    """Have events of a workspace posted there; what is subscribed already stays. Twice is once.

    A workspace has one secret, and a new one ends the old. Another server of the same lab may have made it, and the
    key that we keep may be of a former workspace: what the workspace has now is read and kept; only where it has none,
    one is made. A secret that the settings give is left to whoever wrote it there.
    """
    if not keys.is_configured(at.secret_name):
        secret = next(iter(client.secrets(workspace)), None) or client.replace_secret(workspace)
        if secret.value != keys.key(at.secret_name):
            keys.store({at.secret_name: secret.value})
    known = {one.event_type for one in client.subscriptions(workspace) if one.target_url == at.url and one.is_enabled}
    offered = {one.event_type for one in client.event_types()}
    for event_type in EVENT_TYPES:
        if event_type in offered - known:
            client.subscribe(workspace, event_type, at.url)


#: Where its API answers, and the path of the version that is spoken.
API_HOST, API_PATH = "https://api.prolific.com", "/api/v1/"
#: Where its people are, if it is not a stand-in, which has one address for both.
APP_HOST = "https://app.prolific.com"
#: Least pay of an hour, by currency; it refuses less (help centre, payment principles).
HOURLY_MINIMUM_CENTS = {"GBP": 600, "USD": 800}
#: For so long its calculator's answer is good: pages ask at every letter that is typed.
QUOTED_FOR_S = 600
#: Where it gave none, it is not asked again for so long.
SILENT_FOR_S = 60
#: What there is of everything: no write is known by a token.
REPEATS = Repeats(publish="safe", extend="safe", bonus="never")


@dataclass(frozen=True, kw_only=True)
class ServiceFees(FeeTable):
    """The service's share of every payment, and the tax on that share; fractions are rounded up."""

    base_percent: int = 0
    large_hit_percent: int = 0
    masters_percent: int = 0
    minimum_cents: int = 0
    #: of thirty thousand: a third, or 42.8 %
    share: int

    def _charge(self, cents: int, percent: int) -> Charge:
        fee = -(-cents * self.share // 30_000)
        return Charge(fee_cents=fee, tax_cents=-(-fee * self.tax_percent // 100))


class Api(Kind):
    """What the service and its stand-in have in common."""

    #: of links to the same site: its people come and go in the same way, and each campaign has codes of its own
    preset: ClassVar[str] = "prolific"
    way, id_name, Terms = "link", "Prolific id", SiteTerms
    fields = frozenset(
        {"reward", "unpaid", "cap"}
        # everybody there is of age
        | {"adult", "approval_percent", "countries", "age_from", "age_to", "languages", "good_vision", "balanced_sex"}
        | {"took_part_in", "not_in", "only_people", "not_people"}
    )
    names_currency, words = True, PAYS_OUT
    approved_after_days = REVIEWED_WITHIN.days
    #: the first account's variables begin with it
    prefix: ClassVar[str]
    person_id = re.compile(r"[A-Za-z0-9]{1,64}")
    least_reason = 100
    # Without its words for missed checks, for too fast and too slow, and for an unsuitable device: none of these is a
    # ground for a task of perception.
    rejection_grounds = {
        "NO_DATA": "No data arrived",
        "FAILED_INSTRUCTIONS": "The instructions were not followed",
        "MALINGERING": "The answers were made up on purpose",
        "LOW_EFFORT": "Objectively little effort",
        "NO_CODE": "No completion code was entered",
        "BAD_CODE": "A wrong completion code was entered",
        "OTHER": "Another ground",
    }

    @property
    @abstractmethod
    def address(self) -> str:
        """Where the interface answers, without a path."""

    @property
    def site(self) -> str:
        """Where people come from, and go back to."""
        return APP_HOST if self.address == API_HOST else self.address

    def terms_for(self, account: Account, *, reward_cents: int, link: Link) -> SiteTerms:
        preset = preset_called(self.preset)
        return SiteTerms(
            preset=preset.name,
            parameters=preset.parameters,
            return_address=f"{self.site}/submissions/complete?cc={{code}}",
            reward=reward_cents,
            currency=account.currency,
            codes=codes_for(preset),
        )

    @property
    def capabilities(self) -> Capabilities:
        is_here = is_loopback(urlsplit(self.address).hostname or "")
        return Capabilities(
            pays_out=True,
            lists_in_progress=True,
            pauses=True,
            approves_in_bulk=True,
            is_own_ground=is_here,
            is_set_up=bool(keys.key(f"{self.prefix}_TOKEN")),
            currency="GBP",
            repeats=REPEATS,
        )

    def places_of_offer(self, places: int, wanted: int | None = None) -> int:
        return places

    @property
    def fees(self) -> FeeTable:
        return ServiceFees(
            share=10_000 if getattr(settings, f"{self.prefix}_ACADEMIC") else 12_840,
            tax_percent=getattr(settings, f"{self.prefix}_VAT_PERCENT"),
        )

    def hourly_minimum_cents(self, currency: str) -> int | None:
        return HOURLY_MINIMUM_CENTS.get(currency)

    def refusal(
        self,
        account: Account,
        *,
        reward_cents: int,
        minutes: int,
        people: WorkerRequirements,
        stated: Collection[str] = (),
    ) -> str:
        """Another currency than the account has, people whom it does not know, or less than its least pay of an hour.

        All of it as it stands there today; where it cannot be asked, by the published minimum alone.
        """
        if unknown := super().refusal(
            account, reward_cents=reward_cents, minutes=minutes, people=people, stated=stated
        ):
            return unknown
        least = self.hourly_minimum_cents(account.currency) or 0
        if not connection.in_atomic_block:  # nothing is asked with the database locked
            try:
                recruiter = self.recruiter(account)
                least = recruiter.least_hourly_cents() or least
                if fault := recruiter.fault_of(people):
                    return fault
            except WrongCurrency as error:
                return error.message
            except RecruiterError:
                pass
        if reward_cents * 60 >= least * minutes:
            return ""
        told = {
            "reward": reward_cents,
            "hourly": reward_cents * 60 // minutes,
            "least": least,
            "enough": -(-least * minutes // 60),
        }
        return (
            "{reward} for {minutes} minutes is {hourly} an hour, and {name} takes nothing below {least} an "
            "hour. Pay at least {enough}, or state fewer minutes if that is what it takes."
        ).format(
            **{name: money.shown(cents, account.currency) for name, cents in told.items()},
            minutes=minutes,
            name=account.name,
        )

    def quote(self, terms: QuoteTerms, account: Account) -> Quote:
        """As its own calculator answers, which is remembered for a while; by the fees where it cannot be asked."""
        by_fees = super().quote(terms, account)
        if not by_fees.rewards_cents:
            return by_fees
        name = f"quote-{account.code}-{by_fees.reward_cents}-{by_fees.assignments}"
        asked = cache.get(name)
        if asked is None and connection.in_atomic_block:  # nothing is asked with the database locked
            return by_fees
        if asked is None:
            asked = self._asked(by_fees, account)
            cache.set(name, asked, QUOTED_FOR_S if asked else SILENT_FOR_S)
        if not asked:
            return by_fees
        fees_cents = asked - by_fees.rewards_cents - by_fees.tax_cents
        return replace(by_fees, fees_cents=fees_cents, source="asked")

    def _asked(self, wanted: Quote, account: Account) -> int:
        """The whole price; 0 where nobody answers."""
        try:
            client = self.recruiter(account).client
            return client.quote(reward_cents=wanted.reward_cents, places=wanted.assignments).total_cost
        except RecruiterError:
            return 0

    def named_currency(self, account: Account) -> str:
        return self.recruiter(account).named_currency()

    def findings(self, account: Account, *, offer_id: str, no_consent: str) -> dict[str, Any]:
        from humanexp.recruiters.prolific.client import findings_of

        found = self.recruiter(account)
        return findings_of(found.client, workspace=found.workspace, study=offer_id, no_consent=no_consent)

    def key_names(self, account: Account) -> tuple[str, ...]:
        return (self._name_for(account, "TOKEN"),)

    def recruiter(self, account: Account) -> ProlificRecruiter:
        """A further account's settings bear its own code, and fall back on the first one's, the token excepted."""
        (name,) = self.key_names(account)
        token = keys.key(name)
        if not token:
            raise KeysRefused(
                f"There is no token for {account.name}: set {name}, or enter it on the page “Recruiters”."
            )
        workspace = account.workspace or self._setting("WORKSPACE")
        of_first = self._setting("PROJECT") if account.is_first else ""
        project = os.environ.get(self._name_for(account, "PROJECT"), "") or of_first
        return _recruiter(
            self, account, self.address, token, workspace, project, self.fees, self.capabilities, self.hooks_of(account)
        )

    def told(self, account: Account, headers: Mapping[str, str], body: bytes) -> Hint:
        return verified(keys.key(self._name_for(account, "HOOK_SECRET")), headers, body, clock.now())

    def hooks_of(self, account: Account) -> HookAddress | None:
        """Where it posts events; None where it cannot: it wants a public address, its stand-in one on its machine."""
        ours = urlsplit(settings.PUBLIC_URL)
        is_near = self.capabilities.is_own_ground and is_loopback(ours.hostname or "")
        if ours.scheme != "https" and not is_near:
            return None
        return HookAddress(f"{settings.PUBLIC_URL}/hooks/{account.code}/", self._name_for(account, "HOOK_SECRET"))

    def _name_for(self, account: Account, end: str) -> str:
        """Of a variable."""
        first = account.is_first
        (name,) = keys.names_for(self.prefix if first else account.code, end, is_first=first)
        return name

    def ticket(self, query: Mapping[str, str]) -> Ticket:
        return ticket_of(preset_called(self.preset).parameters, query)

    def check_submission(self, submission: str) -> None:
        if not re.fullmatch(r"[A-Za-z0-9]{1,64}", submission):
            raise InvalidRequest("This address does not say which place it belongs to: open the study again.")

    @property
    def told_apart_by(self) -> list[object]:
        return [self.address, self._setting("WORKSPACE"), bool(keys.key(f"{self.prefix}_TOKEN"))]

    def _setting(self, name: str) -> str:
        return str(getattr(settings, f"{self.prefix}_{name}"))


class Prolific(Api):
    """The service; real money and real people."""

    code, name, namespace, prefix = "prolific", "Prolific", "prolific", "PROLIFIC"
    about_keys = "An API token: Settings, then API tokens, in your account at Prolific."

    @property
    def address(self) -> str:
        return str(settings.PROLIFIC_URL)


class Panel(Api):
    """The stand-in of this distribution, a site of its own."""

    code, name, namespace, prefix = "panel", "practice panel", "panel", "PANEL"
    about_keys = "A token of an account on the panel: its control page shows it."
    own_site = OwnSite(
        package="humanexp.sites.panel",
        account_maker="humanexp.sites.panel.create_researcher",
        address_setting="PANEL_URL",
        control="/control/",
    )

    def keys_from(self, made: Mapping[str, str]) -> dict[str, str]:
        return {"PANEL_TOKEN": made["token"]}

    @property
    def address(self) -> str:
        return str(settings.PANEL_URL)


@lru_cache(maxsize=16)
def _recruiter(
    kind: Api,
    account: Account,
    address: str,
    token: str,
    workspace: str,
    project: str,
    fees: FeeTable,
    capabilities: Capabilities,
    hooks: HookAddress | None,
) -> ProlificRecruiter:
    # requests costs 0.1 s to import: only who talks to a recruiter pays for it
    from humanexp.recruiters.prolific.client import ProlificClient
    from humanexp.recruiters.prolific.recruiter import ProlificRecruiter

    client = ProlificClient(f"{address}{API_PATH}", token, referer=f"{settings.PUBLIC_URL} (HumanExp)")
    return ProlificRecruiter(
        environment=account.code,
        client=client,
        preset=preset_called(kind.preset),
        workspace=workspace,
        project=project,
        fees=fees,
        capabilities=capabilities,
        currency=account.currency,
        hooks=hooks,
    )
