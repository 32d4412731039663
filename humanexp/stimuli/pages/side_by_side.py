"""Two stimulus sets side by side, as their page draws them: mirrored histograms, and rows for levels below."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from analysis.figures.coverage import draw_comparison
from analysis.figures.paper import canvas_to_file
from analysis.generation.imagenet_c import function_label
from analysis.visual_change.coverage import FunctionComparison, FunctionSide, LevelSpread, SetComparison, compare_sets
from humanexp.stimuli.models import StimulusSet
from humanexp.stimuli.selectors.sets import counted_changes

#: The drawing: bins across WIDTH right of the margin for levels' numbers, SIDE above and below the middle line.
_MARGIN, _WIDTH, _SIDE = 16.0, 320.0, 72.0
_AXIS, _ROW = 19.0, 13.0
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class DrawnBar:
    x: float
    y: float
    width: float
    height: float
    #: fewer stimuli than make a bin covered
    is_thin: bool


@dataclass(frozen=True)
class DrawnLevel:
    """A level's row: median, middle half, middle nine tenths."""

    level: int
    n: int
    change: float
    y: float
    median: float
    quartiles: tuple[float, float]
    nine_tenths: tuple[float, float]
    side: str


@dataclass(frozen=True)
class DrawnFunction:
    name: str
    label: str
    comparison: FunctionComparison
    upper: list[DrawnBar]
    lower: list[DrawnBar]
    levels: list[DrawnLevel]
    highest_share: float
    height: float

    left: ClassVar = _MARGIN
    right: ClassVar = _MARGIN + _WIDTH
    width: ClassVar = _MARGIN + _WIDTH + 4
    middle: ClassVar = _SIDE
    bottom: ClassVar = 2 * _SIDE
    axis_y: ClassVar = 2 * _SIDE + 13

    @property
    def ticks(self) -> list[tuple[float, str]]:
        return [(_x(tick), f"{tick:g}") for tick in TICKS]

    @cached_property
    def rows(self) -> list[tuple[float, float, int, int]]:
        """From, to, and stimuli of both sets, bin by bin."""
        a, b = self.comparison.a.counts, self.comparison.b.counts
        return [(place / len(a), (place + 1) / len(a), a[place], b[place]) for place in range(len(a))]


@dataclass(frozen=True)
class LevelTable:
    """Spread of every level of one set: a row a function, a column a level."""

    levels: list[int]
    rows: list[tuple[str, list[LevelSpread | None]]]


@dataclass(frozen=True)
class ComparisonPage:
    a: StimulusSet
    b: StimulusSet
    comparison: SetComparison
    functions: list[DrawnFunction]
    #: what keeps the two from being compared without a second thought, one sentence each
    cautions: list[str]

    @property
    def n_bins(self) -> int:
        return 40 * len(self.functions)

    @property
    def covered(self) -> tuple[int, int]:
        """Covered bins of both sets over all shared functions."""
        functions = self.comparison.functions
        return sum(one.a.covered for one in functions), sum(one.b.covered for one in functions)

    @property
    def shares(self) -> tuple[float, float]:
        covered_a, covered_b = self.covered
        return (covered_a / self.n_bins, covered_b / self.n_bins) if self.n_bins else (0.0, 0.0)

    @property
    def covered_at_equal_number(self) -> tuple[int, int]:
        """Covered bins if both sets had as many stimuli of a function as the larger."""
        pairs = [one.covered_at_equal_number for one in self.comparison.functions]
        return sum(a for a, _b in pairs), sum(b for _a, b in pairs)

    @property
    def smaller(self) -> tuple[str, float] | None:
        """The set with fewer stimuli of the shared functions, and its covered share at equal numbers."""
        numbers = [sum(getattr(one, side).n for one in self.comparison.functions) for side in ("a", "b")]
        if not self.n_bins or numbers[0] == numbers[1]:
            return None
        place = 0 if numbers[0] < numbers[1] else 1
        return (self.a, self.b)[place].name, self.covered_at_equal_number[place] / self.n_bins

    @property
    def level_tables(self) -> list[tuple[str, LevelTable]]:
        """One for each of the two sets that has levels."""
        tables = []
        for stimulus_set, side in ((self.a, "a"), (self.b, "b")):
            by_function = [
                (one.label, {level.level: level for level in getattr(one.comparison, side).levels})
                for one in self.functions
            ]
            levels = sorted({level for _label, found in by_function for level in found})
            if levels:
                rows = [(label, [found.get(level) for level in levels]) for label, found in by_function]
                tables.append((stimulus_set.name, LevelTable(levels, rows)))
        return tables

    @property
    def only(self) -> tuple[list[str], list[str]]:
        """Labels of functions that one of the two has."""
        return _labels(self.comparison.only_a), _labels(self.comparison.only_b)


