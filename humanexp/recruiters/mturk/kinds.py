"""Recruiters that speak MTurk's requester API: our own marketplace, and Amazon's two addresses."""

from __future__ import annotations

import os
import re
from abc import abstractmethod
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import urlsplit

from django.conf import settings

from analysis.study.terms import USUAL_APPROVAL_PERCENT, USUAL_HITS_APPROVED
from humanexp.core.errors import InvalidRequest, KeysRefused
from humanexp.recruiters import keys
from humanexp.recruiters.money import LARGE_HIT, FeeTable
from humanexp.recruiters.port import Capabilities, Recruiter
from humanexp.recruiters.registry import Account, Kind, OwnSite
from humanexp.recruiters.tickets import PAYS_OUT, FormPost, Nothing, Outcome, Ticket, WayOut


def origin(url: str) -> str:
    """Scheme, host and port; empty for anything that is no plain web address."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not host or parts.username or parts.password:
        return ""
    host = f"[{host}]" if ":" in host else host
    default = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host}" + ("" if port in (None, default) else f":{port}")


#: What a preview carries instead of an assignment id.
NO_ASSIGNMENT = "ASSIGNMENT_ID_NOT_AVAILABLE"
#: The address that takes a finished assignment.
SUBMIT_PATH = "/mturk/externalSubmit"


#: What a HIT pays, what it can ask of workers, and how it is found.
FIELDS = frozenset(
    {"reward", "unpaid", "cap", "hits", "approval_days"}
    | {"keywords", "masters", "approval_percent", "hits_approved", "countries", "adult"}
)


class RequesterApi(Kind):
    """What they have in common: HITs, assignments, and a frame with a form."""

    is_at_hand, frames = True, True
    fields, id_name = FIELDS, "Worker id"
    #: CustomerId allows capitals and digits only
    person_id = re.compile(r"[A-Z0-9]{1,64}")

    def key_names(self, account: Account) -> tuple[str, ...]:
        return keys.names_for(account.code, "ACCESS_KEY_ID", "SECRET_ACCESS_KEY", is_first=account.is_first)

    def places_of_offer(self, places: int, wanted: int | None = None) -> int:
        return wanted or LARGE_HIT - 1

    def ticket(self, query: Mapping[str, str]) -> Ticket:
        submission = query.get("assignmentId", "")
        return Ticket(
            submission=submission,
            person=query.get("workerId", ""),
            offer=query.get("hitId", ""),
            is_preview=submission in ("", NO_ASSIGNMENT),
            return_to=query.get("turkSubmitTo", ""),
        )

    def way_out(self, outcome: Outcome, ticket: Ticket) -> WayOut:
        """The form goes to an address of our own list: the one that came with the page only chooses from it."""
        if outcome != Outcome.FINISHED:
            return Nothing()  # whoever did not finish returns the HIT, on the recruiter's own page
        for known in self.origins:
            if ticket.return_to and origin(ticket.return_to) == known:
                return FormPost(address=known + SUBMIT_PATH)
        raise InvalidRequest(
            "This page was opened from an address that is not the recruiter's, so it could not be submitted. "
            "Open the HIT again from where you found it.",
            fields={"turkSubmitTo": "Not a recruiter of this study."},
        )

    def check_submission(self, submission: str) -> None:
        if submission in ("", NO_ASSIGNMENT):
            raise InvalidRequest("This is a preview. Accept the HIT to take part.")
        if not submission.isalnum() or len(submission) > 64:
            raise InvalidRequest("This link does not say which assignment it belongs to: open the HIT again.")


class Marketplace(RequesterApi):
    """The marketplace of this distribution, a site of its own."""

    code, name, namespace = "marketplace", "own marketplace", "marketplace"
    about_keys = "A requester's access key. The marketplace shows it on the desk page of its operator."
    own_site = OwnSite(
        package="humanexp.sites.marketplace",
        account_maker="humanexp.sites.marketplace.create_requester",
        address_setting="MARKETPLACE_URL",
    )

    def keys_from(self, made: Mapping[str, str]) -> dict[str, str]:
        return {
            "MARKETPLACE_ACCESS_KEY_ID": made["access_key_id"],
            "MARKETPLACE_SECRET_ACCESS_KEY": made["secret_access_key"],
        }

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            is_own_ground=True,
            is_set_up=bool(keys.key("MARKETPLACE_ACCESS_KEY_ID")),
        )

    @property
    def fees(self) -> FeeTable:
        fees: FeeTable = settings.MARKETPLACE_FEES
        return fees

    def recruiter(self, account: Account) -> Recruiter:
        return _client(
            self,
            account.code,
            f"{settings.MARKETPLACE_URL}/requester/",
            self.fees,
            (settings.MARKETPLACE_QUEUE_URL, settings.QUEUE_REGION, settings.QUEUE_ENDPOINT_URL),
            key_pair=_keys_of(account),
            read_attempts=3,
            writes_per_second=1000.0,
        )

    @property
    def origins(self) -> list[str]:
        return [origin(settings.MARKETPLACE_URL)]

    @property
    def address(self) -> str:
        return str(settings.MARKETPLACE_URL)

    @property
    def told_apart_by(self) -> list[object]:
        return [settings.MARKETPLACE_URL, keys.key("MARKETPLACE_ACCESS_KEY_ID")]

    @property
    def listens(self) -> bool:
        return bool(settings.MARKETPLACE_QUEUE_URL)


class Amazon(RequesterApi):
    """Amazon's addresses, or whoever else answers at the ones that are set."""

    namespace, words = "mturk", PAYS_OUT
    # our own marketplace is small and new: what its people have done elsewhere, it cannot know
    usual = {"approval_percent": USUAL_APPROVAL_PERCENT, "hits_approved": USUAL_HITS_APPROVED}
    note = (
        "Amazon's documentation says that Mechanical Turk closed for good on 30 September 2026; the options marked as "
        "closed are for a service of your own that speaks its API. Your own marketplace, Prolific and links work today."
    )

    @property
    def capabilities(self) -> Capabilities:
        # Mechanical Turk closed on 30 September 2026; its API lives on where somebody else answers it.
        is_amazon = (urlsplit(self.address).hostname or "").endswith(".amazonaws.com")
        return Capabilities(
            pays_out=True,
            is_sandbox=self.code == Sandbox.code,
            is_set_up=not is_amazon,
            is_closed=is_amazon,
        )

    @property
    def fees(self) -> FeeTable:
        fees: FeeTable = settings.MTURK_FEES
        return fees

    @property
    @abstractmethod
    def queue(self) -> str:
        """Address of the queue that it puts events into; empty where none is set up."""

    def key_names(self, account: Account) -> tuple[str, ...]:
        """The first account's keys are looked for as boto3 does: environment, profile, role."""
        return () if account.is_first else super().key_names(account)

    def recruiter(self, account: Account) -> Recruiter:
        key_pair = _keys_of(account) if self.key_names(account) else ("", "")
        queue = (self.queue, settings.QUEUE_REGION, "")
        return _client(self, account.code, self.address, self.fees, queue, key_pair=key_pair)

    @property
    def origins(self) -> list[str]:
        ours = origin(settings.MARKETPLACE_URL)
        return [known for known in map(origin, settings.RECRUITER_ORIGINS) if known != ours]

    @property
    def told_apart_by(self) -> list[object]:
        return [self.address, os.environ.get("AWS_ACCESS_KEY_ID", ""), os.environ.get("AWS_PROFILE", "")]

    @property
    def listens(self) -> bool:
        return bool(self.queue)


