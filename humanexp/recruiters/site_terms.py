"""Terms of a campaign whose people a site sends, by a link or by its API, and how these people come and go.

They are frozen at the launch. A recruiter whose people a site sends declares them as its own (`Kind.Terms`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Self
from urllib.parse import quote, urlsplit

from pydantic import Field, model_validator

from analysis.entry import Entry
from analysis.study.link import SITE_CODE_LENGTH, Link, LinkPay, host_of_return
from humanexp.core.errors import InvalidRequest
from humanexp.core.keys import random_code
from humanexp.recruiters import money
from humanexp.recruiters.presets import (
    HANDLING,
    Action,
    Paid,
    Preset,
    TicketRefused,
    is_unfilled,
    preset_called,
    ticket_of,
)
from humanexp.recruiters.tickets import Code, GiveBack, Nothing, Outcome, Redirect, Ticket, WayOut

#: Letters of a code: nobody guesses one of eleven out of 10^14.
CODE_LENGTH = 10


class OutcomeCode(Entry):
    """With which code people of one outcome go back, and what follows from it there."""

    #: empty: the site has none for this outcome
    code: Annotated[str, Field(max_length=SITE_CODE_LENGTH)]
    action: Action
    paid: Paid


class SiteTerms(Entry):
    """From which site people come, and how they go back."""

    preset: Annotated[str, Field(max_length=20)]
    #: names under which ids arrive, by `person`, `submission` and `offer`; empty: none does
    parameters: Mapping[str, str]
    return_address: Annotated[str, Field(max_length=500)] = ""
    pay: LinkPay = "money"
    #: for credit: what people can do instead for the same
    alternative: Annotated[str, Field(max_length=500)] = ""
    #: what the site pays one person, in the smallest unit of the currency, where that was said
    reward: Annotated[int | None, Field(ge=0)] = None
    currency: Annotated[str, Field(max_length=3)] = ""
    codes: Mapping[Outcome, OutcomeCode]

    @model_validator(mode="after")
    def _tells_outcomes_apart(self) -> Self:
        given = [row.code for row in self.codes.values() if row.code]
        if set(self.codes) != set(Outcome) or len(set(given)) < len(given):
            raise ValueError("Every outcome has a code of its own, or none.")
        return self

    @property
    def site(self) -> Preset:
        return preset_called(self.preset)

    @property
    def host(self) -> str:
        """Where people go back to; empty: to no address."""
        return urlsplit(self.return_address).hostname or ""

    @property
    def reward_told(self) -> str:
        """As people read it; empty where no amount was said."""
        return "" if self.reward is None else f"{money.decimal(self.reward)} {self.currency}"

    def ticket(self, query: Mapping[str, str]) -> Ticket:
        return ticket_of(self.parameters, query)

    def is_unfilled(self, ticket: Ticket) -> bool:
        """Whether the site has not put people's ids into the address: placeholders stand there, or what it never
        gives."""
        given = [id_ for id_ in (ticket.person, ticket.submission) if id_]
        return is_unfilled(ticket, self.site) or not all(re.fullmatch(self.site.ids, id_) for id_ in given)

    def check(self, ticket: Ticket) -> None:
        """Refuse who comes without an id, or with one that the site has not given."""
        needed = [ticket.person, ticket.submission] if self.parameters.get("submission") else [ticket.person]
        if self.is_unfilled(ticket) or not all(needed):
            raise TicketRefused

    def way_out(self, outcome: Outcome, ticket: Ticket) -> WayOut:
        """How somebody with this outcome goes back.

        An address without a place for the code says "completed" whatever happened: it is for people who have done their
        part alone.
        """
        site, code, address = self.site, self.codes[outcome].code, self.return_address
        if not site.has_code_for(outcome):
            return GiveBack()
        if address and ("{code}" in address or HANDLING[outcome].action == "review"):
            filled = {"code": code, "person": ticket.person, "submission": ticket.submission}
            for place, value in filled.items():
                address = address.replace(f"{{{place}}}", quote(value, safe=""))
            return Redirect(address=address, code=code if site.asks_for_codes else "")
        return Code(code=code) if site.asks_for_codes else Nothing()


def codes_for(site: Preset, site_code: str = "") -> dict[Outcome, OutcomeCode]:
    """New ones; of a site that has one of its own, that alone."""
    drawn: set[str] = set()
    while len(drawn) < len(Outcome):
        drawn.add(random_code("K", CODE_LENGTH))
    # A set's order is no order of outcomes, and the codes themselves tell nothing.
    return {
        outcome: OutcomeCode(
            code=code if not site.shows_own_code else site_code if site.has_code_for(outcome) else "",
            action=site.handling(outcome).action,
            paid=site.handling(outcome).paid,
        )
        for outcome, code in zip(Outcome, drawn, strict=True)
    }


def terms_of(link: Link) -> SiteTerms:
    """What a link says, filled in by its preset."""
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
    own = {"person": link.person, "submission": link.submission}
    return SiteTerms(
        preset=preset.name,
        parameters={**preset.parameters, **{kind: name for kind, name in own.items() if name}},
        return_address=address,
        pay=pay,
        alternative=link.alternative.strip(),
        reward=link.reward,
        currency=currency,
        codes=codes_for(preset, link.site_code),
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
