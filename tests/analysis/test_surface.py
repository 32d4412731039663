"""What an analyst calls on a result: `summary()`, `to_frame()`, `plot()`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from analysis.agreement.pairs import ErrorConsistency, error_consistency
from analysis.curves.curve import CurveFit
from analysis.curves.fit import fit_curve
from analysis.differences.answers import AnswersToOne
from analysis.errors import InvalidInput
from analysis.figures.value import Observer
from analysis.metrics import Indices, compare
from analysis.similarity.curves import CurveSimilarity, compare_all
from analysis.wording import one_row, screen
from tests.analysis.curves.truths import crowd, gradual, sharp


@pytest.fixture(scope="module")
def people() -> CurveFit:
    return fit_curve(**crowd(1, people=20, trials_each=20, curve=gradual), n_bootstrap=20, rng=1)


_TRIALS = crowd(1, people=20, trials_each=20, curve=gradual)
ANSWERS = AnswersToOne.of(_TRIALS["visual_change"], _TRIALS["correct"], _TRIALS["images"], _TRIALS["participants"])


@pytest.fixture(scope="module")
def model() -> CurveFit:
    trials = crowd(2, people=20, trials_each=20, curve=sharp)
    del trials["participants"]
    return fit_curve(**trials, n_bootstrap=20, rng=1)


@pytest.fixture(scope="module")
def results(people: CurveFit, model: CurveFit) -> dict[str, CurveFit | Indices | CurveSimilarity | ErrorConsistency]:
    rng = np.random.default_rng(3)
    return {
        "curve": people,
        "indices": compare(people, model),
        "similarity": compare_all({"a": ANSWERS, "b": ANSWERS})["a", "b"],
        "agreement": error_consistency(rng.random(60) < 0.7, rng.random(60) < 0.7),
    }


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    import matplotlib as mpl

    mpl.use("Agg")
    yield
    from matplotlib import pyplot

    pyplot.close("all")


@pytest.mark.parametrize("name", ["curve", "indices", "similarity", "agreement"])
def test_every_result_prints_one_screen_one_line_and_draws_on_axes(name: str, results: dict) -> None:
    from matplotlib.axes import Axes

    found = results[name]
    lines = found.summary().splitlines()
    assert 4 < len(lines) <= 24 and max(map(len, lines)) <= 88
    assert repr(found).startswith(f"<{type(found).__name__}: ") and len(repr(found)) < 100
    axes = found.plot()
    assert isinstance(axes, Axes) and found.plot(axes) is axes
    assert len(found.to_frame()) == (201 if name == "curve" else 1)


def test_the_summary_tells_the_numbers_of_the_result(people: CurveFit) -> None:
    text = people.summary()
    low, high = people.area_interval or (0, 0)
    assert f"{people.area:.3f} [{low:.3f}, {high:.3f}], 95 % interval" in text
    assert "400, 20 participants, " in text and people.data_digest[:12] in text
    alone = replace(people, bands=None, bootstrap=None, area_interval=None, measured=(0.0, 0.7), gaps=((0.7, 1.0),))
    assert "withheld as a headline" in alone.summary() and "fitted without n_bootstrap" in alone.summary()
    assert "0.70 to 1.00" in alone.summary() and "whatever lies in the gaps" in alone.summary()


def test_frames_hold_unrounded_numbers(results: dict, people: CurveFit) -> None:
    curve = people.to_frame()
    assert people.bands is not None
    np.testing.assert_array_equal(curve["lower"], people.bands.lower)
    np.testing.assert_array_equal(curve["estimate"], people.predict(curve["v"]))
    bins = people.to_frame("bins")
    assert bins["n"].sum() == people.n_trials and list(bins["rate"]) == [one.rate for one in people.bins]
    assert replace(people, bands=None).to_frame()["lower"].isna().all()
    with pytest.raises(InvalidInput, match="'trials'"):
        people.to_frame("trials")  # type: ignore[arg-type]
    indices = results["indices"].to_frame().iloc[0]
    assert (indices["hmri_lower"], indices["hmri_upper"]) == results["indices"].hmri_interval
    assert indices["exceeds"] is None and "by noise alone" in results["indices"].summary()
    similarity = results["similarity"].to_frame().iloc[0]
    assert (similarity["lower"], similarity["upper"]) == results["similarity"].interval
    assert (similarity["span_lower"], similarity["span_upper"]) == results["similarity"].span


def test_frames_of_several_results_stand_below_each_other() -> None:
    both = pd.concat([one_row({"hmri_interval": (0.1, 0.2)}), one_row({"hmri_interval": None})], ignore_index=True)
    assert list(both["hmri_lower"].isna()) == [False, True] and "hmri_interval" not in both
    assert one_row({"ranges": ((0.1, 0.2), (0.3, 0.4))}).loc[0, "ranges"] == ((0.1, 0.2), (0.3, 0.4))


def test_two_curves_on_one_axes_share_a_legend_and_one_chance_level(people: CurveFit, model: CurveFit) -> None:
    axes = people.plot()
    texts, lines = len(axes.texts), len(axes.lines)
    model.plot(axes, observer=Observer("a model", "classifier"))
    legend = axes.get_legend()
    assert legend is not None and [text.get_text() for text in legend.get_texts()] == ["people", "a model"]
    assert len(axes.texts) == texts and len(axes.lines) == lines + 1


def test_a_screen_leaves_out_what_is_empty_and_folds_what_is_long() -> None:
    text = screen("Title", (("one", "a"), ("nothing", ""), ("longer", "word " * 30)))
    assert text.splitlines()[:2] == ["Title", "one     a"] and "nothing" not in text
    assert max(map(len, text.splitlines())) <= 88
