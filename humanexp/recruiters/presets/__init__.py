"""Sites that send people by a link, as data: one file a site. Another site is another file here."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlencode

from analysis.study.link import LinkPay
from humanexp.core.errors import InvalidRequest
from humanexp.recruiters.tickets import Outcome, Ticket

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
