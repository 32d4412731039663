from __future__ import annotations

import json
import re

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from analysis.tables.trials import TRIALS
from humanexp.core.models import AuditEvent, User
from humanexp.core.storage import media_path
from humanexp.jobs.models import Job
from humanexp.participation.models import Session
from humanexp.results import selectors
from humanexp.results.charts.chart import conditions_of, figure_names
from humanexp.results.charts.registry import chart_of
from humanexp.results.models import AnalysisRun
from humanexp.results.pages.dashboard import dashboard_of, panel_of
from humanexp.results.report import document_of, report_facts
from humanexp.screening.services import decide
from humanexp.studies.models import Study
from tests.results.collected import SESSIONS

pytestmark = pytest.mark.django_db


def page(client: Client, study: Study, **query: str) -> str:
    response = client.get(reverse("results:dashboard", args=[study.slug]), query)
    assert response.status_code == 200
    return response.content.decode()


def test_before_an_analysis_the_page_offers_one(researcher: Client, study: Study) -> None:
    body = page(researcher, study)
    assert "Not analysed yet" in body and reverse("results:analyse", args=[study.slug]) in body


def test_the_button_queues_one_job_and_shows_it(researcher: Client, study: Study) -> None:
    address = reverse("results:analyse", args=[study.slug])
    assert "Results are computed" in researcher.post(address, headers={"HX-Request": "true"}).content.decode()
    assert researcher.post(address).status_code == 302
    job = Job.objects.get()
    assert f'id="job-{job.pk}"' in page(researcher, study)


@pytest.mark.verify
def test_the_answer_comes_first_and_the_numbers_are_those_of_the_findings(
    researcher: Client, study: Study, analysed: AnalysisRun
) -> None:
    body = page(researcher, study)
    found = selectors.findings(analysed)
    assert body.index("tiny net") < body.index('id="figure-title"')
    (entry,) = [one for one in found.comparisons if (one.corruption, one.property) == ("gaussian_blur", "accuracy")]
    assert f"{entry.hmri:.3f}" in body
    assert f"{entry.hmri_interval[0]:.3f}–{entry.hmri_interval[1]:.3f}" not in body
    assert f"{SESSIONS} of {SESSIONS} finished sessions count" in body
    methods = researcher.get(reverse("results:methods", args=[study.slug])).content.decode()
    assert analysed.data_digest in methods


@pytest.mark.verify
def test_both_indices_are_written_out_as_the_glossary_has_them(
    researcher: Client, study: Study, analysed: AnalysisRun
) -> None:
    glossary = (settings.BASE_DIR / "docs/glossary.md").read_text(encoding="utf-8")
    written_out = dict(
        re.findall(r'<abbr title="([^":]+ Index): [^"]+"\s*>(HMRI|MRSI)</abbr>', page(researcher, study))
    )
    assert written_out == {
        "Human-Relative Model Robustness Index": "HMRI",
        "Model Robustness Superiority Index": "MRSI",
    }
    for words, short in written_out.items():
        assert f"| {short} | {words}: " in glossary


@pytest.mark.verify
def test_exclusions_stand_beside_the_curve(researcher: Client, study: Study, user: User) -> None:
    from humanexp.results.services import run_analysis

    session = Session.objects.filter(study=study).first()
    assert session is not None
    decide(session=session, accepted=False, written_reason="answered with the screen covered", by=user)
    run_analysis(study=study, n_bootstrap=0)
    body = page(researcher, study)
    assert f"{SESSIONS - 1} of {SESSIONS} finished sessions count; 1 excluded (1 excluded by hand)" in " ".join(
        body.split()
    )
    assert "With the excluded sessions people" in body


@pytest.mark.verify
def test_every_figure_can_be_chosen_and_fetched(researcher: Client, study: Study, analysed: AnalysisRun) -> None:
    names = figure_names(selectors.findings(analysed))
    assert [name.key for name in names] == [
        "accuracy--gaussian_blur",
        "accuracy--uniform_noise",
        "consistency--gaussian_blur",
        "consistency--uniform_noise",
    ]
    for name in names:
        response = researcher.get(reverse("results:figure_json", args=[study.slug, name.key]))
        figure = response.json()
        assert figure["key"] == name.key
        assert {entry["meta"]["observer"] for entry in figure["data"]} == {"people", "tiny net"}
    body = page(researcher, study, figure="consistency--uniform_noise")
    assert 'value="consistency--uniform_noise" checked' in " ".join(body.split())
    assert researcher.get(reverse("results:figure_json", args=[study.slug, "nothing"])).status_code == 404


def test_the_page_s_figure_is_the_first_one_and_valid_json(
    researcher: Client, study: Study, analysed: AnalysisRun
) -> None:
    body = page(researcher, study)
    text = body.split('<script id="figure" type="application/json">')[1].split("</script>")[0]
    assert json.loads(text)["key"] == "accuracy--gaussian_blur"


