"""Sites that send people by a link or by its API: presets as data, one file a site, and a campaign's terms with one.

Another site is another file here. The terms are frozen at the launch; a recruiter whose people a site sends declares
them as its own (`Kind.Terms`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import quote, urlencode, urlsplit

from pydantic import Field, model_validator

from analysis.entry import Entry
from analysis.study.link import SITE_CODE_LENGTH, Link, LinkPay, host_of_return
from humanexp.core.errors import InvalidRequest
from humanexp.core.names import random_code
from humanexp.recruiters import money
from humanexp.recruiters.tickets import Code, GiveBack, Nothing, Outcome, Redirect, Ticket, WayOut

#: What the site does with somebody who comes back so: a person looks at it, or asks for the place back. Nothing is ever
#: approved or rejected by a rule.
Action = Literal["review", "return"]
#: What the person gets: the whole pay, what the study pays people who stop, nothing, or what a person decides.
Paid = Literal["full", "leaving", "nothing", "decided"]


@dataclass(frozen=True, kw_only=True)
class Handling:
    """What follows from an outcome."""

    action: Action
    paid: Paid


_DONE = Handling(action="review", paid="full")
_TURNED_AWAY = Handling(action="return", paid="nothing")
HANDLING: Mapping[Outcome, Handling] = {
    Outcome.FINISHED: _DONE,
    # They have done what they were asked for.
    Outcome.PRACTICE_FAILED: _DONE,
    Outcome.QUALIFICATION_FAILED: _DONE,
    Outcome.LEFT: Handling(action="return", paid="leaving"),
    Outcome.TECHNICAL_FAILURE: Handling(action="return", paid="decided"),
    Outcome.NO_CONSENT: _TURNED_AWAY,
    Outcome.WRONG_DEVICE: _TURNED_AWAY,
    Outcome.ALREADY_TOOK_PART: _TURNED_AWAY,
    Outcome.FULL: _TURNED_AWAY,
    Outcome.CLOSED: _TURNED_AWAY,
    Outcome.INELIGIBLE: _TURNED_AWAY,
}


#: What sites give people as ids; with anything else the address was changed on its way.
_ID = r"[A-Za-z0-9_.:-]{1,40}"
#: What programs write for an id that they do not have.
_NOBODY = frozenset({"undefined", "null", "none", "nan"})


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A site: how its ids arrive, and what its pages ask for."""

    name: str
    #: its own name, as people know it; empty where it is the lab's own, which then has a title by language
    label: str
    order: int
    #: whether people are to come back with a code
    asks_for_codes: bool
    return_address: str
    #: The site makes the one code or address of a project, for people who have finished: all others give their place
    #: back there.
    shows_own_code: bool = False
    pay: LinkPay = "money"
    #: in which most people are paid there; empty: it has none of its own
    currency: str = ""
    title: Mapping[str, str] = field(default_factory=dict)
    #: several people use one computer: browsers keep nothing with which the next person could go on
    shared_computers: bool = False
    #: an address back to it grants credit to the person whose id is in it
    return_grants: bool = False
    #: names of parameters and what stands for their values, by `person`, `submission` and `offer`
    parameters: Mapping[str, str] = field(default_factory=dict)
    #: pattern of every id of a person and a submission that this site gives out
    ids: str = _ID
    placeholders: Mapping[str, str] = field(default_factory=dict)
    #: the site's own words for actions and for kinds of codes, where it has some
    actions: Mapping[str, str] = field(default_factory=dict)
    code_types: Mapping[str, str] = field(default_factory=dict)
    #: what a researcher does there, by language
    steps: Mapping[str, list[str]] = field(default_factory=dict)

    def title_in(self, language: str) -> str:
        """What a researcher chooses it by."""
        return self.label or self.title.get(language, self.title["en"])

    def steps_in(self, language: str) -> list[str]:
        return self.steps.get(language, self.steps["en"])

    def handling(self, outcome: Outcome) -> Handling:
        """What follows at this site: people are owed the same at all, but not everywhere have they a code to submit."""
        usual = HANDLING[outcome]
        return usual if self.has_code_for(outcome) else replace(usual, action="return")

    def has_code_for(self, outcome: Outcome) -> bool:
        return outcome == Outcome.FINISHED or not self.shows_own_code


@cache
def presets() -> Mapping[str, Preset]:
    """All of them by name, in the order in which they are offered."""
    found = [_read(path) for path in Path(__file__).parent.glob("*.toml")]
    return {preset.name: preset for preset in sorted(found, key=lambda preset: preset.order)}


def preset_called(name: str) -> Preset:
    known = presets()
    if name not in known:
        raise InvalidRequest(f"There is no preset {name!r} of a link; there are: {', '.join(known)}.")
    return known[name]


def _read(path: Path) -> Preset:
    values: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    return Preset(name=path.stem, **values)


class TicketRefused(InvalidRequest):
    """This address does not say who you are: open the study again from the page where you found it."""


def ticket_of(parameters: Mapping[str, str], query: Mapping[str, str]) -> Ticket:
    """The ids of an address, as far as it has them; where the site has not filled in its placeholders, none."""
    given = {kind: query.get(name, "").strip() for kind, name in parameters.items() if name}
    return Ticket(person=given.get("person", ""), submission=given.get("submission", ""), offer=given.get("offer", ""))


def is_unfilled(ticket: Ticket, site: Preset) -> bool:
    """Whether an id is still the placeholder, or a program's word for none: the site has put nobody's id there."""
    words = _NOBODY | {word.lower() for word in (*site.placeholders.values(), *site.parameters.values())}
    given = (ticket.person, ticket.submission, ticket.offer)
    return any(id_.lower() in words or any(mark in id_ for mark in "{}%") for id_ in given if id_)


def address_for_site(address: str, parameters: Mapping[str, str], placeholders: Mapping[str, str]) -> str:
    """The study's address as it is pasted there: the site puts people's ids in place of the placeholders."""
    query = {name: placeholders[kind] for kind, name in parameters.items() if name and placeholders.get(kind)}
    return f"{address}?{urlencode(query, safe='{}%')}" if query else address


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
