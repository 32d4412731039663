"""Figures of searches: originals beside their counterfactuals, of one model or several, and OOR over step sizes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from analysis.corruptions.registry import Picture
from analysis.counterfactuals.summaries import AVERAGED, SearchAverage
from analysis.figures.drawing import inches_of
from analysis.figures.table import Cell, Column, Table
from analysis.figures.tiles import Tile, TileGroup, draw_tiles
from analysis.figures.value import Axis, Figure, Observer, Points
from analysis.generation.files import decode_png
from humanexp.console.figures.figure import Drawn, Wanted, chosen
from humanexp.console.figures.pictures import credit_of
from humanexp.core.errors import InputRefused, InvalidRequest
from humanexp.core.storage import current_path
from humanexp.counterfactuals.models import Counterfactual, SearchRun
from humanexp.counterfactuals.selectors import gallery, generator_name, has_begun, search_by_name
from humanexp.counterfactuals.step_studies import ALL_NETWORKS, StepStudy

if TYPE_CHECKING:
    import matplotlib.figure

#: Originals of one search, searches beside an original, and rows of several searches that are shown at most.
_MOST, _MODELS, _ROWS = 7, 7, 5
#: Pictures side by side on a page and in a column.
_ACROSS = (7, 5)
#: Of several searches: height of a sheet, and of the words below a picture, inches.
_HIGHEST, _WORDS = 8.0, 0.55
#: Between the dots of two networks at one step, of the distance of two steps.
_APART = 0.07


def counterfactuals(run: SearchRun, wanted: Wanted) -> Drawn:
    """Originals with their counterfactuals and both answers: of one search, or of several beside each other."""
    runs = [run, *(search_by_name(name) for name in wanted.searches if name != run.name)]
    credit = credit_of(run.source_set)
    for one in runs:
        if not has_begun(one):
            raise InputRefused(f"No picture of the search {one.name} has been looked at: let its job run first.")
    return _of_several(runs, wanted, credit) if len(runs) > 1 else _of_one(run, wanted, credit)


def _of_one(run: SearchRun, wanted: Wanted, credit: str) -> Drawn:
    fooled, _count = gallery(run, shown="fooled", page=0)
    kept = [one for one in fooled if one.sha256] or [
        one for one in gallery(run, shown="valid", page=0)[0] if one.sha256
    ]
    if wanted.original:
        kept = [one for one in run.counterfactuals.select_related("source_image", "run") if one.sha256]
    if not kept:
        raise InputRefused(
            f"The oracle of {run.name} accepted no picture: search more pictures, or ask another oracle."
        )
    by_key = {one.source_image.key: one for one in kept}
    pairs = [by_key[key] for key in _originals(by_key, wanted)]

    def draw(width: str) -> matplotlib.figure.Figure:
        shown = pairs[:_MOST]
        return draw_tiles(
            [
                TileGroup(
                    "Original",
                    tuple(
                        Tile(_file(one.original_file), (one.category, f"model: {one.clean_response}")) for one in shown
                    ),
                ),
                TileGroup(
                    "Counterfactual",
                    tuple(
                        Tile(_file(one.kept_file), (f"model: {one.response}", f"oracle: {one.oracle_response}"))
                        for one in shown
                    ),
                ),
            ],
            width=width,
            across=min(len(shown), 4 if width == "column" else _MOST),
        )

    return Drawn(
        title=f"Originals and counterfactuals of {run.name}",
        draw=draw,
        tables=lambda: (
            Table("counterfactuals", f"Pictures of {run.name}", _COLUMNS, tuple(_answers(one) for one in pairs)),
        ),
        caption=(f"Model: {run.model_name}. Generator: {run.generator}. Oracle: {run.oracle}.", credit),
    )


@dataclass(frozen=True)
class _Row:
    """An original with the counterfactual of each search that kept one, in the searches' order."""

    made: tuple[Counterfactual, ...]

    @property
    def n_fooled(self) -> int:
        return sum(one.response != one.category for one in self.made)


