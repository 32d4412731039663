"""Kinds of participants: how each answers and how fast. A new persona is one class and one line in ``PERSONAS``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from analysis.labels.files import default_labels
from analysis.labels.space import NO_ANSWER, LabelSpace
from analysis.study.validation import IS_NONE, IS_ONE, JUDGEMENTS, judgement
from humanexp.simulation.observers import ObserverModel, TrueCurve, random_stream

SAME, DIFFERENT = "same", "different"
LIKE_A, LIKE_B = "a", "b"
#: Two questions without a time limit take this many times as long as one at a glance.
UNHURRIED = 5.0
#: Share of pictures that an honest person recognises and would not use as what they show.
DOUBT = 0.03
#: Corruptions that people can hardly tell apart at equal visual change: both are independent pixel noise.
LOOK_ALIKE = frozenset({"gaussian_noise", "uniform_noise"})


@dataclass(frozen=True, kw_only=True)
class TruePicture:
    """What the simulation knows about the bytes a participant was sent."""

    original: str
    category: str
    corruption: str
    visual_change: float
    #: category of the texture where it is not that of the shape (cue conflict); `category` is the shape then
    texture: str = ""
    #: made to tell people from machines: people name it like a clean picture
    is_sentinel: bool = False

    @property
    def change_for_people(self) -> float:
        """Visual change by which people fail."""
        return 0.0 if self.is_sentinel else self.visual_change


@dataclass(frozen=True, kw_only=True)
class Answer:
    response: str
    rt_ms: float | None


@dataclass(frozen=True, kw_only=True)
class Persona(ABC):
    """Answers trials; all randomness comes from a stream keyed by (seed, participant, position)."""

    name: str
    seed: int
    #: whether the answers follow the observer model, apart from lapses
    is_honest: bool = False
    #: labels among which it answers
    space: LabelSpace = field(default_factory=default_labels)
    #: answers that the trial offers; empty: all labels
    offered: tuple[str, ...] = ()

    def among(self, offered: Sequence[str]) -> Self:
        """The same where a trial offers these answers; none: all labels."""
        return replace(self, offered=tuple(offered)) if offered else self

    @property
    def options(self) -> tuple[str, ...]:
        """Answers among which it chooses a label."""
        return self.offered or self.space.ids

    def _right(self, picture: TruePicture) -> str:
        """The picture's category; where only another label of it is offered, nobody here knows which."""
        return picture.category if picture.category in self.options else self.options[0]

    @abstractmethod
    def answer(
        self, pictures: Sequence[TruePicture], *, participant: str, position: int, wanted: str | None = None
    ) -> Answer:
        """`wanted` is the category that a validation asks about; None in the other tasks."""

    def _choices(self, pictures: Sequence[TruePicture], wanted: str | None) -> Sequence[str]:
        if wanted is not None:
            return JUDGEMENTS
        return {2: (SAME, DIFFERENT), 3: (LIKE_A, LIKE_B)}.get(len(pictures), self.options)


