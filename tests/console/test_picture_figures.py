"""Figures of pictures and of sets: what is drawn is what was measured, and what may not be passed on is not drawn."""

from __future__ import annotations

import csv
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.db.models import QuerySet
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analysis.generation.files import decode_png, encode_png
from analysis.visual_change.coverage import measure_coverage
from analysis.visual_change.targeting import TOLERANCE
from analysis.visual_change.vif import VifReference
from humanexp.console.figures import pictures
from humanexp.console.figures.figure import Drawn
from humanexp.console.figures.registry import FIGURES
from humanexp.core.errors import ApplicationError, InputRefused, InvalidRequest, NotAllowed
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.counterfactuals.models import SearchRun
from humanexp.counterfactuals.step_studies import name_of_run, step_study_named
from humanexp.jobs import runner
from humanexp.stimuli.models import Sampling, SourceImage, SourceSet, Stimulus, StimulusSet
from humanexp.stimuli.selectors.sets import counted_changes
from humanexp.stimuli.services.descriptions import Described
from humanexp.stimuli.services.generation import create_stimulus_set, start_generation
from humanexp.stimuli.services.imports import import_images
from humanexp.stimuli.services.sources import ImportOrder
from tests.analysis.generation.originals import write_originals

pytestmark = [pytest.mark.django_db, pytest.mark.verify]


@pytest.fixture(autouse=True)
def _own_media(settings, tmp_path: Path) -> None:  # noqa: ANN001
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    settings.COMPUTE = "serial"


@pytest.fixture
def source_set(db: None, tmp_path: Path) -> SourceSet:
    write_originals(tmp_path / "pictures", {"cat": 2, "dog": 1})
    order = ImportOrder(name="pets", licence="CC0", provenance="Drawn.")
    return import_images(source=tmp_path / "pictures", order=order).source_set


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


def shown(drawn: Drawn, width: str = "page") -> list[tuple[np.ndarray, str]]:
    """Every picture of a figure, with the words below it, row by row."""
    canvas = drawn.draw(width)
    canvas.draw_without_rendering()
    places = [(axes.get_position(), axes.images[0].get_array()) for axes in canvas.axes if axes.images]
    words = [(text.get_position(), text.get_text()) for text in canvas.texts]
    found = []
    for place, pixels in places:
        below = [(y, said) for (x, y), said in words if abs(x - place.x0) < 1e-6 and y < place.y0]
        nearest = sorted(below, reverse=True)[:2]
        found.append((np.asarray(pixels), " ".join(said for _, said in nearest)))
    return found


def rows(drawn: Drawn, table: int = 0) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(drawn.tables()[table].to_csv())))


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


# Counterfactuals ------------------------------------------------------------------------------------------------


def test_counterfactuals_stand_below_their_originals_with_both_answers(source_set: SourceSet) -> None:
    run = SearchRun.objects.create(
        name="noise", source_set=source_set, classifier="export:a.pt2", generator="pixel:", model_name="net",
        oracle="classifier:export:b.pt2",
    )  # fmt: skip
    with pytest.raises(InputRefused, match="let its job run first"):
        FIGURES["counterfactuals"].drawn(run, {})
    for place, (image, response) in enumerate(
        zip(source_set.images.order_by("key"), ("dog", "cat", "dog"), strict=True)
    ):
        one = run.counterfactuals.create(
            source_image=image, place=place, valid=True, accepted_steps=2, clean_response=image.category,
            responses=[image.category, response], oracle_responses=[image.category] * 3, sha256="0",
        )  # fmt: skip
        for relative, grey in ((one.original_file, 50), (one.kept_file, 90 + place)):
            path = media_path(relative)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(encode_png(np.full((96, 96, 3), grey, np.uint8)))
    drawn = FIGURES["counterfactuals"].drawn(run, {})
    # Only the first cat is taken for a dog.
    (original, below), (kept, words) = shown(drawn)
    assert (int(original[0, 0, 0]), int(kept[0, 0, 0])) == (50, 90)
    assert below == "cat model: cat" and words == "model: dog oracle: cat"
    assert [row["model"] for row in rows(drawn)] == ["dog"]
    assert "Model: net. Generator: pixel:. Oracle: classifier:export:b.pt2." in drawn.caption


