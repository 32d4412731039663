"""A study that judges pictures: `[design.validation]` of a study file, and its own words: `[wanted]`."""

from __future__ import annotations

from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from analysis.study.base import InForm, Sparse, Spec, refusal

#: Every answer; the first word answers "does the picture show one?", the second "could it be used as one?". Both are
#: asked on one screen (ImageNet-D, supplement).
JUDGEMENTS = ("yes-yes", "yes-no", "no-yes", "no-no")
#: What a plain example, and a picture that plainly lacks the wanted category, are answered with.
IS_ONE, IS_NONE = "yes-yes", "no-no"


def judgement(shows: bool, usable: bool) -> str:
    """The answer that joins the two."""
    return f"{'yes' if shows else 'no'}-{'yes' if usable else 'no'}"


class Wording(Sparse):
    """A study's own words for a category that pictures are compared with."""

    definition: Annotated[str, Field(max_length=400, description="what the category is")] = ""
    link: Annotated[str, Field(max_length=400, description="a page to read more; empty: none is shown")] = ""

    @field_validator("link")
    @classmethod
    def _is_a_page(cls, link: str) -> str:
        try:
            parts = urlsplit(link)
        except ValueError:
            parts = urlsplit("")
        if link and not (parts.scheme in ("https", "http") and parts.netloc):
            raise refusal("{place} must be an address that begins with https:// or http://.")
        return link


Shown = Literal["all", "clean", "corrupted"]
#: Most screens of a validation session, practice aside (ImageNet-D, supplement: up to 20 pictures).
MOST_SCREENS = 20


class ValidationDesign(Spec):
    """A study that asks of every picture whether it shows its category, and could be used as one.

    The defaults are those of ImageNet-D (supplement): 16 + 1 + 1 + 2 screens, two of practice, 10 workers a picture.
    """

    new_pictures: Annotated[
        int,
        Field(ge=4, le=MOST_SCREENS, description="new pictures a session"),
        InForm("New pictures", part="validation"),
    ] = 16
    second_showings: Annotated[
        int,
        Field(
            ge=0,
            le=MOST_SCREENS,
            description="how many of them come a second time, well apart; lightly changed ones where there are enough",
        ),
        InForm("Of these shown twice", part="validation"),
    ] = 2
    positive: Annotated[
        int,
        Field(ge=0, le=MOST_SCREENS, description="clean, easy pictures asked about with their own category"),
        InForm("Positive", part="validation"),
    ] = 1
    negative: Annotated[
        int,
        Field(
            ge=0,
            le=MOST_SCREENS,
            description="clean, easy pictures asked about with a category of the other group (animals, artefacts)",
        ),
        InForm("Negative", part="validation"),
    ] = 1
    practice: Annotated[
        int,
        Field(ge=0, le=MOST_SCREENS, description="screens that show the right answers"),
        InForm("Practice", name="validation_practice", part="validation"),
    ] = 2
    answers_per_picture: Annotated[
        int,
        Field(ge=1, le=1000, description="people who judge one picture"),
        InForm("People who judge a picture", part="validation"),
    ] = 10
    shown: Annotated[
        Shown,
        Field(description="which stimuli are judged: `clean`, `corrupted` or `all`"),
        InForm(
            "Which pictures",
            part="validation",
            choices={"": "all", "clean": "clean ones", "corrupted": "corrupted ones"},
        ),
    ] = "all"

    @classmethod
    def called(cls) -> str:
        return "validation"

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if self.second_showings > self.new_pictures // 2:
            raise refusal(
                f"{{place}} must be a whole number from 0 to {self.new_pictures // 2} (half of the new pictures), not "
                f"{self.second_showings}.",
                "second_showings",
            )
        if self.screens > MOST_SCREENS:
            raise refusal(
                f"A validation session has at most {MOST_SCREENS} screens beside practice, not {self.screens} "
                "(new_pictures + second_showings + positive + negative).",
                "new_pictures",
            )
        return self

    @property
    def screens(self) -> int:
        """Screens of a session, practice aside."""
        return self.new_pictures + self.second_showings + self.positive + self.negative
