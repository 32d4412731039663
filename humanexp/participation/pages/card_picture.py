"""The card that a participant shares, as a picture: drawn when it is asked for, and stored nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from humanexp.participation.pages.own_result import OwnCurvePage

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

#: As other sites show pictures of pages.
WIDTH, HEIGHT = 1200, 630
#: Drawn so many times larger, so that lines are smooth.
_SCALE = 2
_INK, _SOFT, _PAPER, _OWN = "#1a1d21", "#5b6168", "#ffffff", "#0b5cad"
_COLOURS = {"people": "#000000", "network-1": "#d55e00", "network-2": "#009e73", "network-3": "#cc79a7"}
_DASHES: dict[str, tuple[int, ...]] = {
    "people": (),
    "network-1": (14, 8),
    "network-2": (4, 6),
    "network-3": (18, 6, 4, 6),
}
#: Where the curve is, in the picture: left, top, and how much larger than on the page.
_LEFT, _TOP, _BY = 24, 150, 1.02


def card_picture(page: OwnCurvePage) -> bytes:
    """A PNG file of the curve with its intervals, the earlier curves, and what they are."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (WIDTH * _SCALE, HEIGHT * _SCALE), _PAPER)
    draw = ImageDraw.Draw(image)
    _write(draw, (60, 40), _("How well do people recognise changed pictures?"), 40, _INK)
    shown = _("One person’s answers to %(pictures)s pictures") % {"pictures": page.pictures}
    _write(draw, (60, 98), shown, 26, _SOFT)
    _draw_axes(draw)
    for line in page.lines:
        points = [_place(*map(int, point.split(","))) for point in line.points.split()]
        _draw_line(draw, points, _COLOURS[line.style], 5 if line.is_people else 3, _DASHES[line.style])
    own = [_place(dot.x, dot.y) for dot in page.dots]
    draw.line(own, fill=_OWN, width=5 * _SCALE, joint="curve")
    for dot, (x, y) in zip(page.dots, own, strict=True):
        draw.line([_place(dot.x, dot.top), _place(dot.x, dot.bottom)], fill=_OWN, width=3 * _SCALE)
        draw.ellipse([x - 9 * _SCALE, y - 9 * _SCALE, x + 9 * _SCALE, y + 9 * _SCALE], fill=_OWN)
    _draw_legend(draw, page)
    _write(draw, (60, 588), _("This is not an eye test and not a competition."), 22, _SOFT)
    file = BytesIO()
    image.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS).save(file, "PNG", optimize=True)
    return file.getvalue()


def _place(x: float, y: float) -> tuple[float, float]:
    return (_LEFT + x * _BY) * _SCALE, (_TOP + (y - 20) * _BY) * _SCALE


def _draw_axes(draw: ImageDraw) -> None:
    for share in (0, 50, 100):
        y = 350 - 3.2 * share
        draw.line([_place(60, y), _place(620, y)], fill="#d9dde2", width=_SCALE)
        x, level = _place(52, y)
        draw.text((x, level), f"{share} %", font=_font(18), fill=_SOFT, anchor="rm")
    for x, text, anchor in ((60, _("unchanged"), "la"), (620, _("changed very much"), "ra")):
        draw.text(_place(x, 360), text, font=_font(20), fill=_SOFT, anchor=anchor)


def _draw_legend(draw: ImageDraw, page: OwnCurvePage) -> None:
    entries: list[tuple[str, str, str, tuple[int, ...]]] = [("own", _("this person, right answers"), _OWN, ())]
    for line in page.lines:
        name = _("people on average") if line.is_people else _("computer program %(name)s") % {"name": line.name}
        entries.append((line.style, name, _COLOURS[line.style], _DASHES[line.style]))
    top = 190
    for style, name, colour, dashes in entries:
        left = (700 * _SCALE, (top + 16) * _SCALE)
        _draw_line(draw, [left, (760 * _SCALE, left[1])], colour, 5 if style in ("own", "people") else 3, dashes)
        top = _write(draw, (780, top), name, 24, _INK, most=390) + 14
    if page.title:
        source = _("Lines from an earlier study: %(title)s") % {"title": page.title}
        _write(draw, (700, top + 10), source, 20, _SOFT, most=460)


def _draw_line(
    draw: ImageDraw, points: Sequence[tuple[float, float]], colour: str, width: int, dashes: Sequence[int]
) -> None:
    """A line in dashes: lengths of strokes and gaps in turn; none: drawn through."""
    if not dashes:
        draw.line(list(points), fill=colour, width=width * _SCALE, joint="curve")
        return
    turn, left = 0, float(dashes[0] * _SCALE)
    for (x, y), (x_end, y_end) in zip(points, points[1:], strict=False):
        length = ((x_end - x) ** 2 + (y_end - y) ** 2) ** 0.5
        gone = 0.0
        while gone < length:
            step = min(left, length - gone)
            if turn % 2 == 0:
                ends = [(x + (x_end - x) * at / length, y + (y_end - y) * at / length) for at in (gone, gone + step)]
                draw.line(ends, fill=colour, width=width * _SCALE)
            gone, left = gone + step, left - step
            if left <= 0:
                turn += 1
                left = float(dashes[turn % len(dashes)] * _SCALE)


def _write(draw: ImageDraw, at: tuple[int, int], text: str, size: int, colour: str, *, most: int = WIDTH - 120) -> int:
    """Words on as many lines as they need, three at most; where the next text can begin."""
    font, lines = _font(size), [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and font.getlength(longer) > most * _SCALE:
            lines.append(word)
        else:
            lines[-1] = longer
    for number, line in enumerate(lines[:3]):
        draw.text((at[0] * _SCALE, (at[1] + number * size * 1.3) * _SCALE), line, font=font, fill=colour)
    return round(at[1] + min(len(lines), 3) * size * 1.3)


@lru_cache(maxsize=8)
def _font(size: int) -> FreeTypeFont:
    """A font with the letters of the shipped languages; matplotlib brings it, and is not imported for it."""
    from PIL import ImageFont

    found = find_spec("matplotlib")
    folder = Path(str(found.origin)).parent if found else Path()
    return ImageFont.truetype(folder / "mpl-data" / "fonts" / "ttf" / "DejaVuSans.ttf", size * _SCALE)
