"""The interface of a task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.templatetags.static import static
from django.utils.functional import Promise

from analysis.labels.space import NO_ANSWER

#: (wanted category, the study's own wording by category) -> what the page is told
Ask = Callable[[str, Mapping[str, Mapping[str, str]]], dict[str, Any]]


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
    #: whether the pictures are shown for the protocol's times, followed by a mask; without a time there is no miss
    is_timed: bool
    #: for the design page: which trials have a known answer that every attentive person gives
    sentinels: Mapping[str, str | Promise]
    #: what is asked of a trial where that differs from trial to trial; None = the same of all
    ask: Ask | None = None

    def accepts(self, response: str) -> bool:
        return (self.is_timed and response == NO_ANSWER) or any(choice.name == response for choice in self.choices)

    def in_order(self, names: Sequence[str]) -> tuple[Choice, ...]:
        """The choices in this order, where it is an order of them; else in their own."""
        by_name = {choice.name: choice for choice in self.choices}
        return tuple(by_name[name] for name in names) if sorted(names) == sorted(by_name) else self.choices

    def judge(self, response: str, correct_response: str) -> bool | None:
        """Whether an answer is right; None where nobody knows the right one. No answer in time is wrong."""
        return response == correct_response if correct_response else None
