"""Models beside people by pooled kappa: which are told apart, which places are left open, how often by chance."""

from __future__ import annotations

import os
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.findings.analysing import analyse
from analysis.findings.benchmark import benchmark_table
from analysis.findings.consistency import consistency_differences
from analysis.findings.fits import FitSettings
from analysis.findings.model.agreement import ConsistencyDifference
from analysis.findings.observations import Observations, read_predictions, read_trials
from analysis.published_trials import read_published_trials
from analysis.reporting.results_text import agreement_sentences
from humanexp.results.charts.registry import chart_of
from tests.analysis.findings.studies import imported

SETTINGS = FitSettings(seed=1, n_bootstrap=0)


def answers(names: list[str], right: np.ndarray, *, each: int = 1) -> Observations:
    """Rows of observers, columns of pictures; `each` pictures are of one original."""
    shape, n = right.shape, right.size
    pictures = np.tile(np.array([f"p{k}" for k in range(shape[1])]), shape[0])
    originals = np.tile(np.array([f"o{k // each}" for k in range(shape[1])]), shape[0])
    text = {"session": "", "category": "cat", "corruption": "x", "condition": "1", "input_kind": "", "response": ""}
    nothing = np.full(n, np.nan)
    return Observations(
        observer=np.repeat(np.array(names), shape[1]),
        original=originals,
        stimulus=pictures,
        visual_change=np.full(n, 0.5),
        correct=right.ravel().astype(np.float64),
        rt_ms=nothing,
        timing_ok=nothing,
        imported=np.zeros(n, dtype=np.bool_),
        **{name: np.full(n, value) for name, value in text.items()},
    )


def study(
    rng: np.random.Generator, copied: tuple[float, ...], *, pictures: int = 120, people: int = 4
) -> tuple[Observations, Observations]:
    """People of whom hard pictures are hard for all; models that copy the first person so often, else guess at .6."""
    ease = np.where(rng.random(pictures) < 0.3, 0.4, 0.9)
    theirs = rng.random((people, pictures)) < ease
    models = np.array([np.where(rng.random(pictures) < one, theirs[0], rng.random(pictures) < 0.6) for one in copied])
    names = [f"model-{k}" for k in range(len(copied))]
    return answers([f"P-{k}" for k in range(people)], theirs), answers(names, models)


def compared(
    found: tuple[Observations, Observations],
) -> tuple[list[ConsistencyDifference], dict[str, tuple[int, int]]]:
    entries, ranks = consistency_differences(*found, {}, SETTINGS)
    return entries, {name: (one.best, one.worst) for name, one in ranks.items()}


def test_a_model_that_copies_is_told_from_one_that_does_not() -> None:
    entries, ranks = compared(study(np.random.default_rng(0), (0.9, 0.0, 0.05)))
    assert [one.pair[0] for one in entries[:2]] == ["model-0", "model-0"]
    assert [one.differ for one in entries] == [True, True, False] and ranks["model-0"] == (1, 1)
    assert ranks["model-1"] == ranks["model-2"] == (2, 3)
    for one in entries:
        assert one.difference == pytest.approx(one.kappas[0] - one.kappas[1]) and one.difference >= 0.0
        assert one.interval[0] < one.difference < one.interval[1]
        assert (one.n, one.originals) == (120, 120)


def test_difference_and_spread_are_those_of_pooled_kappas_on_pictures_that_are_drawn_again() -> None:
    rng = np.random.default_rng(4)
    people, models = study(rng, (0.6, 0.3), pictures=300)
    (entry,), _ = compared((people, models))
    theirs = people.correct.reshape(4, 300)
    own = {name: models.correct[models.observer == name] for name in entry.pair}

    def kappa(name: str, rows: np.ndarray) -> float:
        a, b, n = theirs[:, rows].mean(axis=0), own[name][rows], len(rows)
        observed = a @ b + (1 - a) @ (1 - b)
        # Chance: answers to different pictures.
        expected = (a.sum() * b.sum() + (1 - a).sum() * (1 - b).sum() - observed) / (n - 1)
        return float((observed - expected) / (n - expected))

    def difference(rows: np.ndarray) -> float:
        return kappa(entry.pair[0], rows) - kappa(entry.pair[1], rows)

    assert entry.difference == pytest.approx(difference(np.arange(300)))
    drawn = [difference(rows) for rows in rng.integers(300, size=(2000, 300))]
    assert (entry.interval[1] - entry.interval[0]) / 2 == pytest.approx(1.96 * np.std(drawn), rel=0.1)


def test_models_that_are_as_consistent_are_seldom_told_apart() -> None:
    rng = np.random.default_rng(5)
    differ, ordered = 0, 0
    for _ in range(100):
        entries, ranks = compared(study(rng, (0.4, 0.4, 0.4)))
        differ += any(one.differ for one in entries)
        ordered += any(places != (1, 3) for places in ranks.values())
    assert differ <= 11 and ordered <= 11


def test_too_few_originals_one_model_or_one_that_is_always_right_is_not_compared() -> None:
    rng = np.random.default_rng(6)
    assert compared(study(rng, (0.9, 0.0), pictures=29)) == ([], {})
    assert compared(study(rng, (0.9,))) == ([], {})
    people, models = study(rng, (0.9, 0.0))
    perfect = answers(["perfect"], np.ones((1, 120)))
    both = Observations(
        **{
            name: np.concatenate([getattr(models, name), getattr(perfect, name)])
            for name in models.__dataclass_fields__
        }
    )
    entries, ranks = compared((people, both))
    assert len(entries) == 1 and set(ranks) == {"model-0", "model-1"}


