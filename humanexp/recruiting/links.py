"""Links to a site and the public page: terms that are frozen with the campaign, and who came, by the ids of the site.

Who came is told to whoever pays or credits people there. Together with the page that shows it, this is the one way by
which such ids leave; no export has them. Each use leaves a line in the record, which names no id.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q, QuerySet

from analysis.spec.link import Link, host_of_return
from humanexp.core.audit import record
from humanexp.core.errors import InvalidRequest
from humanexp.core.keys import random_code
from humanexp.core.models import User
from humanexp.ledger.owed import owed_of
from humanexp.participation.earlier_curves import freeze_earlier
from humanexp.participation.models import DamagedPicture, Session
from humanexp.recruiters.campaigns import outcome_of, site_of
from humanexp.recruiters.facts import pay_on_leaving
from humanexp.recruiters.models.campaigns import Assignment, Campaign, LinkTerms, OutcomeCode, VolunteerTerms
from humanexp.recruiters.models.people import id_here
from humanexp.recruiters.presets import Preset, preset_called
from humanexp.recruiters.registry import Account
from humanexp.recruiters.tickets import Outcome
from humanexp.studies import permissions
from humanexp.studies.models import Study
from humanexp.studies.roles import Action

#: Letters of a code: nobody guesses one of eleven out of 10^14.
CODE_LENGTH = 10


def terms_of(link: Link) -> LinkTerms:
    """What a link says, filled in by its preset; not stored yet."""
    preset = preset_called(link.preset)
    address = link.return_address or preset.return_address
    if address:
        host_of_return(address)
    if preset.return_grants and address and "{person}" not in address:
        raise InvalidRequest(
            f"{preset.label} grants credit to the id in its completion URL: put {{person}} in its place.",
            fields={"link_return_address": "with {person} at the end, in place of XXXX"},
        )
    _check_site_code(link, preset, address)
    currency = "" if link.reward is None else link.currency or preset.currency
    if link.reward is not None and not currency:
        raise InvalidRequest(
            "A reward needs its currency, like GBP.", fields={"link_currency": "three letters, like GBP"}
        )
    pay = link.pay or preset.pay
    if pay == "credit" and not link.alternative.strip():
        raise InvalidRequest(
            "Where credit is given, say what people can do instead for the same credit, without giving data.",
            fields={"link_alternative": "what else gives the same credit"},
        )
    return LinkTerms(
        preset=preset.name,
        person_parameter=link.person or preset.parameters["person"],
        submission_parameter=link.submission or preset.parameters.get("submission", ""),
        offer_parameter=preset.parameters.get("offer", ""),
        return_address=address,
        pay=pay,
        alternative=link.alternative.strip(),
        reward=link.reward,
        currency=currency,
    )


def check_exported(study: Study) -> None:
    """An export has the study's file, and with a token from it anybody could credit themselves."""
    stated = (study.configuration.get("recruitment") or {}).get("link") or {}
    if stated.get("return_address") and stated.get("preset") and preset_called(stated["preset"]).return_grants:
        raise InvalidRequest(
            "The study's file, which every export contains, has the address that grants credit. Make a new version "
            "without return_address, and enter the address when you launch it.",
            fields={"link_return_address": "not in the study's file"},
        )


def terms_at(account: Account, reward_cents: int) -> LinkTerms:
    """The same of a recruiter that sends its people as a link to its site does; not stored yet."""
    preset = preset_called(account.kind.preset)
    return LinkTerms(
        preset=preset.name,
        person_parameter=preset.parameters["person"],
        submission_parameter=preset.parameters["submission"],
        offer_parameter=preset.parameters["offer"],
        return_address=account.kind.return_address,
        reward=reward_cents,
        currency=account.currency,
    )


def _check_site_code(link: Link, preset: Preset, address: str) -> None:
    """A site that makes the code itself would not know ours, and one that takes ours has none of its own."""
    if link.site_code and not preset.shows_own_code:
        raise InvalidRequest(
            "This site has no completion code of its own: paste the codes there that you find here after the launch.",
            fields={"link_site_code": "empty"},
        )
    if not preset.shows_own_code or link.site_code or (address and "{code}" not in address):
        return
    raise InvalidRequest(
        f"{preset.label} makes the completion code of a project itself. Make the project there first, and enter its "
        "code or its completion address here.",
        fields={"link_site_code": "the completion code that the project shows, or a return address below"},
    )


