"""Events that recruiters post to us. Each says "look now", once; what there is to see, the lists say."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import timedelta

from django.db import transaction
from django.db.models import Q

from humanexp.core import clock
from humanexp.jobs import services as jobs
from humanexp.recruitment.models import Campaign, HookEvent
from humanexp.recruitment.recruiters import account_of
from humanexp.recruitment.selectors.campaigns import unfinished_campaigns

#: Deliveries are repeated for a day.
REMEMBERED = timedelta(days=2)


def hear(*, environment: str, headers: Mapping[str, str], body: bytes) -> bool:
    """Whether this delivery comes for the first time. An event that is signed and delivered anew is looked at again.

    Raises NotFound where nobody tells, and NotAllowed for a forged event.
    """
    account = account_of(environment)
    hint = account.kind.told(account, headers, body)
    digest = hashlib.sha256(hint.delivery.encode()).hexdigest()
    with transaction.atomic():
        is_waited_for = HookEvent.objects.filter(environment=environment, looked_at=None).exists()
        _, is_new = HookEvent.objects.get_or_create(
            environment=environment, digest=digest, defaults={"campaign": _campaign_of(environment, hint.about)}
        )
        if is_new and not is_waited_for:  # else the job that was asked for looks at this one, too
            jobs.submit("recruitment.listen", subject=f"recruiter:{environment}")
    return is_new


def told_campaigns(environment: str) -> list[Campaign]:
    """Campaigns that were told of since the last call; taken before they are looked at, so that none waits for ever."""
    now = clock.now()
    HookEvent.objects.filter(environment=environment, received_at__lt=now - REMEMBERED).delete()
    waiting = list(HookEvent.objects.filter(environment=environment, looked_at=None))
    HookEvent.objects.filter(pk__in=[event.pk for event in waiting]).update(looked_at=now)
    if not waiting:
        return []
    keys = {event.campaign_id for event in waiting}
    here = [campaign for campaign in unfinished_campaigns() if campaign.environment == environment]
    return [campaign for campaign in here if None in keys or campaign.pk in keys]


def _campaign_of(environment: str, about: str) -> Campaign | None:
    """Whose offer or submission this is; one that is not known yet may be of any."""
    is_it = Q(hits__hit_id=about) | Q(assignments_taken__assignment_id=about)
    return Campaign.objects.filter(is_it, environment=environment).order_by("-pk").first() if about else None
