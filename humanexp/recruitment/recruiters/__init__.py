"""Which recruiter serves which environment.

A new recruiter takes more than a file here. The file implements `base.Recruiter`, in Mechanical Turk's words. Besides:

- a member of `Environment` with a migration, and its name space in `WORKER_NAMESPACE`: without one, nobody who comes
  from there has a code (a KeyError at run time);
- a case in `recruiter_for`, `capabilities_of` and `fees_of` below;
- what its keys and its address are, in `console.preflight.gate`, so that a check is stale once they change;
- `RECRUITERS`, `campaign` and `take_part` of tests/recruitment/test_recruiter_contract.py, which know the plain link
  and the marketplace alone.

Elsewhere pages and services ask `is_link`, or for a member of `Environment`, where they should ask what a recruiter can
do (`Capabilities`): `git grep -E 'is_link|Environment[.][A-Z]' humanexp templates` lists the places to read first.
"""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import urlsplit

from django.conf import settings

from humanexp.core.errors import InvalidRequest, KeysRefused
from humanexp.recruitment.models import Environment
from humanexp.recruitment.pricing import NO_FEES, FeeTable
from humanexp.recruitment.recruiters.base import Capabilities, Recruiter
from humanexp.recruitment.recruiters.link import LinkRecruiter


def recruiter_for(environment: str) -> Recruiter:
    """The recruiter of an environment, with the keys and the address of that environment and no other."""
    fees = fees_of(environment)
    match environment:
        case Environment.LINK:
            return LinkRecruiter()
        case Environment.MARKETPLACE:
            if not settings.MARKETPLACE_ACCESS_KEY_ID:
                raise KeysRefused(
                    "There are no requester keys for the marketplace: make a requester there and set "
                    "MARKETPLACE_ACCESS_KEY_ID and MARKETPLACE_SECRET_ACCESS_KEY."
                )
            return _mturk(
                environment,
                f"{settings.MARKETPLACE_URL}/requester/",
                fees,
                settings.MARKETPLACE_QUEUE_URL,
                settings.QUEUE_REGION,
                settings.QUEUE_ENDPOINT_URL,
                settings.MARKETPLACE_ACCESS_KEY_ID,
                settings.MARKETPLACE_SECRET_ACCESS_KEY,
                3,
                1000.0,
            )
        case Environment.SANDBOX:
            queue = settings.MTURK_SANDBOX_QUEUE_URL
            return _mturk(environment, settings.MTURK_SANDBOX_URL, fees, queue, settings.QUEUE_REGION)
        case Environment.PRODUCTION:
            queue = settings.MTURK_PRODUCTION_QUEUE_URL
            return _mturk(environment, settings.MTURK_PRODUCTION_URL, fees, queue, settings.QUEUE_REGION)
    raise InvalidRequest(f"{environment!r} is no recruiter: choose one of {', '.join(Environment.values)}.")


def capabilities_of(environment: str) -> Capabilities:
    match environment:
        case Environment.LINK:
            return Capabilities(pays=False)
        case Environment.MARKETPLACE:
            return Capabilities(pays=True, is_set_up=bool(settings.MARKETPLACE_ACCESS_KEY_ID))
    url = settings.MTURK_SANDBOX_URL if environment == Environment.SANDBOX else settings.MTURK_PRODUCTION_URL
    # Mechanical Turk closed on 30 September 2026; its API lives on where somebody else answers it.
    is_amazon = (urlsplit(url).hostname or "").endswith(".amazonaws.com")
    return Capabilities(pays=True, pays_out=True, is_set_up=not is_amazon, is_closed=is_amazon)


def offered() -> list[str]:
    """Every environment, those that can be used now first and the closed ones last."""
    known = {environment: capabilities_of(environment) for environment in Environment.values}
    return sorted(known, key=lambda environment: (known[environment].is_closed, not known[environment].is_set_up))


def preferred() -> str:
    """Where a launch begins: the paid recruiter that is set up, or a plain link."""
    paid = (name for name in offered() if capabilities_of(name).pays and capabilities_of(name).is_set_up)
    return next(paid, Environment.LINK.value)


def fees_of(environment: str) -> FeeTable:
    """The fee table, without building a client: prices are shown before there are keys."""
    match environment:
        case Environment.LINK:
            return NO_FEES
        case Environment.MARKETPLACE:
            fees: FeeTable = settings.MARKETPLACE_FEES
            return fees
    mturk_fees: FeeTable = settings.MTURK_FEES
    return mturk_fees


@lru_cache(maxsize=8)
def _mturk(
    environment: str,
    endpoint_url: str,
    fees: FeeTable,
    queue_url: str = "",
    queue_region: str = "",
    queue_endpoint_url: str = "",
    access_key_id: str = "",
    secret_access_key: str = "",
    read_attempts: int = 8,
    writes_per_second: float = 4.0,
) -> Recruiter:
    # boto3 costs 0.2 s to import: only who talks to a recruiter pays for it
    from humanexp.recruitment.recruiters.mturk import MTurkRecruiter, Queue

    return MTurkRecruiter(
        environment=environment,
        endpoint_url=endpoint_url,
        fees=fees,
        access_key_id=access_key_id,
        secret_access_key=secret_access_key,
        read_attempts=read_attempts,
        writes_per_second=writes_per_second,
        queue=Queue(url=queue_url, region=queue_region, endpoint_url=queue_endpoint_url) if queue_url else None,
    )