def freeze(*, campaign: Campaign, terms: LinkTerms, site_code: str = "") -> None:
    """Store them with a campaign; part of the transaction that launches it."""
    site = site_of(terms)
    terms.campaign = campaign
    terms.full_clean()
    terms.save()
    codes: set[str] = set()
    while len(codes) < len(Outcome):
        codes.add(random_code("K", CODE_LENGTH))
    # A set's order is no order of outcomes, and the codes themselves tell nothing.
    OutcomeCode.objects.bulk_create(
        OutcomeCode(
            campaign=campaign,
            outcome=outcome,
            code=code if not site.shows_own_code else site_code if site.has_code_for(outcome) else "",
            action=site.handling(outcome).action,
            paid=site.handling(outcome).paid,
        )
        for outcome, code in zip(Outcome, codes, strict=True)
    )


def freeze_promise(*, campaign: Campaign, compared_with: str, by: User | None) -> None:
    """Part of the transaction that launches it. `compared_with`: a study whose curves people see next to their own."""
    earlier = freeze_earlier(study=campaign.study, name=compared_with, by=by) if compared_with else None
    terms = VolunteerTerms(campaign=campaign, compared_with=earlier)
    terms.full_clean()
    terms.save()


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


def people_of_site(terms: LinkTerms, said: str = "") -> Iterator[SitePerson]:
    """In the order in which they came; `said`: of one person, by one of their ids."""
    rows = _named(terms)
    if said:
        rows = rows.filter(Q(person__worker_id=id_here(terms.preset, said)) | Q(assignment_id=said))
    ways_back = {Outcome(row.outcome): row for row in terms.campaign.outcome_codes.all()}
    stopped = set(
        DamagedPicture.objects.filter(session__assignment__in=rows, mended_at=None).values_list("session", flat=True)
    )
    for row in rows.iterator():
        if row.person is None or row.session is None:
            continue
        outcome = outcome_of(row.session, is_stopped=lambda session: session.pk in stopped)
        way_back = None if outcome is None else ways_back[outcome]
        yield SitePerson(
            person=row.person.given_id,
            submission=row.assignment_id if terms.submission_parameter else "",
            is_finished=None if way_back is None else way_back.action == "review",
            code="" if way_back is None else way_back.code,
            bonus=0 if way_back is None else _bonus(terms, way_back, row.session),
        )


def credited(terms: LinkTerms) -> Iterator[str]:
    """Ids of those who have earned their credit, and of no others: whoever declined or stopped is not told."""
    return (one.person for one in people_of_site(terms) if one.is_finished)


def _named(terms: LinkTerms) -> QuerySet[Assignment]:
    rows = Assignment.objects.filter(campaign=terms.campaign, person__isnull=False, session__isnull=False)
    return rows.select_related("person", "session__study").order_by("pk")


def _bonus(terms: LinkTerms, way_back: OutcomeCode, session: Session) -> int | None:
    """What the study pays people who stop, and the reward of who did their part where the site has no code for it."""
    if way_back.paid == "decided":
        return None
    if terms.reward is None:
        return 0
    if way_back.paid == "full":
        return terms.reward if way_back.action == "return" else 0
    if way_back.paid == "nothing" or pay_on_leaving(terms.campaign.study) == "none":
        return 0
    return owed_of(terms.campaign, session, pay=terms.reward)


@transaction.atomic
def list_finished(*, terms: LinkTerms, by: User) -> list[SitePerson]:
    """Everybody who came from the site."""
    permissions.check(by, Action.PAY, terms.campaign.study)
    found = list(people_of_site(terms))
    _record("list-finished", terms, by, people=len(found))
    return found


@transaction.atomic
def list_credited(*, terms: LinkTerms, by: User) -> list[str]:
    """Those who have earned credit, for whoever gives it: sorted, so that it tells no order."""
    permissions.check(by, Action.PAY, terms.campaign.study)
    found = sorted(set(credited(terms)))
    _record("list-finished", terms, by, people=len(found))
    return found


@transaction.atomic
def look_up(*, terms: LinkTerms, said: str, by: User) -> SitePerson | None:
    """One person, by an id that they or the site have named."""
    permissions.check(by, Action.PAY, terms.campaign.study)
    said = said.strip()
    if not 1 <= len(said) <= 64:
        raise InvalidRequest("Enter one id, as the site shows it.", fields={"id": "1 to 64 characters"})
    found = next(people_of_site(terms, said), None)
    _record("look-up-id", terms, by, found=found is not None)
    return found


def _record(action: str, terms: LinkTerms, by: User, **facts: object) -> None:
    study = terms.campaign.study.slug
    record(action=action, subject=f"campaign:{terms.campaign_id}", study=study, by=by, **facts)
