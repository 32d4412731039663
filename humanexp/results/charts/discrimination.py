"""Can people tell two corruptions apart? The same/different and ABX trials, pair by pair."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from analysis.claims.telling_apart import FORMS, OBSERVERS, rule_sentence
from analysis.figures import Column, Table
from analysis.findings.model import Findings
from humanexp.results.charts import chart_notes
from humanexp.results.charts.chart import Chart, Choice, Family
from humanexp.results.charts.observer_styles import readable

KEY = "discrimination"


def _choices(findings: Findings) -> list[Choice]:
    return [Choice(KEY, _("all pairs"))] if findings.discrimination else []


def _build(findings: Findings, key: str) -> Chart:
    entries = findings.discrimination
    return Chart(
        key=key,
        title=_("Can people tell the corruptions apart?"),
        figure=None,
        tables=(
            Table(
                "discrimination",
                "Pairs of corruptions told apart",
                (
                    Column("first", "First"),
                    Column("second", "Second"),
                    Column("form", "Form"),
                    Column("trials", "Trials", "count"),
                    Column("correct", "Right", "count"),
                    Column("accuracy", "Share right", "estimate"),
                    Column("d_prime", "d′", "estimate", 2),
                    Column("d_prime_upper", "d′ at most", "number", 2),
                    Column("d_prime_other", "d′, other model", "number", 2),
                    Column("p_holm", "p (Holm)", "p"),
                    Column("verdict", "Verdict"),
                ),
                tuple(
                    (
                        *map(readable, entry.pair),
                        FORMS[entry.form],
                        entry.trials,
                        entry.correct,
                        (entry.accuracy, *entry.interval),
                        (entry.d_prime, *(entry.d_prime_interval or (None, None))),
                        entry.d_prime_upper,
                        entry.other_model.d_prime if entry.other_model else None,
                        entry.p_adjusted,
                        entry.said,
                    )
                    for entry in entries
                ),
                _notes(findings),
            ),
        ),
        definition=chart_notes.DISCRIMINATION,
        caveats=chart_notes.DISCRIMINATION_CAVEATS,
    )


def _notes(findings: Findings) -> tuple[str, ...]:
    entries = findings.discrimination
    notes = [f"Guessing gives 0.5; {100 * findings.level:g} % intervals."]
    for form in dict.fromkeys(entry.form for entry in entries):
        one = next(entry for entry in entries if entry.form == form)
        notes.append(
            rule_sentence(form=form, margin=one.margin, d_prime_margin=one.margin_d_prime, model=one.observer_model)
        )
    others = {entry.other_model.model for entry in entries if entry.other_model}
    notes += [f"Other model: {OBSERVERS[name]}." for name in sorted(others)]
    return tuple(notes)


FAMILY = Family("discrimination", _choices, _build)