@pytest.mark.parametrize(("suffix", "head"), [("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")])
def test_figures_come_as_files(
    researcher: Client, study: Study, analysed: AnalysisRun, suffix: str, head: bytes
) -> None:
    address = reverse("results:figure_file", args=[study.slug, "accuracy--gaussian_blur", suffix])
    response = researcher.get(address)
    assert response.content.startswith(head)
    assert f'filename="blur-accuracy--gaussian_blur.{suffix}"' in response["Content-Disposition"]
    assert researcher.get(address.replace(suffix, "gif")).status_code == 404


def test_every_answer_can_be_downloaded_and_read_back(
    researcher: Client, study: Study, analysed: AnalysisRun, tmp_path: object
) -> None:
    from pathlib import Path

    from humanexp.results.tables import trials_of

    response = researcher.get(reverse("results:responses", args=[study.slug]))
    assert AuditEvent.objects.filter(action="export", subject="responses.csv", study=study.slug).count() == 1
    path = Path(str(tmp_path)) / "responses.csv"
    path.write_bytes(b"".join(response.streaming_content))
    again, direct = TRIALS.read(path), trials_of(study)
    assert len(again) == SESSIONS * 26
    assert again["accepted"].all()
    for name in ("session", "position", "response", "correct", "visual_change", "corruption", "rt_ms"):
        assert again[name].equals(direct[name]), name


def test_findings_can_be_downloaded(researcher: Client, study: Study, analysed: AnalysisRun) -> None:
    response = researcher.get(reverse("results:findings", args=[study.slug]))
    assert response.json() == selectors.findings(analysed).to_json()
    assert response["Content-Disposition"] == f'attachment; filename="{study.slug}-findings.json"'


def test_another_researcher_sees_nothing(client: Client, study: Study, analysed: AnalysisRun) -> None:
    client.force_login(User.objects.create_user("other"))
    for name in ("dashboard", "findings", "responses"):
        assert client.get(reverse(f"results:{name}", args=[study.slug])).status_code == 404
    assert client.post(reverse("results:analyse", args=[study.slug])).status_code == 404
    client.logout()
    assert client.get(reverse("results:responses", args=[study.slug])).status_code == 302


def test_the_page_is_served_from_stored_results(
    researcher: Client, study: Study, analysed: AnalysisRun, django_assert_max_num_queries: object
) -> None:
    page(researcher, study)
    with django_assert_max_num_queries(18):  # type: ignore[operator]
        page(researcher, study)


def test_a_classifier_looks_the_same_in_every_figure(analysed: AnalysisRun) -> None:
    found = selectors.findings(analysed)
    panels = [panel_of(found, name) for name in figure_names(found)]
    looks = {
        panel.observers[curve.population] for panel in panels for curve in panel.curves if curve.population != "humans"
    }
    assert len(panels) == 4 and len(looks) == 1


def test_the_table_twin_holds_every_bin_of_the_figure(analysed: AnalysisRun) -> None:
    found = selectors.findings(analysed)
    bins = chart_of(found, figure_names(found)[0].key).table("bins")
    curve = found.curves[0]
    assert curve.population == "humans"
    people = [column.name for column in bins.columns].index("people_n")
    assert sum(row[people] or 0 for row in bins.rows) == curve.n


def test_accuracies_of_all_observers_are_shown_for_published_trials_alone(analysed: AnalysisRun) -> None:
    found = selectors.findings(analysed)
    assert dashboard_of(found).accuracy == []
    rows = dashboard_of(found, imported=True).accuracy
    assert [condition for condition, _, _ in rows] == conditions_of(found)
    assert all(len(cells) == len(found.observers) for _, _, cells in rows)


def test_a_curve_whose_answers_rise_says_so_beside_itself_and_in_the_report(
    researcher: Client, study: Study, analysed: AnalysisRun
) -> None:
    told = "Performance rises: the mean from 0.50 to 0.65 lies 0.100 above that from 0.30 to 0.45."
    assert told not in page(researcher, study)
    content = selectors.findings_json(analysed)
    first = content["curves"][0]
    first["rise"] = {"earlier": [0.3, 0.45], "later": [0.5, 0.65], "rise": 0.1, "p": 0.01, "statement": told}
    first["category_gaps"] = [{"category": "knife", "range": [0.8, 1.0]}]
    file = analysed.findings_file.replace(".json", "-rising.json")
    media_path(file).write_text(json.dumps(content))
    names = ("version", "seed", "data_digest", "n_bootstrap", "trials", "seconds")
    facts = {name: getattr(analysed, name) for name in names}
    run = AnalysisRun.objects.create(study=study, findings_file=file, **facts)
    found = selectors.findings(run)
    name = next(one for one in figure_names(found) if one.corruption == first["corruption"])
    chart = chart_of(found, name.key)
    assert len(chart.found) == 1 and chart.found[0].endswith(f": {told}")
    assert any("Not shown: knife from 0.80 to 1.00" in text for text in chart.caveats)
    assert "categories, each of which counts equally" in str(chart.definition)
    assert told in page(researcher, study, figure=name.key)
    assert told in str(document_of(found, report_facts(run)).sections)
