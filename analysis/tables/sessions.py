"""Sessions, counted or not: what was measured and asked before practice and said after the last trial.

The table as it is stored keeps what was measured: the timing rule and the timing certificate are computed from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from analysis.tables.schema import Column, TableSchema

if TYPE_CHECKING:
    import pandas as pd


#: Between several reasons of one session.
REASON_SEPARATOR = " | "

SESSIONS = TableSchema(
    name="sessions",
    description="One row a session that was ever opened: how far it came, and whether and why it does not count.",
    key=("session",),
    columns=(
        Column(name="session", kind="text", description="the session's code"),
        Column(
            name="participant",
            kind="text",
            description="the participant's code; empty where the participant withdrew",
            nullable=True,
        ),
        Column(
            name="state",
            kind="text",
            description="how far it came",
            levels=("open", "completed", "submitted", "withdrawn"),
        ),
        Column(name="answered", kind="integer", description="answers given", minimum=0),
        Column(name="trials", kind="integer", description="trials of the session", minimum=0),
        Column(
            name="unfetched",
            kind="integer",
            description="answers whose pictures the server had never given out: nobody can have seen them; empty where "
            "that was not kept",
            minimum=0,
            nullable=True,
            optional=True,
        ),
        Column(
            name="verified",
            kind="boolean",
            description="whether whoever recruits the person has listed the session; others never count, and their "
            "answers are in no table",
            nullable=True,
            optional=True,
        ),
        Column(
            name="qualified",
            kind="boolean",
            description="whether the qualification was passed; empty where there was none, or it is not over",
            nullable=True,
        ),
        Column(
            name="slowed",
            kind="boolean",
            description="whether the page asked, once between two blocks, for slower answers",
            nullable=True,
            optional=True,
        ),
        Column(
            name="answer_window_ms",
            kind="integer",
            description="the longer time for each answer that the participant asked for at the set-up; empty where "
            "they did not, or it is not offered",
            unit="ms",
            minimum=1,
            nullable=True,
            optional=True,
        ),
        Column(
            name="left",
            kind="boolean",
            description="whether the participant stopped for good before the last trial, and left the answers",
            nullable=True,
            optional=True,
        ),
        Column(
            name="practised",
            kind="boolean",
            description="whether the criterion of practice was met; empty where practice has none, or is not over. "
            "Where it is false the session ended there",
            nullable=True,
            optional=True,
        ),
        Column(
            name="language",
            kind="text",
            description="tag of the language in which the participant agreed and began; empty where that was not kept",
            nullable=True,
            optional=True,
        ),
        Column(
            name="recruiter",
            kind="text",
            description="who sent the participant: the kind of recruiter or site, never an account or an id; empty "
            "where that was not kept",
            nullable=True,
            optional=True,
        ),
        Column(
            name="seen_before",
            kind="boolean",
            description="whether the browser kept a note that the study was begun in it by way of another recruiter",
            nullable=True,
            optional=True,
        ),
        Column(
            name="accepted",
            kind="boolean",
            description="whether it counts; empty where nobody has judged it",
            nullable=True,
        ),
        Column(
            name="reasons",
            kind="text",
            description="of the gates that failed, the first one counts; between them: space, bar, space",
            nullable=True,
        ),
        Column(name="flags", kind="text", description="raised for a person to look at", nullable=True),
        Column(name="by_hand", kind="boolean", description="a person decided otherwise than the rules", nullable=True),
        Column(name="rule_set", kind="text", description="name and version of the rules", nullable=True),
    ),
)


#: Refresh rates of screens that are sold, in Hz.
RATES_HZ = (30, 50, 60, 75, 90, 100, 120, 144, 165, 240)
#: Width and height, to the next lower 200 CSS pixels, large ones alike.
SIDE_STEP_PX, LARGEST_PX = 200, (2400, 1400)
#: Device pixels a CSS pixel: to the nearest half, small and large ones alike.
RATIO_STEP, RATIOS = 0.5, (1.0, 3.0)
#: Side of the picture: to the nearest of these, which tells no ratio of pixels.
PICTURE_STEP_PX = 50.0


@lru_cache(maxsize=4096)
def nearest_rate_hz(refresh_ms: float) -> int:
    """The rate that a screen with this interval is sold with; else the measured one, in whole Hz."""
    measured = 1000 / refresh_ms
    nearest = min(RATES_HZ, key=lambda rate: abs(rate - measured))
    return nearest if abs(nearest - measured) <= 0.03 * nearest else round(measured)


def nearest(value: float, step: float, least: float, most: float) -> float:
    return min(most, max(least, round(value / step) * step))


def lower_side(px: float, largest: int) -> int:
    return min(largest, int(px) // SIDE_STEP_PX * SIDE_STEP_PX)


def _interval_ms(refresh_ms: float) -> float:
    rate = nearest_rate_hz(refresh_ms) if refresh_ms > 0 else 0
    return round(1000 / rate, 3) if rate else 0.0


#: By column of the trials; what is coarse already stays as it is.
COARSE: Mapping[str, Callable[[float], float]] = {
    "t_refresh_median_ms": _interval_ms,
    "dpr": lambda value: nearest(value, RATIO_STEP, *RATIOS),
    "css_px": lambda value: nearest(value, PICTURE_STEP_PX, PICTURE_STEP_PX, 1000.0),
    "viewport_width_px": lambda value: lower_side(value, LARGEST_PX[0]),
    "viewport_height_px": lambda value: lower_side(value, LARGEST_PX[1]),
}


def coarse_trials(trials: pd.DataFrame) -> pd.DataFrame:
    """The same table without exact sizes, ratios and rates of screens; columns keep their kinds."""
    changed = {}
    for name in COARSE.keys() & set(trials.columns):
        exact = trials[name]
        by_value = {value: COARSE[name](value) for value in exact.dropna().unique()}
        changed[name] = exact.map(by_value, na_action="ignore").astype(exact.dtype)
    return trials.assign(**changed)


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


_CLEARED = "only where a person read it and cleared it for export"

CLOSING = TableSchema(
    name="closing",
    description="One row a session whose participant said something at the end. Every question was optional.",
    key=("session",),
    columns=(
        Column(name="session", kind="text", description="the session's code"),
        Column(
            name="went_wrong",
            kind="text",
            description="whether anything went wrong",
            levels=("no", "yes"),
            nullable=True,
        ),
        Column(name="problem", kind="text", description=f"what went wrong; {_CLEARED}", nullable=True),
        Column(name="comment", kind="text", description=f"a comment; {_CLEARED}", nullable=True),
        Column(
            name="device",
            kind="text",
            description="the kind of computer, as the participant says",
            levels=("desktop", "laptop", "phone", "other"),
            nullable=True,
        ),
    ),
)
