"""Labels as people see them: words and drawings in the order of the grid."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass

from django.templatetags.static import static
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext

from analysis.labels.space import Label, LabelSpace


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One possible answer as the page shows it."""

    name: str
    label: str | Promise
    #: address of a drawing
    icon: str = ""

    def to_json(self) -> dict[str, str]:
        shown = {"name": self.name, "label": str(self.label)}
        return {**shown, "icon": self.icon} if self.icon else shown


def choices_of_labels(space: LabelSpace, language: str = "") -> tuple[Choice, ...]:
    """Labels in the order of the grid, by their words in this language, by default that of the page."""
    return tuple(
        Choice(name=one, label=word_of(space[one], language), icon=_address(space, space[one].icon))
        for one in space.in_grid
    )


def word_of(label: Label, language: str = "") -> str:
    """In this language or that of the page; where the label has no word in it, a catalogue of the installation may."""
    spoken = language or get_language() or "en"
    main = spoken.split("-")[0]
    return label.words.get(spoken) or label.words.get(main) or gettext(label.word(spoken))


def columns_of_labels(space: LabelSpace) -> int | None:
    """Columns of the grid, where the labels state a grid; None: as square as can be."""
    return max(map(len, space.grid), default=None)


def _address(space: LabelSpace, icon: str) -> str:
    """A drawing of the lab's own within the page itself, one of the product's as its static file."""
    own = space.drawings.get(icon)
    if own:
        return f"data:image/svg+xml;base64,{b64encode(own.encode()).decode()}"
    return static(icon) if icon else ""