def compare(a: StimulusSet, b: StimulusSet) -> SetComparison:
    """Counts of both sets over their shared functions; the database counts, no row is read."""
    return compare_sets(counted_changes(a), counted_changes(b))


def comparison_page(a: StimulusSet, b: StimulusSet) -> ComparisonPage:
    """What the page of two sets shows."""
    comparison = compare(a, b)
    return ComparisonPage(a, b, comparison, [_drawn(one) for one in comparison.functions], _cautions(a, b))


def comparison_json(a: StimulusSet, b: StimulusSet) -> dict[str, Any]:
    """Every number of the page, unrounded."""
    described = {
        side: {
            "name": one.name,
            "images": one.source_set.name,
            "sampling": one.sampling,
            "framing": one.framing,
            "size_px": one.size_px,
            "enlarged": one.enlarged,
            "metric": one.metric,
            "is_complete": one.completed_at is not None,
        }
        for side, one in (("a", a), ("b", b))
    }
    return {**described, "cautions": _cautions(a, b), **compare(a, b).to_dict()}


def write_file(a: StimulusSet, b: StimulusSet, path: Path) -> Path:
    """The page's drawings as one .svg, .pdf or .png file."""
    comparison = compare(a, b)
    names = [one.name for one in comparison.functions]
    labels = dict(zip(names, _labels(names), strict=True))
    names_of = a.name, b.name
    title = f"{a.name} and {b.name}"
    return canvas_to_file(lambda: draw_comparison(comparison, names=names_of, labels=labels), path, title=title)


def _drawn(comparison: FunctionComparison) -> DrawnFunction:
    highest = max(*comparison.a.shares, *comparison.b.shares, 1e-9)
    levels = [
        *_levels(comparison.a, "a", 0),
        *_levels(comparison.b, "b", len(comparison.a.levels)),
    ]
    return DrawnFunction(
        name=comparison.name,
        label=_labels([comparison.name])[0],
        comparison=comparison,
        upper=_bars(comparison.a, highest, is_upper=True),
        lower=_bars(comparison.b, highest, is_upper=False),
        levels=levels,
        highest_share=highest,
        height=2 * _SIDE + _AXIS + _ROW * len(levels) + 2,
    )


def _bars(side: FunctionSide, highest: float, *, is_upper: bool) -> list[DrawnBar]:
    width = _WIDTH / len(side.counts)
    bars = []
    for place, (count, share) in enumerate(zip(side.counts, side.shares, strict=True)):
        if count:
            # A bin with one stimulus of thousands still shows.
            height = max(0.75, (_SIDE - 4) * share / highest)
            y = _SIDE - height if is_upper else _SIDE
            bars.append(DrawnBar(_MARGIN + place * width + 0.5, y, width - 1, height, is_thin=count < side.minimum))
    return bars


def _levels(side: FunctionSide, name: str, above: int) -> list[DrawnLevel]:
    return [
        DrawnLevel(
            level=level.level,
            n=level.n,
            change=level.median,
            y=2 * _SIDE + _AXIS + _ROW * (above + row) + 0.5 * _ROW,
            median=_x(level.median),
            quartiles=(_x(level.quartiles[0]), _x(level.quartiles[1])),
            nine_tenths=(_x(level.nine_tenths[0]), _x(level.nine_tenths[1])),
            side=name,
        )
        for row, level in enumerate(side.levels)
    ]


def _x(change: float) -> float:
    return _MARGIN + _WIDTH * change


def _labels(names: list[str] | tuple[str, ...]) -> list[str]:
    return [function_label(name) for name in names]


def _cautions(a: StimulusSet, b: StimulusSet) -> list[str]:
    cautions = [
        (
            a.size_px != b.size_px,
            (
                f"The sets have different sizes ({a.size_px} and {b.size_px} px). Visual change depends "
                "on the size, so their "
                "values cannot be compared."
            ),
        ),
        (
            a.size_px == b.size_px and a.enlarged != b.enlarged,
            f"The sets were corrupted at different sizes ({a.native_px} and {b.native_px} px), "
            "so their parameters cannot be compared.",
        ),
        (
            a.metric != b.metric,
            f"The sets were measured differently ({a.metric} and {b.metric}); their values cannot be compared.",
        ),
        (
            a.source_set_id != b.source_set_id,
            f"The sets come from different pictures ({a.source_set.name} and {b.source_set.name}), "
            "which differ in how robust they are.",
        ),
        (
            a.source_set_id == b.source_set_id and a.framing != b.framing,
            f"The sets cut their pictures differently ({a.framing} and {b.framing}).",
        ),
        *((one.completed_at is None, f"{one.name} is still being made; its counts grow.") for one in (a, b)),
    ]
    return [sentence for holds, sentence in cautions if holds]
