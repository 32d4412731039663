"""The rooms of the results on a large study: what they show, and how fast they come from stored findings."""

from __future__ import annotations

import json

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from analysis.documents.value import TableBlock
from analysis.figures.page import to_plotly
from analysis.figures.table import Table
from analysis.findings.model.agreement import PooledMean
from analysis.findings.model.comparisons import RankSet, VerdictOnAll
from analysis.labels.files import default_labels
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.results import selectors
from humanexp.results.charts import registry
from humanexp.results.charts.registry import chart_of, choices_of
from humanexp.results.models import AnalysisRun
from humanexp.results.pages import dashboard
from humanexp.results.report import APPENDIX, CHARTS, document_of, report_facts
from humanexp.studies.models import Role, Study, StudyMembership
from tests.analysis.figures.series import series_of
from tests.analysis.findings.examples import like, told_apart
from tests.markup import markup, words
from tests.results.large import EXCLUDED, MODELS, NAMES, make_large_study

pytestmark = pytest.mark.django_db

ROOMS = ("dashboard", "models", "corruptions", "people", "methods")


@pytest.fixture
def large(user: User) -> Study:
    return make_large_study(user)


def address(study: Study, room: str) -> str:
    if room in ("dashboard", "methods"):
        return reverse(f"results:{room}", args=[study.slug])
    return reverse("results:room", args=[study.slug, room])


def page(client: Client, study: Study, room: str, **query: str) -> str:
    response = client.get(address(study, room), query)
    assert response.status_code == 200, room
    return words(response.content)


def test_the_overview_says_what_was_asked_of_how_many_and_who_does_not_count(researcher: Client, large: Study) -> None:
    body = page(researcher, large, "dashboard")
    assert f"Which of {len(default_labels())} categories? 200 ms." in body
    assert "14 corruptions, 10 models" in body
    assert "<b>48</b> of 60 finished" in body
    review = reverse("screening:review", args=[large.slug])
    for reason, n in EXCLUDED.items():
        assert f'href="{review}?show={reason.replace(" ", "%20")}">{n} {reason}</a>' in markup(body)


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_comes_from_stored_results(researcher: Client, large: Study, room: str) -> None:
    page(researcher, large, room)
    with CaptureQueriesContext(connection) as asked:
        page(researcher, large, room)
    assert len(asked) <= 21, "one of them counts what waits, for the navigation"
    answers = [query["sql"] for query in asked if "experiments_response" in query["sql"]]
    assert answers == [], "answers are read by the analysis, not by its pages"


def test_every_family_of_charts_is_on_a_page_and_in_the_report() -> None:
    on_pages = {name for names in dashboard.ROOMS.values() for name in names}
    assert on_pages | {"curves"} == set(registry.FAMILIES), "curves are the page Findings itself"
    assert {name for names in (*CHARTS.values(), *APPENDIX.values()) for name in names} == set(registry.FAMILIES)


def test_every_chart_has_figure_tables_definition_and_caveats(researcher: Client, large: Study) -> None:
    found = selectors.findings(selectors.latest_run(large))
    keys = [choice.key for family in registry.FAMILIES for choice in choices_of(found, family)]
    assert len(keys) == len(set(keys)) > 80
    for key in keys[::7]:
        chart = chart_of(found, key)
        assert chart.tables and all(table.rows for table in chart.tables) and chart.definition
        if chart.figure is not None:
            json.dumps(to_plotly(chart.figure), allow_nan=False)
            assert chart.figure.description


def test_another_chart_is_swapped_into_its_card(researcher: Client, large: Study) -> None:
    key = f"indices--consistency--{NAMES[3]}"
    response = researcher.get(reverse("results:card", args=[large.slug]), {"indices": key})
    body = markup(response.content)
    assert 'id="card-indices"' in body and f'value="{key}" selected' in body
    assert researcher.get(reverse("results:card", args=[large.slug]), {"indices": "nothing"}).status_code == 404


