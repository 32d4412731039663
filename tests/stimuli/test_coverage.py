"""The coverage report: what the JSON, the map and the figure file say is what was counted by hand."""

from __future__ import annotations

import json
import math

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.utils import timezone
from hypothesis import example, given, strategies as st

from analysis.visual_change.coverage import measure_coverage, measure_paper_coverage
from humanexp.stimuli.models import SourceSet, Stimulus, StimulusSet
from humanexp.stimuli.selectors import coverage, sets
from humanexp.stimuli.selectors.coverage import (
    OURS,
    PAPER,
    common_edges,
    coverage_of,
    edges_of,
    function_coverage,
    regrouped,
)

pytestmark = pytest.mark.django_db

#: 20 in the second bin, 3 in the fifth, one at either end, one exactly on an edge.
CHANGES = [0.03] * 20 + [0.11, 0.112, 0.124] + [0.0, 1.0] + [0.5]


@pytest.fixture
def stimulus_set(source_set: SourceSet) -> StimulusSet:
    """Rows alone: coverage is a matter of numbers."""
    pilot = {"reach": 0.9, "worst_reach": 0.7}
    stimulus_set = StimulusSet.objects.create(
        name="rows",
        source_set=source_set,
        corruptions=["gaussian_noise", "frost"],
        count_per_corruption=len(CHANGES),
        metric="vif-wavelet-1",
        pilots={"gaussian_noise": pilot},
    )
    image = source_set.images.first()
    for name, changes in (("gaussian_noise", CHANGES), ("none", [0.0] * 8)):
        for number, change in enumerate(changes):
            Stimulus.objects.create(
                stimulus_set=stimulus_set,
                key=f"{name}{number}",
                source_image=image,
                corruption=name,
                corruption_version="1",
                parameter=1.0,
                seed=number,
                target=change,
                visual_change=change,
                reached=number % 10 != 9,
            )
    return stimulus_set


@given(st.floats(0, 1))
@example(0.3)
@example(7 / 39)
@example(math.nextafter(0.1, 0))
@example(1.0)
def test_edges_divide_exactly_as_the_analysis_counts(change: float) -> None:
    for bins, measure in ((OURS, measure_coverage), (PAPER, measure_paper_coverage)):
        place = measure([change]).counts.index(1)
        edges = edges_of(bins)
        assert edges[place] <= change
        assert change < edges[place + 1] or place == bins - 1


def test_every_edge_is_the_smallest_number_of_its_bin() -> None:
    for bins in (OURS, PAPER):
        for place, edge in enumerate(edges_of(bins)[:-1]):
            assert int(edge * bins) == place
            assert place == 0 or int(math.nextafter(edge, 0) * bins) == place - 1


def test_counts_between_common_edges_add_up_to_both_divisions() -> None:
    each = [1] * (len(common_edges()) - 1)
    assert sum(regrouped(each, OURS)) == sum(regrouped(each, PAPER)) == len(each)
    assert regrouped(each, OURS)[0] == 1  # 1/40 comes before 1/39
    assert regrouped(each, PAPER)[0] == 2


def test_counts_while_a_set_grows_are_those_of_the_analysis(stimulus_set: StimulusSet) -> None:
    noise, frost = coverage_of(stimulus_set)
    assert noise.counts == measure_coverage(CHANGES).counts
    assert noise.paper_counts == measure_paper_coverage(CHANGES).counts
    assert noise.n == len(CHANGES)
    assert noise.missed == 2
    assert noise.tries is None
    assert (frost.n, frost.missed, frost.reach) == (0, 0, None)
    assert not any(frost.counts)


def test_bins_are_told_apart_by_count_and_reach(stimulus_set: StimulusSet) -> None:
    noise, frost = coverage_of(stimulus_set)
    kinds = [one.kind for one in noise.bins]
    assert kinds[0] == "thin"  # one stimulus
    assert kinds[1] == "full"  # twenty
    assert kinds[2] == "empty"
    assert kinds[20] == "thin"  # exactly 0.5
    assert kinds[35] == "empty"  # its middle, 0.8875, is within reach
    assert kinds[36:] == ["out"] * 4
    assert noise.reachable == 36
    assert noise.covered == 1
    assert len(noise.lacking) == 35
    # Without a pilot nothing is known to be out of reach.
    assert {one.kind for one in frost.bins} == {"empty"}


def test_the_stored_counts_of_a_complete_set_are_not_counted_again(
    stimulus_set: StimulusSet,
    django_assert_num_queries,  # noqa: ANN001
) -> None:
    counts = [30] * 40
    stimulus_set.coverage = {
        "gaussian_noise": {
            "n": 1200,
            "ours": {"counts": counts},
            "paper": {"counts": [30] * 39},
            "missed": 12,
            "tries": 2.5,
        }
    }
    stimulus_set.completed_at = timezone.now()
    with django_assert_num_queries(0):
        noise = function_coverage(stimulus_set, "gaussian_noise")
    assert (noise.n, noise.covered, noise.paper_covered, noise.missed, noise.tries) == (1200, 40, 39, 12, 2.5)
    assert noise.missed_share == 0.01
    assert noise.is_even


