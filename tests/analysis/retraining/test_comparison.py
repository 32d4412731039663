from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.curves.fit import fit_curve
from analysis.curves.trials import CleanTrials
from analysis.errors import LabelSpaceMismatch, OriginalsOverlap, TableRefused
from analysis.metrics import compare
from analysis.retraining.comparison import before_and_after, difference_interval
from analysis.tables.stimuli import PREDICTIONS
from tests.analysis.findings.studies import study

N_ORIGINALS = 150


def predictions(gain: float, *, name: str = "net", seed: int = 0, corruptions: tuple[str, ...] = ("blur", "noise")):  # noqa: ANN201
    """Right with probability 0.9 - (1 - gain) v on stimuli; the same luck in every table of a seed."""
    rng = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    for number in range(N_ORIGINALS):
        own = {"classifier": name, "original": f"o{number}", "category": "cat", "label_space": 16}
        ease = rng.normal(0, 0.15)
        for corruption in ("none", *corruptions):
            v = 0.0 if corruption == "none" else float(rng.random())
            is_right = bool(rng.random() < 0.9 - (1 - gain) * v + ease)
            rows.append(
                own
                | {"stimulus": f"o{number}-{corruption}", "corruption": corruption, "visual_change": v,
                   "response": "cat" if is_right else "dog", "correct": is_right}
            )  # fmt: skip
    return PREDICTIONS.frame(rows)


def row_of(found: dict[str, Any], corruption: str, property_: str = "accuracy") -> dict[str, Any]:
    return next(row for row in found["rows"] if (row["corruption"], row["property"]) == (corruption, property_))


def test_the_same_predictions_differ_by_exactly_nothing() -> None:
    table = predictions(0.3)
    found = before_and_after(table, table, study(1)[0], n_bootstrap=50)
    assert {row["corruption"] for row in found["rows"]} == {"blur", "noise"}
    for row in found["rows"]:
        assert set(row["difference"]) == {"area", "hmri", "mrsi"}
        assert all(value == 0.0 for value in row["difference"].values())
        assert all(interval == [0.0, 0.0] for interval in row["interval"].values())
    assert found["clean"]["difference"] == 0.0
    assert found["clean"]["interval"] == [0.0, 0.0]


def test_estimates_are_those_of_the_curves_themselves() -> None:
    trials, _ = study(1)
    before, after = predictions(0.2), predictions(0.7)
    found = row_of(before_and_after(before, after, trials, n_bootstrap=0, trained_on=["noise"]), "noise")
    people = trials[(trials["corruption"] == "noise") & trials["accepted"].astype(bool)]
    clean = trials[(trials["corruption"] == "none") & (trials["role"] == "clean") & trials["accepted"].astype(bool)]

    def number(frame: pd.DataFrame) -> np.ndarray:
        return frame["correct"].astype(float).to_numpy()

    human = fit_curve(
        people["visual_change"],
        number(people),
        anchor="soft",
        clean=CleanTrials(number(clean)),
    )
    for name, table in (("before", before), ("after", after)):
        own, base = table[table["corruption"] == "noise"], table[table["corruption"] == "none"]
        curve = fit_curve(own["visual_change"], number(own), anchor="soft", clean=CleanTrials(number(base)))
        expected = compare(human, curve)
        assert found[name]["area"] == pytest.approx(curve.area, abs=1e-9)
        assert found[name]["hmri"] == pytest.approx(expected.hmri, abs=1e-9)
        assert found[name]["mrsi"] == pytest.approx(expected.mrsi, abs=1e-9)
        kept = found["curves"]
        assert np.trapezoid(kept[name], kept["visual_change"]) == pytest.approx(curve.area, abs=2e-4)
    assert np.trapezoid(found["curves"]["people"], found["curves"]["visual_change"]) == pytest.approx(
        human.area, abs=2e-4
    )
    assert found["trained_on"] is True
    assert found["interval"] is None


def test_a_gain_shows_as_an_interval_above_nothing() -> None:
    found = before_and_after(predictions(-0.2), predictions(0.8), study(1)[0], n_bootstrap=200)
    row = row_of(found, "noise")
    assert row["interval"]["hmri"][0] > 0
    assert row["interval"]["area"][0] > 0
    assert row["interval"]["hmri"][0] < row["difference"]["hmri"] < row["interval"]["hmri"][1]
    assert found["clean"]["interval"][0] <= found["clean"]["difference"] <= found["clean"]["interval"][1]


