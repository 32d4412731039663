"""Published curves, the binomial test and weights over visual change on every surface, each by its name."""

from __future__ import annotations

from typing import Any

import pytest

from analysis.claims.curves import NOT_OURS, WITHOUT_INTERVALS
from analysis.claims.telling_apart import AS_PUBLISHED
from analysis.documents.value import TableBlock
from analysis.findings.model.findings import Findings
from humanexp.results.charts.registry import chart_of, choices_of
from humanexp.results.headline import headline_of
from humanexp.results.report import ReportFacts, document_of
from humanexp.studies.two_ways import TwoWays, Way
from tests.analysis.findings.examples import STORED, findings, like, told_apart

SNOW = [[0.0, 0.0], [0.6, 0.0], [0.6, 1.0], [1.0, 1.0]]


def with_settings(**changed: Any) -> Findings:
    settings = {**STORED.to_json()["settings"], **changed}
    return like(STORED, settings=settings)


def charts_of(found: Findings) -> dict[str, Any]:
    return {
        family: chart_of(found, choices_of(found, family)[0].key)
        for family in ("curves", "leaderboard", "indices", "similarity")
    }


@pytest.mark.parametrize("kind", ["paper", "paper-code"])
def test_every_chart_of_curves_says_that_they_are_published(kind: str) -> None:
    found = with_settings(curve=kind)
    charts = charts_of(found)
    for name in ("curves", "leaderboard", "indices"):
        assert all(NOT_OURS[kind] in table.notes for table in charts[name].tables)
        assert charts[name].figure is None or NOT_OURS[kind] in charts[name].figure.notes
    said = {"paper": "(as published)", "paper-code": "(authors' program)"}[kind]
    assert charts["curves"].figure.y.label == f"accuracy {said}" and charts["indices"].figure.x.label == f"index {said}"
    assert NOT_OURS[kind] in charts["curves"].tables[0].to_latex().replace(r"\_", "_")
    definition = charts["curves"].definition
    assert WITHOUT_INTERVALS in definition and not any("B-spline" in one or "Pointwise" in one for one in definition)
    assert not any(NOT_OURS[kind] in table.notes for table in charts["similarity"].tables)
    assert NOT_OURS[kind] in headline_of(found).caveat


def test_nothing_is_said_of_the_default_curve() -> None:
    said = [
        str(part) for chart in charts_of(STORED).values() for part in (*chart.tables, chart.figure, *chart.definition)
    ]
    assert not any("as published" in one or "replication" in one for one in said)
    assert NOT_OURS["paper"] not in headline_of(STORED).caveat


def test_the_default_curve_s_area_stands_beside_a_published_one() -> None:
    curves = [
        like(
            curve, interval=None, own={"area": 0.7, "interval": [0.65, 0.75]} if curve.population == "humans" else None
        )
        for curve in STORED.curves
    ]
    found = like(with_settings(curve="paper"), curves=[one.to_json() for one in curves])
    table = chart_of(found, choices_of(found, "curves")[0].key).table("areas")
    assert [column.label for column in table.columns][-1] == "R̂, default curve"
    assert table.texts[0][-1] == "0.700 [0.650, 0.750]" and table.texts[-1][-1] == "–"


def test_weights_have_tables_of_their_own_that_name_them() -> None:
    weighted = {"value": 0.61, "interval": [0.58, 0.64], "bounds": [0.6, 0.62], "extrapolated": 0.04}
    indices = {name: getattr(STORED.comparisons[0], name) for name in ("human_area", "classifier_area", "human_lead")}
    means = {f"{name}{end}": [0.5, 0.6] if end else 0.55
             for name in ("hmri", "mrsi", "human_area", "classifier_area") for end in ("", "_interval")}  # fmt: skip
    found = like(
        with_settings(change_weights=SNOW, change_weights_name="heavy snow"),
        curves=[like(one, weighted=weighted).to_json() for one in STORED.curves],
        comparisons=[
            like(one, weighted={**indices, "classifier_lead": 0.0, "hmri": 0.91, "mrsi": 0.0}).to_json()
            for one in STORED.comparisons
        ],
        leaderboard=[like(one, weighted=means).to_json() for one in STORED.leaderboard],
    )
    charts = charts_of(found)
    areas = charts["curves"].table("weighted")
    assert areas.columns[1].label == "R̂, heavy snow" and areas.texts[0][1] == "0.610 [0.580, 0.640]"
    assert areas.notes[0].startswith("Weights over visual change, heavy snow: 0 at Δv 0, 0 at Δv 0.6, 1 at Δv 0.6,")
    assert charts["indices"].table("weighted").texts[0][2] == "0.910"
    (leaders,) = [table for table in charts["leaderboard"].tables if table.key.startswith("weighted-")]
    assert leaders.texts[0][1] == "0.550 [0.500, 0.600]"
    assert not any(table.key.startswith("weighted") for chart in charts_of(STORED).values() for table in chart.tables)


def test_the_binomial_test_stands_in_a_table_of_its_own() -> None:
    published = {"trials": 100, "correct": 53, "share": 0.53, "p": 0.617, "p_holm": 1.0, "withheld": ""}
    withheld = {**published, "p": None, "p_holm": None, "withheld": "withheld: several people saw 3 of 97 pairs"}
    entries = [told_apart("gaussian_blur", "uniform_noise", published=published),
               told_apart("frost", "uniform_noise", published=withheld)]  # fmt: skip
    found = like(STORED, discrimination=[one.to_json() for one in entries])
    table = chart_of(found, "discrimination").table("binomial")
    assert table.title == "Binomial test, as published" and AS_PUBLISHED in table.notes
    assert table.texts[0][3:] == ["100", "53", "0.530", "0.510 [0.410, 0.609]", "0.617", "1.000", ""]
    assert table.texts[1][7:] == ["–", "–", "withheld: several people saw 3 of 97 pairs"]
    assert "0.617" in table.to_latex() and "p_holm" in table.to_csv().splitlines()[0]
    assert not any("alike" in text or "significant" in text for row in table.texts for text in row)
    bare = like(STORED, discrimination=[told_apart("gaussian_blur", "uniform_noise").to_json()])
    assert [one.key for one in chart_of(bare, "discrimination").tables] == ["discrimination"]


def test_the_report_has_the_two_ways() -> None:
    way = Way(
        means="pairs", name="pairs, by d′", shows="equivalent", people=42, answers=1512, hours=1.2, pay_cents=1802
    )
    far = Way(
        means="pairs", name="pairs, by d′", shows="different", people=None, answers=None, hours=None, pay_cents=None
    )
    ways = TwoWays(rows=(way, far), naming_s=2.2, comparing_s=2.9, hourly_cents=1500, form="same-different")
    nothing: dict[str, Any] = {"flow": [], "methods": [], "plan": [], "energy": [], "deviations": [], "versions": []}
    facts = ReportFacts(title="t", subtitle="s", is_scripted=False, withdrawn="", ways=ways, **nothing)
    section = next(one for one in document_of(findings(), facts).sections if one.title == "Analysis plan")
    (table,) = [block.table for block in section.blocks if isinstance(block, TableBlock)]
    assert table.texts == [["pairs, by d′", "equivalent", "42", "1,512", "1.20", "18.02"],
                           ["pairs, by d′", "different", "–", "–", "–", "–"]]  # fmt: skip
    assert "a same/different trial 2.9 s" in table.notes[0]
