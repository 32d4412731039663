"""How people come from a recruiter and go back, what it posts to us, and what pages say of it: the port's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True, kw_only=True)
class Ticket:
    """What an address says of somebody who comes. It identifies and proves nothing: the recruiter's list does.

    Ids that the recruiter does not pass along are empty.
    """

    #: this person's go at one place: used once, and what is paid
    submission: str = ""
    #: the person's id in the recruiter's name space
    person: str = ""
    #: what the person has answered to: one offer of places at one price
    offer: str = ""
    #: the page is only looked at: nothing may be stored, and nobody can begin
    is_preview: bool = False
    #: where the recruiter's own page wants the form posted; checked against the recruiter's addresses before use
    return_to: str = ""


class Outcome(StrEnum):
    """Why somebody goes back to where they came from."""

    FINISHED = "finished"
    NO_CONSENT = "no-consent"
    WRONG_DEVICE = "wrong-device"
    PRACTICE_FAILED = "practice-failed"
    QUALIFICATION_FAILED = "qualification-failed"
    #: stopped before the end, of their own will
    LEFT = "left"
    ALREADY_TOOK_PART = "already-took-part"
    #: no place is free
    FULL = "full"
    #: stopped, or not open now
    CLOSED = "closed"
    #: on a list of those who are not asked, or without what the study asks for
    INELIGIBLE = "ineligible"
    #: our fault
    TECHNICAL_FAILURE = "technical-failure"


#: Of those who have done their part, and are paid for it.
WORKED = (Outcome.FINISHED, Outcome.PRACTICE_FAILED, Outcome.QUALIFICATION_FAILED)


@dataclass(frozen=True, kw_only=True)
class FormPost:
    """The browser posts a form there; the person presses the button."""

    address: str
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Redirect:
    """A link there; the person presses it."""

    address: str
    #: the code within the address, where it has one: shown to who has to type it after all
    code: str = ""


@dataclass(frozen=True, kw_only=True)
class Code:
    """The person copies it and enters it where they came from."""

    code: str


@dataclass(frozen=True)
class GiveBack:
    """The person gives the place back: the site has no code for this outcome."""


@dataclass(frozen=True)
class Nothing:
    """There is nowhere to go: the page says how it ended, and can be closed."""


@dataclass(frozen=True)
class Late:
    """There is nowhere to go: the recruiter's time ran out, and who has finished is owed the reward as a bonus."""


WayOut = FormPost | Redirect | Code | GiveBack | Nothing | Late


@dataclass(frozen=True, kw_only=True)
class Hint:
    """Something has happened to an offer or a submission, says an event that a recruiter posts to us."""

    #: The signature of its delivery: the one of its names that nobody else can make up.
    delivery: str
    #: the recruiter's name of it
    about: str


@dataclass(frozen=True, kw_only=True)
class Words:
    """What the console says of launches through a recruiter, and of its accounts."""

    #: what the price of a launch is
    price: str = "if every place is taken and paid"
    #: the button, and what it has done
    launch: str = "Launch for %(total)s"
    launched: str = "Launched on %(name)s."
    #: what an approval means; empty: nobody is paid through it
    approval: str = (
        "An approval is a debt. You pay it out in your own way, and write that down at the recruiter's desk."
    )
    #: why it needs no account; empty: it needs one
    no_account: str = ""


#: Of those that pay people themselves.
PAYS_OUT = Words(approval="An approval pays the person: the recruiter hands the money out and charges the account.")


#: What a launch can ask and not every kind has, as refusals name it, with the option of the command.
OPTIONS = {
    "hits": "the number of places in a HIT (--per-hit)",
    "keywords": "keywords",
    "approval_percent": "a least share of approved work (--approval)",
    "hits_approved": "a least number of approved HITs (--approved-hits)",
    "countries": "countries of people (--countries)",
    "adult": "people who say to be of age (--adult)",
    "masters": "Masters only (--masters)",
    "age_from": "a least age",
    "age_to": "a greatest age",
    "languages": "languages of people",
    "good_vision": "the sight of people",
    "balanced_sex": "as many women as men",
    "took_part_in": "only who began certain studies",
    "not_in": "only who began none of certain studies",
    "only_people": "a list of people who alone may take part",
    "not_people": "a list of people who may not take part",
    "link_preset": "a site whose people come by a link",
    "compared_with": "curves of another study that people see next to their own (--compared-with)",
}