def test_many_charts_are_chosen_in_two_steps(researcher: Client, large: Study) -> None:
    key = f"confusion--m2--{NAMES[1]}--0.25-0.50"
    body = markup(researcher.get(reverse("results:card", args=[large.slug]), {"confusion": key}).content)
    assert 'id="whose-confusion"' in body and f'value="{key}" selected' in body
    assert f'value="confusion--humans--{NAMES[0]}--all"' in body, "the first chart of another group"
    assert body.count("<option") == 11 + 14 * 5


def test_what_is_said_beside_a_curve_is_swapped_with_it(researcher: Client, large: Study) -> None:
    body = researcher.get(reverse("results:panel", args=[large.slug, f"accuracy--{NAMES[2]}"])).content.decode()
    for part in ("legend", "below", "side"):
        assert f'data-part="{part}"' in body
    assert f'data-panel="accuracy--{NAMES[2]}"' in body


def test_the_leaderboard_is_ordered_and_names_the_weakest_corruption(large: Study) -> None:
    found = selectors.findings(selectors.latest_run(large))
    table, extremes = chart_of(found, "leaderboard--accuracy").tables
    means = [row[2][0] for row in table.rows]
    assert means == sorted(means, reverse=True) and len(means) == len(MODELS)
    name, *_areas, lowest, on, _highest, _on = extremes.rows[0]
    assert [row[0] for row in extremes.rows] == [row[0] for row in table.rows]
    own = {
        one.corruption.replace("_", " "): one.hmri
        for one in found.comparisons
        if one.classifier == name and one.property == "accuracy"
    }
    assert (lowest, on) == min((value, corruption) for corruption, value in own.items())
    assert len(own) == 14 and table.notes == (
        "Means over 14 corruptions, each counting once.",
        "Ordered by HMRI, which ranks no models.",
        "48 people answered.",
        "Provisional: 48 of 66 planned sessions count so far.",
    )
    assert means[0] == pytest.approx(sum(own.values()) / 14)


def test_ranks_stand_in_the_leaderboard_as_the_places_left_open(large: Study) -> None:
    found = selectors.findings(selectors.latest_run(large))
    leaders = [one for one in found.leaderboard if one.property == "accuracy"]

    def ranked(places: list[tuple[int, int]]) -> Table:
        """The first three models are ranked, the last of them is the most accurate; the others lack a corruption."""
        told = []
        for one, difference in zip(leaders, range(len(leaders)), strict=True):
            verdict = VerdictOnAll(
                word="undecided", statement="undecided", matches=False, differs=False, direction=None,
                difference=difference / 100, interval=(-1.0, 1.0), matches_on=(), differs_on=(),
            )  # fmt: skip
            more = {"ranks": RankSet(best=places[difference][0], worst=places[difference][1], classifiers=3)}
            told.append(one.model_copy(update={"verdict": verdict, **(more if difference < 3 else {})}))
        table, _extremes = chart_of(found.model_copy(update={"leaderboard": told}), "leaderboard--accuracy").tables
        return table

    places = [(2, 3), (2, 3), (1, 1)] + [(0, 0)] * (len(leaders) - 3)
    table = ranked(places)
    assert [column.name for column in table.columns[:4]] == ["model", "rank", "difference", "verdict"]
    rows = {row[0]: row for row in table.rows}
    assert [rows[one.classifier][1] for one in leaders[:4]] == ["2 to 3", "2 to 3", "1", ""]
    means = [row[2][0] for row in table.rows]
    assert means == sorted(means, reverse=True), "the order is that of what is ranked"
    assert table.notes[1].startswith(f"By mean accuracy {leaders[2].classifier} is the first of 3 models. Ranks are")
    assert table.notes[2] == "Ordered by mean accuracy."
    assert r"2 to 3" in table.to_latex() and "rank" in table.to_csv().splitlines()[0]
    tied = ranked([(1, 3)] * len(leaders))
    assert "these data do not order the 3 models: a tie." in tied.notes[1]


