"""The whole path on drawn pictures: the repository's autoencoder, the demo's networks, a third as the oracle."""

from __future__ import annotations

import json

import cv2
import numpy as np
import pytest

from analysis.classifiers.loading import load_classifier
from analysis.counterfactuals.search import search
from analysis.counterfactuals.specifications import load_generator, load_oracle
from analysis.counterfactuals.summaries import budget_study, score_of
from analysis.examples import folder_of
from analysis.examples.pictures import DEMO_SEEDS, draw
from analysis.labels.files import default_labels

FOLDER = folder_of("counterfactuals")
VQGAN = f"vqgan:{FOLDER / 'autoencoder.pt'}"
CLEAN, ROBUST = (f"export:fixtures/classifiers/{name}.pt2" for name in ("clean", "robust"))
ADVERSARIAL = f"export:{FOLDER / 'adversarial.pt2'}"


@pytest.fixture(scope="module")
def oracle():
    return load_oracle(f"classifier:export:{FOLDER / 'oracle.pt2'}")


def drawn(seed: int, count: int) -> tuple[np.ndarray, list[str]]:
    labels = list(default_labels().ids[:count])
    return np.stack([cv2.resize(draw(label, seed), (64, 64), interpolation=cv2.INTER_AREA) for label in labels]), labels


def test_networks_were_never_trained_on_pictures_that_are_shown() -> None:
    for path in sorted(FOLDER.glob("*.json")):
        seeds = json.loads(path.read_text(encoding="utf-8"))["provenance"]["seeds"]
        assert all(first not in DEMO_SEEDS for first, _last in seeds.values()), path
    assert len(list(FOLDER.glob("*.json"))) == 3


def test_a_search_in_the_latents_raises_the_loss_while_the_oracle_agrees(oracle) -> None:
    pictures, labels = drawn(3, 10)
    found = search(
        pictures, labels, classifier=load_classifier(CLEAN), generator=load_generator(VQGAN), oracle=oracle, budget=2
    )
    losses = [point.mean_loss for point in budget_study(found, range(3))]
    assert losses[0] < losses[1] <= losses[2]
    kept = [one for one in found if one.valid]
    assert len(kept) >= 5
    assert oracle.judge(np.stack([one.picture for one in kept]), [one.label for one in kept]).accepted.all()


@pytest.mark.slow
@pytest.mark.parametrize("network", [CLEAN, ROBUST])
def test_the_loss_rises_with_every_step_of_the_budget(network, oracle) -> None:
    pictures, labels = drawn(5, 16)
    arguments = {"classifier": load_classifier(network), "generator": load_generator(VQGAN), "oracle": oracle}
    found = search(pictures, labels, budget=10, seed=4, **arguments)
    losses = [point.mean_loss for point in budget_study(found, range(11))]
    assert np.all(np.diff(losses) >= 0) and losses[-1] > losses[0]
    again = search(pictures, labels, budget=10, seed=4, **arguments)
    kept = [one for one in found if one.valid]
    assert all(
        np.array_equal(one.picture, other.picture)
        for one, other in zip(kept, (other for other in again if other.valid), strict=True)
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_a_network_trained_against_perturbations_holds_out_longer(seed, oracle) -> None:
    pictures, labels = drawn(600 + seed, 16)
    oor = {
        network: score_of(
            search(
                pictures, labels, classifier=load_classifier(network), generator=load_generator("pixel:"),
                oracle=oracle, budget=4, seed=seed,
            )
        ).oor
        for network in (CLEAN, ADVERSARIAL)
    }  # fmt: skip
    assert oor[CLEAN] < oor[ADVERSARIAL]
