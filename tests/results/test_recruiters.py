"""A study with two recruiters: pooled by the plan's weights, on the page, in report, methods and export."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
from django.core.management.base import OutputWrapper
from django.test import Client
from django.urls import reverse

from analysis.documents.value import TableBlock
from analysis.findings.analysing import analyse
from analysis.findings.model.findings import Findings
from analysis.findings.reproduction import analyse_export, differences
from analysis.study.study import StudyConfiguration
from humanexp.console.terminal_report import print_summary
from humanexp.core.storage import media_path
from humanexp.ledger.figures import payment_summary
from humanexp.participation.models import Session
from humanexp.results import selectors
from humanexp.results.exports import export_study
from humanexp.results.models import AnalysisRun
from humanexp.results.report import deviations_of, document_of, methods_of, report_facts
from humanexp.results.services import freeze_analysis_plan, run_analysis
from humanexp.studies.models import Study
from tests.analysis.findings.test_recruiters import QUICK, from_two, sent, tables
from tests.markup import words
from tests.results.collected import make_predictions

pytestmark = pytest.mark.django_db


@pytest.fixture
def pooled(study: Study) -> AnalysisRun:
    """Five of the eight people from the campus, three from a crowd; both count equally."""
    configuration = StudyConfiguration.from_file_values(
        {
            "title": study.title,
            "slug": study.slug,
            "stimuli": "pictures",
            "recruitment": {"places": {"campus": 6, "crowd": 2}},
            "analysis": {"recruiter_weights": {"campus": 1.0, "crowd": 1.0}},
        }
    )
    study.configuration = configuration.to_dict()
    study.save()
    for number, session in enumerate(Session.objects.filter(study=study).order_by("pk")):
        Session.objects.filter(pk=session.pk).update(recruiter="crowd" if number % 3 == 2 else "campus")
    make_predictions(study)
    return run_analysis(study=study, n_bootstrap=0)


def with_more_people(run: AnalysisRun) -> Findings:
    """What a study of 24 people says of its recruiters, in place of eight, whose answers have too little in common."""
    found = selectors.findings(run)
    sessions = sent(tables()[0], from_two)
    more = analyse(*tables(), session_table=sessions, recruiter_weights={"campus": 0.5, "crowd": 0.5}, **QUICK)
    found = found.model_copy(update={"recruiters": more.recruiters})
    media_path(run.findings_file).write_text(json.dumps(found.to_json(), allow_nan=False))
    selectors._read.cache_clear()
    return found


@pytest.mark.verify
def test_everything_that_is_printed_has_it(researcher: Client, study: Study, pooled: AnalysisRun) -> None:
    few = selectors.findings(pooled)
    assert few.settings is not None and few.settings.recruiter_weights == {"campus": 0.5, "crowd": 0.5}
    assert few.recruiters is not None and "campus and crowd have too few answers" in few.recruiters.notes[-1]
    found = with_more_people(pooled)
    assert found.recruiters is not None
    (pair,) = found.recruiters.pairs
    body = words(researcher.get(reverse("results:room", args=[study.slug, "people"])).content)
    methods = {one.title: one.text for one in methods_of(pooled, None)}["Recruiters"]
    out = StringIO()
    print_summary(OutputWrapper(out), found, payment_summary(study))
    terminal = " ".join(out.getvalue().split())
    for text in (body, methods, terminal):
        assert pair.statement in text and "as far as known" in text
        assert "campus 0.500, crowd 0.500" in text
    sections = document_of(found, report_facts(pooled)).sections
    keys = {block.table.key for section in sections for block in section.blocks if isinstance(block, TableBlock)}
    assert {"recruiters", "recruiter-areas", "recruiter-pairs", "repeats"} <= keys


@pytest.mark.verify
def test_the_frozen_plan_has_the_weights_and_other_ones_deviate(study: Study, pooled: AnalysisRun) -> None:
    plan = freeze_analysis_plan(study=study)
    assert plan.content["analysis"]["recruiter_weights"] == {"campus": 0.5, "crowd": 0.5}
    found = selectors.findings(pooled)
    told = [one.what for one in deviations_of(study, plan, found)]
    assert "weights of recruiters" not in told and found.settings is not None
    other = found.settings.model_copy(update={"recruiter_weights": {"campus": 0.9, "crowd": 0.1}})
    done = found.model_copy(update={"settings": other})
    assert "weights of recruiters" in [one.what for one in deviations_of(study, plan, done)]


@pytest.mark.verify
def test_the_export_names_kinds_of_recruiters_and_gives_the_same_numbers_again(
    study: Study, pooled: AnalysisRun, tmp_path: Path
) -> None:
    export_study(study, tmp_path / "out")
    sessions = pd.read_csv(tmp_path / "out" / "sessions.csv")
    assert set(sessions["recruiter"]) == {"campus", "crowd"}
    assert list(differences(selectors.findings_json(pooled), analyse_export(tmp_path / "out"))) == []