class Sandbox(Amazon):
    """Play money."""

    code, name = "sandbox", "MTurk Sandbox"

    @property
    def address(self) -> str:
        return str(settings.MTURK_SANDBOX_URL)

    @property
    def queue(self) -> str:
        return str(settings.MTURK_SANDBOX_QUEUE_URL)


class Production(Amazon):
    """Real money."""

    code, name = "production", "MTurk production"

    @property
    def address(self) -> str:
        return str(settings.MTURK_PRODUCTION_URL)

    @property
    def queue(self) -> str:
        return str(settings.MTURK_PRODUCTION_QUEUE_URL)


def _keys_of(account: Account) -> tuple[str, str]:
    name, secret_name = account.kind.key_names(account)
    if keys.missing((name, secret_name)):
        raise KeysRefused(
            f"There are no keys for {account.name}: set {name} and {secret_name}, or enter them on the page "
            "“Recruiters”."
        )
    return keys.key(name), keys.key(secret_name)


@lru_cache(maxsize=16)
def _client(
    kind: RequesterApi,
    environment: str,
    endpoint_url: str,
    fees: FeeTable,
    queue: tuple[str, str, str],
    *,
    key_pair: tuple[str, str] = ("", ""),
    read_attempts: int = 8,
    writes_per_second: float = 4.0,
) -> Recruiter:
    # boto3 costs 0.2 s to import: only who talks to a recruiter pays for it
    from humanexp.recruiters.mturk.recruiter import MTurkRecruiter, Queue

    url, region, queue_endpoint_url = queue
    return MTurkRecruiter(
        environment=environment,
        endpoint_url=endpoint_url,
        fees=fees,
        capabilities=kind.capabilities,
        access_key_id=key_pair[0],
        secret_access_key=key_pair[1],
        read_attempts=read_attempts,
        writes_per_second=writes_per_second,
        queue=Queue(url=url, region=region, endpoint_url=queue_endpoint_url) if url else None,
    )