def noise_alone(seed: int) -> tuple[Any, Any]:
    """Interval for a network that lay below people and became their twin: HMRI rose, MRSI stayed at 0."""
    rng = np.random.default_rng(seed)
    v, n = rng.random(1200), np.arange(200)

    def curve(place: float, at: np.ndarray, images: np.ndarray) -> Any:
        right = rng.random(len(at)) < 0.95 - 0.85 / (1.0 + np.exp((place - at) / 0.1))
        return fit_curve(at, right.astype(float), images=images, anchor=0.95, n_bootstrap=100, rng=seed)

    human = curve(0.6, v, np.arange(1200) % 200)
    before, after = (curve(place, v[:200], n) for place in (0.4, 0.6))
    return difference_interval(human, before, after, 0.95)


def test_noise_alone_gains_no_lead() -> None:
    """A lead of a refit is never negative: its percentiles alone exclude a change of 0."""
    found = [noise_alone(seed) for seed in range(8)]
    assert sum(lower[2] > 0.0 for lower, _ in found) <= 1
    assert all(upper[2] > 0.0 for _, upper in found)
    assert all(lower[1] > 0.0 for lower, _ in found)


@pytest.mark.verify
def test_the_paired_interval_is_that_of_a_plain_bootstrap_over_originals() -> None:
    before, after = predictions(0.2), predictions(0.5)
    found = row_of(before_and_after(before, after, n_bootstrap=400), "noise")
    assert found["human_area"] is None
    assert set(found["difference"]) == {"area"}
    rng = np.random.default_rng(3)
    tables = [
        tuple(table[table["corruption"] == name].set_index("original") for name in ("noise", "none"))
        for table in (before, after)
    ]
    names = [f"o{number}" for number in range(N_ORIGINALS)]
    changes = []
    for _ in range(60):
        drawn = rng.choice(names, len(names))
        areas = [
            fit_curve(
                own.loc[drawn, "visual_change"],
                own.loc[drawn, "correct"].astype(float),
                anchor="soft",
                clean=CleanTrials(base.loc[drawn, "correct"].astype(float).to_numpy()),
            ).area
            for own, base in tables
        ]
        changes.append(areas[1] - areas[0])
    plain = np.quantile(changes, [0.025, 0.975])
    low, high = found["interval"]["area"]
    assert high - low == pytest.approx(plain[1] - plain[0], rel=0.35)
    assert (high + low) / 2 == pytest.approx(plain.mean(), abs=0.02)


def test_pairing_narrows_the_interval_of_the_clean_difference() -> None:
    table = predictions(0.3)
    found = before_and_after(table, predictions(0.35), n_bootstrap=300)["clean"]
    low, high = found["interval"]
    unpaired = 1.96 * np.sqrt(2 * found["before"] * (1 - found["before"]) / N_ORIGINALS)
    assert high - low < unpaired


def test_originals_of_training_are_refused() -> None:
    table = predictions(0.3)
    with pytest.raises(OriginalsOverlap, match="1 originals of evaluation were trained on, for example o7"):
        before_and_after(table, table, training=["o7", "x1"])


def test_tables_that_do_not_belong_together_are_refused() -> None:
    table = predictions(0.3)
    with pytest.raises(TableRefused, match="different stimuli"):
        before_and_after(table, table.iloc[1:])
    two = pd.concat([table, predictions(0.3, name="other")])
    with pytest.raises(TableRefused, match="one classifier each"):
        before_and_after(two, two)
    with pytest.raises(TableRefused, match="one label space"):
        before_and_after(table, table.assign(label_space=1000))


def test_a_curve_of_a_thousand_labels_is_not_compared_with_people() -> None:
    table = predictions(0.3).assign(label_space=1000)
    with pytest.raises(LabelSpaceMismatch, match="1000-way"):
        before_and_after(table, table, study(1)[0], n_bootstrap=0)
    assert before_and_after(table, table, n_bootstrap=0)["rows"]


def test_the_same_seed_gives_the_same_numbers() -> None:
    before, after = predictions(0.2), predictions(0.5)
    assert before_and_after(before, after, n_bootstrap=30, seed=2) == before_and_after(
        before, after, n_bootstrap=30, seed=2
    )
