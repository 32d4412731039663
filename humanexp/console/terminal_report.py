"""Findings as tables in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from shutil import get_terminal_size

from django.core.management.base import OutputWrapper
from rich.console import Console
from rich.table import Table

from analysis.findings.model.agreement import AverageObserver
from analysis.findings.model.curves import Discrimination
from analysis.findings.model.findings import Findings
from analysis.reporting.results_text import recruiter_sentences
from analysis.wording import words
from humanexp.ledger.figures import PaymentSummary
from humanexp.recruiters import money
from humanexp.results.charts.agreement import benchmark_table, published_tables
from humanexp.results.charts.chart import conditions_of
from humanexp.results.headline import headline_of, interval_text
from humanexp.results.scorecard import Scorecard
from humanexp.results.scorecard_tables import drop_table, factor_tables, score_table

#: Wider tables than this are left to the JSON.
WIDTH = 110
MOST_ROWS = 40


def print_summary(out: OutputWrapper, findings: Findings, payments: PaymentSummary) -> None:
    """The headline, then areas, models, similarity, accuracies and counts, as far as there are any."""
    console = Console(width=WIDTH, highlight=False)
    headline = headline_of(findings)
    with console.capture() as captured:
        console.print(headline.text, soft_wrap=False)
        if headline.caveat:
            console.print(headline.caveat, style="italic")
        for table in (
            _curves(findings),
            _models(findings),
            _similarity(findings),
            _told_apart(findings),
            _models_told_apart(findings),
            _judged(findings),
            _standings(findings.benchmark),
            _accuracy(findings),
        ):
            if table.row_count:
                console.print()
                console.print(table)
        if findings.recruiters is not None:
            console.print()
            for line in recruiter_sentences(findings):
                console.print(line)
        console.print()
        for line in _counts(findings, payments):
            console.print(line)
        for note in findings.notes:
            console.print(f"Note: {note}", style="dim")
    out.write(captured.get())


def print_scorecard(out: OutputWrapper, card: Scorecard) -> None:
    """Right answers of every observer on every set, drops, and likeness to people."""
    tables = [score_table(card), *([drop_table(card)] if card.drops else []), *factor_tables(card)]
    tables += [benchmark_table(card.standings)] if card.standings else []
    console = Console(width=max(WIDTH, get_terminal_size().columns), highlight=False)
    with console.capture() as captured:
        for place, one in enumerate(tables):
            if place:
                console.print()
            console.print(_table(one.title, [column.label for column in one.columns], one.texts))
            for note in one.notes:
                console.print(f"Note: {note}", style="dim")
    out.write(captured.get())


def print_as_published(out: OutputWrapper, standings: Sequence[AverageObserver]) -> None:
    """The two tables of the model-vs-human benchmark, with its columns, order and digits."""
    console = Console(width=WIDTH, highlight=False)
    with console.capture() as captured:
        for one in published_tables(standings):
            console.print(_table(one.title, [column.label for column in one.columns], one.texts))
            console.print()
    out.write(captured.get())


def print_standings(out: OutputWrapper, standings: Sequence[AverageObserver]) -> None:
    """Observers next to people in published experiments."""
    console = Console(width=WIDTH, highlight=False)
    with console.capture() as captured:
        console.print(_standings(standings))
        for note in benchmark_table(standings).notes:
            console.print(f"Note: {note}", style="dim")
    out.write(captured.get())


def _judged(findings: Findings) -> Table:
    """How far people agree about the pictures of each wanted label, and on all."""
    found = findings.validation
    if found is None or found.overall.agreement is None:
        return _table("", (), ())
    columns = ("wanted", "pictures", "answers", "shows it", "could be used", "yes to both", "agreement", "accepted")
    rows = [
        (
            one.wanted,
            f"{one.pictures:,}",
            f"{one.answers:,}",
            *(f"{share:.3f}" for share in (one.shows, one.usable, one.yes_to_both, one.agreement)),
            f"{one.accepted:,}",
        )
        for one in found.labels
    ]
    overall = found.overall
    accepted = sum(one.accepted for one in found.images)
    everything = (f"{len(found.images):,}", f"{overall.answers:,}", "", "", "", f"{overall.agreement:.3f}")
    guessing = overall.agreement_by_guessing
    return _table(
        "Agreement of qualified people",
        columns,
        [
            *rows,
            ("all", *everything, f"{accepted:,}"),
            *([("if everybody guessed", "", "", "", "", "", f"{guessing:.3f}", "")] if guessing is not None else []),
        ],
    )


def _standings(standings: Sequence[AverageObserver]) -> Table:
    shown = benchmark_table(standings)
    return _table(shown.title if standings else "", [column.label for column in shown.columns], shown.texts)


def _table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, title_style="bold")
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def _interval(interval: Sequence[float] | None) -> str:
    return interval_text(interval) if interval else ""


def _curves(findings: Findings) -> Table:
    return _table(
        "Area under the curve",
        ("observer, corruption, property", "area", "interval", "answers", "extrapolated"),
        (
            (
                f"{curve.population}, {words(curve.corruption)}, {curve.property}",
                f"{curve.area:.3f}",
                _interval(curve.interval),
                str(curve.n),
                f"{100 * curve.extrapolated:.1f} %",
            )
            for curve in findings.curves[:MOST_ROWS]
        ),
    )


def _models(findings: Findings) -> Table:
    return _table(
        "Models against people",
        ("model, corruption, property", "HMRI", "MRSI", "verdict"),
        (
            (
                f"{entry.classifier}, {words(entry.corruption)}, {entry.property}",
                f"{entry.hmri:.3f}",
                f"{entry.mrsi:.3f}",
                entry.verdict.word if entry.verdict else "",
            )
            for entry in findings.comparisons[:MOST_ROWS]
        ),
    )


def _similarity(findings: Findings) -> Table:
    return _table(
        "Alike for people?",
        ("pair, property", "difference", "p", "83 % bands", "verdict"),
        (
            (
                f"{_pair(entry.pair)}, {entry.property}",
                f"{entry.difference:+.3f}",
                f"{entry.p:.3f}",
                "overlap" if entry.overlap_83 else "part",
                entry.verdict,
            )
            for entry in findings.similarity[:MOST_ROWS]
        ),
    )


def _told_apart(findings: Findings) -> Table:
    return _table(
        "Told apart?",
        ("pair", "right", "of", "interval", "verdict", "binomial p, as published"),
        (
            (
                _pair(entry.pair),
                str(entry.correct),
                str(entry.trials),
                interval_text(entry.interval),
                entry.said,
                _published_p(entry),
            )
            for entry in findings.discrimination
        ),
    )


def _models_told_apart(findings: Findings) -> Table:
    return _table(
        "Told apart by models (no limit of viewing time)?",
        ("model, pair", "right", "of", "d\u2032", "bias", "verdict"),
        (
            (
                f"{one.observer}, {_pair(one.pair)}",
                str(one.correct),
                str(one.trials),
                "" if one.d_prime is None else f"{one.d_prime:.2f}",
                "" if one.criterion is None else f"{one.criterion:+.2f}",
                "different" if one.different else "undecided",
            )
            for one in findings.model_discrimination
        ),
    )


def _published_p(entry: Discrimination) -> str:
    if entry.published is None:
        return ""
    return "withheld" if entry.published.p is None else f"{entry.published.p:.3g}"


def _accuracy(findings: Findings) -> Table:
    """Accuracies by condition of published trials; a study with people of its own has too many observers."""
    names = [one.name for one in findings.observers]
    conditions = conditions_of(findings)
    if len(names) > 10 or not conditions or findings.similarity:
        return Table()
    means = {cell.condition: cell.mean_over_observers for cell in findings.human_accuracy}
    cells = {(cell.condition, cell.observer): cell.accuracy for cell in findings.accuracy}
    values = {
        condition: [means.get(condition), *[cells.get((condition, name)) for name in names]] for condition in conditions
    }
    return _table(
        "Accuracy, per cent",
        ("condition", "people", *names),
        (
            (condition, *("" if value is None else f"{100 * value:.2f}" for value in row))
            for condition, row in values.items()
        ),
    )


def _counts(findings: Findings, payments: PaymentSummary) -> list[str]:
    sessions, lines = findings.sessions, []
    if sessions:
        reasons = ", ".join(f"{count} {reason}" for reason, count in sessions.excluded.items())
        excluded = f"; excluded: {reasons}" if reasons else ""
        lines.append(
            f"Sessions: {sessions.opened} opened, {sessions.submitted} submitted, {sessions.accepted} count{excluded}."
        )
    if any(sums["total_cents"] for sums in payments["by_currency"].values()):
        lines.append(
            f"Payments: {payments['approved']} approved, {payments['rejected']} rejected, "
            f"{payments['bonuses']} bonuses; {_spent(payments['by_currency'])}."
        )
    return lines


def _spent(by_currency: Mapping[str, Mapping[str, int]]) -> str:
    """Owed where an approval makes a debt of the lab's, paid where it pays the person."""
    kinds = (("owed_cents", "owed"), ("paid_cents", "paid"), ("fee_cents", "in fees"))
    return ", ".join(
        f"{money.shown(sums[key], currency)} {word}"
        for currency, sums in by_currency.items()
        for key, word in kinds
        if sums[key]
    )


def _pair(names: Sequence[str]) -> str:
    return " · ".join(map(words, names))
