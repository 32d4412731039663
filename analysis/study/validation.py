"""A study that judges pictures: `[design.validation]` of a study file, its own words: `[judging]` and `[wanted]`."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    Strict,
    field_validator,
    model_serializer,
    model_validator,
)

from analysis.study.base import InForm, Must, Sparse, Spec, refusal

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


#: In a question of a study's own, the word of the label that the picture is compared with.
PLACEHOLDER = "{label}"
#: Instructions that people can be expected to keep in mind, and characters of each text.
MOST_INSTRUCTIONS, LONGEST = 12, 400
_IN_BRACES = re.compile(r"\{[^{}]*\}")
_Text = Annotated[str, Field(max_length=LONGEST)]


class Judging(Sparse):
    """A study's own words for its two questions, and what it asks people to keep to."""

    shows: Annotated[
        _Text,
        Field(
            description="the first question, in which `{label}` is the word of the wanted label; the page's if empty"
        ),
        InForm(
            "First question",
            help="{label} is the word of the wanted label. Empty: does the picture show one?",
            part="judging",
            rows=2,
        ),
    ] = ""
    usable: Annotated[
        _Text,
        Field(description="the second question, likewise"),
        InForm(
            "Second question",
            help="{label} is the word of the wanted label. Empty: could what it shows be used as one?",
            part="judging",
            rows=2,
        ),
    ] = ""
    instructions: Annotated[
        tuple[_Text, ...],
        Strict(False),
        Field(
            max_length=MOST_INSTRUCTIONS,
            description=f"numbered sentences that people read first and can open at every picture, at most "
            f"{MOST_INSTRUCTIONS}; none if left out",
        ),
        Must(f"a list of at most {MOST_INSTRUCTIONS} texts of 1 to {LONGEST} characters"),
        InForm(
            "Numbered instructions",
            help="One a line. People read them first and can open them at every picture.",
            part="judging",
            rows=5,
        ),
    ] = ()
    instructions_shown: Annotated[
        bool,
        Field(
            description="show the instructions above every picture instead of folding them away, and leave out the "
            "explanations that the page gives otherwise"
        ),
        InForm("Show them above every picture, in place of the usual explanations", part="judging"),
    ] = False

    @model_validator(mode="after")
    def _are_there_to_be_shown(self) -> Self:
        if self.instructions_shown and not self.instructions:
            raise refusal("{place} needs `instructions`: write them, or leave it out.", "instructions_shown")
        return self

    @field_validator("shows", "usable")
    @classmethod
    def _can_be_asked(cls, question: str) -> str:
        if question and not question.strip():
            raise refusal("{place} is blank: write a question, or leave it out for the page's own.")
        for found in _IN_BRACES.findall(question):
            if found != PLACEHOLDER:
                raise refusal(f"{{place}} has {found}, and the only placeholder is {PLACEHOLDER}.")
        return question

    @field_validator("instructions")
    @classmethod
    def _are_the_same_for_all(cls, sentences: tuple[str, ...]) -> tuple[str, ...]:
        for number, sentence in enumerate(sentences, start=1):
            if not sentence.strip():
                raise refusal("{place} is blank: write a sentence, or take the line out.", str(number))
            if PLACEHOLDER in sentence:
                raise refusal(
                    f"{{place}} has {PLACEHOLDER}, but instructions are the same for all pictures: put it into a "
                    "question.",
                    str(number),
                )
        return sentences


Shown = Literal["all", "clean", "corrupted"]
Absent = Literal["other-groups", "other-labels"]
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
            description="clean, easy pictures asked about with a label that they lack, see `absent`",
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
    absent: Annotated[
        Absent,
        Field(
            description="which labels a clean, easy picture surely lacks: those of the other groups of its labels "
            "(`other-groups`; of the 16: animals, artefacts), or, as you state, every other label (`other-labels`)"
        ),
        InForm(
            "What negative pictures lack",
            part="validation",
            choices={"": "labels of the other groups", "other-labels": "every other label, as I state"},
        ),
    ] = "other-groups"

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

    @model_serializer(mode="wrap")
    def _stored(self, handler: SerializerFunctionWrapHandler) -> dict[str, object]:
        """Designs that state nothing of absence are stored as they were before they could."""
        values: dict[str, object] = handler(self)
        if self.absent == "other-groups":
            del values["absent"]
        return values

    @property
    def asks_for_absent(self) -> bool:
        """Whether any screen asks for a label that its picture lacks: negative ones, and every second of practice."""
        return self.negative > 0 or self.practice > 1

    @property
    def screens(self) -> int:
        """Screens of a session, practice aside."""
        return self.new_pictures + self.second_showings + self.positive + self.negative
