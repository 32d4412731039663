"""Charts by factor and by group of labels, and curves above chance."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from analysis.figures.page import to_plotly
from analysis.findings.analysing import analyse
from analysis.findings.model.findings import Findings
from analysis.findings.reproduction import analyse_export
from analysis.labels.files import read_labels_file
from humanexp.results import selectors
from humanexp.results.charts.registry import chart_of, choices_of
from humanexp.results.services import run_analysis
from humanexp.studies.models import Study
from tests.analysis.findings.studies import answer
from tests.analysis.labels.test_space import SEVEN
from tests.labels import of_the_sixteen
from tests.markup import words
from tests.results.collected import make_predictions

PEOPLE, EACH = 8, 35


@pytest.fixture(scope="module")
def found() -> Findings:
    """Seven labels in two groups; wrong answers stay in the picture's group; every other picture is on grass."""
    rng = np.random.default_rng(0)
    space = read_labels_file(SEVEN)
    rows = []
    for person in range(PEOPLE):
        for place in range(EACH):
            label = space.ids[place % 7]
            row = answer(
                rng,
                person,
                place,
                role="main",
                original=f"o{place}",
                stimulus=f"o{place}-blur-{person}",
                category=label,
                corruption="blur",
                visual_change=(place + 0.5) / EACH,
                right=1.0,
            )
            group = next(ids for ids in space.groups("kind").values() if label in ids)
            wrong = next(one for one in group if one != label)
            is_right = place % 2 == 0
            rows.append(
                row
                | {
                    "response": label if is_right else wrong,
                    "correct": is_right,
                    "background": "grass" if is_right else "sand",
                }
            )
    return analyse(pd.DataFrame(rows), study="s", labels=space, factors=("background",), n_bootstrap=10, seed=0)


def test_factors_have_one_row_a_value_and_observer(found: Findings) -> None:
    (choice,) = choices_of(found, "factors")
    chart = chart_of(found, choice.key)
    table = chart.table("factor")
    assert [(row[0], row[1], row[2][0]) for row in table.rows] == [("grass", "people", 1.0), ("sand", "people", 0.0)]
    assert sum(row[3] for row in table.rows) == PEOPLE * EACH
    assert chart.figure is not None and "grass, people: 1.000" in chart.figure.description
    json.dumps(to_plotly(chart.figure), allow_nan=False)


@of_the_sixteen
def test_wrong_answers_in_the_right_group_are_counted_beside_guessing(found: Findings) -> None:
    (choice,) = choices_of(found, "groups")
    chart = chart_of(found, choice.key)
    ((corruption, n, accuracy, within, chance, wrong, wrong_within),) = chart.table("groups").rows
    assert (corruption, n) == ("blur", PEOPLE * EACH)
    assert accuracy == pytest.approx(18 / 35) and within[0] == 1.0
    assert wrong == wrong_within == PEOPLE * 17
    assert chance == pytest.approx((4 * 4 + 3 * 3) / 49), "five pictures of each label; groups of 4 and 3 of 7"
    assert chart.figure is not None and "Guessing: 0.51 to 0.51" in chart.figure.notes[1]


@of_the_sixteen
def test_curves_stand_above_chance_only_where_chance_is_not_that_of_the_sixteen(found: Findings) -> None:
    table = chart_of(found, "accuracy--blur").table("curve")
    assert [column.name for column in table.columns][-2:] == ["above_chance", "d_prime"]
    estimate, above = table.rows[0][2][0], table.rows[0][5]
    assert above == pytest.approx((estimate - 1 / 7) / (6 / 7))
    curve = replace_chance(found, 1 / 16)
    assert len(chart_of(curve, "accuracy--blur").table("curve").columns) == 5


def replace_chance(found: Findings, chance: float) -> Findings:
    return found.model_copy(
        update={"curves": tuple(one.model_copy(update={"own_chance": chance}) for one in found.curves)}
    )


@pytest.mark.django_db
def test_factors_of_imported_pictures_reach_findings_page_and_export(
    study: Study, researcher: Client, tmp_path: Path
) -> None:
    for place, image in enumerate(study.stimulus_set.source_set.images.order_by("key")):
        image.factors = {"background": ("grass", "sand")[place % 2]}
        image.save()
    make_predictions(study)
    run = run_analysis(study=study, n_bootstrap=2)
    found = selectors.findings(run)
    assert {(one.factor, one.value) for one in found.factors} == {("background", "grass"), ("background", "sand")}
    page = words(researcher.get(reverse("results:room", args=[study.slug, "models"])).content)
    assert "Accuracy by background" in page
    call_command("export", study.slug, "--to", str(tmp_path / "out"), stdout=StringIO())
    assert "original,factor,value" in (tmp_path / "out/factors.csv").read_text()
    again = json.loads(json.dumps(analyse_export(tmp_path / "out")))
    assert again["factors"] == found.to_json()["factors"]
    assert again["data_digest"] == found.data_digest


def test_a_study_of_the_sixteen_without_factors_has_neither() -> None:
    rng = np.random.default_rng(1)
    rows = [
        answer(
            rng,
            person,
            place,
            role="main",
            original=f"o{place}",
            stimulus=f"o{place}-{person}",
            category="cat",
            corruption="blur",
            visual_change=place / 20,
            right=0.7,
        )
        for person in range(3)
        for place in range(20)
    ]
    found = analyse(pd.DataFrame(rows), study="s", n_bootstrap=0, seed=0)
    assert (choices_of(found, "factors"), choices_of(found, "groups")) == ([], [])
