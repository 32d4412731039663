"""Figures of pictures: functions on one original, one function at several strengths, and what observers name."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from analysis.agreement.contrasts import ENOUGH_ANSWERS
from analysis.corruptions import CORRUPTIONS
from analysis.corruptions.registry import Picture
from analysis.figures.table import Column, Table
from analysis.figures.tiles import Tile, TileGroup, draw_tiles
from analysis.generation.files import decode_png
from analysis.sets.set_file import may_be_passed_on
from analysis.similarity.published import PUBLISHED_CLASSES
from humanexp.console.figures.figure import Drawn, Wanted, chosen
from humanexp.console.figures.subjects import Analysed
from humanexp.core.errors import InputRefused, NotAllowed
from humanexp.core.storage import current_path
from humanexp.results.pages.contrasts import contrast_room
from humanexp.stimuli.models import SourceImage, SourceSet, StimulusSet
from humanexp.stimuli.pages.previews import EXAMPLE_CHANGE, PictureAt, picture_at, shown_original
from humanexp.stimuli.selectors.coverage import label_of
from humanexp.stimuli.selectors.sets import image_in

if TYPE_CHECKING:
    import matplotlib.figure

#: Those of the paper's frost.
PUBLISHED_CHANGES = (0.0, 0.005, 0.71, 0.96)
#: Heading of functions in none of the published classes.
OTHERS = "Unlike any other"
#: Pictures of one kind that are shown at most.
_MOST = 7


def credit_of(source_set: SourceSet) -> str:
    """Whose pictures these are, for a caption; refused where they may not be passed on."""
    if not may_be_passed_on(source_set.set_document):
        raise NotAllowed(
            f"The pictures of {source_set.name} may not be passed on: its set.toml says no-redistribution. Draw the "
            "figure of another set."
        )
    licence = f"licence: {source_set.licence}" if source_set.licence else "their licence is not noted: find it out"
    return f"Pictures: {source_set.name}; {licence}. {source_set.provenance}".strip()


def functions(stimulus_set: StimulusSet, wanted: Wanted) -> Drawn:
    """Every function of a set on one original at one visual change, in the published classes."""
    credit = credit_of(stimulus_set.source_set)
    if not stimulus_set.corruptions:
        raise InputRefused(f"The set {stimulus_set.name} has no corruption functions: generate stimuli of some.")
    image = image_in(stimulus_set, wanted.original)
    target = wanted.at[0] if wanted.at else EXAMPLE_CHANGE

    @cache
    def made() -> list[tuple[str, list[PictureAt]]]:
        return [
            (name, [picture_at(stimulus_set, image, function, target) for function in members])
            for name, members in classes_of(stimulus_set.corruptions)
        ]

    def draw(width: str) -> matplotlib.figure.Figure:
        original = Tile(shown_original(stimulus_set, image)[0], ("Original", "Δv 0"))
        groups = [
            TileGroup(name, tuple(Tile(_pixels(one), (label_of(one.function), _change(one))) for one in members))
            for name, members in made()
        ]
        return draw_tiles([TileGroup("", (original,)), *groups], width=width)

    return Drawn(
        title=f"Corruption functions of {stimulus_set.name}",
        draw=draw,
        tables=lambda: (
            Table(
                "functions",
                f"Corruption functions on {image.key}",
                (Column("class", "Class"), *_COLUMNS),
                tuple((name, *_row(image, one)) for name, members in made() for one in members),
            ),
        ),
        caption=(f"One original under each function at visual change {target:g}, or as near as it gets.", credit),
        said=f"{image.category} under {len(stimulus_set.corruptions)} corruption functions.",
    )


def classes_of(names: list[str]) -> list[tuple[str, list[str]]]:
    """The functions in the published classes, and the others."""
    found = [(title, [name for name in members if name in names]) for title, members in PUBLISHED_CLASSES.items()]
    classed = {name for _, members in found for name in members}
    return [
        (title, members) for title, members in [*found, (OTHERS, [n for n in names if n not in classed])] if members
    ]


def strengths(stimulus_set: StimulusSet, wanted: Wanted) -> Drawn:
    """One function on one original at chosen visual changes; 0 is the original."""
    credit = credit_of(stimulus_set.source_set)
    usual = "frost" if "frost" in stimulus_set.corruptions else ""
    if not stimulus_set.corruptions:
        raise InputRefused(f"The set {stimulus_set.name} has no corruption functions: generate stimuli of some.")
    function = chosen(stimulus_set.corruptions, wanted.function or usual, "function in this set:")
    image = image_in(stimulus_set, wanted.original)
    targets = wanted.at or PUBLISHED_CHANGES

    @cache
    def made() -> list[PictureAt]:
        return [picture_at(stimulus_set, image, function, target) for target in targets if target > 0.0]

    def draw(width: str) -> matplotlib.figure.Figure:
        tiles = [Tile(_pixels(one), (_change(one), _strength(one))) for one in made()]
        if 0.0 in targets:
            tiles.insert(0, Tile(shown_original(stimulus_set, image)[0], ("Δv 0", "original")))
        return draw_tiles([TileGroup("", tuple(tiles))], width=width)

    return Drawn(
        title=f"{label_of(function)} at {len(targets)} visual changes",
        draw=draw,
        tables=lambda: (
            Table(
                "strengths", f"{label_of(function)} on {image.key}", _COLUMNS, tuple(_row(image, one) for one in made())
            ),
        ),
        caption=(f"{label_of(function)}; below each picture its measured visual change and its parameter.", credit),
        said=f"{image.category} under {label_of(function).lower()}.",
    )


_COLUMNS = (
    Column("original", "Original"),
    Column("function", "Function"),
    Column("target", "Asked for", "number"),
    Column("visual_change", "Δv", "number"),
    Column("reached", "Reached"),
    Column("parameter", "Parameter", "number"),
    Column("unit", "Unit"),
    Column("stimulus", "Stimulus"),
)


def _row(image: SourceImage, one: PictureAt) -> tuple[str | float, ...]:
    stimulus = one.stimulus.key if one.stimulus else ""
    reached = "yes" if one.is_reached else "no"
    return image.key, one.function, one.target, one.visual_change, reached, one.parameter, one.unit, stimulus


def _change(one: PictureAt) -> str:
    """Measured, with as many digits as are needed to tell it from 0."""
    shown = f"Δv {one.visual_change:.2f}" if one.visual_change >= 0.01 else f"Δv {one.visual_change:.3f}"
    return shown if one.is_reached else f"{shown} (not {one.target:g})"


def _strength(one: PictureAt) -> str:
    corruption = CORRUPTIONS.get(one.function)
    unit = one.unit or (corruption.unit if corruption else "")
    return f"{unit} {one.parameter:.3g}".strip()


def _pixels(one: PictureAt) -> Picture:
    if one.png is not None:
        return decode_png(one.png)
    assert one.stimulus is not None  # noqa: S101 - a picture that was not made is a stimulus
    return decode_png(current_path(one.stimulus.file).read_bytes())


def named(analysed: Analysed, wanted: Wanted) -> Drawn:
    """Pictures that people name and a model does not, and the reverse."""
    study, found = analysed.study, analysed.found
    if not found.contrasts:
        raise InputRefused(
            f"No picture of {study.slug} has {ENOUGH_ANSWERS} answers of people and an answer of a model: let more "
            "people see each picture, evaluate a model on the set, and analyse again."
        )
    if study.stimulus_set is None:
        raise InputRefused(f"The study {study.slug} has answers without pictures: import it with its pictures.")
    credit = credit_of(study.stimulus_set.source_set)
    room = contrast_room(study, found, wanted.model)

    def draw(width: str) -> matplotlib.figure.Figure:
        groups = []
        for side in room.sides:
            name = (
                f"People name it, {room.model} does not" if side.by_people else f"{room.model} names it, people do not"
            )
            tiles = tuple(
                Tile(
                    decode_png(current_path(one.stimulus.file).read_bytes()) if one.stimulus else None,
                    (
                        one.picture.category,
                        f"people {one.picture.right} of {one.picture.answers}"
                        + ("" if side.by_people else f", most: {one.picture.most_given}"),
                        f"model: {one.picture.response}",
                    ),
                )
                for one in side.shown[:_MOST]
            )
            groups.append(TileGroup(f"{name} ({side.contrast.found} of {side.contrast.pictures})", tiles))
        return draw_tiles(groups, width=width)

    if not any(side.shown for side in room.sides):
        raise InputRefused(f"People and {room.model} name the same pictures: choose another model.")
    return Drawn(
        title=f"Where people and {room.model} differ",
        draw=draw,
        tables=lambda: (
            Table(
                "named",
                f"Where people and {room.model} differ",
                (
                    Column("named_by", "Named by"),
                    Column("picture", "Picture"),
                    Column("category", "Category"),
                    Column("condition", "Condition"),
                    Column("answers", "Answers", "count"),
                    Column("right", "Right", "count"),
                    Column("most_given", "Most given"),
                    Column("model_response", "Model"),
                ),
                tuple(
                    (
                        side.contrast.named_by,
                        one.picture,
                        one.category,
                        one.condition,
                        one.answers,
                        one.right,
                        one.most_given,
                        one.response,
                    )
                    for side in room.sides
                    for one in side.contrast.shown
                ),
                tuple(
                    f"{side.contrast.named_by}: {side.contrast.found} found, {side.contrast.expected:.1f} by chance."
                    for side in room.sides
                ),
            ),
        ),
        caption=("Selected by the answers to them: new people would agree a little less on what they name.", credit),
    )
