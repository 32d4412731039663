"""How people come by a link and go back to where they came from: `[recruitment.link]` of a study file."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from analysis.study.base import Sparse, refusal

#: What people get from the site that sends them, or from their teacher: the study itself pays nobody through a link.
LinkPay = Literal["money", "credit", "none"]
#: What an address back may ask for: the code of the outcome, or an id that came with the person.
RETURN_PLACES = ("code", "person", "submission")
#: Names that the study's own pages use in addresses.
_OURS = frozenset({"language", "download", "code"})
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,39}")
_PLACE = re.compile(r"\{([a-z]*)\}")
SITE_CODE_LENGTH = 40


def host_of_return(address: str) -> str:
    """The host that an address back leads to.

    Raises
    ------
    ValueError
        With a sentence on what is wrong with the address.
    """
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if host is None or parts.scheme != "https" or not re.fullmatch(r"[a-z0-9.-]+\.[a-z]{2,}", host):
        raise refusal("The return address must be a full address that begins with https:// and names a host.")
    if parts.username or parts.password or "\\" in address or not address.isprintable() or " " in address:
        raise refusal("The return address must not contain a name, a password, spaces or backslashes.")
    for place in _PLACE.findall(address):
        if place not in RETURN_PLACES:
            known = ", ".join(f"{{{name}}}" for name in RETURN_PLACES)
            raise refusal(f"The return address has no place {{{place}}}; it can have: {known}.")
    if "{" in _PLACE.sub("", address) or "}" in _PLACE.sub("", address):
        raise refusal("A brace in the return address has no partner.")
    if "{" in parts.netloc:
        raise refusal("The host of the return address must be written out: a code or an id can only follow it.")
    return host


class Link(Sparse):
    """Where the people of a link come from, under which names their ids arrive, and how they go back."""

    preset: Annotated[
        str,
        Field(
            pattern=r"^[a-z]{0,20}$",
            description="which site sends the people: `prolific`, `connect`, `sona` or `plain` (your own names); "
            "left out: no site, and people get no way back",
        ),
    ] = ""
    person: Annotated[
        str,
        Field(max_length=40, description="name of the person's id in the address; the preset's if left out"),
    ] = ""
    submission: Annotated[
        str,
        Field(max_length=40, description="name of the id of this one participation; the preset's if left out"),
    ] = ""
    return_address: Annotated[
        str,
        Field(
            max_length=500,
            description="where people go back to, with `https://`; `{code}`, `{person}`, `{submission}` are filled in; "
            "the preset's if left out",
        ),
    ] = ""
    site_code: Annotated[
        str,
        Field(
            max_length=SITE_CODE_LENGTH,
            description="the completion code that the site itself shows for the project, where it does (`connect`): "
            "people who finish enter it there; needed unless a return address is given",
        ),
    ] = ""
    pay: Annotated[
        Literal["", LinkPay],
        Field(description="what people get there: `money`, `credit` of a course, or `none`; the preset's if left out"),
    ] = ""
    reward: Annotated[
        int | None,
        Field(ge=1, le=10_000_000, description="what one person is paid there, in the smallest unit of the currency"),
    ] = None
    alternative: Annotated[
        str,
        Field(
            max_length=500,
            description="for credit: what people can do instead for the same credit, without giving data; part of the "
            "consent",
        ),
    ] = ""
    currency: Annotated[
        str, Field(pattern="^([A-Z]{3})?$", description="its currency, like `GBP`; the preset's if left out")
    ] = ""

    @classmethod
    def called(cls) -> str:
        return "[recruitment.link]"

    @field_validator("person", "submission")
    @classmethod
    def _is_a_name(cls, name: str) -> str:
        if name and (not _NAME.fullmatch(name) or name in _OURS):
            raise refusal(
                "{place} must be a name of letters, digits, dots, hyphens and underlines that begins with a letter; "
                f"{', '.join(sorted(_OURS))} are taken."
            )
        return name

    @field_validator("return_address")
    @classmethod
    def _leads_somewhere(cls, address: str) -> str:
        if address:
            host_of_return(address)
        return address

    @field_validator("site_code")
    @classmethod
    def _can_be_typed(cls, code: str) -> str:
        if not code.isprintable() or " " in code:
            raise refusal("The site's completion code is printed letters, digits and signs without a blank.")
        return code

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.person and self.person == self.submission:
            raise refusal("Two ids cannot arrive under one name.", "submission")
        if self.reward is not None and self.pay in ("credit", "none"):
            raise refusal("A reward is money: choose money, or leave the reward out.", "reward")
        if self.reward is None and self.currency:
            raise refusal("A currency is that of a reward: name the reward, or leave the currency out.", "currency")
        return self