@dataclass(frozen=True, kw_only=True)
class Honest(Persona):
    """Answers by the observer model; with probability `lapse` presses any key, with `miss` none.

    `miss_rise` is what misses gain up to a visual change of 1, with its square; `favourite` the share of guesses that
    go to one category of the person's own.
    """

    observers: ObserverModel
    lapse: float = 0.0
    miss: float = 0.0
    miss_rise: float = 0.0
    favourite: float = 0.0
    rt_median_ms: float = 850.0
    is_honest: bool = True

    def answer(
        self, pictures: Sequence[TruePicture], *, participant: str, position: int, wanted: str | None = None
    ) -> Answer:
        rng = random_stream(self.seed, participant, position)
        attention, rt_ms = rng.random(), float(self.rt_median_ms * np.exp(0.3 * rng.standard_normal()))
        if wanted is not None:
            response = (
                str(rng.choice(JUDGEMENTS))
                if attention < self.lapse
                else self._judge(pictures[0], wanted, participant, rng)
            )
            return Answer(response=response, rt_ms=rt_ms * UNHURRIED)
        miss = self.misses(max(picture.change_for_people for picture in pictures))
        if attention < miss:
            return Answer(response=NO_ANSWER, rt_ms=None)
        if len(pictures) == 2:
            return Answer(response=self._compare(pictures[0], pictures[1], rng), rt_ms=rt_ms)
        if len(pictures) == 3:
            return Answer(response=self._match(pictures[0], pictures[1], pictures[2], rng), rt_ms=rt_ms)
        if attention < miss + self.lapse:
            return Answer(response=str(rng.choice(self.options)), rt_ms=rt_ms)
        picture = pictures[0]
        knows = self._among_offered(
            self.observers.probability_correct(
                picture.corruption, picture.change_for_people, original=picture.original, participant=participant
            )
        )
        if rng.random() < knows:
            return Answer(response=self._right(picture), rt_ms=rt_ms)
        return Answer(response=self._guess(picture, participant, rng), rt_ms=rt_ms)

    def _among_offered(self, knows: float) -> float:
        """Chance of a right answer where that is `knows` among all labels: who does not know it guesses."""
        if not self.offered:
            return knows
        guess = self.space.chance
        known = max(0.0, (knows - guess) / (1.0 - guess))
        return known + (1.0 - known) / len([one for one in self.offered if one in self.space])

    def _guess(self, picture: TruePicture, participant: str, rng: np.random.Generator) -> str:
        """A wrong category; the person's own favourite more often than others."""
        wrong = [category for category in self.options if category != self._right(picture)]
        if self.favourite and rng.random() < self.favourite:
            favourite = str(random_stream(self.seed, participant, "favourite").choice(self.space.ids))
            if favourite in wrong:
                return favourite
        return str(rng.choice(wrong))

    def _judge(self, picture: TruePicture, wanted: str, participant: str, rng: np.random.Generator) -> str:
        """Who recognises the wanted thing says so, and now and then doubts its use; everybody else sees none."""
        knows = self.observers.probability_correct(
            picture.corruption, picture.change_for_people, original=picture.original, participant=participant
        )
        if picture.category != wanted or rng.random() >= knows:
            return IS_NONE
        return judgement(shows=True, usable=rng.random() >= DOUBT)

    @staticmethod
    def _compare(first: TruePicture, second: TruePicture, rng: np.random.Generator) -> str:
        kinds = {first.corruption, second.corruption}
        looks_same = len(kinds) == 1 or kinds <= LOOK_ALIKE
        return SAME if rng.random() < (0.9 if looks_same else 0.03) else DIFFERENT

    @staticmethod
    def _match(a: TruePicture, b: TruePicture, x: TruePicture, rng: np.random.Generator) -> str:
        """Which of two pictures a third goes with: by its corruption, else by what it shows."""
        kinds = {a.corruption, b.corruption}
        is_a = x.corruption == a.corruption if len(kinds) == 2 else x.original == a.original
        can_tell = len(kinds) == 1 or not kinds <= LOOK_ALIKE
        is_right = rng.random() < (0.95 if can_tell else 0.5)
        return LIKE_A if is_a == is_right else LIKE_B

    def misses(self, visual_change: float) -> float:
        """Chance that a picture passes without an answer."""
        return self.miss + self.miss_rise * visual_change**2

    def marginal_share(self, share: float, visual_change: float = 0.0) -> float:
        """Share correct of this persona where the observer model's is `share`."""
        return (1 - self.misses(visual_change) - self.lapse) * share + self.lapse / len(self.space)

    def area(self, corruption: str) -> float:
        """True area under this persona's marginal accuracy over [0, 1]."""
        points, weights = np.polynomial.legendre.leggauss(200)
        changes = (points + 1) / 2
        shares = self.observers.marginal(corruption, changes)
        given = [self.marginal_share(share, change) for share, change in zip(shares, changes, strict=True)]
        return float(np.array(given) @ weights / 2)


@dataclass(frozen=True, kw_only=True)
class RandomClicker(Persona):
    """Presses any key at a believable pace."""

    name: str = "random"

    def answer(
        self, pictures: Sequence[TruePicture], *, participant: str, position: int, wanted: str | None = None
    ) -> Answer:
        rng = random_stream(self.seed, participant, position)
        rt_ms = float(rng.uniform(350, 900)) * (1 if wanted is None else UNHURRIED)
        return Answer(response=str(rng.choice(self._choices(pictures, wanted))), rt_ms=rt_ms)


