"""Refusals and unreadable answers of models that are asked in words: on the page, in the report and in the export."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from django.core.management import CommandError
from django.test import Client
from django.urls import reverse

from analysis.documents.value import TableBlock
from analysis.findings.reproduction import analyse_export
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.evaluations.models import EvaluationRun
from humanexp.evaluations.services.evaluations import delete
from humanexp.results import selectors
from humanexp.results.charts.registry import FAMILIES, chart_of, choices_of
from humanexp.results.report import document_of, report_facts
from humanexp.results.selectors import asked_flow_of
from humanexp.studies.models import Study
from tests.evaluations.fake_model import FakeModel
from tests.evaluations.test_asking import asked, truth_of
from tests.results.edges import pictures, run, trials

__all__ = ["pictures", "trials"]
pytestmark = [pytest.mark.process, pytest.mark.django_db(transaction=True)]
NAMES = ("asked", "answered", "refused", "unreadable", "missed")


@pytest.fixture
def study(settings, tmp_path: Path, trials: list[Path], pictures: Path) -> Study:  # noqa: ANN001, F811
    """Published people, and a model that refuses and babbles about their pictures."""
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir(exist_ok=True)
    run("import_trials", *trials, "--study", "edges", "--pictures", pictures)
    found = Study.objects.get(slug="edges")
    assert found.stimulus_set is not None
    model = FakeModel(truth_of(found.stimulus_set), lambda change: 1.0, refuses=0.4, babbles=0.3)
    with model.listening():
        settings.OBSERVER_HOSTS = [model.host]
        asked(found.stimulus_set, model)
    run("analyse", "edges", "--bootstrap", "0")
    return found


@pytest.mark.process
def test_trials_add_up_in_findings_page_report_and_export(study: Study, tmp_path: Path, client: Client) -> None:
    latest = selectors.latest_run(study)
    assert latest is not None
    (one,) = selectors.findings(latest).asked
    table = pd.read_parquet(media_path(EvaluationRun.objects.get().answers_file))
    first = table.query("wording == 'describes' and order == 0")
    kinds = {name: (first["kind"] == kind).sum() for name, kind in zip(NAMES[1:], KINDS, strict=True)}
    assert one.observer == "fake" and one.trials.to_json() == {"asked": 4, **kinds}
    assert one.questions.asked == 16 and 0 < kinds["answered"] < 4
    step, last = asked_flow_of(one)
    assert step.count == last.count + last.left_total == 4

    client.force_login(User.objects.create_user("lab", is_staff=True))
    body = client.get(reverse("results:room", args=["edges", "people"])).content.decode()
    said = " ".join(re.sub(r"<[^>]+>", "", body).split())
    assert "Models that were asked in words" in said and "4 trials asked" in said
    assert f"{last.count} trials answered with a label" in said
    assert f"{last.left_total} without a label, counted as wrong" in said

    document = document_of(selectors.findings(latest), report_facts(latest))
    tables = [block.table for section in document.sections for block in section.blocks if isinstance(block, TableBlock)]
    (shown,) = [table for table in tables if table.key == "asked"]
    assert shown.rows[-2] == ("fake", "all trials", *(one.trials.to_json()[name] for name in NAMES))
    models = dict(report_facts(latest).methods)["Models"]
    assert "fake was asked in words about 4 stimuli" in models
    assert "with questions of the experimenter's own choice (custom" in models
    figures = [
        chart.figure
        for family in FAMILIES
        for choice in choices_of(selectors.findings(latest), family)
        if (chart := chart_of(selectors.findings(latest), choice.key)).figure is not None
    ]
    said = {figure.shows("fake"): "fake: no limit of viewing time." in figure.notes for figure in figures}
    assert said == {True: True, False: False}, "every figure that shows the model says so, and no other"
    assert all(("fake: no limit of viewing time." in one.notes) == one.shows("fake") for one in figures)

    run("export", "edges", "--to", tmp_path / "out")
    again = analyse_export(tmp_path / "out", n_bootstrap=0)
    assert again["asked"] == [one.to_json()]
    (tmp_path / "out" / "answers.parquet").unlink()
    assert analyse_export(tmp_path / "out", n_bootstrap=0)["asked"] == again["asked"], "from CSV, too"
    assert json.loads((tmp_path / "out" / "findings.json").read_text())["asked"] == again["asked"]


KINDS = ("label", "refusal", "unreadable", "miss")


@pytest.mark.process
def test_answers_of_an_earlier_version_have_no_scores(study: Study) -> None:
    evaluation = EvaluationRun.objects.get()
    path = media_path(evaluation.answers_file)
    pd.read_parquet(path).drop(columns=["scores", "mass"]).to_parquet(path, index=False)
    run("analyse", "edges", "--bootstrap", "0")
    latest = selectors.latest_run(study)
    assert latest is not None and selectors.findings(latest).asked[0].trials.asked == 4


@pytest.mark.process
def test_without_such_models_nothing_is_said(study: Study, client: Client) -> None:
    delete(run=EvaluationRun.objects.get())
    run("analyse", "edges", "--bootstrap", "0")
    client.force_login(User.objects.create_user("lab", is_staff=True))
    body = client.get(reverse("results:room", args=["edges", "people"])).content.decode()
    assert "asked in words" not in body


@pytest.mark.process
def test_score_asks_a_model_in_words_and_names_its_protocol(
    settings: Any, tmp_path: Path, trials: list[Path], pictures: Path
) -> None:
    """By the frozen protocol, with the upload allowed; a second score asks nothing again."""
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir(exist_ok=True)
    run("import_trials", *trials, "--study", "edges", "--pictures", pictures)
    stimuli = Study.objects.get(slug="edges").stimulus_set
    assert stimuli is not None
    model = FakeModel(truth_of(stimuli), lambda change: 1.0)
    out = tmp_path / "all.json"
    with model.listening():
        settings.OBSERVER_HOSTS = [model.host]
        spec = f"openai:{model.url}#fake"
        with pytest.raises(CommandError, match="say --allow-upload if they may"):
            run("score", spec, "--on", "edges")
        said = run("score", spec, "--on", "edges", "--allow-upload", "--json", out)
        asked_first = EvaluationRun.objects.get().asking["calls"]
        run("score", spec, "--on", "edges", "--allow-upload")
        assert EvaluationRun.objects.get().asking["calls"] == asked_first > 4
    (document,) = json.loads(out.read_text(encoding="utf-8"))["sets"]
    assert {one["observer"]: one["accuracy"] for one in document["scores"]}["fake"] == 1.0
    assert "asked in words by the protocol vlm-2026" in document["models"]["fake"] and "fake" in said
