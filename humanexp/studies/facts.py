"""What people are told of a study, in its language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from analysis.study.link import LinkPay
from analysis.study.terms import PayOnLeaving
from humanexp.studies.models import Study
from humanexp.studies.tasks import TASKS

#: Days from a withdrawal until its answers are erased; consent, "Stop and leave?" and the goodbye name them.
KEPT_DAYS = 14
#: How a person came: by a plain link, by a HIT, or in a preview that belongs to nobody.
Way = Literal["link", "hit", "preview"]


@dataclass(frozen=True, kw_only=True)
class StudyFacts:
    """A study as its participants should know it."""

    #: names of its tasks, in the order in which they are asked; empty where it is not known which study this is
    tasks: tuple[str, ...] = ()
    way: Way = "preview"
    #: what one person is paid by us; 0 = nothing
    reward_cents: int = 0
    #: ISO code of it
    currency: str = "USD"
    #: what people are told it takes; 0 = not said
    minutes: int = 0
    #: its own title, by which a letter names it
    title: str = ""
    #: whom a participant can write to; empty where the study names nobody
    contact: str = ""
    #: whether whoever sent the person here may ask for the completion code
    shows_code: bool = False
    #: what people are paid who stop before the end, where they are paid at all
    pay_on_leaving: PayOnLeaving = "none"
    #: whether people go back to a site that has sent them, which its pages then do by one button
    leads_out: bool = False
    #: its name; empty where it has none
    site: str = ""
    #: what people get there, and how much of it, where that was said
    site_pay: LinkPay = "none"
    site_reward: str = ""
    #: what they can do instead for the same credit
    alternative: str = ""
    #: whether nobody comes with an id, and what a session leaves in the browser is the mark by which it is known again
    marks_browser: bool = False
    #: whether people see their own curve after their last session, and the study whose curves appear next to it
    shows_curve: bool = False
    shown_next_to: str = ""
    #: whether people who come without an id get a code with which they can have their answers deleted, and its last day
    gives_deletion_code: bool = False
    deletable_until: str = ""
    #: address of the page that takes the code
    deletion_address: str = ""
    #: days until the answers of who has left are erased
    erased_after_days: int = KEPT_DAYS

    @property
    def is_timed(self) -> bool:
        """Pictures are shown for an exact time, which takes a computer."""
        return not self.tasks or any(TASKS[name].is_timed for name in self.tasks)

    @property
    def is_paid(self) -> bool:
        return self.reward_cents > 0

    @property
    def is_link(self) -> bool:
        return self.way == "link"

    @property
    def is_hit(self) -> bool:
        return self.way == "hit"

    @property
    def names(self) -> bool:
        """A single picture is named."""
        return "categorisation" in self.tasks

    @property
    def compares(self) -> bool:
        """Two or three pictures are compared."""
        return "discrimination" in self.tasks or "abx" in self.tasks

    @property
    def judges(self) -> bool:
        """Pictures are judged at leisure."""
        return "validation" in self.tasks


def tasks_of(configuration: Mapping[str, Any]) -> tuple[str, ...]:
    """Tasks that a study's configuration asks for, in their order."""
    design = configuration.get("design") or {}
    if design.get("validation"):
        return ("validation",)
    pairs = design.get("discrimination")
    compared = () if not pairs else ("abx",) if pairs.get("form") == "abx" else ("discrimination",)
    return (*(() if design.get("main_trials") == 0 else ("categorisation",)), *compared)


def language_of_study(study: Study) -> str:
    """The tag of the language in which its pages begin."""
    return str(study.configuration.get("language") or "en")
