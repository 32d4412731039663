"""A link to a site that sends people: its terms are frozen with the campaign, its codes are made at random."""

from __future__ import annotations

from analysis.spec.link import Link, host_of_return
from humanexp.core.errors import InvalidRequest, TokenRefused
from humanexp.core.keys import random_code
from humanexp.participation import selectors as participation
from humanexp.recruitment import selectors
from humanexp.recruitment.models import Campaign, LinkTerms, OutcomeCode
from humanexp.recruitment.recruiters import Account
from humanexp.recruitment.recruiters.presets import Preset, preset_called
from humanexp.recruitment.recruiters.tickets import Outcome, WayOut
from humanexp.recruitment.services import claims
from humanexp.studies.models import Study

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
    site = selectors.site_of(terms)
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


def way_out_of(*, campaign: Campaign, token: str) -> tuple[Outcome, WayOut] | None:
    """How the person behind a session goes back, once it has ended; nothing before."""
    session = participation.session_for_token(token)
    if session.study_id != campaign.study_id:
        raise TokenRefused(reason="foreign", session_id=session.pk)
    assignment = claims.assignment_behind(session)
    terms, outcome = LinkTerms.of(campaign), selectors.outcome_of(session)
    if assignment is None or assignment.campaign_id != campaign.pk or terms is None or outcome is None:
        return None
    return outcome, selectors.way_out(terms, outcome, selectors.ticket_behind(assignment))