@pytest.fixture
def searched(source_set: SourceSet) -> Callable[..., SearchRun]:
    """A finished search of the three pictures, one letter each: (r)ight, (w)rong, or (x), refused by the oracle."""

    def make(name: str, said: str, *, model: str = "net", grey: int = 90, **changes: Any) -> SearchRun:
        given = {"classifier": f"export:{model}.pt2", "generator": "pixel:", "oracle": "classifier:export:b.pt2"}
        run = SearchRun.objects.create(
            name=name, source_set=source_set, model_name=model, completed_at=timezone.now(),
            digests={"classifier": model, "oracle": "b"}, **{**given, **changes},
        )  # fmt: skip
        for place, (image, letter) in enumerate(zip(source_set.images.order_by("key"), said, strict=True)):
            other = "dog" if image.category == "cat" else "cat"
            answers = {"r": [image.category], "w": [other], "x": []}[letter]
            one = run.counterfactuals.create(
                source_image=image, place=place, valid=letter != "x", clean_response=image.category,
                losses=[1.0 for _ in answers], responses=answers, oracle_responses=[image.category],
                sha256="0" if answers else "",
            )  # fmt: skip
            for relative, light in ((one.original_file, 50), (one.kept_file, grey + place)):
                path = media_path(relative)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(encode_png(np.full((96, 96, 3), light, np.uint8)))
        return run

    return make


def test_one_original_stands_beside_the_counterfactuals_of_several_models(
    source_set: SourceSet, searched: Callable[..., SearchRun]
) -> None:
    first, _other, _third = (
        searched("vanilla", "rwx", grey=90),
        searched("grey", "wwr", model="grey", grey=120),
        searched("again", "rwr", grey=150),
    )
    drawn = FIGURES["counterfactuals"].drawn(first, {"searches": "grey, again,vanilla"})
    # Two originals have a counterfactual in all three; the second fools more models, and comes first.
    light = [int(pixels[0, 0, 0]) for pixels, _words in shown(drawn)]
    assert light == [50, 91, 121, 151, 50, 90, 120, 150]
    words = [said for _pixels, said in shown(drawn)]
    assert words[0] == "cat original" and words[2] == "grey model: dog"
    assert {(row["search"], row["model"]) for row in rows(drawn)[:3]} == {
        ("vanilla", "dog"), ("grey", "dog"), ("again", "dog"),
    }  # fmt: skip
    assert [row["model"] for row in rows(drawn)[3:]] == ["cat", "dog", "cat"]
    # Two searches of one model are told apart by their names.
    assert any(
        line.startswith("net (vanilla): search vanilla, model export:net.pt2, generator") for line in drawn.caption
    )
    assert "net (again) says dog" in drawn.said
    # With one other search, pairs of originals stand side by side: 7 pictures fit a page, 5 a column.
    two = FIGURES["counterfactuals"].drawn(first, {"searches": "grey"})
    tops = [{round(one.get_position().y0, 6) for one in two.draw(width).axes} for width in ("page", "column")]
    assert [len(found) for found in tops] == [1, 2]
    key = source_set.images.order_by("key")[0].key
    chosen = FIGURES["counterfactuals"].drawn(first, {"searches": "grey,again", "original": key})
    assert [int(pixels[0, 0, 0]) for pixels, _words in shown(chosen)] == [50, 90, 120, 150]
    alone = FIGURES["counterfactuals"].drawn(first, {"original": key})
    assert [int(pixels[0, 0, 0]) for pixels, _words in shown(alone)] == [50, 90]


def test_searches_without_a_common_counterfactual_or_of_other_pictures_are_not_set_side_by_side(
    client: Client, searched: Callable[..., SearchRun]
) -> None:
    first = searched("a", "rwx")
    searched("b", "xxr")
    searched("small", "rrr", size_px=64)
    for given, said in (
        ({"searches": "b"}, "No original has a counterfactual in each of a, b"),
        ({"searches": "small"}, "small was not made of the same pictures in the same size as a"),
        ({"searches": "gone"}, "There is no search 'gone'"),
        ({"original": "gone"}, "There is no original with a counterfactual: 'gone'"),
    ):
        with pytest.raises(ApplicationError, match=said):
            FIGURES["counterfactuals"].drawn(first, given)
    for number in range(7):
        searched(f"more-{number}", "rwx", model=f"m{number}")
    with pytest.raises(InvalidRequest, match="At most 7 searches"):
        FIGURES["counterfactuals"].drawn(first, {"searches": ",".join(f"more-{number}" for number in range(7))})
    client.force_login(User.objects.create_user("ada", is_staff=True))
    address = reverse("console:search-figure", args=["a", "counterfactuals", "csv"])
    assert client.get(address, {"searches": "more-1"}).status_code == 200
    assert client.get(address, {"searches": "gone"}).status_code == 404


