from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from analysis.counterfactuals.files import Control
from analysis.counterfactuals.pixels import PixelGenerator
from analysis.counterfactuals.port import Target
from analysis.counterfactuals.search import search
from analysis.counterfactuals.summaries import (
    budget_study,
    compare_searches,
    generator_agreement,
    signed_step_caveats,
)
from analysis.counterfactuals.transfer import crossed_oor, transfer_matrix
from analysis.errors import InvalidInput, TooFewResponses


def test_pictures_against_one_network_on_another(pictures, labels, fragile, robust, oracle) -> None:
    networks = {"fragile": fragile, "robust": robust}
    searches = {
        name: search(pictures, labels, classifier=network, generator=PixelGenerator(), oracle=oracle)
        for name, network in networks.items()
    }
    found = transfer_matrix(searches, networks)
    assert found.made_against == found.tested == ("fragile", "robust") and found.n_valid == (12, 12)
    # Against the fragile one: it is fooled itself, the other is not; the robust one's pictures leave the board alone.
    assert found.accuracy[0].tolist() == [0.0, 1.0]
    own = np.mean([one.counterfactual_correct for one in searches["robust"]])
    assert found.accuracy[1, 1] == own


def test_a_row_without_valid_pictures_is_no_number(pictures, labels, robust, scripted) -> None:
    refused = search(
        pictures[:1], labels[:1], classifier=robust, generator=PixelGenerator(), oracle=scripted({"cat": 0})
    )
    found = transfer_matrix({"robust": refused}, {"robust": robust})
    assert np.isnan(found.accuracy).all() and found.n_valid == (0,)
    with pytest.raises(TooFewResponses, match="no picture at step 0"):
        budget_study(refused, [0, 1])
    with pytest.raises(InvalidInput, match="0 or more"):
        good = search(pictures, labels, classifier=robust, generator=PixelGenerator(), oracle=scripted(), budget=1)
        budget_study(good, [-1])


def test_crossed_oor_is_over_the_clean_accuracy_of_the_model_that_looks() -> None:
    # OOR paper, Table 6: the PGD network names 85.70 % of clean pictures, and has OOR 95.96 on the others' pictures.
    assert crossed_oor(8224, 10000, 0.857) == pytest.approx(0.9596, abs=5e-5)
    assert crossed_oor(6, 10, 0.5) == pytest.approx(1.2)
    assert crossed_oor(0, 0, 0.5) is None and crossed_oor(3, 4, 0.0) is None and crossed_oor(3, 4, None) is None


def test_longer_steps_raise_the_loss_faster(pictures, labels, robust, oracle) -> None:
    searches = {
        f"step {levels}": search(
            pictures, labels, classifier=robust, generator=PixelGenerator(stride=levels / 255), oracle=oracle, budget=3
        )
        for levels in (1, 2, 4)
    }
    found = compare_searches(searches)
    assert [one.name for one in found] == ["step 1", "step 2", "step 4"]
    assert found[0].mean_loss < found[1].mean_loss < found[2].mean_loss and found[0].mean_steps == 3
    with pytest.raises(InvalidInput, match="same pictures"):
        compare_searches({"a": searches["step 1"], "b": searches["step 2"][:3]})


def test_generators_that_rank_alike_agree() -> None:
    rng = np.random.default_rng(0)
    models = [f"m{number}" for number in range(8)]
    first = dict(zip(models, rng.random(8), strict=True))
    second = {model: value + rng.normal(scale=0.3) for model, value in first.items()}
    (found,) = generator_agreement({"pixel": first, "vqgan": second | {"extra": 1.0}})
    expected = spearmanr(list(first.values()), [second[model] for model in models]).statistic
    assert found.rho == pytest.approx(expected) and found.n == 8 and found.pair == ("pixel", "vqgan")
    (same,) = generator_agreement({"a": first, "b": {model: 3 * value + 1 for model, value in first.items()}})
    assert same.rho == pytest.approx(1) and same.tau == pytest.approx(1)
    with pytest.raises(TooFewResponses, match="needs three"):
        generator_agreement({"a": {"m1": 0.2, "m2": float("nan")}, "b": {"m1": 0.1, "m2": 0.3}})


def test_a_signed_step_is_a_whole_number_of_levels_and_is_said_to_be(pictures, labels, robust) -> None:
    target = Target(robust)
    numbers = target.numbers(labels)

    def stepped(fgsm: float) -> np.ndarray:
        return Control(fgsm=fgsm).prepare(pictures, numbers, target)

    assert (stepped(0.003) == stepped(1 / 255)).all() and (stepped(0.003) != pictures).any()
    assert (stepped(0.001) == pictures).all()
    (published,) = signed_step_caveats(0.003)
    assert published.endswith("step of 0.003 acts as one of 0.0039, 1 of 255 levels.")
    (none,) = signed_step_caveats(0.001)
    assert "changes nothing" in none
    assert signed_step_caveats(0.0) == signed_step_caveats(8 / 255) == signed_step_caveats(1.0) == []