def _of_several(runs: Sequence[SearchRun], wanted: Wanted, credit: str) -> Drawn:
    """One original a row, beside it the counterfactual of each model: first the originals that fool most models."""
    first = runs[0]
    if len(runs) > _MODELS:
        raise InvalidRequest(f"At most {_MODELS} searches are shown beside each other, not {len(runs)}.")
    other = next(
        (one for one in runs if (one.source_set_id, one.size_px) != (first.source_set_id, first.size_px)), None
    )
    if other is not None:
        raise InvalidRequest(f"{other.name} was not made of the same pictures in the same size as {first.name}.")
    names = _names(runs)
    kept = [
        {
            one.source_image.key: one
            for one in run.counterfactuals.select_related("source_image", "run").order_by("place")
            if one.sha256
        }
        for run in runs
    ]
    common = {
        key: _Row(tuple(of_run[key] for of_run in kept)) for key in kept[0] if all(key in of_run for of_run in kept)
    }
    if not common:
        raise InputRefused(
            f"No original has a counterfactual in each of {', '.join(run.name for run in runs)}: search more pictures."
        )
    # The order of the searches is kept among originals that fool as many.
    rows = sorted((common[key] for key in _originals(common, wanted)), key=lambda row: -row.n_fooled)

    def draw(width: str) -> matplotlib.figure.Figure:
        # Originals with few counterfactuals stand side by side, and no sheet is higher than a page.
        across = (1 + len(runs)) * max(1, _ACROSS[width == "column"] // (1 + len(runs)))
        deep = min(_ROWS, max(1, int(_HIGHEST / (inches_of(width) / across + _WORDS))))
        tiles = [tile for row in rows[: deep * across // (1 + len(runs))] for tile in _tiles(names, row)]
        return draw_tiles([TileGroup("", tuple(tiles))], width=width, across=min(across, len(tiles)))

    return Drawn(
        title=f"Counterfactuals of {len(runs)} searches",
        draw=draw,
        tables=lambda: (
            Table(
                "counterfactuals",
                f"Pictures of {', '.join(run.name for run in runs)}",
                (Column("search", "Search"), *_COLUMNS),
                tuple((run.name, *_answers(one)) for row in rows for run, one in zip(runs, row.made, strict=True)),
            ),
        ),
        caption=(
            *(
                f"{name}: search {run.name}, model {generator_name(run.classifier)}, generator {run.generator}, oracle "
                f"{run.oracle}{', originals in grey' if run.greyscale else ''}."
                for name, run in zip(names, runs, strict=True)
            ),
            credit,
        ),
        said=" ".join(
            f"{row.made[0].category}: "
            + ", ".join(f"{name} says {one.response}" for name, one in zip(names, row.made, strict=True))
            + "."
            for row in rows[:_ROWS]
        ),
    )


def _tiles(names: Sequence[str], row: _Row) -> tuple[Tile, ...]:
    original = Tile(_file(row.made[0].original_file), (row.made[0].category, "original"))
    answers = zip(names, row.made, strict=True)
    return original, *(
        Tile(_file(one.kept_file), (name, f"model: {one.response}", f"oracle: {one.oracle_response}"))
        for name, one in answers
    )


def _names(runs: Sequence[SearchRun]) -> list[str]:
    """Of the models; where two searches are of one name, that of the search, too."""
    models = [run.model_name for run in runs]
    return [name if models.count(name) == 1 else f"{name} ({run.name})" for name, run in zip(models, runs, strict=True)]


def _originals(found: Collection[str], wanted: Wanted) -> list[str]:
    """All of these originals, or the one that is asked for."""
    return [chosen(found, wanted.original, "original with a counterfactual:")] if wanted.original else list(found)


_COLUMNS = (
    Column("original", "Original"),
    Column("category", "Category"),
    Column("steps", "Steps", "count"),
    Column("model_on_original", "Model, original"),
    Column("model", "Model"),
    Column("oracle", "Oracle"),
)


def _answers(one: Counterfactual) -> tuple[str | int, ...]:
    key, steps = one.source_image.key, one.accepted_steps
    return key, one.category, steps, one.clean_response, one.response, one.oracle_response


def _file(relative: str) -> Picture:
    path: Path = current_path(relative)
    return decode_png(path.read_bytes())


def steps(study: StepStudy, _wanted: Wanted) -> Drawn:
    """OOR over the step size, mean and standard deviation over runs, a line a network, and over networks."""
    averages = study.averages
    networks = [name for name in averages if name != ALL_NETWORKS]
    observers = {name: Observer(name, "classifier", place) for place, name in enumerate(networks)}
    if len(averages) > len(networks):
        observers[ALL_NETWORKS] = Observer(ALL_NETWORKS, "human")
    traces = []
    for place, (name, observer) in enumerate(observers.items()):
        apart = _APART * (place - (len(observers) - 1) / 2)
        known = [one for one in averages[name] if np.isfinite(one.mean["oor"])]
        traces.append(
            Points(
                observer,
                tuple(study.steps.index(one.name) + apart for one in known),
                tuple(one.mean["oor"] for one in known),
                tuple(1 for _one in known),
                joined=True,
                intervals=tuple(_ends(one) for one in known),
            )
        )
    if not any(trace.y for trace in traces):
        raise InputRefused(f"No search of {study.name} has an OOR: the oracle accepted no picture.")
    highest = max(end for trace in traces for _low, end in trace.intervals)
    title = "OOR over the step size"
    figure = Figure(
        title=title,
        description="; ".join(_told(name, averages[name]) for name in observers) + ".",
        x=Axis("Step size", (-0.5, len(study.steps) - 0.5), categories=tuple(study.steps)),
        y=Axis("OOR", (0.0, 1.05 * max(1.0, highest))),
        traces=tuple(traces),
    )
    return Drawn.of_figure(figure, _step_table(title, averages), caption=_step_caption(study))


def _ends(one: SearchAverage) -> tuple[float, float]:
    """Mean minus and plus a standard deviation, as far as a ratio goes; the mean alone where there is one run."""
    mean, sd = one.mean["oor"], one.sd["oor"]
    return (max(mean - sd, 0.0), mean + sd) if np.isfinite(sd) else (mean, mean)


def _told(name: str, averages: Sequence[SearchAverage]) -> str:
    return f"{name}: " + ", ".join(
        f"{one.mean['oor']:.3f} at {one.name}" for one in averages if np.isfinite(one.mean["oor"])
    )


def _step_table(title: str, averages: dict[str, list[SearchAverage]]) -> Table:
    columns = [
        Column("network", "Network"),
        Column("step", "Step", "number"),
        Column("runs", "Runs", "count"),
    ]
    for quantity in AVERAGED:
        columns += [Column(quantity, quantity, "number"), Column(f"{quantity}_sd", f"{quantity}, sd", "number")]
    rows: list[tuple[Cell, ...]] = []
    for name, of_network in averages.items():
        for one in of_network:
            values = (value for quantity in AVERAGED for value in (one.mean[quantity], one.sd[quantity]))
            rows.append((name, float(one.name), one.n_runs, *(v if np.isfinite(v) else None for v in values)))
    return Table("steps", title, tuple(columns), tuple(rows))


def _step_caption(study: StepStudy) -> tuple[str, ...]:
    run, is_of_several = study.runs[0], ALL_NETWORKS in study.averages
    told = [
        "Mean over runs; bars: a standard deviation on either side, where there are two runs or more.",
        *([f"Of {ALL_NETWORKS}: mean over the networks' means, and deviation between them."] if is_of_several else []),
        f"Generator: {run.generator.partition('step=')[0].rstrip(',')}. Oracle: {run.oracle}. At most {run.budget} "
        f"perturbations of {run.source_set.name} in {run.size_px} px.",
    ]
    repeated = [one for name in study.by_network for one in study.averages[name] if one.n_runs > 1]
    if repeated and all(one.is_without_chance for one in repeated):
        told.append("All runs of a step came out the same: this generator leaves nothing to chance.")
    if study.n_unfinished:
        total = study.n_unfinished + len(study.runs)
        told.append(f"Not finished, and left out: {study.n_unfinished} of {total} searches.")
    return tuple(told)
