"""A field that is added to the findings reaches JSON and page: nothing between has to name it."""

from __future__ import annotations

import json
import secrets

import pytest
from django.template import Context, Template
from django.urls import reverse

from analysis.findings.model.curves import Curve
from analysis.findings.model.findings import Findings
from humanexp.core.storage import media_path
from humanexp.results import selectors
from humanexp.results.charts.chart import figure_names
from humanexp.results.exports import export_study
from humanexp.results.models import AnalysisRun
from humanexp.results.pages.dashboard import panel_of
from tests.analysis.findings.examples import STORED

pytestmark = pytest.mark.django_db


class HalfAgain(Curve):
    """A curve with one field more."""

    half_height_at: float | None = None


class NewFindings(Findings):
    """What the next version would find."""

    curves: tuple[HalfAgain, ...] = ()


@pytest.fixture
def new() -> NewFindings:
    curves = tuple(HalfAgain(**{**curve.to_json(), "half_height_at": 0.625}) for curve in STORED.curves)
    return NewFindings.model_validate({**STORED.to_json(), "curves": curves})


def test_it_reaches_the_json_unrounded_and_comes_back(new: NewFindings) -> None:
    written = json.dumps(new.to_json())
    assert json.loads(written)["curves"][0]["half_height_at"] == 0.625
    assert NewFindings.read(written) == new
    assert Findings.read(written).to_json() == STORED.to_json(), "the version before reads what it knows"


def test_it_reaches_the_page_through_what_lies_between(new: NewFindings) -> None:
    name = figure_names(new)[0]
    template = Template("{{ panel.people.half_height_at }}")
    assert template.render(Context({"panel": panel_of(new, name)})) == "0.625"


@pytest.mark.verify
def test_downloads_and_exports_hand_on_what_this_version_does_not_know(
    researcher, study, analysed, new, tmp_path
) -> None:
    relative = f"results/{study.slug}/findings-{secrets.token_hex(6)}.json"
    media_path(relative).write_text(json.dumps(new.to_json()), encoding="utf-8")
    AnalysisRun.objects.filter(pk=analysed.pk).update(findings_file=relative)
    downloaded = researcher.get(reverse("results:findings", args=[study.slug])).json()
    export_study(study, tmp_path / "out")
    exported = json.loads((tmp_path / "out" / "findings.json").read_text(encoding="utf-8"))
    assert downloaded == exported == new.to_json()
    assert researcher.get(reverse("results:dashboard", args=[study.slug])).status_code == 200
    assert selectors.findings(AnalysisRun.objects.get(pk=analysed.pk)).to_json() == STORED.to_json()
