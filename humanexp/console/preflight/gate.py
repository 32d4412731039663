"""Whether the newest pre-flight still holds, and the sentence with which a launch is refused when it does not."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from django.conf import settings
from django.db.models import Count, Max
from django.utils.translation import gettext as _, ngettext

from humanexp.console.models import Preflight
from humanexp.core import clock
from humanexp.recruiters import money, registry
from humanexp.recruiters.money import Quote
from humanexp.studies.models import Study


def fingerprint_of(study: Study, to: str) -> str:
    """SHA-256 over what could change between the check and the launch."""
    told = json.dumps([_study(study), _stimuli(study), _recruiter(to)], sort_keys=True, default=str)
    return hashlib.sha256(told.encode()).hexdigest()


def _study(study: Study) -> list[object]:
    return [study.pk, study.digest, study.plan_digest, study.rule_set, study.title]


def _stimuli(study: Study) -> object:
    if study.stimulus_set is None:
        return None
    digest = hashlib.sha256()
    for sha256 in study.stimulus_set.stimuli.order_by("pk").values_list("sha256", flat=True).iterator():
        digest.update(sha256.encode())
    counts = study.stimulus_set.stimuli.aggregate(count=Count("pk"), last=Max("pk"))
    return [study.stimulus_set_id, counts, digest.hexdigest()]


def _recruiter(to: str) -> list[object]:
    return [to, settings.PUBLIC_URL, settings.RECRUITER_ORIGINS, *registry.kind_of(to).told_apart_by]


#: Accounts empty, certificates end, servers move: after a day the same is asked again.
HOLDS = timedelta(days=1)
Name = Literal["none", "red", "stale", "green"]


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The newest pre-flight for one recruiter, and what it is worth now."""

    name: Name
    preflight: Preflight | None = None
    #: why it is stale
    why: str = ""

    @property
    def is_green(self) -> bool:
        return self.name == "green"


def newest_of(study: Study) -> Preflight | None:
    """The last result for any recruiter, whether or not it still holds: the gate itself looks closer."""
    return Preflight.objects.filter(study=study).defer("fingerprint").first()


def standing_of(study: Study, to: str) -> Standing:
    newest = Preflight.objects.filter(study=study, to=to).select_related("by").first()
    if newest is None:
        return Standing(name="none")
    if newest.fingerprint != fingerprint_of(study, to):
        why = _("The study, its stimuli or the recruiter have changed since.")
        return Standing(name="stale", preflight=newest, why=why)
    if clock.now() - newest.ended_at > HOLDS:
        return Standing(name="stale", preflight=newest, why=_("It is more than a day old."))
    return Standing(name="green" if newest.is_green else "red", preflight=newest)


def refuse(*, study: Study, to: str, price: Quote) -> str:
    """The gate that recruitment asks before a launch."""
    where = registry.name_of(to)
    standing = standing_of(study, to)
    match standing.name:
        case "none":
            return _("Run the pre-flight check for %(where)s first: nothing has been tried out yet.") % {"where": where}
        case "stale":
            return _("Run the pre-flight check for %(where)s again. %(why)s") % {"where": where, "why": standing.why}
        case "red":
            faults = standing.preflight.faults if standing.preflight else []
            text = ngettext(
                "The pre-flight check for %(where)s found %(n)d thing to put right first: %(first)s",
                "The pre-flight check for %(where)s found %(n)d things to put right first, the first: %(first)s",
                len(faults),
            )
            first = f"{faults[0]['title']}: {faults[0]['detail']}" if faults else ""
            return text % {"where": where, "n": len(faults), "first": first}
    held = standing.preflight.balance_cents if standing.preflight else None
    if held is not None and price.total_cents > held:
        return _("This costs %(total)s, and at the check the account held %(held)s: add money and check again.") % {
            "total": money.shown(price.total_cents, price.currency),
            "held": money.shown(held, price.currency),
        }
    return ""
