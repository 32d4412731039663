"""Of how many people a verdict speaks: headline, tables, report and JSON say the same, for every kind of study."""

from __future__ import annotations

from typing import Any

import pytest

from analysis.claims.crowd import ENOUGH, FEWEST, crowd_words, provisional_words, too_few_words
from analysis.findings import analyse
from analysis.findings.model import Findings
from analysis.reporting.results_text import comparison_sentences
from humanexp.results.charts.indices import comparisons_table, leaderboard_table
from humanexp.results.headline import Headline, headline_of
from humanexp.results.report import ReportFacts, document_of
from tests.analysis.findings.examples import comparison, curve, findings, told_apart
from tests.analysis.findings.studies import study

PLANNED = 60


def studied(people: int, **sessions: int) -> Findings:
    counts = {"planned": PLANNED, "accepted": people, **sessions}
    tables = study(people=people, trials_each=1_440 // people)
    return analyse(*tables, study="crowd", seed=1, n_bootstrap=20, sessions=counts)


def told(found: Findings) -> tuple[Headline, str, str, str]:
    """Headline, tables, report and the report's sentences on models."""
    tables = [leaderboard_table(found, "accuracy")]
    tables += [comparisons_table(found, "accuracy", one.corruption) for one in found.human_curves]
    written = " ".join(f"{table.texts} {table.notes}" for table in tables)
    facts = ReportFacts(
        title="", subtitle="", is_scripted=False, withdrawn="", flow=(), methods=(), plan=(), deviations=(), versions=()
    )
    return (
        headline_of(found),
        written,
        " ".join(document_of(found, facts).abstract),
        " ".join(comparison_sentences(found)),
    )


@pytest.mark.parametrize("people", [1, FEWEST - 1])
def test_of_fewer_than_four_people_nothing_is_said_of_people_at_large(people: int) -> None:
    found = studied(people)
    headline, tables, report, sentences = told(found)
    for where in (headline.text, tables, report, sentences):
        assert too_few_words(people) in where
    for where in (headline.text + headline.caveat, tables, report, sentences):
        assert "Verdicts rest" not in where and "matches people" not in where and "differs from people" not in where
    stored = found.to_json()
    assert {one["verdict"] for one in stored["comparisons"]} == {None}
    assert all(too_few_words(people) in one["no_verdict"] for one in stored["comparisons"])
    assert found.human_curves and all(one.area for one in found.human_curves), "the numbers are shown"
    pairs = [one for one in found.similarity if one.property == "accuracy"]
    assert {(one.verdict, one.equivalent, one.different) for one in pairs} <= {("undecided", False, False)}
    assert all(one.statement == f"undecided: {too_few_words(people)}" for one in pairs)


def test_from_four_people_on_verdicts_say_how_many_they_rest_on_and_how_often_those_on_few_are_wrong() -> None:
    found = studied(12)
    headline, tables, report, sentences = told(found)
    few = crowd_words([12])
    assert "12 people" in few and "8 to 12 of 100 studies" in few and "not at most 5" in few
    for where in (headline.caveat, tables, report, sentences):
        assert few in where
    judged = [one["verdict"] for one in found.to_json()["comparisons"] if one["verdict"]]
    assert judged and {verdict["people"] for verdict in judged} == {12}


def test_from_twenty_people_on_nothing_is_added_to_their_number() -> None:
    found = studied(24)
    headline, tables, report, sentences = told(found)
    for where in (headline.caveat, tables, report, sentences):
        assert "Verdicts rest on the answers of 24 people." in where and "of 100 studies" not in where
    assert crowd_words([ENOUGH]) == "Verdicts rest on the answers of 20 people."


def test_before_the_planned_number_is_reached_everything_is_provisional() -> None:
    early, whole = studied(24), studied(24, planned=24)
    said = f"Provisional: 24 of {PLANNED} planned sessions count so far."
    headline, tables, report, sentences = told(early)
    assert headline.text.startswith(said)
    for where in (tables, report, sentences):
        assert said in where
    assert (early.to_json()["sessions"]["accepted"], early.to_json()["sessions"]["planned"]) == (24, PLANNED)
    for where in told(whole):
        assert "Provisional" not in str(where)


MEANS = [{"condition": name, "mean_over_observers": 0.5, "observers": 4} for name in ("c05", "c100")]
KINDS: dict[str, dict[str, Any]] = {
    "models": {"comparisons": [comparison("net")]},
    "people alone": {"curves": [curve(corruption="gaussian_blur")]},
    "same/different": {"discrimination": [told_apart("a", "b")]},
    "conditions": {"human_accuracy": MEANS},
    "one condition": {"human_accuracy": MEANS[:1]},
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_study_is_provisional_until_then(kind: str) -> None:
    early = findings(**KINDS[kind], sessions={"planned": 32, "accepted": 25})
    assert headline_of(early).text == f"{provisional_words(25, 32)} {headline_of(findings(**KINDS[kind])).text}"
    imported = findings(**KINDS[kind], sessions={"planned": 0, "accepted": 25})
    assert "Provisional" not in headline_of(imported).text


def test_what_no_people_answered_is_not_provisional() -> None:
    nothing = findings(sessions={"planned": 32, "accepted": 0})
    assert headline_of(nothing).text == "Too few answers count for a curve."
    network = findings(curves=[curve(population="net")], sessions={"planned": 32, "accepted": 0})
    assert "Provisional" not in headline_of(network).text
