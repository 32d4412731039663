"""What a launch starts from: `[recruitment]` of a study file. Refused with the study, not at the launch."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Annotated, Literal, Self

from pydantic import Field, Strict, ValidationInfo, field_validator, model_validator

from analysis.spec.base import Context, InForm, Must, Names, Sparse, Spec, refusal
from analysis.spec.link import Link
from analysis.spec.words import _


class QuizQuestion(Spec):
    """A question with several options, one of them right."""

    text: Annotated[str, Field(min_length=1, description="what is asked")]
    options: Annotated[Names, Field(min_length=2, max_length=20, description="two to twenty different answers")]
    right: Annotated[int, Field(ge=0, le=19, description="place of the right option, from 0")]

    @classmethod
    def called(cls) -> str:
        return "A question of the quiz"

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if not self.text.strip() or not all(map(str.strip, self.options)):
            raise refusal("A question of the quiz needs a text and two to twenty options.")
        if len(set(self.options)) != len(self.options) or self.right >= len(self.options):
            raise refusal(f"The quiz: {self.text!r} needs different options, and one of them is the right one.")
        return self


class Quiz(Spec):
    """Multiple choice, graded by the recruiter; the score is the percentage of right answers."""

    questions: Annotated[
        tuple[QuizQuestion, ...],
        Strict(False),
        Field(
            min_length=1, description="each with `text`, `options` and `right`, the place of the right option from 0"
        ),
    ]
    pass_percent: Annotated[int, Field(ge=1, le=100, description="share of right answers that passes")] = 100
    minutes: Annotated[int, Field(ge=1, le=60, description="time for it")] = 10
    retry_after_s: Annotated[
        int | None, Field(ge=0, description="seconds after which it may be tried again; left out: never")
    ] = None

    @classmethod
    def called(cls) -> str:
        return "The quiz"

    @property
    def digest(self) -> str:
        """Another quiz is another qualification."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()[:16]


#: The API guide's limit on places in one requirement.
MOST_COUNTRIES = 30


class WorkerRequirements(Spec):
    """Whom a campaign is open to: what recruiters know about people by themselves. Nothing is asked of empty fields."""

    approval_percent: Annotated[int | None, Field(ge=0, le=100, description="least share of judged work approved")] = (
        None
    )
    hits_approved: Annotated[int | None, Field(ge=0, le=1_000_000, description="least assignments approved")] = None
    countries: Annotated[Names, Field(description="ISO 3166 codes; one of them")] = ()
    adult: Annotated[bool, Field(description="of age")] = False
    masters: Annotated[
        bool,
        Field(description="whom the recruiter calls Masters: five percent more"),
    ] = False

    @classmethod
    def called(cls) -> str:
        return "The list of requirements"

    @field_validator("countries")
    @classmethod
    def _codes(cls, countries: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(countries)) != len(countries) or len(countries) > MOST_COUNTRIES:
            raise refusal(f"Name each country once, and at most {MOST_COUNTRIES} of them.")
        for country in countries:
            if not re.fullmatch("[A-Z]{2}", country):
                raise refusal(f"{country!r} is no code of a country: write two capitals, like US or DE.")
        return countries


NO_REQUIREMENTS = WorkerRequirements()
#: Asking for thousands of approved HITs shuts good newcomers out (arXiv 2105.12762).
USUAL_APPROVAL_PERCENT, USUAL_HITS_APPROVED = 95, 100


#: What people are paid who stop before the end: nothing, the share of their minutes, or everything.
PayOnLeaving = Literal["none", "share", "full"]
#: As stated; `Quiz` is what it has to be.
Quizlike = dict[str, object] | None


class Terms(Sparse):
    """Terms of a launch, as far as they differ from what follows from the study."""

    title: Annotated[str, Field(max_length=128, description="title of the advertisement")] = ""
    description: Annotated[str, Field(max_length=2000, description="what people read before they accept")] = ""
    keywords: Annotated[str, Field(max_length=1000, description="words to be found by")] = ""
    contact: Annotated[
        str,
        Field(max_length=200, description="an address that participants can write to"),
        InForm(_("Contact"), help=_("An address that participants can write to.")),
    ] = ""
    estimated_minutes: Annotated[int | None, Field(ge=1, le=600, description="time that people are told")] = None
    reward_cents: Annotated[int | None, Field(ge=0, le=1_000_000, description="pay for a session")] = None
    pay_on_leaving: Annotated[
        PayOnLeaving,
        Field(
            description="pay of people who stop before the end, the same whether they keep or delete their answers: "
            "none, the share of the stated minutes that they stayed, or full; for recruiters through which money goes, "
            "as a bonus or a compensation that a person releases in Monitor"
        ),
        InForm(
            _("Pay of people who stop early"),
            help=_("The same whether they keep or delete their answers. You release each payment in Monitor."),
            choices={
                "": _("none (default)"),
                "share": _("the share of the stated minutes that they stayed"),
                "full": _("the full pay"),
            },
            part="texts",
        ),
    ] = "none"
    assignments: Annotated[int | None, Field(ge=1, le=100_000, description="places")] = None
    places: Annotated[
        dict[str, Annotated[int, Field(ge=1, le=100_000)]],
        Field(
            description="several recruiters at once: the places that are planned with each, by its kind as "
            "`publish --to` has it, or by the preset of a link: `places = { sona = 100, link = 50 }`. A launch through "
            "another one is refused ([several-recruiters.md](several-recruiters.md))"
        ),
        Must("a table: recruiter = places, a whole number of at least 1"),
    ] = {}
    quiz: Annotated[
        Quizlike,
        Field(description="a quiz that the recruiter grades ([recruitment.md](recruitment.md))"),
    ] = None
    link: Annotated[Link, Field(description="of a link: which site sends the people, and how they go back")] = Link()

    @classmethod
    def called(cls) -> str:
        return "[recruitment]"

    @field_validator("quiz")
    @classmethod
    def _can_be_graded(
        cls, values: dict[str, object] | None, info: ValidationInfo[Context]
    ) -> dict[str, object] | None:
        """Files of before were stored with any quiz, and refused at the launch: they can still be read."""
        if values is not None and not (info.context or {}).get("is_stored"):
            Quiz.model_validate(values)
        return values