@dataclass(frozen=True, kw_only=True)
class OneButton(Persona):
    """Has found one key and stays with it; where it is asked whether, says yes."""

    name: str = "one-button"

    def answer(
        self, pictures: Sequence[TruePicture], *, participant: str, position: int, wanted: str | None = None
    ) -> Answer:
        favourite = str(random_stream(self.seed, participant, "favourite").choice(self.space.ids))
        if self.offered:
            favourite = self.offered[0]
        rt_ms = float(random_stream(self.seed, participant, position).uniform(300, 600))
        if wanted is not None:
            return Answer(response=IS_ONE, rt_ms=rt_ms * UNHURRIED)
        return Answer(response={2: SAME, 3: LIKE_A}.get(len(pictures), favourite), rt_ms=rt_ms)


@dataclass(frozen=True, kw_only=True)
class TooFast(Persona):
    """Answers before anybody can have seen the picture; right now and then."""

    name: str = "too-fast"

    def answer(
        self, pictures: Sequence[TruePicture], *, participant: str, position: int, wanted: str | None = None
    ) -> Answer:
        rng = random_stream(self.seed, participant, position)
        rt_ms = float(rng.uniform(80, 240))
        if wanted is not None:
            return Answer(response=str(rng.choice(JUDGEMENTS)), rt_ms=rt_ms * UNHURRIED)
        if len(pictures) > 1:
            return Answer(response=str(rng.choice(self._choices(pictures, wanted))), rt_ms=rt_ms)
        hit = rng.random() < 0.5 * (1 - pictures[0].visual_change)
        return Answer(response=self._right(pictures[0]) if hit else str(rng.choice(self.options)), rt_ms=rt_ms)


@dataclass(frozen=True, kw_only=True)
class Inconsistent(Persona):
    """Sees as well as others but answers a share of the trials at random."""

    honest: Honest
    share: float = 0.5
    name: str = "inconsistent"

    def answer(
        self, pictures: Sequence[TruePicture], *, participant: str, position: int, wanted: str | None = None
    ) -> Answer:
        rng = random_stream(self.seed, participant, position, "whim")
        answer = self.honest.among(self.offered).answer(
            pictures, participant=participant, position=position, wanted=wanted
        )
        if rng.random() < self.share:
            return Answer(response=str(rng.choice(self._choices(pictures, wanted))), rt_ms=answer.rt_ms)
        return answer


@dataclass(frozen=True, kw_only=True)
class Machine(Persona):
    """A model's answers: the same to the same picture, whoever sends them; near perfect on clean pictures.

    `curve` is its share of right answers over visual change; of cue conflicts it names the shape or the texture with
    these shares. Its texture answers are turned into shape with probability `turned`: an imitator.
    """

    curve: TrueCurve = TrueCurve(top=0.97, floor=1 / 16, middle=0.45, width=0.06)
    shape: float = 0.2
    texture: float = 0.53
    turned: float = 0.0
    rt_median_ms: float = 700.0
    rt_spread: float = 0.02

    def answer(
        self, pictures: Sequence[TruePicture], *, participant: str, position: int, wanted: str | None = None
    ) -> Answer:
        rng = random_stream(self.seed, participant, position, self.name)
        rt_ms = float(self.rt_median_ms * np.exp(self.rt_spread * rng.standard_normal()))
        if len(pictures) == 2:
            is_same = pictures[0].corruption == pictures[1].corruption
            return Answer(response=SAME if is_same == (rng.random() < 0.95) else DIFFERENT, rt_ms=rt_ms)
        if len(pictures) == 3:
            a, b, x = pictures
            is_a = x.corruption == a.corruption if a.corruption != b.corruption else x.original == a.original
            return Answer(response=LIKE_A if is_a == (rng.random() < 0.95) else LIKE_B, rt_ms=rt_ms)
        named = self.names(pictures[0])
        if named not in self.options:
            named = str(random_stream(self.seed, "machine", pictures[0].original, *self.options).choice(self.options))
        if named == pictures[0].texture and rng.random() < self.turned:
            named = pictures[0].category
        if wanted is None:
            return Answer(response=named, rt_ms=rt_ms)
        response = judgement(shows=True, usable=True) if named == wanted else IS_NONE
        return Answer(response=response, rt_ms=rt_ms * UNHURRIED)

    def names(self, picture: TruePicture) -> str:
        """What it sees in a picture; it has no moods."""
        key = (picture.original, picture.corruption, f"{picture.visual_change:.6f}")
        rng = random_stream(self.seed, "machine", *key)
        knows = self.shape if picture.texture else float(self.curve.intended(picture.visual_change))
        drawn = rng.random()
        if drawn < knows:
            return picture.category
        if picture.texture and drawn < knows + self.texture:
            return picture.texture
        return str(rng.choice([one for one in self.space.ids if one not in (picture.category, picture.texture)]))


