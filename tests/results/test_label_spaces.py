"""Answers in 1,000-way labels and answers in 16 categories are never compared, from the upload to the numbers."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from analysis.errors import TableRefused
from analysis.findings.analysing import analyse
from humanexp.core.storage import media_path
from humanexp.results import tables
from humanexp.results.services import run_analysis
from humanexp.studies.models import Study
from tests.results.collected import make_predictions

pytestmark = pytest.mark.django_db


@pytest.mark.verify
def test_a_thousand_way_classifier_has_curves_and_no_comparison(study: Study) -> None:
    make_predictions(study)
    run = make_predictions(study, "thousand labels", loses_from=0.6)
    path = media_path(run.predictions_file)
    pd.read_parquet(path).assign(label_space=1000).to_parquet(path, index=False)
    found = json.loads(media_path(run_analysis(study=study, n_bootstrap=0).findings_file).read_bytes())
    spaces = {(curve["population"], curve["label_space"]) for curve in found["curves"]}
    assert {("humans", 16), ("tiny net", 16), ("thousand labels", 1000)} <= spaces
    compared = [
        *found["comparisons"],
        *found["leaderboard"],
        *(entry for choice in found["sensitivity"] for entry in choice["comparisons"]),
    ]
    assert {entry["classifier"] for entry in compared} == {"tiny net"}
    assert {entry["population"] for entry in found["confusion"]} == {"humans", "tiny net"}
    refusals = [note for note in found["notes"] if note.startswith("thousand labels")]
    assert len(refusals) == 4 and all("1000-way" in note and "16-way" in note for note in refusals)


def test_two_label_spaces_of_one_classifier_are_refused(study: Study) -> None:
    run = make_predictions(study)
    path = media_path(run.predictions_file)
    frame = pd.read_parquet(path)
    frame.loc[0, "label_space"] = 1000
    frame.to_parquet(path, index=False)
    with pytest.raises(TableRefused, match=r"label spaces \[16, 1000\]"):
        analyse(**tables.analysis_tables(study), study=study.slug, seed=1, n_bootstrap=0)