# Steps ------------------------------------------------------------------------------------------------------------


def stepped(searched: Callable[..., SearchRun], runs: dict[tuple[float, int], tuple[str, str]], **changes: Any) -> None:
    for (step, place), (model, said) in runs.items():
        searched(name_of_run("st", step, place), said, model=model, generator=f"pixel:step={step:g}", **changes)


def test_oor_over_steps_has_means_and_deviations_over_runs_counted_by_hand(
    searched: Callable[..., SearchRun],
) -> None:
    stepped(
        searched,
        {
            (0.1, 1): ("a", "rww"), (0.1, 2): ("a", "rrw"), (0.1, 3): ("b", "rrr"),
            (0.01, 1): ("a", "rrr"), (0.01, 2): ("a", "rrr"), (0.01, 3): ("b", "xxr"),
            (0.5, 1): ("a", "xrw"), (0.5, 2): ("a", "xxx"), (0.5, 3): ("b", "xxx"),
        },
    )  # fmt: skip
    # A search of another study whose name begins alike is none of it.
    searched("st-step-0-1-run-1-again", "www")
    drawn = FIGURES["steps"].drawn(step_study_named("st"), {})
    table = {(row["network"], row["step"]): row for row in rows(drawn)}
    assert list(table) == [(name, step) for name in ("a", "b", "all networks") for step in ("0.01", "0.1", "0.5")]
    # SA is 1 throughout, so that OOR is the share right of the accepted ones.
    own = table["a", "0.1"]
    assert float(own["oor"]) == pytest.approx(0.5) and float(own["oor_sd"]) == pytest.approx((2 / 36) ** 0.5)
    assert table["a", "0.1"]["runs"] == "2" and table["b", "0.1"]["oor_sd"] == ""
    everyone = table["all networks", "0.1"]
    assert float(everyone["oor"]) == pytest.approx(2 / 3) and float(everyone["oor_sd"]) == pytest.approx(1 / 3)
    assert float(table["a", "0.5"]["oor"]) == 0.5 and table["b", "0.5"]["oor"] == ""
    assert float(table["a", "0.5"]["vr"]) == pytest.approx(1 / 3)
    canvas = drawn.draw("column")
    canvas.draw_without_rendering()
    (axes,) = canvas.axes
    dots = {one.get_label(): one.get_offsets().tolist() for one in axes.collections if one.get_gid() == "points"}
    assert [y for _x, y in dots["a"]] == [pytest.approx(value) for value in (1.0, 0.5, 0.5)]
    assert len(dots["b"]) == 2 and len(dots["all networks"]) == 3
    bars = [line.get_ydata() for line in axes.lines if line.get_gid() == "interval"]
    sd = (2 / 36) ** 0.5
    assert any(np.allclose(ends, (0.5 - sd, 0.5 + sd)) for ends in bars)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0.01", "0.1", "0.5"]
    assert any(one.startswith("Mean over runs; bars: a standard deviation") for one in drawn.caption)
    assert not any("nothing to chance" in one for one in drawn.caption)


def test_runs_without_chance_and_unfinished_searches_are_told(searched: Callable[..., SearchRun]) -> None:
    stepped(searched, {(0.1, 1): ("a", "rww"), (0.1, 2): ("a", "rww"), (0.2, 1): ("a", "rrw")})
    SearchRun.objects.filter(name="st-step-0-2-run-1").update(completed_at=None)
    drawn = FIGURES["steps"].drawn(step_study_named("st"), {})
    assert any("nothing to chance" in one for one in drawn.caption)
    assert "Not finished, and left out: 1 of 3 searches." in drawn.caption
    assert [row["step"] for row in rows(drawn)] == ["0.1"]


def test_what_is_no_study_of_steps_is_not_drawn(searched: Callable[..., SearchRun]) -> None:
    with pytest.raises(ApplicationError, match="no finished search of a study of step sizes 'st'"):
        step_study_named("st")
    stepped(searched, {(0.1, 1): ("a", "xxx")})
    with pytest.raises(InputRefused, match="No search of st has an OOR"):
        FIGURES["steps"].drawn(step_study_named("st"), {})
    stepped(searched, {(0.2, 1): ("a", "rww")}, budget=3)
    with pytest.raises(InputRefused, match="differ in more than step, network and seed"):
        step_study_named("st")