@dataclass(frozen=True, kw_only=True)
class Assisted(Persona):
    """A person who sends a classifier's answers in a share of the trials, at a person's pace."""

    honest: Honest
    machine: Machine
    share: float = 0.8
    name: str = "assisted"

    def answer(
        self, pictures: Sequence[TruePicture], *, participant: str, position: int, wanted: str | None = None
    ) -> Answer:
        own = self.honest.among(self.offered).answer(
            pictures, participant=participant, position=position, wanted=wanted
        )
        if random_stream(self.seed, participant, position, "help").random() >= self.share:
            return own
        rt_ms = own.rt_ms if own.rt_ms is not None else self.honest.rt_median_ms
        sent = self.machine.among(self.offered).answer(
            pictures, participant=participant, position=position, wanted=wanted
        )
        return replace(sent, rt_ms=rt_ms)


#: Shares of the kinds of participants when nothing else is said.
DEFAULT_MIX: Mapping[str, float] = {
    "careful": 0.45,
    "average": 0.35,
    "random": 0.07,
    "one-button": 0.05,
    "too-fast": 0.04,
    "inconsistent": 0.04,
}


#: Machines in people's places: a network as it is, a vision-language model, a person who asks a network, and a
#: vision-language model that hides its texture answers.
MACHINE_KINDS: tuple[str, ...] = ("network", "vision-language", "assisted", "imitator")

#: Every kind of participant; those without a share in the default mix are asked for by name.
PERSONAS: tuple[str, ...] = (*DEFAULT_MIX, "lifelike", "careless", "yes-sayer", *MACHINE_KINDS)


def personas(observers: ObserverModel, seed: int, space: LabelSpace | None = None) -> dict[str, Persona]:
    """Every kind by name, answering among these labels, by default the product's."""
    space = space or default_labels()
    average = Honest(
        name="average", observers=observers, seed=seed, space=space, lapse=0.02, miss=0.01, rt_median_ms=800
    )
    network = Machine(name="network", seed=seed, space=space)
    talking = Machine(
        name="vision-language",
        seed=seed,
        space=space,
        curve=TrueCurve(top=0.97, floor=space.chance, middle=0.65, width=0.08),
        shape=0.5,
        texture=0.31,
        rt_median_ms=1100,
    )
    known: list[Persona] = [
        Honest(name="careful", observers=observers, seed=seed, space=space, lapse=0.005, miss=0.002, rt_median_ms=950),
        average,
        Honest(
            name="lifelike",
            observers=observers,
            seed=seed,
            space=space,
            lapse=0.02,
            miss=0.01,
            miss_rise=0.1,
            favourite=0.4,
        ),
        RandomClicker(seed=seed, space=space),
        OneButton(seed=seed, space=space),
        TooFast(seed=seed, space=space),
        Inconsistent(honest=average, seed=seed, space=space),
        Inconsistent(honest=average, seed=seed, space=space, share=0.25, name="careless"),
        OneButton(seed=seed, space=space, name="yes-sayer"),
        network,
        talking,
        Assisted(honest=average, machine=network, seed=seed, space=space),
        replace(talking, name="imitator", turned=0.75, rt_spread=0.3),
    ]
    return {persona.name: persona for persona in known}


def cast(mix: Mapping[str, float], participants: int, seed: int) -> list[str]:
    """Kind of every participant: shares met as closely as whole people allow, order shuffled by the seed.

    Raises
    ------
    ValueError
        If a share is negative or all are zero, or a kind is unknown.
    """
    unknown = sorted(set(mix) - set(PERSONAS))
    if unknown:
        raise ValueError(f"no such persona: {', '.join(unknown)}; there are {', '.join(PERSONAS)}")
    total = sum(mix.values())
    if total <= 0 or min(mix.values()) < 0:
        raise ValueError("the shares of the mix must not be negative, and one must be above 0")
    exact = {name: participants * share / total for name, share in mix.items()}
    counts = {name: int(number) for name, number in exact.items()}
    by_rest = sorted(exact, key=lambda name: (counts[name] - exact[name], name))
    for name in by_rest[: participants - sum(counts.values())]:
        counts[name] += 1
    names = [name for name, count in counts.items() for _ in range(count)]
    return [names[index] for index in random_stream(seed, "cast").permutation(len(names))]
