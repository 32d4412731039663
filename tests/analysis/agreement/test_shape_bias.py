from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import beta, binomtest, norm, t

from analysis.agreement.shape_bias import shape_bias
from analysis.errors import InvalidInput
from analysis.labels.conflicts import conflicts
from tests.labels import of_the_sixteen


def test_hand_computed_and_exact_interval() -> None:
    responses = ["cat"] * 6 + ["dog"] * 2 + ["car"] + ["cat"]
    found = shape_bias(responses, ["cat"] * 10, ["dog"] * 9 + ["cat"])
    assert (found.shape, found.texture, found.other, found.bias) == (6, 2, 1, 0.75)
    exact = binomtest(6, 8).proportion_ci(0.95, method="exact")
    assert found.interval == pytest.approx((exact.low, exact.high), abs=1e-9)


def test_without_an_answer_that_names_either_there_is_no_bias() -> None:
    found = shape_bias(["na"], ["cat"], ["dog"])
    assert math.isnan(found.bias) and found.interval == (0.0, 1.0) and found.other == 1
    assert shape_bias(["cat"], ["cat"], ["dog"]).interval[1] == 1.0
    with pytest.raises(InvalidInput):
        shape_bias(["cat"], ["cat", "dog"], ["dog"])


def answers(shape_of_each: list[int], of: int) -> tuple[list[str], list[int]]:
    """Answers of people who name the shape so many times of so many."""
    given = [name for count in shape_of_each for name in ["cat"] * count + ["dog"] * (of - count)]
    return given, [who for who in range(len(shape_of_each)) for _ in range(of)]


def test_answers_of_people_who_differ_count_at_what_they_are_worth() -> None:
    """Four people, 9, 7, 5 and 3 of 10: V = 4/3 * (9 + 1 + 1 + 9) / 40^2 = 1/60, p (1 - p) = 0.24."""
    given, who = answers([9, 7, 5, 3], 10)
    found = shape_bias(given, ["cat"] * 40, ["dog"] * 40, people=who)
    # Fourth powers of the sums: 81 + 1 + 1 + 81 = 164, squares 20; Satterthwaite: 3 * 400 / 164 - 2 = 5.3, at most 3.
    worth = 0.24 * 60 * (norm.ppf(0.975) / t.ppf(0.975, 3)) ** 2
    shape = 0.6 * worth
    oracle = beta.ppf(0.025, shape, worth - shape + 1), beta.ppf(0.975, shape + 1, worth - shape)
    assert found.bias == 0.6 and found.interval == pytest.approx(oracle, abs=1e-9)


def test_answers_of_people_who_are_alike_count_as_they_are_and_never_for_more() -> None:
    given, who = answers([6, 6, 6, 6], 10)
    alone = shape_bias(given, ["cat"] * 40, ["dog"] * 40)
    assert shape_bias(given, ["cat"] * 40, ["dog"] * 40, people=who).interval == alone.interval
    assert shape_bias(given, ["cat"] * 40, ["dog"] * 40, pictures=range(40)).interval == alone.interval
    with pytest.raises(InvalidInput, match="one entry an answer"):
        shape_bias(given, ["cat"] * 40, ["dog"] * 40, people=[1])


def test_where_all_name_the_shape_people_count_once_each() -> None:
    given, who = answers([10, 10, 10, 10], 10)
    found = shape_bias(given, ["cat"] * 40, ["dog"] * 40, people=who)
    assert found.interval == pytest.approx((0.025**0.25, 1.0))


@of_the_sixteen
@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("0_bird_00_bird3-bird2", None),
        ("0_bird_00_bird2-clock3", ("bird", "clock")),
        ("airplane1-bicycle2", ("airplane", "bicycle")),
        ("car4-keyboard3.png", ("car", "keyboard")),
        ("cat-3", None),
        ("n02123045_1", None),
        ("white-cat1", None),
    ],
)
def test_names_of_cue_conflict_pictures(name: str, parts: tuple[str, str] | None) -> None:
    shapes, textures, known = conflicts(np.array([name]))
    assert bool(known[0]) == (parts is not None)
    if parts:
        assert (shapes[0], textures[0]) == parts


@of_the_sixteen
@pytest.mark.skipif("REFERENCE_DATA" not in os.environ, reason="REFERENCE_DATA names no folder with stylised16")
def test_every_published_cue_conflict_picture_is_read_by_its_name() -> None:
    files = sorted((Path(os.environ["REFERENCE_DATA"]) / "stylised16").glob("*/*.jpg"))
    shapes, textures, known = conflicts(np.array([path.stem for path in files]))
    assert len(files) == 128 and shapes.tolist() == [path.parent.name for path in files]
    # A few have shape and texture of one category: they are no conflict.
    assert known.sum() > 100 and np.array_equal(known, shapes != textures)
