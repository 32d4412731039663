"""What was measured and asked before practice, so coarse that it tells nobody by their screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from analysis.tables.coarse import LARGEST_PX, RATIO_STEP, RATIOS, lower_side, nearest
from analysis.tables.schema import Column, TableSchema

How = Literal["measured", "asked"]
_ZOOMS = (0.5, 0.75, 1.0, 1.25, 1.5, 2.0)


@dataclass(frozen=True, kw_only=True)
class Item:
    """One thing that is known of a participant's place: how, what it is, and what an export says of its value."""

    how: How
    description: str
    coarse: Callable[[Any], str] = str


def _size(px: tuple[int, int]) -> str:
    width, height = (lower_side(side, largest) for side, largest in zip(px, LARGEST_PX, strict=True))
    return f"{width} x {height}"


def _nearest(value: float, step: float, least: float, most: float) -> str:
    return f"{nearest(value, step, least, most):g}"


def _rate(hz: float) -> str:
    return "up to 66" if hz <= 66 else "67 to 110" if hz <= 110 else "over 110"


#: Everything that a set-up can say, by its name.
ITEMS: Mapping[str, Item] = {
    "window_px": Item(how="measured", description="window, CSS pixels, to the next lower 200", coarse=_size),
    "screen_px": Item(how="measured", description="screen, CSS pixels, to the next lower 200", coarse=_size),
    "dpr": Item(
        how="measured",
        description="device pixels a CSS pixel, to the nearest half",
        coarse=lambda value: _nearest(value, RATIO_STEP, *RATIOS),
    ),
    "zoom": Item(
        how="measured",
        description="zoom of the page as far as the browser lets it be seen, one of 0.5, 0.75, 1, 1.25, 1.5 and 2",
        coarse=lambda value: f"{min(_ZOOMS, key=lambda zoom: abs(zoom - value)):g}",
    ),
    "refresh_hz": Item(how="measured", description="refresh rate of the screen, one of three classes", coarse=_rate),
    "px_per_mm": Item(
        how="measured",
        description="CSS pixels a millimetre, by a card, to the nearest whole number",
        coarse=lambda value: _nearest(value, 1, 2, 8),
    ),
    "distance_mm": Item(
        how="measured",
        description="viewing distance in mm, by a card and the blind spot, to the nearest 100",
        coarse=lambda value: _nearest(value, 100, 200, 1200),
    ),
    "dark_steps": Item(how="asked", description="dark greys, of 8, that can be told from black"),
    "bright_steps": Item(how="asked", description="light greys, of 8, that can be told from white"),
    "night_light": Item(how="asked", description="night light and other colour filters: off, on, unknown"),
    "notifications": Item(how="asked", description="notifications: off, on, unknown"),
    "glasses": Item(how="asked", description="worn now: none, glasses, lenses, undisclosed"),
    "light": Item(how="asked", description="light in the room: dark, dim, bright, sunlight"),
    "sight": Item(how="asked", description="normal or corrected sight: yes, no, undisclosed"),
    "colour_sight": Item(how="asked", description="normal colour sight: yes, no, undisclosed"),
    "corruption_knowledge": Item(
        how="asked", description="has worked with distortions of pictures: yes, no, undisclosed"
    ),
}

SETUP = TableSchema(
    name="setup",
    description="One row for each thing that was measured or asked before practice. Values are coarse: "
    + "; ".join(f"{name}: {item.description}" for name, item in ITEMS.items())
    + ".",
    key=("session", "item"),
    columns=(
        Column(name="session", kind="text", description="the session's code"),
        Column(name="item", kind="text", description="what it is", levels=tuple(ITEMS)),
        Column(
            name="how",
            kind="text",
            description="measured by the page, or asked: the participant's own word",
            levels=("measured", "asked"),
        ),
        Column(name="value", kind="text", description="coarse, see the description of the table"),
    ),
)
