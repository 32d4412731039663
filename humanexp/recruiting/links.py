"""Who came from a site, by its ids.

Who came is told to whoever pays or credits people there. Together with the page that shows it, this is the one way by
which such ids leave; no export has them. Each use leaves a line in the record, which names no id.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q

from humanexp.core.audit import record
from humanexp.core.errors import InvalidRequest
from humanexp.core.models import User
from humanexp.ledger.owed import owed_of
from humanexp.participation.models import DamagedPicture, Session
from humanexp.recruiters.campaigns import outcome_of, pay_on_leaving
from humanexp.recruiters.models import Assignment, Campaign, id_here
from humanexp.recruiters.presets import OutcomeCode, SiteTerms, preset_called
from humanexp.studies import permissions
from humanexp.studies.models import Study
from humanexp.studies.roles import Action


def check_exported(study: Study) -> None:
    """An export has the study's file, and with a token from it anybody could credit themselves."""
    stated = (study.configuration.get("recruitment") or {}).get("link") or {}
    if stated.get("return_address") and stated.get("preset") and preset_called(stated["preset"]).return_grants:
        raise InvalidRequest(
            "The study's file, which every export contains, has the address that grants credit. Make a new version "
            "without return_address, and enter the address when you launch it.",
            fields={"link_return_address": "not in the study's file"},
        )


@dataclass(frozen=True, kw_only=True)
class SitePerson:
    """What somebody who pays needs to know of one person; no verdict, and nothing of the answers."""

    person: str
    submission: str
    #: they have done what they were asked for; None while they may still go on
    is_finished: bool | None
    #: the code that the person was told; empty while there is none
    code: str
    #: beyond what the site pays for a finished submission, in the smallest unit of the currency; None: a person decides
    bonus: int | None


def people_of_site(campaign: Campaign, said: str = "") -> Iterator[SitePerson]:
    """In the order in which they came; `said`: of one person, by one of their ids."""
    terms = campaign.site
    if terms is None:
        return
    rows = Assignment.objects.filter(campaign=campaign, person__isnull=False, session__isnull=False)
    rows = rows.select_related("person", "session__study").order_by("pk")
    if said:
        rows = rows.filter(Q(person__worker_id=id_here(terms.preset, said)) | Q(assignment_id=said))
    stopped = set(
        DamagedPicture.objects.filter(session__assignment__in=rows, mended_at=None).values_list("session", flat=True)
    )
    for row in rows.iterator():
        if row.person is None or row.session is None:
            continue
        outcome = outcome_of(row.session, is_stopped=lambda session: session.pk in stopped)
        way_back = None if outcome is None else terms.codes[outcome]
        yield SitePerson(
            person=row.person.given_id,
            submission=row.assignment_id if terms.parameters.get("submission") else "",
            is_finished=None if way_back is None else way_back.action == "review",
            code="" if way_back is None else way_back.code,
            bonus=0 if way_back is None else _bonus(campaign, terms, way_back, row.session),
        )


def _bonus(campaign: Campaign, terms: SiteTerms, way_back: OutcomeCode, session: Session) -> int | None:
    """What the study pays people who stop, and the reward of who did their part where the site has no code for it."""
    if way_back.paid == "decided":
        return None
    if terms.reward is None:
        return 0
    if way_back.paid == "full":
        return terms.reward if way_back.action == "return" else 0
    if way_back.paid == "nothing" or pay_on_leaving(campaign.study) == "none":
        return 0
    return owed_of(campaign, session, pay=terms.reward)


@transaction.atomic
def list_finished(*, campaign: Campaign, by: User) -> list[SitePerson]:
    """Everybody who came from the site."""
    permissions.check(by, Action.PAY, campaign.study)
    found = list(people_of_site(campaign))
    _record("list-finished", campaign, by, people=len(found))
    return found


@transaction.atomic
def list_credited(*, campaign: Campaign, by: User) -> list[str]:
    """Ids of those who have earned credit, for whoever gives it, and of no others: whoever declined or stopped is not
    told. Sorted, so that it tells no order."""
    permissions.check(by, Action.PAY, campaign.study)
    found = sorted({one.person for one in people_of_site(campaign) if one.is_finished})
    _record("list-finished", campaign, by, people=len(found))
    return found


@transaction.atomic
def look_up(*, campaign: Campaign, said: str, by: User) -> SitePerson | None:
    """One person, by an id that they or the site have named."""
    permissions.check(by, Action.PAY, campaign.study)
    said = said.strip()
    if not 1 <= len(said) <= 64:
        raise InvalidRequest("Enter one id, as the site shows it.", fields={"id": "1 to 64 characters"})
    found = next(people_of_site(campaign, said), None)
    _record("look-up-id", campaign, by, found=found is not None)
    return found


def _record(action: str, campaign: Campaign, by: User, **facts: object) -> None:
    record(action=action, subject=f"campaign:{campaign.pk}", study=campaign.study.slug, by=by, **facts)