def test_rarer_findings_have_charts_too(large: Study) -> None:
    found = selectors.findings(selectors.latest_run(large))
    band = {"v": [0.0, 0.5, 1.0], "estimate": [0.9, 0.8, 0.1]}
    rarer = {
        "participants": [
            {"participant": f"P-{n}", "corruption": NAMES[0], "n": 40, "accuracy": 0.8, "median_rt_ms": 600.0,
             "bins": [], "area": 0.7, "band": band if n else None}
            for n in range(3)
        ],
        "levels": {"functions": [NAMES[0]], "models": [
            {"classifier": "a", "fixed_accuracy": 0.6, "area_accuracy": 0.5, "area_consistency": None,
             "by_function": [], "ranks": {"fixed": 1, "accuracy": 2}},
        ], "rank_changes": [], "swaps": [], "coverage": None},
        "shape_bias": [
            {"observer": "humans", "kind": "humans", "shape": 9, "texture": 1, "other": 2, "bias": 0.9,
             "interval": [0.6, 0.98]},
            {"observer": "a", "kind": "classifier", "shape": 0, "texture": 0, "other": 5, "bias": None,
             "interval": [0.0, 1.0]},
        ],
        "benchmark": [
            {"observer": "humans", "kind": "humans", "experiments": ["edges"],
             "ood_accuracy": {"value": 0.9, "interval": [0.8, 0.95]}},
            {"observer": "a", "kind": "classifier", "experiments": ["edges"], "mean_rank": 1.5,
             "accuracy_difference": {"value": 0.01}, "ranks": {"best": 1, "worst": 2, "classifiers": 2}},
        ],
        "validation": {
            "images": [
                {"stimulus": "s1", "wanted": "chair", "n": 10, "shows": 0.9, "usable": 0.8, "yes_to_both": 0.8,
                 "agreement": 0.85, "accepted": True, "accepted_one_coin": True, "certainty": 0.99},
            ],
            "overall": {"people": 12, "qualified": 10, "answers": 10, "threshold": 0.5, "accepted_share": 1.0},
        },
    }  # fmt: skip
    found = like(found, **rarer)
    behind = chart_of(found, f"participants--{NAMES[0]}")
    lines = [name for kind, name, *_ in series_of(behind.figure) if kind == "line"]
    assert lines == ["single participants"] * 2 + ["people"] and len(behind.tables[0].rows) == 3
    assert chart_of(found, "levels").tables[0].rows == (("a", 0.6, 1, 0.5, 2, None, None, "−1", ""),)
    people, net = chart_of(found, "shape-bias").tables[0].texts
    assert people == ["people", "0.900 [0.600, 0.980]", "9", "1", "2"] and net[1] == "–"
    people, net = chart_of(found, "benchmark").tables[0].texts
    assert people == ["people", "", "0.900 [0.800, 0.950]", "–", "–", "–", "–"]
    assert net == ["a", "1 to 2", "–", "0.010", "–", "–", "1.50"]
    newer = found.benchmark[1].model_copy(
        update={"accuracy_lead": PooledMean(value=0.05, interval=(-0.01, 0.11)),
                "corrected_accuracy_difference": PooledMean(value=0.008, interval=(0.0, 0.02))}
    )  # fmt: skip
    table = chart_of(found.model_copy(update={"benchmark": (found.benchmark[0], newer)}), "benchmark").tables[0]
    assert [column.label for column in table.columns][3:6] == [
        "People's lead", "Squared difference of accuracy", "The same, corrected",
    ]  # fmt: skip
    assert table.texts[1][3:6] == ["0.050 [−0.010, 0.110]", "0.010", "0.008 [0.000, 0.020]"]
    overall, pictures = chart_of(found, "validation").tables
    assert overall.rows[0] == ("people who answered", 12) and pictures.texts[0][-1] == "yes"


