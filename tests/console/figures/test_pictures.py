"""Figures of pictures and of sets: what is drawn is what was measured, and what may not be passed on is not drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from django.db.models import QuerySet
from django.test import Client
from django.urls import reverse

from analysis.generation.files import decode_png
from analysis.visual_change.coverage import measure_coverage
from analysis.visual_change.targeting import TOLERANCE
from analysis.visual_change.vif import VifReference
from humanexp.console.figures import pictures
from humanexp.console.figures.registry import FIGURES
from humanexp.core.errors import ApplicationError, InputRefused, InvalidRequest, NotAllowed
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.jobs import runner
from humanexp.stimuli.models import Sampling, SourceImage, SourceSet, Stimulus, StimulusSet
from humanexp.stimuli.selectors.sets import counted_changes
from humanexp.stimuli.services.descriptions import Described
from humanexp.stimuli.services.generation import create_stimulus_set, start_generation
from tests.console.figures.parts import rows, shown

pytestmark = [pytest.mark.django_db, pytest.mark.verify]


@pytest.fixture
def make(source_set: SourceSet) -> Callable[..., StimulusSet]:
    def made(name: str = "shown", **changes: Any) -> StimulusSet:
        given = {"corruptions": ["frost", "gaussian_noise", "box_blur"], "count": 6, "size_px": 112, **changes}
        stimulus_set = create_stimulus_set(Described(source_set=source_set, name=name, **given))
        start_generation(stimulus_set=stimulus_set)
        runner.run_waiting()
        stimulus_set.refresh_from_db()
        return stimulus_set

    return made


def test_a_function_at_chosen_changes_is_measured_on_the_pixels_that_are_drawn(
    make: Callable[..., StimulusSet],
) -> None:
    drawn = FIGURES["strengths"].drawn(make(), {"function": "gaussian_noise", "at": "0,0.2,0.71"})
    (original, first), *others = shown(drawn)
    assert first == "Δv 0 original"
    reference = VifReference(original)
    table = rows(drawn)
    assert [row["target"] for row in table] == ["0.2", "0.71"]
    for (pixels, words), row in zip(others, table, strict=True):
        measured = reference.visual_change(np.ascontiguousarray(pixels))
        assert measured == float(row["visual_change"]) and abs(measured - float(row["target"])) <= TOLERANCE
        assert words.startswith(f"Δv {measured:.2f}")


def test_without_choices_it_is_the_published_frost(make: Callable[..., StimulusSet]) -> None:
    table = rows(FIGURES["strengths"].drawn(make(), {}))
    assert [(row["function"], float(row["target"])) for row in table] == [
        ("frost", change) for change in (0.005, 0.71, 0.96)
    ]
    assert float(table[0]["visual_change"]) == pytest.approx(0.005, abs=0.001), "nearer than half a bin"


def test_functions_stand_in_the_published_classes_on_one_original(make: Callable[..., StimulusSet]) -> None:
    drawn = FIGURES["functions"].drawn(
        make(), {"original": SourceImage.objects.order_by("key").last().key, "at": "0.5"}
    )
    canvas = drawn.draw("column")
    heads = [text.get_text() for text in canvas.texts if text.get_fontweight() == "bold"]
    assert heads == ["Noise", "Blur", pictures.OTHERS]
    assert [(row["class"], row["function"]) for row in rows(drawn)] == [
        ("Noise", "gaussian_noise"), ("Blur", "box_blur"), (pictures.OTHERS, "frost"),
    ]  # fmt: skip
    (original, _), *changed = shown(drawn)
    reference = VifReference(original)
    for (pixels, _words), row in zip(changed, rows(drawn), strict=True):
        assert reference.visual_change(np.ascontiguousarray(pixels)) == float(row["visual_change"])


def test_of_fixed_levels_the_nearest_stimulus_is_shown_as_it_is_stored(make: Callable[..., StimulusSet]) -> None:
    levels = make("levels", sampling=Sampling.LEVELS, corruptions=["gaussian_noise"], count=0)
    drawn = FIGURES["strengths"].drawn(levels, {"at": "0.6"})
    ((pixels, _words),) = shown(drawn)
    image = levels.source_set.images.order_by("key").first()
    own = Stimulus.objects.filter(stimulus_set=levels, source_image=image, corruption="gaussian_noise")
    nearest = min(own, key=lambda one: abs(one.visual_change - 0.6))
    assert np.array_equal(pixels, decode_png(media_path(nearest.file).read_bytes()))
    assert rows(drawn)[0]["stimulus"] == nearest.key


def test_pictures_that_may_not_be_passed_on_are_not_drawn(make: Callable[..., StimulusSet], client: Client) -> None:
    stimulus_set = make(corruptions=["gaussian_noise"])
    drawn = FIGURES["strengths"].drawn(stimulus_set, {})
    assert "Pictures: pets; licence: CC0. Drawn." in drawn.caption
    # The set is frozen, as every one is that has stimuli: past its own refusal.
    sets = QuerySet(SourceSet)
    sets.update(licence="")
    stimulus_set = StimulusSet.objects.get()
    assert "not noted" in " ".join(FIGURES["functions"].drawn(stimulus_set, {}).caption)
    sets.update(set_document=_DOCUMENT)
    stimulus_set = StimulusSet.objects.get()
    for name in ("functions", "strengths"):
        with pytest.raises(NotAllowed, match="its set.toml says no-redistribution"):
            FIGURES[name].drawn(stimulus_set, {})
    client.force_login(User.objects.create_user("lab", is_staff=True))
    address = reverse("console:set-figure", args=[stimulus_set.name, "strengths", "png"])
    assert client.get(address).status_code == 403
    body = client.get(reverse("console:set-figures", args=[stimulus_set.name])).content.decode()
    assert "may not be passed on" in body and "strengths.png" not in body


_DOCUMENT = """
name = "pets"
version = "1"
title = "Pets"
use = "no-redistribution"

