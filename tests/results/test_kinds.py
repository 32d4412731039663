"""Networks by kind, from what an installation says of them to figures, pages and exports."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from analysis.findings.model.findings import Findings
from analysis.findings.reproduction import read_export
from humanexp.results.charts.chart import observers_of, population_keys
from humanexp.results.charts.registry import chart_of
from humanexp.results.exports import export_study
from humanexp.results.imported_exports import import_export
from humanexp.results.selectors import findings
from humanexp.results.services import run_analysis
from humanexp.results.tables import network_kinds
from humanexp.studies.models import Study
from tests.markup import words
from tests.results.collected import make_predictions

pytestmark = [pytest.mark.django_db, pytest.mark.verify]

KINDS = {"late": "vit", "early": "supervised"}


@pytest.fixture
def found(study: Study) -> Findings:
    for name, loses_from in (("early", 0.4), ("late", 0.7), ("own", 0.5)):
        run = make_predictions(study, name, loses_from=loses_from)
        run.kind = KINDS.get(name, "")
        run.save()
    return findings(run_analysis(study=study, n_bootstrap=0))


def test_kinds_reach_every_figure_and_the_page(researcher: Client, study: Study, found: Findings) -> None:
    assert found.network_kinds == network_kinds(study) == KINDS
    assert list(observers_of(found)) == ["humans", "late", "early", "own"]
    # Addresses stay those of the findings' own order.
    assert population_keys(found) == {"humans": "humans", "early": "m0", "late": "m1", "own": "m2"}
    body = words(researcher.get(reverse("results:dashboard", args=[study.slug])).content)
    assert body.index("vision transformer") < body.index("supervised")
    for key in ("indices--accuracy--gaussian_blur", "accuracy--gaussian_blur"):
        figure = chart_of(found, key).figure
        assert figure is not None and [kind.id for kind in figure.kinds] == ["vit", "supervised", "other"]


def test_numbers_are_the_same_with_and_without_kinds(study: Study, found: Findings) -> None:
    study.stimulus_set.evaluations.update(kind="")
    without = findings(run_analysis(study=study, n_bootstrap=0)).to_json()
    told = found.to_json()
    assert "network_kinds" not in without["settings"]
    del told["settings"]["network_kinds"]
    assert {name: value for name, value in told.items() if name in without} == without


def test_an_export_keeps_the_kinds(study: Study, found: Findings, tmp_path: Path) -> None:
    export_study(study, tmp_path / "out")
    assert read_export(tmp_path / "out").settings.network_kinds == KINDS
    made = import_export(folder=tmp_path / "out", slug="again", title="Again", by=None).trial_import.study
    assert network_kinds(made) == KINDS
