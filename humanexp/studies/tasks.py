"""What can be asked of a participant: a value for each task here, a module in `static/js/participation/trial/tasks`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from analysis.labels.files import shipped
from analysis.labels.space import NO_ANSWER, NONE_OF_THESE, Label, LabelSpace
from analysis.study.validation import PLACEHOLDER
from humanexp.stimuli.choices import Choice, choices_of_labels, columns_of_labels, word_of

if TYPE_CHECKING:
    from humanexp.studies.models import Study

#: (wanted label, the study's configuration, its labels) -> what the page is told
Ask = Callable[[str, Mapping[str, Any], LabelSpace], dict[str, Any]]


#: An answer that is no label, where a study offers it.
NONE = Choice(name=NONE_OF_THESE, label=_("None of these"))


@dataclass(frozen=True, kw_only=True)
class Task:
    """A kind of trial."""

    name: str
    label: str | Promise
    #: the same in every study; empty where answers are labels
    choices: tuple[Choice, ...]
    #: pictures shown one after the other in one trial
    showings: int
    #: whether the pictures are shown for the protocol's times, followed by a mask; without a time there is no miss
    is_timed: bool
    #: for the design page: which trials have a known answer that every attentive person gives
    sentinels: Mapping[str, str | Promise]
    #: what is asked of a trial where that differs from trial to trial; None = the same of all
    ask: Ask | None = None
    #: an answer is one of the study's labels
    is_of_labels: bool = False

    def accepts(self, response: str, space: LabelSpace) -> bool:
        if self.is_timed and response == NO_ANSWER:
            return True
        return response in space if self.is_of_labels else any(choice.name == response for choice in self.choices)

    def in_order(self, names: Sequence[str], space: LabelSpace, *, offers_none: bool = False) -> tuple[Choice, ...]:
        """The choices in this order, where it is an order of them; else in their own. None of these comes last."""
        choices = choices_of_labels(space) if self.is_of_labels else self.choices
        by_name = {choice.name: choice for choice in choices}
        ordered = tuple(by_name[name] for name in names) if sorted(names) == sorted(by_name) else choices
        return (*ordered, NONE) if offers_none and self.is_of_labels else ordered

    def columns(self, space: LabelSpace) -> int | None:
        """Columns of the grid, where the labels state a grid; None: as square as can be."""
        return columns_of_labels(space) if self.is_of_labels else None


CATEGORISATION = Task(
    name="categorisation",
    label=_("What is it?"),
    choices=(),
    is_of_labels=True,
    showings=1,
    is_timed=True,
    sentinels={
        "gold": _("a clean, easy picture; the right answer is required"),
        "negative": _("a clean picture; an answer from the other group (of the 16: animal, artefact) fails"),
        "consistency": _("a clean or lightly changed picture, shown twice; the answer must not change"),
    },
)


DISCRIMINATION = Task(
    name="discrimination",
    label=_("Same corruption or not?"),
    choices=(Choice(name="same", label=_("Same")), Choice(name="different", label=_("Different"))),
    showings=2,
    is_timed=True,
    sentinels={
        "negative": _("one or two functions that differ plainly and that no one compares; the wrong answer fails")
    },
)


ABX = Task(
    name="abx",
    label=_("A's corruption or B's?"),
    choices=(Choice(name="a", label=_("A, the first")), Choice(name="b", label=_("B, the second"))),
    showings=3,
    is_timed=True,
    sentinels={
        "negative": _(
            "A and B are of two functions that differ plainly and that no one compares; the wrong answer fails"
        )
    },
)


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A category that a picture is compared with."""

    label: str | Promise
    #: as it stands in a question, with its article
    phrase: str | Promise
    definition: str | Promise
    #: article of the encyclopaedia, in the reader's language
    link: str | Promise


