"""Figures of searches: what is drawn is what was found, and counted by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analysis.counterfactuals.summaries import SearchAverage
from analysis.generation.files import encode_png
from humanexp.console.figures.registry import FIGURES
from humanexp.console.figures.searches import _ends
from humanexp.core.errors import ApplicationError, InputRefused, InvalidRequest
from humanexp.core.models import User
from humanexp.core.storage import media_path
from humanexp.counterfactuals.models import SearchRun
from humanexp.counterfactuals.step_studies import name_of_run, step_study_named
from humanexp.stimuli.models import SourceSet
from tests.console.figures.parts import rows, shown

pytestmark = [pytest.mark.django_db, pytest.mark.verify]


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
    # Between the networks' means, 0.5 and 1, alone: how runs of one differ does not enter.
    assert float(everyone["oor"]) == pytest.approx(0.75) and float(everyone["oor_sd"]) == pytest.approx(0.125**0.5)
    assert everyone["runs"] == "2" and any("deviation between them" in one for one in drawn.caption)
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


def test_a_deviation_is_drawn_as_far_as_a_ratio_goes() -> None:
    one = SearchAverage("0.1", 2, {"oor": 0.3}, {"oor": 0.5}, {"oor": 2})
    assert _ends(one) == pytest.approx((0.0, 0.8))
