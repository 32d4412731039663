"""A participant's own result: in how many answers of ten they were right, by amount of change or by what was right."""

from __future__ import annotations

import math
from dataclasses import dataclass

from django.utils.translation import gettext as _

from analysis.own_performance import OwnWindow
from humanexp.participation.selectors.own_results import AnswerGroup, OwnResult


@dataclass(frozen=True, kw_only=True)
class ShareRow:
    label: str
    of_ten: int


@dataclass(frozen=True, kw_only=True)
class SharesTable:
    """What stands of one task: `names` where pictures were named, else they were compared."""

    names: bool
    answers: int
    rows: tuple[ShareRow, ...]


def shares_tables(found: OwnResult) -> tuple[SharesTable, ...]:
    """A table a task; none of somebody who sees a curve instead."""
    return tuple(
        SharesTable(
            names=one.task == "categorisation",
            answers=one.answers,
            rows=tuple(ShareRow(label=_label(one.task, part), of_ten=part.of_ten) for part in one.parts),
        )
        for one in found.shares
    )


def _label(task: str, part: AnswerGroup) -> str:
    amounts = (_("hardly changed"), _("changed a little"), _("changed a lot"), _("changed very much"))
    right = (_("changed in the same way"), _("changed in different ways"))
    kinds = {"categorisation": amounts, "discrimination": right}.get(task, ())
    if part.end - part.first >= len(kinds):
        return _("all together")
    first, last = kinds[part.first], kinds[part.end - 1]
    return first if first == last else _("%(first)s to %(last)s") % {"first": first, "last": last}


#: Pixels of the picture of a curve: its frame, and where the axes begin.
FRAME_WIDTH, FRAME_HEIGHT, ORIGIN_X, ORIGIN_Y, AXIS_X, AXIS_Y = 640, 400, 60, 350, 560, 320
#: Networks in order: lines are told apart by their dashes, too.
LINES = ("people", "network-1", "network-2", "network-3")


@dataclass(frozen=True, kw_only=True)
class Dot:
    """One window of the person's own curve, in pixels."""

    x: int
    y: int
    top: int
    bottom: int


@dataclass(frozen=True, kw_only=True)
class Line:
    """An earlier curve, in pixels."""

    name: str
    is_people: bool
    #: which style draws it
    style: str
    points: str


@dataclass(frozen=True, kw_only=True)
class WindowRow:
    """One window in words: amounts of change and shares in percent."""

    start: int
    end: int
    rate: int
    lower: int
    upper: int


@dataclass(frozen=True, kw_only=True)
class OwnCurvePage:
    """A person's own curve next to earlier ones, as a picture and its table."""

    pictures: int
    whole: WindowRow
    rows: tuple[WindowRow, ...]
    dots: tuple[Dot, ...]
    own_points: str
    lines: tuple[Line, ...]
    title: str
    is_like_guessing: bool
    card_key: str


def own_curve_page(found: OwnResult) -> OwnCurvePage | None:
    """None of somebody who was promised no curve."""
    performance = found.performance
    if performance is None:
        return None
    lines = found.earlier.lines if found.earlier else ()
    styles = iter(LINES[1:])
    dots = tuple(
        Dot(x=_x(one.middle), y=_y(one.rate), top=_y(one.upper), bottom=_y(one.lower)) for one in performance.windows
    )
    return OwnCurvePage(
        pictures=found.pictures,
        whole=_row(performance.all),
        rows=tuple(_row(one) for one in performance.windows),
        dots=dots,
        own_points=" ".join(f"{dot.x},{dot.y}" for dot in dots),
        lines=tuple(
            Line(
                name=one.name.rpartition(":")[2],
                is_people=one.kind == "people",
                style=LINES[0] if one.kind == "people" else next(styles),
                points=" ".join(f"{_x(v)},{_y(rate)}" for v, rate in zip(one.visual_change, one.rate, strict=True)),
            )
            for one in lines
        ),
        title=found.earlier.title if found.earlier else "",
        is_like_guessing=performance.is_like_guessing,
        card_key=(found.promise.card_key if found.promise else None) or "",
    )


def _row(window: OwnWindow) -> WindowRow:
    return WindowRow(
        start=round(100 * window.start),
        end=round(100 * window.end),
        rate=round(100 * window.rate),
        lower=math.floor(100 * window.lower),
        upper=math.ceil(100 * window.upper),
    )


def _x(change: float) -> int:
    return round(ORIGIN_X + AXIS_X * change)


def _y(share: float) -> int:
    return round(ORIGIN_Y - AXIS_Y * share)
