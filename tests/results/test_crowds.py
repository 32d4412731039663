"""Of how many people a verdict speaks: headline, tables, report and JSON say the same, for every kind of study."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.claims.claim import ENOUGH, FEWEST, crowd_words, provisional_words, too_few_words
from analysis.documents.html import to_html
from analysis.findings.analysing import analyse
from analysis.findings.model.findings import Findings
from analysis.findings.model.people import SessionCounts
from analysis.reporting.methods import methods_paragraphs
from humanexp.results.charts.registry import FAMILIES, chart_of, choices_of
from humanexp.results.headline import headline_of
from humanexp.results.report import ReportFacts, document_of
from humanexp.studies.tasks import TASKS
from tests.analysis.findings.examples import comparison, curve, findings, told_apart
from tests.analysis.findings.studies import answer, imported, study

PLANNED = 60


def categorised(people: int) -> pd.DataFrame:
    return study(people=people, trials_each=1_440 // people)[0]


def compared(task: str, people: int) -> pd.DataFrame:
    """Pairs of two corruptions that everybody tells apart in four of five trials, with plain pairs."""
    rng = np.random.default_rng(people)
    rows = []
    for person in range(people):
        for position in range(480 // people):
            is_plain, first, last = position % 4 == 3, "blur", ("blur", "noise")[position % 2]
            row = answer(
                rng,
                person,
                position,
                role="negative" if is_plain else "main",
                original=f"o{person}-{position}",
                stimulus=f"{person}-{position}",
                category="cat",
                corruption=first,
                visual_change=0.5,
                right=0.98 if is_plain else 0.8,
            )
            shown = {"second_corruption": last} if task == "discrimination" else {"second_corruption": "noise"}
            rows.append({**row, **shown, "third_corruption": last, "task": task, "response": "same"})
    return pd.DataFrame(rows)


def judged(people: int) -> pd.DataFrame:
    """Eight pictures, of which everybody accepts five."""
    rng = np.random.default_rng(people)
    rows = [
        answer(
            rng,
            person,
            picture,
            role="main",
            original=f"o{picture}",
            stimulus=f"s{picture}",
            category="chair",
            corruption="blur",
            visual_change=0.5,
            right=1.0,
        )
        for person in range(people)
        for picture in range(8)
    ]
    frame = pd.DataFrame(rows)
    answers = np.where(frame["position"] < 5, "yes-yes", "no-no")
    return frame.assign(task="validation", wanted="chair", response=answers)


@dataclass(frozen=True)
class Kind:
    """A kind of study: the task that people have in it, its tables, and a number that a reader looks for first."""

    task: str
    tables: Callable[[int], tuple[pd.DataFrame, ...]]
    number: Callable[[dict[str, Any]], float]
    #: its verdicts are on people at large, and their rate of false differences is this sentence's
    verdicts: str = ""


KINDS = {
    "models": Kind(
        "categorisation",
        lambda people: study(people=people, trials_each=1_440 // people),
        lambda found: next(one for one in found["leaderboard"] if one["property"] == "accuracy")["hmri"],
        "of 100 studies whose models are exactly like people",
    ),
    "people alone": Kind(
        "categorisation",
        lambda people: (categorised(people),),
        lambda found: found["curves"][0]["area"],
        "of 100 studies of corruptions that are alike",
    ),
    "conditions": Kind(
        "categorisation",
        lambda people: (imported({"sharp": 0.9, "blurred": 0.4}, people=people),),
        lambda found: found["human_accuracy"][0]["mean_over_observers"],
    ),
    "same/different": Kind(
        "discrimination",
        lambda people: (compared("discrimination", people),),
        lambda found: found["discrimination"][0]["accuracy"],
        "of 100 studies of corruptions that are alike",
    ),
    "ABX": Kind(
        "abx",
        lambda people: (compared("abx", people),),
        lambda found: found["discrimination"][0]["accuracy"],
        "of 100 studies of corruptions that are alike",
    ),
    "judged pictures": Kind(
        "validation", lambda people: (judged(people),), lambda found: found["validation"]["overall"]["accepted_share"]
    ),
}
#: Fewer than four, fewer than twenty, and enough.
CROWDS = (3, 12, 24)


def found_in(kind: str, people: int) -> Findings:
    counts = {"planned": PLANNED, "accepted": people}
    tables = KINDS[kind].tables(people)
    return analyse(*tables, study="crowd", seed=1, n_bootstrap=10, sensitivity=False, sessions=counts)


def as_planned(early: Findings, people: int) -> Findings:
    """The same findings of a study for which no more people were planned."""
    whole = early.model_copy(update={"sessions": SessionCounts(planned=people, accepted=people)})
    return whole.model_copy(update={"crowd": whole.crowd_of(people)})


def told(found: Findings) -> dict[str, str]:
    """What each place says, as its reader meets it."""
    headline = headline_of(found)
    tables = [
        table
        for family in FAMILIES
        for choice in choices_of(found, family)
        for table in chart_of(found, choice.key).tables
    ]
    facts = ReportFacts(
        title="", subtitle="", is_scripted=False, withdrawn="", flow=(),
        methods=[(one.title, one.text) for one in methods_paragraphs(found)], plan=(), energy=(), deviations=(),
        versions=(),
    )  # fmt: skip
    document = document_of(found, facts)
    return {
        "headline": f"{headline.text} {headline.caveat}",
        "tables": " ".join(f"{table.texts} {' '.join(table.notes)}" for table in tables),
        "report": html.unescape(to_html(document, [""] * document.figures)),
        "JSON": json.dumps(found.to_json(), ensure_ascii=False),
    }


def printed(number: float) -> re.Pattern[str]:
    """The number with three digits, as a share or in per cent."""
    return re.compile(rf"(?<![\d.])({re.escape(f'{number:.3f}')}|{re.escape(f'{100 * number:.1f}')} %)")


def verdicts_in(stored: Any) -> Iterator[dict[str, Any]]:
    """Every verdict on people, of whatever part."""
    yield from (one["verdict"] for one in stored["comparisons"] if one["verdict"])
    yield from (one for name in ("similarity", "discrimination") for one in stored[name])


def test_every_task_of_the_product_is_a_kind_here() -> None:
    assert {kind.task for kind in KINDS.values()} == set(TASKS)


#: What is said of people at large.
AT_LARGE = re.compile(r"\w+ (matches|differs from) people on|People's accuracy over the whole|People tell pairs")
#: Curves are fitted in seconds.
DEAR = ("models", "people alone")


@pytest.mark.parametrize("people", CROWDS)
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.verify) if kind in DEAR else kind for kind in KINDS]
)
def test_headline_tables_report_and_json_say_the_same(kind: str, people: int) -> None:
    early = found_in(kind, people)
    stored = early.to_json()
    assert Findings.read(json.dumps(stored)).about_people == early.about_people
    assert stored["crowd"] == {
        "people": people,
        "statement": early.known_crowd.statement,
        "provisional": provisional_words(people, PLANNED),
    }
    number, verdicts = printed(KINDS[kind].number(stored)), list(verdicts_in(stored))
    assert bool(verdicts) == bool(KINDS[kind].verdicts) or people < FEWEST
    has_verdict = people >= FEWEST and bool(verdicts)
    says_nothing_but_why = people < FEWEST and kind == "models"
    for where, said in told(early).items():
        assert f"{people} people" in said, where
        if where != "JSON" and not (where == "headline" and says_nothing_but_why):
            assert number.search(said), where
        assert provisional_words(people, PLANNED) in said, where
        assert (too_few_words(people) or "Verdicts rest on" * has_verdict) in said, where
        assert ("Verdicts rest on" in said) == has_verdict, where
        of_few = has_verdict and people < ENOUGH
        assert (f"With fewer than {ENOUGH} people, " in said) == of_few, where
        assert (KINDS[kind].verdicts in said) == of_few or not KINDS[kind].verdicts, where
        if people < FEWEST:
            assert not AT_LARGE.search(said), where
    if people < FEWEST:
        assert {one.get("verdict", "undecided") for one in verdicts} <= {"undecided"}
        assert not any(one["different"] or one["equivalent"] for one in verdicts)
    for where, said in told(as_planned(early, people)).items():
        assert "Provisional" not in said, where


def test_the_rate_of_few_is_said_of_what_is_judged_and_of_nothing_else() -> None:
    assert crowd_words({"models": [12], "corruptions": [12]}, answered=12).count("studies") == 2
    assert crowd_words({"models": [ENOUGH]}) == f"Verdicts rest on the answers of {ENOUGH} people."
    assert crowd_words({"corruptions": [2, 12], "recruiters": []}).startswith(
        "Verdicts rest on the answers of 12 people"
    )
    assert "up to 8 of 100 studies whose recruiters send equal crowds" in crowd_words({"recruiters": [12]})
    assert crowd_words({"models": [1]}, answered=1) == f"{too_few_words(1)}."
    assert crowd_words({"models": []}, answered=12) == "12 people answered."
    assert crowd_words({"models": [0]}) == "", "an earlier version did not count them"


MEANS = [{"condition": name, "mean_over_observers": 0.5, "observers": 4} for name in ("c05", "c100")]
PARTS: dict[str, dict[str, Any]] = {
    "models": {"comparisons": [comparison("net")]},
    "people alone": {"curves": [curve(corruption="gaussian_blur")]},
    "same/different": {"discrimination": [told_apart("a", "b")]},
    "conditions": {"human_accuracy": MEANS},
    "one condition": {"human_accuracy": MEANS[:1]},
}


@pytest.mark.parametrize("kind", PARTS)
def test_findings_of_earlier_versions_are_provisional_too(kind: str) -> None:
    early = findings(**PARTS[kind], sessions={"planned": 32, "accepted": 25})
    assert early.crowd is None and "crowd" not in early.to_json()
    assert headline_of(early).text == f"{provisional_words(25, 32)} {headline_of(findings(**PARTS[kind])).text}"
    of_published = findings(**PARTS[kind], sessions={"planned": 0, "accepted": 25})
    assert "Provisional" not in headline_of(of_published).text


def test_what_no_people_answered_is_not_provisional() -> None:
    nothing = findings(sessions={"planned": 32, "accepted": 0})
    assert headline_of(nothing).text == "Too few answers count for a curve."
    network = findings(curves=[curve(population="net")], sessions={"planned": 32, "accepted": 0})
    assert "Provisional" not in headline_of(network).text
