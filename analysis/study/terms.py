"""What a launch starts from: `[recruitment]` of a study file. Refused with the study, not at the launch."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from analysis.study.base import Earlier, InForm, Must, Names, Number, Sparse, Spec, refusal
from analysis.study.link import Link

#: The API guide's limit on places in one requirement.
MOST_COUNTRIES = 30
#: Of people or studies in one list.
MOST_IDS = 10_000
#: Requirements that name people.
PEOPLE_LISTS = ("only_people", "not_people")


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

    age_from: Annotated[int | None, Field(ge=18, le=100, description="least age in years")] = None
    age_to: Annotated[int | None, Field(ge=18, le=100, description="greatest age in years")] = None
    languages: Annotated[Names, Field(description="English names of languages; fluent in one of them")] = ()
    good_vision: Annotated[bool, Field(description="normal or corrected-to-normal vision, by their own word")] = False
    balanced_sex: Annotated[bool, Field(description="as many women as men")] = False
    took_part_in: Annotated[Names, Field(description="the recruiter's ids of studies; began one of them")] = ()
    not_in: Annotated[Names, Field(description="the recruiter's ids of studies; began none of them")] = ()
    only_people: Annotated[Names, Field(description="the recruiter's ids of people; nobody else")] = ()
    not_people: Annotated[Names, Field(description="the recruiter's ids of people; none of them")] = ()

    @classmethod
    def called(cls) -> str:
        return "The list of requirements"

    @model_validator(mode="after")
    def _ages_in_order(self) -> Self:
        if self.age_from is not None and self.age_to is not None and self.age_from > self.age_to:
            raise refusal("{place} is below the least age: nobody has such an age.", "age_to")
        return self

    @field_validator("took_part_in", "not_in", "only_people", "not_people")
    @classmethod
    def _ids(cls, ids: tuple[str, ...]) -> tuple[str, ...]:
        if len(ids) > MOST_IDS or not all(re.fullmatch("[A-Za-z0-9]{1,64}", one) for one in ids):
            raise refusal(f"{{place}} is a list of at most {MOST_IDS:,} ids, which are letters and digits.")
        return tuple(dict.fromkeys(ids))

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


#: What a suggested reward pays for an hour, where the plan does not say it.
SUGGESTED_HOURLY_CENTS = 1_500
#: What people are paid who stop before the end: nothing, the share of their minutes, or everything.
PayOnLeaving = Literal["none", "share", "full"]
#: When people are paid: a person does it, a job after the verdict, or a job every hour.
SettlePolicy = Literal["hand", "verdict", "hourly"]
#: What happens by itself when many people give their places back.
OnReturns = Literal["warn", "pause"]


class Terms(Sparse):
    """Terms of a launch, as far as they differ from what follows from the study."""

    title: Annotated[str, Field(max_length=128, description="title of the advertisement")] = ""
    description: Annotated[str, Field(max_length=2000, description="what people read before they accept")] = ""
    keywords: Annotated[str, Field(max_length=1000, description="words to be found by")] = ""
    contact: Annotated[
        str,
        Field(max_length=200, description="an address that participants can write to"),
        InForm(
            "Contact",
            help="An address that participants can write to. People cannot be invited without one. Empty: the "
            "installation's, if it has one.",
        ),
    ] = ""
    estimated_minutes: Annotated[int | None, Field(ge=1, le=600, description="time that people are told")] = None
    reward_cents: Annotated[int | None, Field(ge=0, le=1_000_000, description="pay for a session")] = None
    pay_on_leaving: Annotated[
        PayOnLeaving,
        Field(
            description="pay of people who stop before the end, the same whether they keep or delete their answers: "
            "none, the share of the stated minutes that they stayed, or full; for recruiters through which money goes, "
            "as a bonus that a person releases in Monitor"
        ),
        InForm(
            "Pay of people who stop early",
            help="The same whether they keep or delete their answers. You release each payment in Monitor.",
            choices={
                "": "none (default)",
                "share": "the share of the stated minutes that they stayed",
                "full": "the full pay",
            },
            part="texts",
        ),
    ] = "none"
    settle: Annotated[
        SettlePolicy,
        Field(
            description="when people who have submitted are paid: `hand` (a person does it in Monitor), `verdict` (a "
            "job, once their session has a verdict, whichever it is), or `hourly` (a job, so many hours after they "
            "submitted, and up to a cap); whoever has to be looked at waits for a person"
        ),
        InForm(
            "When people are paid",
            help="People are paid whatever the verdict. Submissions that fit no session wait for you.",
            choices={
                "": "you release it (default)",
                "verdict": "after the verdict, whichever it is",
                "hourly": "every hour, after a delay",
            },
            part="texts",
        ),
    ] = "hand"
    settle_after_hours: Annotated[
        int,
        Field(ge=0, le=168, description="of `hourly`: hours from the submission, in which you can look at it"),
        InForm("Hours before they are paid", help="Only if people are paid every hour.", part="texts"),
    ] = 0
    settle_cap_cents: Annotated[
        int | None,
        Field(
            ge=1,
            le=2_000_000_000,
            description="of `hourly`: what is paid in 24 hours at most without a person, with fees, in the smallest "
            "unit of each account's currency; left out = no such cap",
        ),
        InForm(
            "Most that is paid in a day without you",
            help="In cents, with fees. Only if people are paid every hour. Empty: no such limit.",
            part="texts",
        ),
    ] = None
    least_hourly_cents: Annotated[
        int | None,
        Field(
            ge=1,
            le=100_000,
            description="least pay of an hour at the median of a campaign, in the smallest unit of each account's "
            "currency; the installation's or the recruiter's minimum counts where it is higher, or where this is left "
            "out ([money.md](money.md))",
        ),
        InForm(
            "Least pay of an hour",
            help="In cents, at the median. Empty: the minimum of the installation or of the recruiter.",
            part="texts",
        ),
    ] = None
    wage_people: Annotated[
        int,
        Field(
            ge=0,
            le=10_000,
            description="from so many people of a campaign whose time is known, its median hourly pay is watched: "
            "below the minimum the campaign is paused, and one equal top-up for everyone is offered; 0 = not watched",
        ),
        Earlier(4, 0),
        InForm(
            "People from which the hourly pay is watched",
            help="A campaign whose median hourly pay is below the minimum is paused. 0: not watched.",
            part="texts",
        ),
    ] = 10
    return_alarm: Annotated[
        float,
        Field(
            gt=0,
            le=1,
            description="share of the people who started that may give their places back: an alarm is raised once the "
            "exact lower bound of the share is above this; 1 = no alarm",
        ),
        Number,
        Earlier(4, 1),
        InForm(
            "Alarm at this share of returned places",
            help="Raised once more people give their places back than chance explains. 1: no alarm.",
            part="texts",
        ),
    ] = 0.3
    on_return_alarm: Annotated[
        OnReturns,
        Field(description="what the alarm does: `warn` in Monitor, or `pause` the campaign as well"),
        InForm(
            "When too many places are returned",
            choices={"": "a warning in Monitor (default)", "pause": "a warning, and the campaign is paused"},
            part="texts",
        ),
    ] = "warn"
    hourly_cents: Annotated[
        int | None,
        Field(
            ge=1,
            le=100_000,
            description="pay of an hour from which rewards are suggested, in the smallest unit of each account's "
            "currency; left out = what `reward_cents` and `estimated_minutes` state, or else 15.00 "
            "([money.md](money.md))",
        ),
        InForm(
            "Planned pay of an hour",
            help="In cents. The reward is suggested from it and from the time that the pilot took. Empty: 1500.",
            part="texts",
        ),
    ] = None
    pilot_places: Annotated[
        int | None,
        Field(
            ge=5,
            le=10,
            description="the study begins with a pilot of at most so many people, who count like everyone else: until "
            "the times of five are known, no campaign can have more places; left out = no pilot of its own "
            "([money.md](money.md))",
        ),
        InForm(
            "People of a pilot",
            help="5 to 10. They come first, count like all others, and their times suggest the reward. Empty: none.",
            part="texts",
        ),
    ] = None
    batch_places: Annotated[
        int | None,
        Field(
            ge=1,
            le=100_000,
            description="a campaign's places are opened in batches of so many, the first at the launch; left out = all "
            "at once ([money.md](money.md))",
        ),
        InForm(
            "Places opened at a time",
            help="People of one hour are not people of all hours. Empty: all places are opened at the launch.",
            part="texts",
        ),
    ] = None
    batch_every_hours: Annotated[
        int,
        Field(ge=1, le=168, description="of batches: hours from one to the next"),
        InForm("Hours from one batch to the next", help="Only if places are opened in batches.", part="texts"),
    ] = 24
    batch_from_hour: Annotated[
        int,
        Field(ge=0, le=23, description="of batches: hour of the day (UTC) before which none is opened"),
        InForm("Batches from this hour of the day", help="In UTC, 0 to 23.", part="texts"),
    ] = 0
    batch_until_hour: Annotated[
        int,
        Field(
            ge=1,
            le=24,
            description="of batches: hour of the day (UTC) from which none is opened; where it is before "
            "`batch_from_hour`, the time runs over midnight",
        ),
        InForm("Batches until this hour of the day", help="In UTC, 1 to 24.", part="texts"),
    ] = 24
    assignments: Annotated[int | None, Field(ge=1, le=100_000, description="places")] = None
    places: Annotated[
        dict[str, Annotated[int, Field(ge=1, le=100_000)]],
        Field(
            description="several recruiters at once: the places that are planned with each, by its kind as "
            "`publish --to` has it, or by the preset of a link. A launch through another one is refused "
            "([several-recruiters.md](several-recruiters.md))"
        ),
        Must("a table: recruiter = places, a whole number of at least 1"),
    ] = {}
    link: Annotated[Link, Field(description="of a link: which site sends the people, and how they go back")] = Link()

    @classmethod
    def called(cls) -> str:
        return "[recruitment]"

    @model_validator(mode="after")
    def _hours_and_cap_of_the_hourly_job(self) -> Self:
        if self.settle != "hourly":
            for name in ("settle_after_hours", "settle_cap_cents"):
                if getattr(self, name):
                    raise refusal('Only settle = "hourly" has a delay and a cap: leave {place} out.', name)
        return self

    @model_validator(mode="after")
    def _hours_of_batches(self) -> Self:
        if self.batch_places is None:
            for name, usual in (("batch_every_hours", 24), ("batch_from_hour", 0), ("batch_until_hour", 24)):
                if getattr(self, name) != usual:
                    raise refusal(
                        "Only places in batches have these hours: set batch_places, or leave {place} out.", name
                    )
        if self.batch_from_hour == self.batch_until_hour:
            raise refusal(
                "{place} is the hour at which the time for batches begins: leave some time.", "batch_until_hour"
            )
        return self

    @property
    def planned_hourly_cents(self) -> int:
        """Pay of an hour as stated, or as reward and minutes give it; in the smallest unit of a currency."""
        if self.hourly_cents:
            return self.hourly_cents
        if self.reward_cents and self.estimated_minutes:
            return round(self.reward_cents * 60 / self.estimated_minutes)
        return SUGGESTED_HOURLY_CENTS
