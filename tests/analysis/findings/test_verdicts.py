"""Verdicts of models in the findings: entries, words, and what follows from them elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from analysis.claims.models import (
    models_sentence,
    order_sentence,
    rank_words,
    ranks_sentence,
    undecided_words,
    verdict_words,
    withheld_words,
)
from analysis.curves.categories import equal_categories, pictures_needed
from analysis.findings.analysing import analyse
from analysis.labels.files import default_labels
from analysis.reporting.results_text import comparison_sentences
from humanexp.results.charts.indices import comparisons_table
from humanexp.results.headline import headline_of
from tests.analysis.findings.studies import study
from tests.labels import of_the_sixteen


@pytest.mark.parametrize(
    ("matches", "differs", "direction", "words"),
    [
        (True, False, None, "matches people"),
        (True, True, "below", "matches people, differs by 0.012"),
        (False, True, "above", "differs from people (above)"),
        (False, True, "crosses", "differs from people (crosses)"),
        (False, False, None, "undecided"),
    ],
)
def test_the_words_of_a_verdict(matches: bool, differs: bool, direction: str | None, words: str) -> None:
    assert verdict_words(matches=matches, differs=differs, direction=direction, difference=-0.012) == words


def test_why_nothing_is_decided() -> None:
    numbers: dict[str, Any] = {"answers_to_match": 3008, "answers_to_differ": 2461}
    assert "3,008 answers" in undecided_words(gaps=0, careless=False, **numbers)
    assert "2,461 a difference of 0.05" in undecided_words(gaps=0, careless=False, **numbers)
    assert "could not have shown it" in undecided_words(gaps=0, careless=True, **numbers)
    assert "was not measured" in undecided_words(gaps=1, careless=True, **numbers)


def test_models_are_counted_with_their_names_while_they_are_few() -> None:
    said = models_sentence([], ["a", "b", "c", "d"], ["e"], where="over 3 corruptions")
    assert said == "Of 5 models, over 3 corruptions, 4 differ from people and 1 (e) is undecided"
    said = models_sentence(["a"], ["b", "c"], ["d"], where="on blur")
    assert said == "Of 4 models, on blur, 1 (a) matches people, 2 (b, c) differ from people and 1 (d) is undecided"
    said = models_sentence([], [], ["d", "e"], where="on blur")
    assert said == "Whether any of 2 models matches people on blur is undecided"
    said = models_sentence(["a", "b"], [], [], where="on blur")
    assert said == "Of 2 models, on blur, 2 (a, b) match people"


def test_the_order_of_models_is_said_as_far_as_it_is_known() -> None:
    assert [rank_words(2, 2), rank_words(1, 3)] == ["2", "1 to 3"]
    tie = {"a": (1, 2), "b": (1, 2)}
    assert order_sentence(tie) == "By mean accuracy these data do not order the 2 models: a tie"
    some = {"a": (1, 2), "b": (1, 2), "c": (3, 3)}
    assert order_sentence(some) == "By mean accuracy the first place among 3 models is open to 2 (a, b)"
    assert ranks_sentence(some).endswith("are not ordered): a, b 1 to 2; c 3.")
    assert order_sentence({"a": (1, 1), "b": (2, 3), "c": (2, 3)}) == "By mean accuracy a is the first of 3 models"


@pytest.mark.verify
def test_the_findings_hold_a_verdict_on_accuracy_beside_peoples_own_curves(findings: dict[str, Any]) -> None:
    for entry in findings["comparisons"]:
        verdict = entry.get("verdict")
        assert (verdict is not None) == (entry["property"] == "accuracy")
        if verdict is None:
            assert entry["exceeds"] is None, "of consistency the indices alone are given"
            continue
        assert verdict["word"] == "differs" and verdict["direction"] == "below"
        assert verdict["interval"][0] < verdict["difference"] < verdict["interval"][1] < 0.0
        assert entry["exceeds"] == [] and entry["falls_short"]
        shown = [one["range"] for one in verdict["windows"] if one["significant"]]
        assert entry["falls_short"][0][0] == shown[0][0]
        assert verdict["difference"] == pytest.approx(entry["classifier_area"] - entry["human_area"], abs=0.05)
    (leader,) = [one for one in findings["leaderboard"] if one["property"] == "accuracy"]
    assert leader["verdict"]["differs_on"] == ["blur", "noise"] and leader["verdict"]["matches_on"] == []
    assert leader["verdict"]["statement"] == "differs from people (below) on 2 of 2 corruptions"


@of_the_sixteen
def test_a_verdict_that_is_withheld_names_the_thin_categories_and_what_would_mend_them() -> None:
    """Nine in ten pictures are of one category: of the others too few were shown to let categories count equally."""
    tables = study(1, corruptions=("blur",))
    for one in tables:
        number = one["original"].str.extract(r"(\d+)")[0].fillna("0").astype(int)
        one["category"] = np.where(
            number % 10 == 0, [default_labels().ids[k // 10 % 16] for k in number], default_labels().ids[0]
        )
    found = analyse(*tables, study="s", seed=1, n_bootstrap=10)
    (entry,) = [one for one in found.comparisons if one.property == "accuracy"]
    assert entry.verdict is None
    assert entry.no_verdict == (
        "no verdict: categories count equally, and too few pictures are of dog between 0.00 and 1.00 (19 more, spread "
        "evenly where it is missing, would mend it), knife between 0.03 and 1.00 (17 more), bottle between 0.15 and "
        "0.80 (13 more) and 12 more categories"
    )
    said = headline_of(found)
    assert said.text.startswith("There is no verdict on the model near-sighted on blur: categories count equally, and ")
    assert "replicates" not in said.text and "HMRI" not in said.text
    (row,) = comparisons_table(found, "accuracy", "blur").rows
    assert entry.no_verdict in row
    assert entry.no_verdict in " ".join(comparison_sentences(found))


def test_so_many_pictures_of_a_thin_category_mend_it() -> None:
    rng = np.random.default_rng(0)
    place = rng.random(400)
    category = np.array([f"c{k % 2}" for k in range(400)])
    kept = (category == "c0") | (place < 0.4)
    (gap,) = equal_categories(place[kept], category[kept]).gaps
    needed = pictures_needed(gap.start, gap.end)
    assert needed == round((gap.end - gap.start) / 0.05 + 0.49)
    more = gap.start + (np.arange(needed) + 0.5) / needed * (gap.end - gap.start)
    whole = np.concatenate([place[kept], more]), np.concatenate([category[kept], np.repeat("c1", needed)])
    assert not equal_categories(*whole).gaps


def test_a_verdict_that_is_withheld_for_few_answers_says_how_many_it_takes() -> None:
    assert withheld_words([], fewest=5, stretch=0.05) == (
        "no verdict: no 0.05 of the axis holds 5 answers of people and of the model; 5 of either in each would take "
        "100 answers, spread evenly"
    )
    assert "from 0.20 to 0.35 was not measured" in undecided_words(
        gaps=1, careless=False, answers_to_match=1, answers_to_differ=1, stretches=[(0.2, 0.35)]
    )
