from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from analysis.visual_change.coverage import measure_coverage, measure_paper_coverage
from humanexp.stimuli.models import Sampling, SourceSet, Stimulus, StimulusSet
from humanexp.stimuli.selectors.sets import counted_changes

pytestmark = pytest.mark.django_db

EVEN = [(place + 0.4) / 400 for place in range(400)]
LEVELS = {1: [0.2] * 25, 2: [0.41, 0.412, 0.414], 5: [1.0] * 30}


def made(source_set: SourceSet, name: str, changes: dict[str, list[tuple[float, float]]], **fields) -> StimulusSet:  # noqa: ANN003
    """A set with these (parameter, visual change) by function, and one clean picture."""
    stimulus_set = StimulusSet.objects.create(
        name=name, source_set=source_set, corruptions=list(changes), count_per_corruption=0, metric="m", **fields
    )
    image = source_set.images.first()
    rows = [(function, *one) for function, stimuli in changes.items() for one in stimuli]
    Stimulus.objects.bulk_create(
        Stimulus(
            stimulus_set=stimulus_set,
            key=f"{name}-{number}",
            source_image=image,
            corruption=function,
            parameter=parameter,
            seed=0,
            visual_change=change,
            sha256="",
            file="",
        )
        for number, (function, parameter, change) in enumerate([*rows, ("none", 0.0, 0.0)])
    )
    return stimulus_set


@pytest.fixture
def even(source_set: SourceSet) -> StimulusSet:
    changes = {"frost": [(7.0 + change, change) for change in EVEN], "median_blur": [(1.0, 0.5)]}
    return made(source_set, "even", changes)


@pytest.fixture
def levels(source_set: SourceSet) -> StimulusSet:
    changes = [(float(level), change) for level, some in LEVELS.items() for change in some]
    return made(source_set, "levels", {"frost": changes, "snow": [(1.0, 0.3)]}, sampling=Sampling.IMPORTED)


def test_the_database_counts_what_the_analysis_would_count(even: StimulusSet, levels: StimulusSet) -> None:
    counted = counted_changes(levels)
    assert {level: sum(bins.values()) for level, bins in counted["frost"].items()} == {1: 25, 2: 3, 5: 30}
    assert counted["frost"][5] == {1560: 30}
    assert set(counted) == {"frost", "snow"}
    assert list(counted_changes(even)["frost"]) == [None]


def test_counting_reads_no_rows(even: StimulusSet, levels: StimulusSet, django_assert_num_queries) -> None:  # noqa: ANN001
    with django_assert_num_queries(1):
        counted_changes(even)
    even.completed_at = "2026-01-01T00:00:00Z"
    even.save()
    even.refresh_from_db()
    first = counted_changes(even)
    with django_assert_num_queries(0):
        assert counted_changes(even) == first


def test_json_holds_the_coverage_of_both_sets(researcher: Client, even: StimulusSet, levels: StimulusSet) -> None:
    told = researcher.get(reverse("stimuli:compare_json"), {"a": "even", "b": "levels"}).json()
    assert (told["a"]["name"], told["b"]["sampling"]) == ("even", "imported")
    assert (told["only_a"], told["only_b"]) == (["median_blur"], ["snow"])
    (frost,) = told["functions"]
    assert frost["a"]["n"] == 400
    changes = [change for some in LEVELS.values() for change in some]
    assert tuple(frost["a"]["counts"]) == measure_coverage(EVEN).counts
    assert tuple(frost["b"]["counts"]) == measure_coverage(changes).counts
    assert frost["b"]["ours"]["covered"] == 2
    assert frost["b"]["paper"]["covered"] == measure_paper_coverage(changes).covered == 2
    assert [(one["level"], one["n"]) for one in frost["b"]["levels"]] == [(1, 25), (2, 3), (5, 30)]
    assert frost["b"]["levels"][1]["median"] == pytest.approx(0.412, abs=1 / 1560)
    assert frost["b"]["covered_at_equal_number"] == 3
    assert told["cautions"] == [
        "even is still being made; its counts grow.",
        "levels is still being made; its counts grow.",
    ]


def test_page_answers_first_and_keeps_every_number_in_tables(
    researcher: Client, even: StimulusSet, levels: StimulusSet
) -> None:
    response = researcher.get(reverse("stimuli:compare"), {"a": "even", "b": "levels"})
    text = " ".join(response.content.decode().split())
    assert response.status_code == 200
    assert "style=" not in text
    assert "<script>" not in text
    assert "On the 1 function that both hold, even covers" in text
    assert "levels is the smaller set" in text
    assert "Only in even: Median blur." in text
    assert "Only in levels: Snow." in text
    assert text.count("<circle") == 3
    assert text.count('<th scope="row">0.') == 40
    assert "Median visual change of each level: levels" in text


def test_sets_that_cannot_be_compared_are_told_why(
    researcher: Client, even: StimulusSet, levels: StimulusSet, source_set: SourceSet
) -> None:
    StimulusSet.objects.filter(pk=levels.pk).update(size_px=112, metric="other")
    text = researcher.get(reverse("stimuli:compare"), {"a": "even", "b": "levels"}).content.decode()
    assert "The sets have different sizes (224 and 112 px)." in text
    assert "The sets were measured differently (m and other)" in text
    made(source_set, "third", {"fog": [(1.0, 0.5)]})
    text = researcher.get(reverse("stimuli:compare"), {"a": "even", "b": "third"}).content.decode()
    assert "even and third share no function" in text
    assert "<svg" not in text.partition("<main")[2]


def test_choice_of_sets(researcher: Client, even: StimulusSet, levels: StimulusSet) -> None:
    text = researcher.get(reverse("stimuli:compare"), {"a": "levels"}).content.decode()
    assert "<option selected>levels</option>" in text
    text = researcher.get(reverse("stimuli:compare"), {"a": "even", "b": "even"}).content.decode()
    assert "Choose two different sets." in text
    assert reverse("stimuli:compare") in researcher.get(reverse("stimuli:stimulus_sets")).content.decode()
    for query, status in (({"a": "even"}, 422), ({"a": "even", "b": "even"}, 422), ({"a": "even", "b": "x"}, 404)):
        assert researcher.get(reverse("stimuli:compare_json"), query).status_code == status
    StimulusSet.objects.all().delete()
    assert "Two sets are needed" in researcher.get(reverse("stimuli:compare")).content.decode()


@pytest.mark.parametrize(("suffix", "magic"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_the_picture_can_be_taken_away(
    researcher: Client, even: StimulusSet, levels: StimulusSet, suffix: str, magic: bytes
) -> None:
    address = reverse("stimuli:compare_file", args=[suffix])
    first, second = (researcher.get(address, {"a": "even", "b": "levels"}) for _ in range(2))
    assert first.content.startswith(magic)
    assert first.content == second.content
    assert f"even-levels.{suffix}" in first["Content-Disposition"]
    assert (
        researcher.get(reverse("stimuli:compare_file", args=["gif"]), {"a": "even", "b": "levels"}).status_code == 404
    )


def test_pages_need_an_account(client: Client, even: StimulusSet) -> None:
    for address in (
        reverse("stimuli:compare"),
        reverse("stimuli:compare_json"),
        reverse("stimuli:compare_file", args=["png"]),
    ):
        assert client.get(address).status_code == 302
