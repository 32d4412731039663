"""What people must know before they agree: `[ethics]` of a study file, block by block, and in other languages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Annotated, Self

from pydantic import Field, field_validator, model_validator

from analysis.study.base import Earlier, InForm, Must, Sparse, refusal

#: Studies of this version of the specification and later ones show the blocks, and need some of them.
SINCE = 4
#: Age from which people agree for themselves, where the study says nothing else.
ADULT = 18


class EthicsTexts(Sparse):
    """The blocks that a study states in its own words. An empty one is left out, or follows from the study."""

    purpose: Annotated[
        str,
        Field(max_length=2000, description="what the study is for, in a few plain sentences"),
        InForm("Purpose", help="What the study is for, in plain words.", part="ethics", rows=3),
    ] = ""
    procedure: Annotated[
        str,
        Field(
            max_length=2000,
            description="what happens, in addition to what follows from the study: its tasks and its length",
        ),
    ] = ""
    payment: Annotated[
        str,
        Field(max_length=2000, description="pay or credit from elsewhere, and what stopping means for it"),
    ] = ""
    risks: Annotated[
        str, Field(max_length=2000, description="risks in addition to bright and flickering pictures, which are named")
    ] = ""
    data: Annotated[
        str, Field(max_length=2000, description="what is stored in addition to answers, times and technical details")
    ] = ""
    storage: Annotated[
        str,
        Field(max_length=400, description="where the data are stored"),
        InForm("Where the data are stored", part="ethics"),
    ] = ""
    retention: Annotated[
        str,
        Field(max_length=400, description="how long the data are kept"),
        InForm("How long they are kept", part="ethics"),
    ] = ""
    recipients: Annotated[
        str,
        Field(max_length=2000, description="who else receives data; that the recruiter pays and counts people is said"),
        InForm("Who else receives data", part="ethics"),
    ] = ""
    transfers: Annotated[
        str, Field(max_length=2000, description="transfers to other countries, and what protects the data there")
    ] = ""
    legal_basis: Annotated[
        str,
        Field(max_length=400, description="legal basis, for example consent under Article 6(1)(a) GDPR"),
        InForm("Legal basis", part="ethics"),
    ] = ""
    deletion: Annotated[
        str,
        Field(
            max_length=2000,
            description="until when and how people can have their answers deleted; until they are published, by "
            "writing to the contact, if left out",
        ),
        InForm(
            "Until when, and how, answers can be deleted",
            help="Empty: until they are published, by writing to the contact.",
            part="ethics",
        ),
    ] = ""
    rights: Annotated[
        str, Field(max_length=2000, description="rights of participants, such as access, correction and deletion")
    ] = ""
    complaint_authority: Annotated[
        str,
        Field(max_length=400, description="authority to which people can complain, with its address"),
        InForm("Authority for complaints", part="ethics"),
    ] = ""
    controller: Annotated[
        str,
        Field(max_length=400, description="institution that is responsible for the data, with its address"),
        InForm("Responsible institution", help="With its address.", part="ethics"),
    ] = ""
    responsible: Annotated[
        str,
        Field(max_length=400, description="person who is responsible for the study"),
        InForm("Responsible person", part="ethics"),
    ] = ""
    data_protection_officer: Annotated[
        str,
        Field(max_length=400, description="data protection officer of the institution, with an address"),
        InForm("Data protection officer", part="ethics"),
    ] = ""
    approval: Annotated[
        str,
        Field(
            max_length=400,
            description="who approved the study and under which number, or who decided that it is exempt",
        ),
        InForm(
            "Ethics approval",
            help="Who approved it, and the number; or who says that it is exempt.",
            part="ethics",
        ),
    ] = ""


class Ethics(EthicsTexts):
    """The blocks of consent, the term of the approval, and who may agree."""

    approved_until: Annotated[
        str,
        Field(
            description="last day of the approval, like 2027-03-31 (UTC); nobody can start after it. Left out: it does "
            "not end"
        ),
        InForm("Approved until", help="Last day, like 2027-03-31. Empty: it does not end.", part="ethics"),
        Must("a day like 2027-03-31"),
    ] = ""
    approved_consent: Annotated[
        str,
        Field(
            max_length=40,
            description="version of the consent text that was approved: `consent_version` for a text of the study's "
            "own, else the version that the consent page names, such as `house-5`. With another text, launches and "
            "extensions are refused. Left out: not compared",
        ),
        InForm(
            "Approved consent text",
            help="Its version, as the consent page names it. Empty: not compared.",
            part="ethics",
        ),
    ] = ""
    minimum_age: Annotated[
        int,
        Field(ge=1, le=99, description="age from which people agree for themselves"),
        InForm("Minimum age", help="People who say that they are younger are refused.", part="ethics"),
    ] = ADULT
    guardian_consent: Annotated[
        bool,
        Field(description="younger people may take part if a parent or guardian agrees and they do, too"),
        InForm("Younger people take part with a parent or guardian who agrees", part="ethics"),
    ] = False
    deletion_code: Annotated[
        bool,
        Field(
            description="people who came by a plain link without an id get a code, at the end and on leaving, to have "
            "their answers deleted with later"
        ),
        InForm(
            "Deletion code for people without an id",
            choices={"": "give one (default)", "no": "give none"},
            part="ethics",
        ),
        Earlier(SINCE, False),
    ] = True
    deletable_until: Annotated[
        str,
        Field(description="last day on which a deletion code works, like 2027-03-31 (UTC). Left out: it does not end"),
        InForm("Last day of the deletion code", help="Like 2027-03-31. Empty: it does not end.", part="ethics"),
        Must("a day like 2027-03-31"),
    ] = ""
    ids_kept_days: Annotated[
        int,
        Field(
            ge=0,
            le=3650,
            description="days after a person's last session until the id under which a recruiter knows them is erased, "
            "once nothing is owed to them and no study of the family recruits; the answers stay, under a code. 0: ids "
            "are kept until somebody erases them",
        ),
        InForm(
            "Days until ids are erased",
            help="After a person’s last session, once everyone is paid. 0: they are kept. Answers stay, under a code.",
            part="ethics",
        ),
    ] = 0
    translations: Annotated[
        dict[str, EthicsTexts],
        Field(description="the same texts in another language of the pages, by its code, such as `de`"),
    ] = {}

    @classmethod
    def called(cls) -> str:
        return "[ethics]"

    @field_validator("approved_until", "deletable_until")
    @classmethod
    def _is_a_day(cls, day: str) -> str:
        try:
            if day and date.fromisoformat(day).isoformat() != day:
                raise ValueError
        except ValueError:
            raise refusal(f"{{place}} must be a day like 2027-03-31, not {day!r}.") from None
        return day

    @model_validator(mode="after")
    def _twins_say_the_same(self) -> Self:
        """Nobody agrees to less than others because they read another language."""
        said = set(_stated(self))
        for language, twin in self.translations.items():
            for name in sorted(said.symmetric_difference(_stated(twin))):
                where = "has no" if name in said else "alone has"
                raise refusal(f"[ethics.translations.{language}] {where} {name!r}.", "translations", language, name)
        return self

    @property
    def last_day(self) -> date | None:
        """Of the approval; None where it does not end."""
        return date.fromisoformat(self.approved_until) if self.approved_until else None

    @property
    def last_day_of_deletion(self) -> date | None:
        """On which a deletion code works; None where it does not end."""
        return date.fromisoformat(self.deletable_until) if self.deletable_until else None

    def texts_in(self, language: str) -> EthicsTexts:
        """In this language, or as the study states them."""
        return self.translations.get(language, self)


def _stated(texts: EthicsTexts) -> Iterator[str]:
    return (name for name in EthicsTexts.model_fields if getattr(texts, name).strip())


#: Blocks without which no stranger can agree, by population.
REQUIRED: Mapping[str, tuple[str, ...]] = {
    "people": ("purpose", "storage", "retention", "controller", "responsible", "approval"),
    "scripted": (),
}


def missing_blocks(ethics: Ethics, population: str) -> list[str]:
    """Names of the required blocks that the study does not state."""
    stated = set(_stated(ethics))
    return [name for name in REQUIRED[population] if name not in stated]
