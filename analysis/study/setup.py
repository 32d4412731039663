"""What a study asks before practice and after the last answer: `[setup]` and `[ending]` of a study file."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from analysis.study.base import Earlier, InForm, Sparse


class SetUp(Sparse):
    """Steps of the set-up in addition to the size of the window, the zoom and the refresh rate, which are measured."""

    night_light: Annotated[
        bool,
        Field(description="ask participants to switch off night light and similar filters, and whether they did"),
        InForm("Set-up: ask about night light", part="record"),
    ] = False
    notifications: Annotated[
        bool,
        Field(description="ask participants to switch off notifications, and whether they did"),
        InForm("Set-up: ask about notifications", part="record"),
    ] = False
    glasses: Annotated[
        bool,
        Field(description="ask whether glasses or contact lenses are worn"),
        InForm("Set-up: ask about glasses and lenses", part="record"),
    ] = False
    light: Annotated[
        bool,
        Field(description="ask how bright the room is"),
        InForm("Set-up: ask about the light in the room", part="record"),
    ] = False
    greys: Annotated[
        bool,
        Field(description="show a staircase of dark and one of light greys, and ask how many steps can be told apart"),
        InForm("Set-up: ask how many greys can be told apart", part="record"),
    ] = False
    distance: Annotated[
        bool,
        Field(
            description="measure the viewing distance: a card is fitted on the screen, then a dot is moved into the "
            "blind spot of one eye. Anyone without a card skips both"
        ),
        InForm("Set-up: measure the viewing distance", part="record"),
    ] = False

    longer_window_ms: Annotated[
        int,
        Field(
            ge=0,
            le=600_000,
            description="time for each answer that participants can ask for, without a reason, in place of the "
            "protocol's `response_ms`; 0: not offered. Protocols whose answer window is fixed take none",
        ),
        InForm(
            "Longer time for each answer, for those who ask, in ms",
            help="Empty: not offered. Only the time is stored, no reason.",
            part="record",
        ),
    ] = 0

    @classmethod
    def called(cls) -> str:
        return "[setup]"

    @property
    def steps(self) -> tuple[str, ...]:
        """Names of those that the study wants, in the order of the pages."""
        wanted = (name for name in SET_UP_STEPS if name != LONGER_WINDOW and getattr(self, name))
        return (*wanted, *((LONGER_WINDOW,) if self.longer_window_ms else ()))


#: The step in which a longer answer window can be asked for.
LONGER_WINDOW = "longer_window"
#: Every step that a study can want, in the order of the pages.
SET_UP_STEPS = (*(name for name, info in SetUp.model_fields.items() if info.annotation is bool), LONGER_WINDOW)


#: In the form: the default, and its opposite.
_ASKED = {"": "ask (default)", "no": "do not ask"}


class Ending(Sparse):
    """Questions at the end, all of them optional, and what participants see of their own answers."""

    comments: Annotated[
        bool,
        Field(description="ask for comments; a person must clear each one before an export contains it"),
        InForm(
            "Comments at the end",
            help="Comments stay in Review. An export contains only those that you cleared one by one.",
            choices=_ASKED,
            part="texts",
        ),
        Earlier(4, False),
    ] = True
    problems: Annotated[
        bool,
        Field(description="ask whether anything went wrong, and what; the text is treated like a comment"),
        InForm("Ask whether anything went wrong", choices=_ASKED, part="texts"),
        Earlier(4, False),
    ] = True
    device: Annotated[
        bool,
        Field(description="ask which kind of computer was used: desktop, laptop or something else"),
        InForm("Ask which kind of computer was used", choices=_ASKED, part="texts"),
        Earlier(4, False),
    ] = True
    own_result: Annotated[
        bool,
        Field(
            description="after a person's last session of the family, offer a page that says in about how many of ten "
            "they were right: pictures that they named by amount of change, comparisons by what was right; it works "
            "for 30 days"
        ),
        InForm(
            "Own result at the end",
            help="Shares only, of no single picture; after the last session of the family.",
            choices={"": "offer (default)", "no": "do not offer"},
            part="texts",
        ),
        Earlier(4, False),
    ] = True

    @classmethod
    def called(cls) -> str:
        return "[ending]"

    @property
    def questions(self) -> tuple[str, ...]:
        """Names of those that are asked, in the order of the page."""
        return tuple(name for name in ("problems", "comments", "device") if getattr(self, name))