WANTED: Mapping[str, Wanted] = {
    "airplane": Wanted(
        label=_("Airplane"),
        phrase=_("an airplane"),
        definition=_("A flying vehicle with fixed wings and an engine, large or small."),
        link=_("https://en.wikipedia.org/wiki/Airplane"),
    ),
    "bear": Wanted(
        label=_("Bear"),
        phrase=_("a bear"),
        definition=_("A large, heavy wild animal with thick fur, round ears and a short tail, such as a brown bear."),
        link=_("https://en.wikipedia.org/wiki/Bear"),
    ),
    "bicycle": Wanted(
        label=_("Bicycle"),
        phrase=_("a bicycle"),
        definition=_("A vehicle with two wheels one behind the other, which its rider drives by pedals."),
        link=_("https://en.wikipedia.org/wiki/Bicycle"),
    ),
    "bird": Wanted(
        label=_("Bird"),
        phrase=_("a bird"),
        definition=_("An animal with feathers, two wings and a beak."),
        link=_("https://en.wikipedia.org/wiki/Bird"),
    ),
    "boat": Wanted(
        label=_("Boat"),
        phrase=_("a boat"),
        definition=_("A vehicle that carries people or goods over water, from a canoe to a ship."),
        link=_("https://en.wikipedia.org/wiki/Boat"),
    ),
    "bottle": Wanted(
        label=_("Bottle"),
        phrase=_("a bottle"),
        definition=_("A container for liquids with a neck that is narrower than its body."),
        link=_("https://en.wikipedia.org/wiki/Bottle"),
    ),
    "car": Wanted(
        label=_("Car"),
        phrase=_("a car"),
        definition=_("A motor vehicle on four wheels, made for carrying a few people on roads."),
        link=_("https://en.wikipedia.org/wiki/Car"),
    ),
    "cat": Wanted(
        label=_("Cat"),
        phrase=_("a cat"),
        definition=_("The small furry animal that is kept as a pet and catches mice, of any breed."),
        link=_("https://en.wikipedia.org/wiki/Cat"),
    ),
    "chair": Wanted(
        label=_("Chair"),
        phrase=_("a chair"),
        definition=_("A piece of furniture for one person to sit on, with a seat and a back."),
        link=_("https://en.wikipedia.org/wiki/Chair"),
    ),
    "clock": Wanted(
        label=_("Clock"),
        phrase=_("a clock"),
        definition=_("A device that shows the time of day, with hands or with digits."),
        link=_("https://en.wikipedia.org/wiki/Clock"),
    ),
    "dog": Wanted(
        label=_("Dog"),
        phrase=_("a dog"),
        definition=_("The four-legged animal that is kept as a pet or for work and barks, of any breed."),
        link=_("https://en.wikipedia.org/wiki/Dog"),
    ),
    "elephant": Wanted(
        label=_("Elephant"),
        phrase=_("an elephant"),
        definition=_("A very large grey animal with a trunk and large ears, often with tusks."),
        link=_("https://en.wikipedia.org/wiki/Elephant"),
    ),
    "keyboard": Wanted(
        label=_("Keyboard"),
        phrase=_("a keyboard"),
        definition=_("A board of keys with which one types on a computer or a similar machine."),
        link=_("https://en.wikipedia.org/wiki/Computer_keyboard"),
    ),
    "knife": Wanted(
        label=_("Knife"),
        phrase=_("a knife"),
        definition=_("A hand tool for cutting: a sharp blade with a handle."),
        link=_("https://en.wikipedia.org/wiki/Knife"),
    ),
    "oven": Wanted(
        label=_("Oven"),
        phrase=_("an oven"),
        definition=_("A closed, heated chamber in which food is baked or roasted, alone or as a part of a cooker."),
        link=_("https://en.wikipedia.org/wiki/Oven"),
    ),
    "truck": Wanted(
        label=_("Truck"),
        phrase=_("a truck"),
        definition=_("A large motor vehicle for carrying goods or loads on roads."),
        link=_("https://en.wikipedia.org/wiki/Truck"),
    ),
}


@cache
def _published() -> LabelSpace:
    """The labels whose phrases and definitions stand above."""
    return shipped("entry16")


def _wanted_of(label: Label) -> Wanted:
    word = word_of(label)
    return Wanted(label=word, phrase=word, definition=label.definition, link=label.page)


def question(category: str, configuration: Mapping[str, Any], space: LabelSpace) -> dict[str, Any]:
    """What the page is told about a trial: the wanted category, its definition and link, and both questions.

    Nothing of it depends on the picture or its role. What the study words itself is shown as it was written.
    """
    own, judging = configuration.get("wanted", {}).get(category, {}), configuration.get("judging", {})
    wanted = WANTED[category] if space.identity == _published().identity else _wanted_of(space[category])
    shown, usable = _("Does the picture show %(thing)s?"), _("Could what it shows be used as %(thing)s?")
    if space.group(category) == "animal":
        # A dog is not used as a dog: of animals it is asked whether one could take it for one.
        usable = _("Could what it shows be taken for %(thing)s?")
    if wanted.phrase == wanted.label:  # a word of which no article is known
        shown, usable = (
            _("Does the picture show this: %(thing)s?"),
            _("Could what it shows be used as this: %(thing)s?"),
        )
    thing, label = {"thing": wanted.phrase}, str(wanted.label)
    stated = [judging.get(name, "").replace(PLACEHOLDER, label) for name in ("shows", "usable")]
    return {
        "wanted": category,
        "label": label,
        "definition": own.get("definition") or str(wanted.definition),
        "link": own.get("link", str(wanted.link)),
        "questions": [stated[0] or str(shown % thing), stated[1] or str(usable % thing)],
    }


VALIDATION = Task(
    name="validation",
    label=_("Is this really one, and could it be used as one?"),
    # Both questions are answered on one screen: the answer is the pair of answers.
    choices=(
        Choice(name="yes-yes", label=_("It is one, and could be used as one")),
        Choice(name="yes-no", label=_("It is one, but could not be used as one")),
        Choice(name="no-yes", label=_("It is none, but could be used as one")),
        Choice(name="no-no", label=_("It is none")),
    ),
    showings=1,
    is_timed=False,
    ask=question,
    sentinels={
        "gold": _("a plain example; yes to both is required"),
        "negative": _("a picture that plainly lacks the wanted object; yes fails"),
        "consistency": _("shown twice; both answers must be equal"),
    },
)


#: Every task by name. docs/tasks.md says how one is added.
TASKS: dict[str, Task] = {}


def register(task: Task) -> None:
    """Make a task known; its name must be new, and its choices tell each other apart."""
    if task.name in TASKS:
        raise ValueError(f"There is a task {task.name!r} already.")
    if len({choice.name for choice in task.choices}) < len(task.choices):
        raise ValueError(f"The task {task.name!r} has two choices of one name.")
    TASKS[task.name] = task


for _task in (CATEGORISATION, DISCRIMINATION, ABX, VALIDATION):
    register(_task)


def answers_of(study: Study, tasks: Iterable[str], order: Sequence[str] = ()) -> dict[str, Any]:
    """What the page is told of the answers to these tasks of a study, labels in this order or in their own."""
    space, asked = study.space, [TASKS[name] for name in tasks]
    return {
        "choices": {
            task.name: [choice.to_json() for choice in task.in_order(order, space, offers_none=study.offers_none)]
            for task in asked
        },
        "columns": {task.name: columns for task in asked if (columns := task.columns(space)) is not None},
        "alternatives": {
            task.name: study.alternatives for task in asked if task.is_of_labels and study.alternatives < len(space)
        },
    }