def test_of_a_small_set_is_asked_what_its_number_allows(researcher: Client, stimulus_set: StimulusSet) -> None:
    counts = [8] * 38 + [16, 0]
    stored = {"n": 320, "ours": {"counts": counts}, "paper": {"counts": [8] * 39}, "missed": 0, "tries": 2.0}
    stimulus_set.coverage = dict.fromkeys(stimulus_set.corruptions, stored)
    stimulus_set.pilots, stimulus_set.completed_at = {}, timezone.now()
    stimulus_set.save()
    noise = function_coverage(stimulus_set, "gaussian_noise")
    assert (noise.covered, noise.wanted, noise.holding) == (0, 8, 39)
    assert [one.place for one in noise.lacking] == [39]
    page = " ".join(researcher.get("/stimuli/sets/rows/").text.split())
    assert "78 of 80 bins hold an even share of their function’s stimuli." in page
    assert "320 stimuli, an even share of 8 a bin; the usual 20 a bin take 800." in page
    report = researcher.get("/stimuli/sets/rows/coverage.json").json()
    assert report["functions"]["frost"]["wanted_per_bin"] == 8


def test_the_json_holds_what_was_counted_by_hand(researcher: Client, stimulus_set: StimulusSet) -> None:
    response = researcher.get("/stimuli/sets/rows/coverage.json")
    assert response.headers["Content-Type"] == "application/json"
    report = json.loads(response.content)
    assert (report["stimulus_set"], report["complete"], report["minimum"]) == ("rows", False, 20)
    noise = report["functions"]["gaussian_noise"]
    ours, paper = noise["ours"], noise["paper"]
    assert (ours["bins"], paper["bins"]) == (40, 39)
    assert [(place, count) for place, count in enumerate(ours["counts"]) if count] == [
        (0, 1),
        (1, 20),
        (4, 3),
        (20, 1),
        (39, 1),
    ]
    # floor(39 v): 0.03 -> 1, 0.11 to 0.124 -> 4, 0.5 -> 19, 1 -> the last.
    assert [(place, count) for place, count in enumerate(paper["counts"]) if count] == [
        (0, 1),
        (1, 20),
        (4, 3),
        (19, 1),
        (38, 1),
    ]
    assert (ours["covered"], ours["occupied"], ours["covered_share"]) == (1, 5, 0.025)
    assert len(ours["edges"]) == 41
    assert noise["reach"] == {"median": 0.9, "lowest": 0.7}
    assert (noise["unreachable"], noise["unreachable_share"]) == (2, 2 / 26)
    assert noise["reachable_bins"] == 36
    assert noise["lacking_bins"][1] == [0.05, 0.075]
    assert report["functions"]["frost"]["n"] == 0


@pytest.mark.parametrize(("suffix", "beginning"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_the_coverage_comes_as_a_picture(
    researcher: Client, stimulus_set: StimulusSet, suffix: str, beginning: bytes
) -> None:
    response = researcher.get(f"/stimuli/sets/rows/coverage.{suffix}")
    assert response.content.startswith(beginning)
    assert f'filename="rows-coverage.{suffix}"' in response.headers["Content-Disposition"]
    assert response.content == researcher.get(f"/stimuli/sets/rows/coverage.{suffix}").content


def test_another_kind_of_picture_is_refused_with_a_sentence(researcher: Client, stimulus_set: StimulusSet) -> None:
    response = researcher.get("/stimuli/sets/rows/coverage.gif")
    assert response.status_code == 404
    assert "svg, .png and .pdf" in response.content.decode()


def test_counting_goes_through_the_index(stimulus_set: StimulusSet) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("the plan is read as SQLite tells it")
    with connection.cursor() as cursor:
        for statement in _statements(lambda: sets.count_between(stimulus_set, "frost", [0, 0.5, 1])):
            cursor.execute(f"EXPLAIN QUERY PLAN {statement}")
            plan = " ".join(str(row[3]) for row in cursor.fetchall())
            assert "COVERING INDEX" in plan
            assert "visual_change>" in plan
            assert "SCAN stimuli_stimulus" not in plan


def _statements(call) -> list[str]:  # noqa: ANN001
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as captured:
        call()
    return [query["sql"] for query in captured]


def test_a_long_count_is_kept_for_some_seconds_while_a_set_grows(
    stimulus_set: StimulusSet,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_num_queries,  # noqa: ANN001
) -> None:
    monkeypatch.setattr(coverage, "_LONG_COUNT", len(CHANGES))
    cache.clear()
    first = function_coverage(stimulus_set, "gaussian_noise")
    with django_assert_num_queries(0):
        assert function_coverage(stimulus_set, "gaussian_noise") == first
    with django_assert_num_queries(2):  # a short count is made anew
        function_coverage(stimulus_set, "frost")
    cache.clear()
