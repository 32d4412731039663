from __future__ import annotations

import numpy as np
import pytest

from analysis.counterfactuals.pixels import PixelGenerator
from analysis.counterfactuals.retraining import LabelledPictures, retrain_on_counterfactuals
from analysis.counterfactuals.search import search
from analysis.errors import SearchRefused
from analysis.retraining.training import Recipe


def searched(drawn, labels, seed, network, oracle) -> LabelledPictures:
    originals = drawn(labels, seed)
    found = search(originals, labels, classifier=network, generator=PixelGenerator(), oracle=oracle)
    return LabelledPictures(originals, np.stack([one.picture for one in found]), tuple(labels))


def test_a_fragile_network_learns_to_name_counterfactuals_of_others(drawn, labels, fragile, oracle) -> None:
    training, test = (searched(drawn, labels, seed, fragile, oracle) for seed in (1, 2))
    done = retrain_on_counterfactuals(fragile, training, test, Recipe(epochs=60, learning_rate=0.05, batch=8))
    assert done.accuracy[0].tolist() == [1.0, 0.0] and done.n == 12
    assert done.accuracy[1].tolist() == [1.0, 1.0]
    # The network that was searched against stays as it was.
    assert retrain_on_counterfactuals(fragile, training, test, Recipe(epochs=1)).accuracy[0].tolist() == [1.0, 0.0]


def test_training_and_test_share_no_original(drawn, labels, fragile, oracle) -> None:
    pictures = searched(drawn, labels, 1, fragile, oracle)
    with pytest.raises(SearchRefused, match="12 originals stand in training and test"):
        retrain_on_counterfactuals(fragile, pictures, pictures, Recipe())
    with pytest.raises(SearchRefused, match="one counterfactual and one label"):
        LabelledPictures(pictures.originals, pictures.counterfactuals[1:], pictures.labels)
