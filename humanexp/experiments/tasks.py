"""What can be asked of a participant: choices, the right answer, sentinels. New tasks register here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.templatetags.static import static
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from analysis.categories import NO_ANSWER, RESPONSE_GRID


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One possible answer as the page shows it."""

    name: str
    label: str | Promise
    #: path of a static file
    icon: str = ""

    def to_json(self) -> dict[str, str]:
        shown = {"name": self.name, "label": str(self.label)}
        return {**shown, "icon": static(self.icon)} if self.icon else shown


@dataclass(frozen=True, kw_only=True)
class Task:
    """A kind of trial."""

    name: str
    label: str | Promise
    choices: tuple[Choice, ...]
    #: pictures shown one after the other in one trial
    showings: int
    #: whether the pictures are shown for the protocol's times
    is_timed: bool
    #: for the design page: which trials have a known answer that every attentive person gives
    sentinels: Mapping[str, str | Promise]
    #: (response, correct response) -> right?
    judge: Callable[[str, str], bool]

    def accepts(self, response: str) -> bool:
        return response == NO_ANSWER or any(choice.name == response for choice in self.choices)


TASKS: dict[str, Task] = {}


def register(task: Task) -> Task:
    TASKS[task.name] = task
    return task


def _equal(response: str, correct: str) -> bool:
    return response == correct


CATEGORISATION = register(
    Task(
        name="categorisation",
        label=_("Which of 16 categories?"),
        choices=tuple(
            Choice(name=name, label=label, icon=f"icons/{name}.svg")
            for name, label in zip(
                RESPONSE_GRID,
                (
                    _("Knife"),
                    _("Bicycle"),
                    _("Bear"),
                    _("Truck"),
                    _("Airplane"),
                    _("Clock"),
                    _("Boat"),
                    _("Car"),
                    _("Keyboard"),
                    _("Oven"),
                    _("Cat"),
                    _("Bird"),
                    _("Elephant"),
                    _("Chair"),
                    _("Bottle"),
                    _("Dog"),
                ),
                strict=True,
            )
        ),
        showings=1,
        is_timed=True,
        sentinels={
            "gold": _("a clean, easy picture; the right answer is required"),
            "negative": _("a clean picture; an answer from the other group (animal, artefact) fails"),
            "consistency": _("a clean or lightly changed picture, shown twice; the answer must not change"),
        },
        judge=_equal,
    )
)

DISCRIMINATION = register(
    Task(
        name="discrimination",
        label=_("Same corruption or not?"),
        choices=(Choice(name="same", label=_("Same")), Choice(name="different", label=_("Different"))),
        showings=2,
        is_timed=True,
        sentinels={"negative": _("a pair that differs plainly or is identical; the wrong answer fails")},
        judge=_equal,
    )
)

VALIDATION = register(
    Task(
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
        sentinels={
            "gold": _("a plain example; yes to both is required"),
            "negative": _("a picture that plainly lacks the wanted object; yes fails"),
            "consistency": _("shown twice; both answers must be equal"),
        },
        judge=_equal,
    )
)
