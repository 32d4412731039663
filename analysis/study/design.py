"""What a session contains and how many sessions there are: `[design]` of a study file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, Strict, model_serializer, model_validator

from analysis.labels.space import MOST_FOR_PEOPLE
from analysis.study.base import Earlier, InForm, Must, Number, Spec, refusal
from analysis.study.persons import PersonsDesign
from analysis.study.validation import ValidationDesign

CorruptionOrder = Literal["interleaved", "blocked"]
Foils = Literal["any", "competing", "group", "other-group"]
DiscriminationForm = Literal["same-different", "abx"]
Pair = Annotated[tuple[str, str], Strict(False)]


_Slow = Annotated[
    int, Field(ge=0, le=50, description="practice trials in slow motion, before those at speed; they decide nothing")
]
_Round = Annotated[int, Field(ge=1, le=50, description="practice trials of a round at speed")]
_Pass = Annotated[int, Field(ge=1, le=50, description="right answers in a round at speed that end the practice")]
_Rounds = Annotated[
    int,
    Field(
        ge=1,
        le=2,
        description="maximum number of rounds at speed; the second follows another explanation. A session that does "
        "not pass the last one ends there and is paid in full",
    ),
]
_CRITERION = ("practice_slow", "practice_round", "practice_pass", "practice_rounds")


class PracticeDesign(Spec):
    """Practice with a criterion: in slow motion first, then at speed until a round is passed.

    Tables that have such a practice state its settings themselves, so that these stand where they are looked for.
    """

    #: name of the setting that asks for a single round without a criterion instead
    SINGLE: ClassVar[str] = ""
    #: settings that came later: where nothing is asked for, a design is stored as before there were any
    LATER: ClassVar[tuple[str, ...]] = ()
    if TYPE_CHECKING:
        practice_slow: int
        practice_round: int
        practice_pass: int
        practice_rounds: int

    @model_validator(mode="after")
    def _can_be_passed(self) -> Self:
        if self.practice_pass > self.practice_round:
            raise refusal(
                f"{{place}} is {self.practice_pass}, more than a round has trials (practice_round = "
                f"{self.practice_round}): nobody could pass.",
                "practice_pass",
            )
        return self

    @model_serializer(mode="wrap")
    def _asked(self, handler: SerializerFunctionWrapHandler) -> dict[str, object]:
        """Without the settings of a criterion that is not asked for: what earlier versions stored stays as it is."""
        values: dict[str, object] = handler(self)
        for name in self.LATER:
            if values[name] == type(self).model_fields[name].default:
                del values[name]
        if values[self.SINGLE] is None:
            return values
        return {name: value for name, value in values.items() if name not in _CRITERION}

    @property
    def single_practice(self) -> int | None:
        """Trials of a single round without a criterion; None where there is one."""
        count: int | None = getattr(self, self.SINGLE)
        return count


class DiscriminationDesign(PracticeDesign):
    """The optional block in which corruptions are compared, at equal visual change."""

    SINGLE = "practice"

    form: Annotated[
        DiscriminationForm,
        Field(
            description="two pictures: same corruption or not? Or `abx`, three pictures: A and B of two corruptions, "
            "then X of one of them: A's or B's?"
        ),
        InForm(
            "Question",
            name="discrimination_form",
            part="pairs",
            choices={"": "same or different", "abx": "ABX: like A or like B"},
        ),
    ] = "same-different"
    trials: Annotated[
        int,
        Field(
            ge=2,
            le=1000,
            description="comparisons a session, matched in visual change; either answer is right in half of them",
        ),
        InForm("Comparisons", name="discrimination_trials", part="pairs"),
    ] = 20
    sentinels: Annotated[
        int,
        Field(
            ge=0,
            le=100,
            description="plain pairs, by the measured rule: two originals (ABX: three), of one function or of two that "
            "differ plainly and that nobody compares ([stimuli.md](stimuli.md), `--plain`); 16 in a session with "
            "nothing else",
        ),
        InForm("Plain ones, to check attention", name="discrimination_sentinels", part="pairs"),
    ] = 4
    practice: Annotated[
        int | None,
        Field(
            ge=0,
            le=100,
            description="plain ones with feedback in a single round without a criterion; with the criterion of "
            "`practice_round` if left out",
        ),
        Earlier(4, 4),
        InForm(
            "Practice",
            help="A number: one round, without a criterion.",
            name="discrimination_practice",
            part="pairs",
            placeholder="until 10 of 12 are right",
        ),
    ] = None
    practice_slow: _Slow = 4
    practice_round: _Round = 12
    practice_pass: _Pass = 10
    practice_rounds: _Rounds = 2
    pairs: Annotated[
        tuple[Pair, ...],
        Strict(False),
        Field(description='which corruptions are compared, as `[["gaussian_noise", "uniform_noise"]]`; all if empty'),
        Must('pairs of names, as [["a", "b"]]'),
    ] = ()

    @classmethod
    def called(cls) -> str:
        return "discrimination"

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if self.trials % 2:
            raise refusal(
                f"{{place}} must be even (either answer is right in half of them), not {self.trials}.", "trials"
            )
        for first, second in self.pairs:
            if first == second:
                raise refusal(f"{{place}} takes pairs of two different corruptions, not {[first, second]}.", "pairs")
        return self

    @property
    def task(self) -> str:
        """Name of the task as trials carry it."""
        return "abx" if self.form == "abx" else "discrimination"

    @property
    def pictures(self) -> int:
        """Pictures of one trial, each of an original of its own."""
        return 3 if self.form == "abx" else 2


class DesignConfig(PracticeDesign):
    """What a session contains and how many sessions there are. What makes no study is refused."""

    SINGLE = "practice_trials"
    LATER = ("persons", "alternatives", "foils", "none_of_these")

    sessions: Annotated[
        int,
        Field(ge=1, le=100_000, description="session plans"),
        InForm("Sessions", help="One person each."),
    ] = 40
    sessions_per_participant: Annotated[
        int, Field(ge=1, le=100, description="set by `max_sessions_per_worker`; pools are drawn that much larger")
    ] = 1
    main_trials: Annotated[
        int,
        Field(ge=0, le=5000, description="corrupted pictures a session; 0 for discrimination alone"),
        InForm("Corrupted pictures a session", part="naming"),
    ] = 40
    minimum_main_trials: Annotated[
        int, Field(ge=1, le=5000, description="below this the study is refused rather than cut")
    ] = 16
    practice_trials: Annotated[
        int | None,
        Field(
            ge=0,
            le=200,
            description="clean pictures with feedback, which never come up again, in a single round without a "
            "criterion; with the criterion of `practice_round` if left out. With a `geirhos2018-*` protocol 10, as "
            "published practice has no criterion",
        ),
        Earlier(4, 10),
        InForm(
            "Practice, with feedback",
            help="A number: one round, without a criterion.",
            part="naming",
            placeholder="until 4 of 6 are right",
        ),
    ] = None
    practice_slow: _Slow = 4
    practice_round: _Round = 6
    practice_pass: _Pass = 4
    practice_rounds: _Rounds = 2
    qualification_trials: Annotated[
        int,
        Field(ge=0, le=200, description="clean pictures without feedback; 16 = one a category"),
        InForm("Qualification", help="16 is one a category.", part="naming"),
    ] = 0
    qualification_tries: Annotated[
        int,
        Field(ge=1, le=5, description="set by the rule set: who misses the first round gets fresh pictures"),
    ] = 1
    gold_trials: Annotated[
        int | None,
        Field(
            ge=0,
            le=200,
            description="clean, easy pictures; 8, or 5 in sessions under 30 trials, or 16 with two `alternatives`, if "
            "left out",
        ),
        InForm("Gold", part="naming", placeholder="8, or 5 if short"),
    ] = None
    negative_trials: Annotated[
        int | None,
        Field(
            ge=0, le=200, description="clean animals and artefacts in turn; 6, or none in short sessions, if left out"
        ),
        InForm("Negative", part="naming", placeholder="6, or 0 if short"),
    ] = None
    consistency_pairs: Annotated[
        int, Field(ge=0, le=100, description="pictures shown twice"), InForm("Shown twice", part="naming")
    ] = 4
    clean_trials: Annotated[
        int | None,
        Field(
            ge=0,
            le=1000,
            description="main pictures without corruption. Left out: as many as give every main original one clean "
            "answer and the study `clean_answers`, at least as many as golds, at most half of the main trials",
        ),
        InForm("Clean", part="naming", placeholder="worked out"),
    ] = None
    clean_per_original: Annotated[
        int, Field(ge=1, le=1000, description="most people to whom one main original is shown clean")
    ] = 5
    clean_answers: Annotated[int, Field(ge=0, le=1_000_000, description="clean answers aimed at over the study")] = 200
    light_visual_change: Annotated[
        float, Field(ge=0, le=1, description="largest visual change of a consistency picture"), Number
    ] = 0.3
    answers_per_stimulus: Annotated[
        int,
        Field(
            ge=1,
            le=1000,
            description="people who answer one corrupted picture; with more than 1, some pairs of people share some "
            "trials",
        ),
        InForm("Answers a picture", part="naming"),
    ] = 1
    overlap: Annotated[
        float,
        Field(
            ge=0,
            le=1,
            description="share of the main trials that everybody sees, over the same range of visual change: for "
            "error consistency between any two people, and between people and models. `0.25` of 40 trials are 10 that "
            "any two people share; the other answers fall on a stimulus each, as before",
        ),
        Number,
        InForm("Share that everybody sees", part="naming"),
    ] = 0.0
    alternatives: Annotated[
        int,
        Field(
            ge=0,
            le=MOST_FOR_PEOPLE,
            description="labels that a trial offers, one of them right and the others foils, at places drawn anew for "
            "each; 0: all of them, in one grid. With 2, practice takes 10 right of 12 and a session 16 golds unless "
            "the file says otherwise ([labels.md](labels.md))",
        ),
        InForm(
            "Alternatives a picture",
            help="2: one of two. Empty: all labels.",
            part="naming",
            placeholder="all labels",
        ),
    ] = 0
    foils: Annotated[
        Foils,
        Field(
            description="labels offered beside the right one: drawn at random so that a label is as often wrong as the "
            "alternatives say; or first what competes with the picture's label (`competing`), labels of its group "
            "(`group`) or of the others (`other-group`)"
        ),
        InForm(
            "Foils",
            part="naming",
            choices={
                "": "any labels",
                "competing": "what competes with the picture's label first",
                "group": "labels of the same group first",
                "other-group": "labels of other groups first",
            },
        ),
    ] = "any"
    none_of_these: Annotated[
        bool,
        Field(description="whether *None of these* can be answered as well; it is never right"),
        InForm("Also offer “None of these”", help="It is never right.", part="naming"),
    ] = False
    corruption_order: Annotated[
        CorruptionOrder,
        Field(description="or `blocked`: one corruption after the other, in random order"),
        InForm(
            "Corruptions",
            part="naming",
            choices={"": "interleaved", "blocked": "one after the other"},
        ),
    ] = "interleaved"
    block_trials: Annotated[
        int,
        Field(ge=5, le=1000, description="longest stretch between two breaks"),
        InForm("Most trials between two breaks", part="record"),
    ] = 40
    discrimination: Annotated[
        DiscriminationDesign | None, Field(description="a table of its own: corruptions are compared")
    ] = None
    validation: Annotated[
        ValidationDesign | None, Field(description="a table of its own: pictures are judged, and nothing else is asked")
    ] = None
    persons: Annotated[
        PersonsDesign | None,
        Field(description="a table of its own: sentinels of persons ([proof-of-person.md](proof-of-person.md))"),
    ] = None

    @classmethod
    def called(cls) -> str:
        return "design"

    @model_validator(mode="before")
    @classmethod
    def _usual(cls, values: object) -> object:
        """What is usual for what is asked: a validation has no main trials; of two, a guess is right in half."""
        if not isinstance(values, Mapping):
            return values
        no_trials = {"main_trials": 0} if values.get("validation") is not None else {}
        of_two = {"practice_round": 12, "practice_pass": 10} if values.get("alternatives") == 2 else {}
        return {**no_trials, **of_two, **values}

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if self.overlap and not self.main_trials:
            raise refusal("{place} is a share of the main trials, and there are none: leave it out.", "overlap")
        if 0 < self.main_trials < self.minimum_main_trials:
            raise refusal(
                f"{{place}} is {self.main_trials}, under minimum_main_trials ({self.minimum_main_trials}): raise one "
                "or lower the other.",
                "main_trials",
            )
        if self.validation is not None and (self.main_trials or self.discrimination is not None):
            raise refusal(
                "A validation study asks nothing else: set main_trials = 0, without a discrimination block.",
                "main_trials",
            )
        self._check_options()
        if self.person_trials and not self.main_trials:
            raise refusal(
                f"{{place}} is {self.person_trials}, but nobody names pictures in this study (main_trials = 0), so "
                "everybody would notice them: set it to 0, or add main trials.",
                "persons",
                "per_session",
            )
        if self.validation is None and self.main_trials == 0 and self.discrimination is None:
            raise refusal("{place} is 0 and there is no discrimination block: nothing would be asked.", "main_trials")
        return self

    def _check_options(self) -> None:
        if self.alternatives == 1:
            raise refusal(
                "{place} is 1, which leaves nothing to choose: set it to 2 or more, or leave it out.", "alternatives"
            )
        if self.foils != "any" and not self.alternatives:
            raise refusal(
                "{place} says which labels are offered beside the right one, and all are: set alternatives, or leave "
                "foils out.",
                "foils",
            )
        if self.alternatives and self.person_trials:
            raise refusal(
                "{place} cannot be had with sentinels of persons: these tell people from machines by the label that is "
                "chosen among all. Leave one of the two out.",
                "alternatives",
            )
        for name in ("alternatives", "none_of_these"):
            if getattr(self, name) and not self.main_trials:
                raise refusal("{place} is about naming pictures, which nobody does with main_trials = 0.", name)

    @property
    def person_trials(self) -> int:
        """Sentinels of persons in a session."""
        return self.persons.per_session if self.persons is not None else 0