PERSONS = {
    "people": 48, "scored": 48, "sentinels": 24, "families": ["cue_conflict"], "models": 3, "weights": 2,
    "scores": [-4.0, 6.0], "flagged_people": 1, "flagged": ["P-00007"], "share": 0.02, "share_interval": [0.0, 0.1],
    "caught": [{"false_alarms": 0.01, "families": 0.97, "least": 0.9},
               {"false_alarms": 0.1, "families": 1.0, "least": 0.98}],
    "flag_catches": 0.96, "flag_catches_least": 0.9, "least_caught": "vit_base",
    "bounds": [
        {"catch": 0.9, "machines": 3, "statement": "If they catch at least 0.9, at most 3 of 48 people are machines.",
         "areas": [{"corruption": NAMES[0], "area": 0.7, "interval": [0.66, 0.76], "bias": [-0.03, 0.01]}],
         "verdicts": [{"classifier": "vit_base", "corruption": NAMES[0], "word": "differs", "stands": True}]},
        {"catch": 0.0, "machines": None, "statement": "there is no bound."},
    ],
    "without": [{"people": 1, "areas": [{"corruption": NAMES[0], "area": 0.71}],
                 "verdicts": [{"classifier": "vit_base", "corruption": "", "word": "differs", "stands": False}]}],
}  # fmt: skip


def test_who_answered_is_shown_where_a_study_has_sentinels(researcher: Client, large: Study) -> None:
    where = address(large, "who")
    assert researcher.get(where).status_code == 404 and where not in page(researcher, large, "people")
    run = selectors.latest_run(large)
    assert run is not None
    found = like(selectors.findings(run), persons=PERSONS)
    chart = chart_of(found, "who-answered")
    assert "Flagged for you to look at: 1 of 48 people." in chart.found[0] and chart.found[-1] == "there is no bound."
    bounds = chart.table("bounds").texts
    assert bounds[0][-1] == "0.700 [0.660, 0.760]" and bounds[1][2] == "no bound"
    assert chart.table("bounded-verdicts").texts[0][-1] == "yes"
    # The chart, which everyone in the study sees, names no one.
    assert not any("P-00007" in str(text) for table in chart.tables for row in table.texts for text in row)
    relative = f"{run.findings_file}-with-persons.json"
    media_path(relative).write_text(json.dumps(found.to_json()), encoding="utf-8")
    AnalysisRun.objects.filter(pk=run.pk).update(findings_file=relative)
    assert where in page(researcher, large, "people")
    assert "P-00007" in page(researcher, large, "who")
    viewer = User.objects.create_user("viewer")
    StudyMembership.objects.create(study=large, user=viewer, role=Role.VIEWER)
    visitor = Client()
    visitor.force_login(viewer)
    body = page(visitor, large, "who")
    assert "Who answered?" in body and "P-00007" not in body, "who is flagged is evidence"


def test_kappa_stands_beside_its_own_interval(large: Study) -> None:
    found = selectors.findings(selectors.latest_run(large))
    row = {"observer": "a", "kind": "classifier", "ood_accuracy": 0.7, "accuracy_difference": 0.01,
           "observed_consistency": 0.8, "error_consistency": 0.5, "pairs": 3, "interval": [-0.07, 0.05], "n": 942,
           "pooled": {"kappa": -0.006, "observed": 0.8, "expected": 0.8, "pictures": 942, "accuracies": [0.7, 0.8]},
           "conditions": []}  # fmt: skip
    sparse = {**row, "error_consistency": None, "pairs": 0}
    dense = chart_of(like(found, agreement=[row]), "agreement").tables[0]
    assert dense.texts[0][-4:] == ["0.500", "3", "−0.006 [−0.070, 0.050]", "942"]
    alone = chart_of(like(found, agreement=[sparse]), "agreement").tables[0]
    assert alone.texts[0] == ["a", "0.700", "−0.006 [−0.070, 0.050]", "942"]