def test_findings_page_and_report_have_them_and_earlier_keys_stay() -> None:
    trials = imported({"0.2": 0.7, "0.4": 0.5}, people=4, each=60, seed=5)
    copy = trials[trials["participant"] == "P-0"].rename(columns={"participant": "classifier"})
    rng = np.random.default_rng(1)
    alone = copy.assign(classifier="alone", correct=rng.random(len(copy)) < 0.5)
    networks = pd.concat([copy.assign(classifier="copy"), alone]).assign(label_space=16)
    found = analyse(trials, networks, study="s", seed=1, n_bootstrap=0, sensitivity=False)
    (entry,) = found.consistency_differences
    assert entry.pair == ("copy", "alone") and entry.differ
    means, differences, pairs = chart_of(found, "agreement").tables
    assert [column.label for column in means.columns][-2:] == ["Rank by κ", "Pictures in common"]
    assert [row[-2] for row in means.rows] == ["", "2", "1"]
    assert differences.texts[0][:2] == ["copy", "alone"] and differences.texts[0][-2] == "yes"
    assert differences.notes == ("These two models differ in κ.",)
    assert [column.label for column in pairs.columns][-2:] == ["Copied", "p"]
    said = " ".join(agreement_sentences(found))
    assert "place 1 by it" in said and "differ in κ" in said
    three = trials[trials["participant"] != "P-3"]
    plain = analyse(three, None, study="s", seed=1, n_bootstrap=0, sensitivity=False)
    assert "consistency_differences" not in plain.to_json() and "soft_agreement" not in plain.to_json()
    assert all("ranks" not in row for row in plain.to_json()["agreement"])  # type: ignore[union-attr]


def test_places_by_kappa_are_those_of_new_people_and_pictures() -> None:
    """One model copies a person's answers; the others are as consistent as each other."""
    rng = np.random.default_rng(2)
    alarms, right = 0, 0
    for _ in range(12):
        people, models = study(rng, (0.8, 0.2, 0.2), pictures=200, people=5)
        both = tuple(
            Observations(
                **{**{name: getattr(one, name) for name in one.__dataclass_fields__}, "imported": one.imported | True}
            )
            for one in (people, models)
        )
        table = {one.observer: one for one in benchmark_table({"s": both})}  # type: ignore[dict-item]
        ranks = {name: table[name].consistency_ranks for name in ("model-0", "model-1", "model-2")}
        assert all(one is not None for one in ranks.values()) and table["humans"].consistency_ranks is None
        alarms += (ranks["model-1"].best, ranks["model-1"].worst) not in {(2, 3), (1, 3)}  # type: ignore[union-attr]
        right += ranks["model-0"].best == 1  # type: ignore[union-attr]
    assert alarms <= 3 and right == 12


@pytest.mark.verify
@pytest.mark.skipif("REFERENCE_DATA" not in os.environ, reason="REFERENCE_DATA names no folder with published trials")
def test_many_differences_of_published_models_are_no_more_than_chance() -> None:
    """Nine vision-language models beside ten people on cue conflict: as Klein et al. (2025) found of networks."""
    data = Path(os.environ["REFERENCE_DATA"])
    files, answers = (sorted((data / name).glob("*.csv")) for name in ("published/cue-conflict", "vlm"))
    published = read_published_trials(files, study="cue", answers=answers, style="letters")
    human = published.trials["participant"].map(published.observers) == "human"
    networks = published.trials[~human].rename(columns={"participant": "classifier"}).assign(label_space=16)
    people, models = read_trials(published.trials[human]), read_predictions(networks)[0]
    entries, ranks = compared((people, models))
    assert len(entries) == 36 and 12 <= sum(one.differ for one in entries) <= 19
    firsts = sorted(name for name, (best, _) in ranks.items() if best == 1)
    assert firsts == ["gemini_pro_vision", "internvl_chat_1_2_plus", "qwen_vl_plus"]
    # Their interval: pictures are drawn again, people stay; nothing is corrected.
    pictures = np.unique(models.original)
    right = {
        name: np.full(len(pictures), np.nan) for name in np.unique(np.concatenate([people.observer, models.observer]))
    }
    for rows in (people, models):
        for name, original, correct in zip(rows.observer, rows.original, rows.correct, strict=True):
            right[name][np.searchsorted(pictures, original)] = correct
    theirs = np.stack([right[name] for name in np.unique(people.observer)])
    drawn = np.random.default_rng(0).integers(len(pictures), size=(400, len(pictures)))

    def mean_kappas(name: str) -> np.ndarray:
        found = []
        for rows in drawn:
            a, b = theirs[:, rows], right[name][rows]
            p, q, both = a.mean(axis=1), b.mean(), (a == b).mean(axis=1)
            expected = p * q + (1 - p) * (1 - q)
            found.append(((both - expected) / (1 - expected)).mean())
        return np.array(found)

    kappas = {name: mean_kappas(name) for name in ranks}
    sure = sum(
        bool(np.quantile(kappas[a] - kappas[b], 0.025) > 0 or np.quantile(kappas[a] - kappas[b], 0.975) < 0)
        for a, b in combinations(kappas, 2)
    )
    assert 20 <= sure <= 26