[pictures]
table = "pictures.csv"
"""


# Histograms -----------------------------------------------------------------------------------------------------

EVEN = [(place + 0.4) / 400 for place in range(400)]
LEVELS = {1: [0.2] * 25, 2: [0.41, 0.412, 0.414], 5: [1.0] * 30}


def of_changes(
    source_set: SourceSet, name: str, changes: dict[str, list[tuple[float, float]]], **fields
) -> StimulusSet:  # noqa: ANN003
    """A set with these (parameter, visual change) by function, and one clean picture."""
    stimulus_set = StimulusSet.objects.create(
        name=name, source_set=source_set, corruptions=list(changes), count_per_corruption=0, metric="m", **fields
    )
    image = source_set.images.first()
    found = [(function, *one) for function, stimuli in changes.items() for one in stimuli]
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
        for number, (function, parameter, change) in enumerate([*found, ("none", 0.0, 0.0)])
    )
    return stimulus_set


@pytest.fixture
def even(source_set: SourceSet) -> StimulusSet:
    return of_changes(
        source_set, "even", {"frost": [(7.0 + change, change) for change in EVEN], "median_blur": [(1.0, 0.5)]}
    )


@pytest.fixture
def levels(source_set: SourceSet) -> StimulusSet:
    changes = [(float(level), change) for level, some in LEVELS.items() for change in some]
    return of_changes(source_set, "levels", {"frost": changes, "snow": [(1.0, 0.3)]}, sampling=Sampling.IMPORTED)


def test_histograms_count_as_the_analysis_does(even: StimulusSet, levels: StimulusSet) -> None:
    drawn = FIGURES["histograms"].drawn(even, {})
    changes = [change for some in LEVELS.values() for change in some]
    for name, wanted in (("even", EVEN), ("levels", changes)):
        counts = [int(row["count"]) for row in rows(drawn) if row["set"] == name]
        assert tuple(counts) == measure_coverage(wanted).counts
    (axes,) = drawn.draw("column").axes
    heights = sorted(bar.get_height() for bar in axes.patches)
    # Shares of a set's stimuli: the larger upwards, ImageNet-C downwards.
    assert heights[0] == pytest.approx(-30 / 58) and heights[-1] == pytest.approx(10 / 400)
    coverage = {row["set"]: row for row in rows(drawn, 1)}
    assert (coverage["even"]["n"], coverage["levels"]["covered"]) == ("400", "2")
    assert [(row["level"], row["n"]) for row in rows(drawn, 2)] == [("1", "25"), ("2", "3"), ("5", "30")]
    assert [one for one in drawn.caption if "still being made" in one] == [
        "even is still being made; its counts grow.",
        "levels is still being made; its counts grow.",
    ]


def test_counting_reads_no_rows(even: StimulusSet, django_assert_num_queries) -> None:  # noqa: ANN001
    with django_assert_num_queries(1):
        counted_changes(even)
    even.completed_at = "2026-01-01T00:00:00Z"
    even.save()
    even.refresh_from_db()
    first = counted_changes(even)
    with django_assert_num_queries(0):
        assert counted_changes(even) == first


def test_sets_that_cannot_be_compared_are_told_why(
    even: StimulusSet, levels: StimulusSet, source_set: SourceSet
) -> None:
    StimulusSet.objects.filter(pk=levels.pk).update(size_px=112, metric="other")
    said = " ".join(FIGURES["histograms"].drawn(even, {"beside": "levels"}).caption)
    assert "different sizes (224 and 112 px)" in said and "measured differently (m and other)" in said
    of_changes(source_set, "third", {"fog": [(1.0, 0.5)]})
    for given, error, words in (
        ({"beside": "third"}, InputRefused, "share no function: choose a set with one of frost, median_blur"),
        ({"beside": "even"}, InvalidRequest, "two different"),
        ({"beside": "x"}, ApplicationError, "x"),
    ):
        with pytest.raises(error, match=words):
            FIGURES["histograms"].drawn(even, given)
    of_changes(source_set, "fourth", {"frost": [(1.0, 0.5)]})
    with pytest.raises(InputRefused, match="with the same functions: fourth, levels"):
        FIGURES["histograms"].drawn(even, {})


def test_nobody_sees_a_set_beside_that_they_may_not_read(
    client: Client, even: StimulusSet, levels: StimulusSet
) -> None:
    client.force_login(User.objects.create_user("elsewhere", is_staff=False))
    StimulusSet.objects.update(lab_id=even.lab_id)
    mine = client.get(reverse("console:set-figure", args=["even", "histograms", "csv"]), {"beside": "levels"})
    assert mine.status_code == 200
