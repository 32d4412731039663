"""Searches read together, as charts: transfer between models, and how generators rank them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.counterfactuals.transfer import crossed_oor
from analysis.figures.rows import Names, matrix_figure
from analysis.figures.table import Cell, Column, Estimate, Table, estimate
from analysis.figures.value import Figure
from analysis.findings.model.comparisons import RankAgreement, SearchesTogether, Transfer
from humanexp.core.errors import existing
from humanexp.counterfactuals.selectors import Group, said_of_intervals
from humanexp.results.charts.chart import Chart
from humanexp.results.pages.dashboard import FigureJson, figure_value

_DEFINITION = (
    (
        "Rows: the model that pictures were made against, and how many of them its oracle accepted. Columns: the model "
        "that looks at them. Cells: share that it names right, in per cent; the top row is the clean originals (SA)."
    ),
    "The diagonal is CA, the accuracy of the model that was searched. Intervals: exact binomial, 95 %.",
    "The table has OOR, too: each cell over the top of its column, the clean accuracy of the model that looks.",
)
_CAVEATS = (
    "A row holds the pictures that were accepted in its own search: rows are not the same pictures.",
    "A model that errs on clean pictures errs on these too: compare a column with its top row, not with others.",
    "Pictures that fool one model alone say as much about that model as about the pictures.",
)
_AGREEMENT_DEFINITION = (
    "OOR of each model with each generator: CA over SA of its newest search.",
    "SA: share of the clean originals that the model names right; VR: share that the oracle accepts at once.",
    "ρ: rank correlation of Spearman; τ: of Kendall (b); over the models that both generators have.",
)
_AGREEMENT_CAVEATS = (
    "Three models stand in the same order by chance once in six times, four once in 24, five once in 120.",
    "Ranks take no account of intervals: models whose OOR differs by less than noise change places.",
)


@dataclass(frozen=True)
class Told:
    """A chart, and what it says in one sentence."""

    chart: Chart
    sentence: str

    @property
    def figure(self) -> FigureJson | None:
        """The figure as the page draws it."""
        return None if self.chart.figure is None else figure_value(self.chart.key, self.chart.figure)


def charts_of(group: Group, result: SearchesTogether) -> list[Told]:
    """A matrix for each generator, what fools other models most first; then the generators side by side."""
    clean = _clean(group)
    entries = sorted(enumerate(result.transfer), key=lambda numbered: _most_fooling(numbered[1])[1])
    charts = [Told(_transfer(group, entry, number), transfer_sentence(entry, clean)) for number, entry in entries]
    if len(group.generators) > 1:
        chart = _agreement(group, result.agreement or ())
        if result.agreement is None:
            charts.append(Told(chart, "Ranks are compared when the models are tested."))
        else:
            charts.append(Told(chart, agreement_sentence(result.agreement)))
    return charts


def chart_of(group: Group, result: SearchesTogether, key: str) -> Chart:
    found = next((told.chart for told in charts_of(group, result) if told.chart.key == key), None)
    return existing(found, "There is no such chart: test the models on each other's pictures first.")


def transfer_sentence(entry: Transfer, clean: Mapping[str, float | None]) -> str:
    """Which model's pictures the others name least, if less than clean originals."""
    name, mean = _most_fooling(entry)
    if name is None:
        return "The oracle accepted no picture: there is nothing to test."
    originals = [share for tested in entry.tested if tested != name and (share := clean.get(tested)) is not None]
    if originals and mean >= sum(originals) / len(originals):
        return (
            f"With {entry.generator}, pictures made against one model do not fool the others: on "
            "average they name at least "
            f"{100 * mean:.0f} % of them right, no less than of the clean originals."
        )
    row = entry.made_against.index(name)
    own = entry.correct[row][entry.tested.index(name)] / entry.n_valid[row]
    return (
        f"With {entry.generator}, pictures made against {name} fool the others most: on average they "
        f"name {100 * mean:.0f} % "
        f"of them right, {name} itself {100 * own:.0f} %."
    )


def _most_fooling(entry: Transfer) -> tuple[str | None, float]:
    """The model whose pictures the others name least, and which share of them; None and infinity without pictures."""
    means: dict[str | None, float] = {None: math.inf}
    for name, n, counts in zip(entry.made_against, entry.n_valid, entry.correct, strict=True):
        others = [count for tested, count in zip(entry.tested, counts, strict=True) if tested != name]
        if n and others:
            means[name] = sum(others) / len(others) / n
    return min(means.items(), key=lambda found: found[1])


def agreement_sentence(entries: Sequence[RankAgreement]) -> str:
    """How alike generators rank models."""
    known = {entry: entry.rho for entry in entries if entry.rho is not None}
    if not known:
        return "A ranking needs three models or more that two generators have in common."
    least = min(known, key=lambda entry: known[entry])
    first, second = least.pair
    if len(known) == 1:
        return f"{first} and {second} rank {least.n} models with a correlation of {least.rho:.2f}."
    return (
        f"Of {len(known)} pairs of generators {first} and {second} rank models least alike: {least.n} models, "
        f"correlation {least.rho:.2f}."
    )