def test_pairs_that_are_told_apart_have_a_table_and_stand_in_the_report(large: Study) -> None:
    run = selectors.latest_run(large)
    found = like(selectors.findings(run), discrimination=[told_apart("gaussian_blur", "uniform_noise")])
    table = chart_of(found, "discrimination").tables[0]
    assert table.texts[0][5:] == ["0.510 [0.410, 0.609]", "–", "1.79", "–", "< 0.001", "equivalent"]
    assert "lies below 0.6" in table.notes[1]
    judged = told_apart(
        "gaussian_blur",
        "uniform_noise",
        verdict="undecided",
        verdict_words="undecided: this crowd could not have shown it",
        d_prime=0.4,
        d_prime_interval=[0.0, 0.8],
        observer_model="differencing",
        margin=0.056,
        margin_d_prime=1.0,
        other_model={"model": "independent", "d_prime": 0.3, "interval": [0.0, 0.6], "upper": 0.5},
    )
    table = chart_of(like(found, discrimination=[judged]), "discrimination").tables[0]
    assert table.texts[0][6:] == ["0.40 [0.00, 0.80]", "1.79", "0.30", "< 0.001", judged.verdict_words]
    assert "below 1 (one-sided 95 % bound" in table.notes[1] and "judges every picture on its own" in table.notes[2]
    titles = [
        block.table.title
        for section in document_of(found, report_facts(run)).sections
        for block in section.blocks
        if isinstance(block, TableBlock)
    ]
    assert table.title in titles


def test_tables_come_as_csv_unrounded_and_as_latex(researcher: Client, large: Study) -> None:
    found = selectors.findings(selectors.latest_run(large))
    key = f"accuracy--{NAMES[0]}"
    args = [large.slug, key, "areas"]
    csv = researcher.get(reverse("results:table_file", args=[*args, "csv"])).content.decode()
    people = next(one for one in found.curves if (one.corruption, one.property) == (NAMES[0], "accuracy"))
    assert csv.splitlines()[0].startswith("observer,answers,area,area_lower,area_upper")
    assert csv.splitlines()[1].split(",")[2] == repr(people.area)
    tex = researcher.get(reverse("results:table_file", args=[*args, "tex"])).content.decode()
    assert r"\toprule" in tex and f"{people.area:.3f} [" in tex
    for missing in ([large.slug, key, "nothing", "csv"], [large.slug, key, "areas", "doc"]):
        assert researcher.get(reverse("results:table_file", args=missing)).status_code == 404


def test_a_figure_is_downloaded_with_the_series_that_are_shown(researcher: Client, large: Study) -> None:
    args = [large.slug, f"accuracy--{NAMES[0]}", "pdf"]
    both = researcher.get(reverse("results:figure_file", args=args), {"observer": ["people", MODELS[0]], "band": ""})
    assert both.content.startswith(b"%PDF")
    alone = researcher.get(
        reverse("results:figure_file", args=args), {"observer": "people", "band": "", "width": "column"}
    )
    assert len(alone.content) < len(both.content)
    assert researcher.get(reverse("results:figure_file", args=args), {"width": "poster"}).status_code == 404


@pytest.mark.verify
def test_all_corruptions_stand_on_one_sheet(researcher: Client, large: Study) -> None:
    body = researcher.get(address(large, "dashboard")).content.decode()
    sheet = reverse("results:sheet_file", args=[large.slug, "accuracy", "pdf"])
    assert f'href="{sheet}"' in body
    found = researcher.get(sheet, {"observer": "people", "band": "", "font": "DejaVu Sans"})
    assert found.content.startswith(b"%PDF") and "accuracy.pdf" in found["Content-Disposition"]
    assert researcher.get(sheet.replace("accuracy", "speed")).status_code == 404
    refused = researcher.get(sheet, {"observer": "people", "font": "Wingdings"})
    assert refused.status_code == 409 and "no letters called" in refused.content.decode()


def test_a_run_of_another_study_is_not_shown(researcher: Client, large: Study, analysed: AnalysisRun) -> None:
    assert researcher.get(address(large, "dashboard"), {"run": str(analysed.pk)}).status_code == 404
    assert researcher.get(address(large, "dashboard"), {"run": "x"}).status_code == 404


def test_another_researcher_sees_no_room(client: Client, large: Study) -> None:
    client.force_login(User.objects.create_user("other"))
    for room in ROOMS:
        assert client.get(address(large, room)).status_code == 404