def _transfer(group: Group, entry: Transfer, number: int) -> Chart:
    title = f"Pictures of {entry.generator} on other models"
    rows = [f"against {name} ({n})" for name, n in zip(entry.made_against, entry.n_valid, strict=True)]
    return Chart(
        key=f"transfer-{number}",
        title=title,
        figure=_matrix(group, entry, title, rows),
        tables=(_transfer_table(group, entry, title),),
        definition=_DEFINITION,
        caveats=_CAVEATS,
    )


def _matrix(group: Group, entry: Transfer, title: str, rows: list[str]) -> Figure:
    clean = _clean(group)
    first = [clean.get(name) for name in entry.tested]
    shares: list[list[float | None]] = [first]
    details = [
        [f"{name} on clean originals: {_share(value)}"
         for name, value in zip(entry.tested, first, strict=True)]
    ]  # fmt: skip
    for made_against, n, counts in zip(entry.made_against, entry.n_valid, entry.correct, strict=True):
        shares.append([count / n if n else None for count in counts])
        details.append(
            [
                f"{name} on pictures made against {made_against}: {count} of {n}{_oor(crossed_oor(count, n, own))}"
                for name, count, own in zip(entry.tested, counts, first, strict=True)
            ]
        )
    return matrix_figure(
        Names(["clean originals", *rows]),
        Names(entry.tested, "tested"),
        shares,
        title=title,
        name="share",
        description=f"{title}: {transfer_sentence(entry, clean)}",
        largest=1.0,
        details=details,
        texts=[["" if share is None else f"{100 * share:.0f}" for share in row] for row in shares],
    )


def _transfer_table(group: Group, entry: Transfer, title: str) -> Table:
    clean = _clean(group)
    on_clean = [clean.get(name) for name in entry.tested]
    top = ("clean originals", None, *((share, None, None) for share in on_clean), *(None for _name in entry.tested))
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            n,
            *(estimate(count / n if n else None, ends) for count, ends in zip(counts, ends_of, strict=True)),
            *(crossed_oor(count, n, own) for count, own in zip(counts, on_clean, strict=True)),
        )
        for name, n, counts, ends_of in zip(
            entry.made_against, entry.n_valid, entry.correct, entry.intervals, strict=True
        )
    ]
    return Table(
        "transfer",
        title,
        (
            Column("made_against", "Made against"),
            Column("n", "Pictures", "count"),
            *(Column(name, name, "estimate", 2) for name in entry.tested),
            *(Column(f"{name}_oor", f"{name}, OOR", "number", 2) for name in entry.tested),
        ),
        (top, *rows),
        (
            "Accuracy of the model in the head, with its 95 % interval; OOR: that accuracy over its accuracy on clean "
            "originals.",
        ),
    )


def _agreement(group: Group, entries: Sequence[RankAgreement]) -> Chart:
    def scored(model: str, generator: str) -> tuple[float | None, Estimate]:
        run = group.run_of(model, generator)
        pooled = {} if run is None else run.scores["pooled"]
        return pooled.get("vr"), estimate(pooled.get("oor"), pooled.get("intervals", {}).get("oor"))

    clean = _clean(group)
    return Chart(
        key="agreement",
        title="Do generators rank models alike?",
        figure=None,
        tables=(
            Table(
                "oor",
                "OOR by model and generator",
                (
                    Column("model", "Model"),
                    Column("sa", "SA", "number", 2),
                    *(
                        column
                        for name in group.generators.values()
                        for column in (
                            Column(f"{name}_vr", f"{name}, VR", "number", 2),
                            Column(name, f"{name}, OOR", "estimate", 2),
                        )
                    ),
                ),
                tuple(
                    (
                        name,
                        clean.get(name),
                        *(value for generator in group.generators for value in scored(model, generator)),
                    )
                    for model, name in group.models.items()
                ),
                tuple(sorted({said_of_intervals(run) for run in group.runs})),
            ),
            Table(
                "ranks",
                "Rank correlations of OOR",
                (
                    Column("first", "Generator"),
                    Column("second", "and"),
                    Column("rho", "ρ", "number", 2),
                    Column("tau", "τ", "number", 2),
                    Column("n", "Models", "count"),
                ),
                tuple((*entry.pair, entry.rho, entry.tau, entry.n) for entry in entries),
            ),
        ),
        definition=_AGREEMENT_DEFINITION,
        caveats=_AGREEMENT_CAVEATS,
    )


def _clean(group: Group) -> dict[str, float | None]:
    """Accuracy of every model on the originals."""
    return {group.models[run.digests["classifier"]]: run.scores["pooled"]["sa"] for run in group.runs}


def _oor(value: float | None) -> str:
    return "" if value is None else f", OOR {value:.2f}"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"
