from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch

from analysis.counterfactuals.corrupting import CorruptionGenerator
from analysis.counterfactuals.files import Control
from analysis.counterfactuals.oracles import ClassifierOracle
from analysis.counterfactuals.pixels import PixelGenerator
from analysis.counterfactuals.search import search
from analysis.counterfactuals.summaries import budget_study, score_of
from analysis.errors import ClassifierUnavailable, PictureRefused, SearchRefused
from analysis.labels.files import default_labels

PIXEL = PixelGenerator()


def test_a_refused_step_falls_back_to_the_picture_before(pictures, labels, robust, scripted) -> None:
    oracle = scripted({"dog": 3})
    found = search(pictures, labels, classifier=robust, generator=PIXEL, oracle=oracle, budget=5)
    dogs = [one for one in found if one.label == "dog"]
    others = [one for one in found if one.label != "dog"]
    assert [one.accepted_steps for one in dogs] == [2, 2, 2]
    assert all(one.ending == "refused" and len(one.losses) == 3 and len(one.oracle_responses) == 4 for one in dogs)
    assert all(one.ending == "budget" and one.accepted_steps == 5 for one in others)
    places = [place for place, label in enumerate(labels) if label == "dog"]
    assert all(np.array_equal(dog.picture, oracle.seen[2][place]) for dog, place in zip(dogs, places, strict=True))
    # Finished ones leave: at the fourth judgement there are still all, at the fifth three fewer.
    assert [len(seen) for seen in oracle.seen] == [12, 12, 12, 12, 9, 9]


def test_refused_at_step_0_is_not_valid(pictures, labels, robust, scripted) -> None:
    found = search(pictures, labels, classifier=robust, generator=PIXEL, oracle=scripted({"cat": 0}), budget=2)
    cats = [one for one in found if one.label == "cat"]
    assert all(not one.valid and one.picture is None and one.losses == () and one.response == "" for one in cats)
    assert score_of(found).vr == 0.75


def test_losses_rise_with_the_budget_on_the_same_valid_pictures(pictures, labels, robust, oracle) -> None:
    found = search(pictures, labels, classifier=robust, generator=PIXEL, oracle=oracle, budget=6)
    points = budget_study(found, range(7))
    losses = [point.mean_loss for point in points]
    assert all(later > earlier for earlier, later in zip(losses, losses[1:], strict=False))
    assert points[0].mean_steps == 0 and points[-1].score == score_of(found)


def test_a_smaller_budget_is_a_cut_off_search(pictures, labels, fragile, oracle) -> None:
    arguments = {"classifier": fragile, "generator": PIXEL, "oracle": oracle}
    long = search(pictures, labels, budget=4, **arguments)
    short = search(pictures, labels, budget=2, **arguments)
    assert score_of(long, 2) == score_of(short)
    assert [one.losses[:3] for one in long] == [one.losses for one in short]


def test_kept_pictures_are_accepted_again_and_equal_seeds_give_equal_pictures(
    pictures, labels, fragile, oracle
) -> None:
    arguments = {"classifier": fragile, "generator": CorruptionGenerator("gaussian_noise"), "oracle": oracle}
    first = search(pictures, labels, seed=3, **arguments)
    again = search(pictures, labels, seed=3, **arguments)
    other = search(pictures, labels, seed=4, **arguments)
    kept = np.stack([one.picture for one in first])
    assert oracle.judge(kept, labels).accepted.all()
    assert np.array_equal(kept, np.stack([one.picture for one in again]))
    assert not np.array_equal(kept, np.stack([one.picture for one in other]))


def test_the_size_of_a_batch_changes_nothing(pictures, labels, fragile, oracle) -> None:
    arguments = {"classifier": fragile, "generator": CorruptionGenerator("uniform_noise"), "oracle": oracle, "seed": 1}
    together = search(pictures, labels, batch=12, **arguments)
    alone = search(pictures, labels, batch=1, **arguments)
    assert [one.oracle_responses for one in together] == [one.oracle_responses for one in alone]
    assert np.array_equal(np.stack([one.picture for one in together]), np.stack([one.picture for one in alone]))


@pytest.mark.parametrize("seed", range(10))
def test_a_fragile_network_scores_below_a_robust_one(seed, labels, drawn, fragile, robust, oracle) -> None:
    pictures = drawn(labels, 100 + seed)
    oor = {
        network.name: score_of(
            search(pictures, labels, classifier=network, generator=PIXEL, oracle=oracle, seed=seed)
        ).oor
        for network in (fragile, robust)
    }
    assert oor["fragile"] < oor["robust"]


def test_controls_come_first(pictures, labels, robust, oracle) -> None:
    arguments = {"classifier": robust, "generator": PIXEL, "oracle": oracle, "budget": 1}
    plain = search(pictures, labels, **arguments)
    grey = search(pictures, labels, control=Control(greyscale=True), **arguments)
    started = search(pictures, labels, control=Control(fgsm=8 / 255), **arguments)
    assert all(one.losses[0] > other.losses[0] for one, other in zip(started, plain, strict=True))
    starts = search(pictures, labels, control=Control(greyscale=True), **{**arguments, "oracle": _Blind()})
    assert all(one.picture is None for one in starts)
    assert all(one.losses[0] != other.losses[0] for one, other in zip(grey, plain, strict=True))


class _Blind:
    name, digest, classes = "blind", "0" * 64, frozenset(default_labels().ids)

    def judge(self, pictures, labels):
        assert (pictures[..., 0] == pictures[..., 1]).all() and (pictures[..., 1] == pictures[..., 2]).all()
        from analysis.counterfactuals.port import Acceptance

        return Acceptance(np.zeros(len(pictures), bool), np.full(len(pictures), ""))


@dataclass(frozen=True)
class WithoutGradients:
    """Looks at pictures; torch does not know how."""

    name: str = "recorded elsewhere"
    labels: tuple[str, ...] = default_labels().ids
    label_space: int = 16
    digest: str = "0" * 64
    preprocessing: str = "none"

    def predict(self, images: np.ndarray) -> np.ndarray:
        return np.full((len(images), 16), 1 / 16, np.float32)


def test_what_cannot_run_is_refused_before_any_work(pictures, labels, robust, oracle, scripted) -> None:
    untouched = scripted()
    arguments = {"classifier": robust, "generator": PIXEL, "oracle": untouched}
    with pytest.raises(SearchRefused, match="12 pictures and 11 labels"):
        search(pictures, labels[1:], **arguments)
    with pytest.raises(SearchRefused, match="budget .* not 0"):
        search(pictures, labels, budget=0, **arguments)
    with pytest.raises(SearchRefused, match="'zebra' is none of the 16"):
        search(pictures, ["zebra", *labels[1:]], **arguments)
    with pytest.raises(SearchRefused, match="no picture"):
        search([], [], **arguments)
    with pytest.raises(PictureRefused, match="one size"):
        search([pictures[0], pictures[1][:8]], labels[:2], **arguments)
    with pytest.raises(PictureRefused, match="uint8"):
        search(pictures.astype(float), labels, **arguments)
    with pytest.raises(ClassifierUnavailable, match="gives no gradients"):
        search(pictures, labels, **{**arguments, "classifier": WithoutGradients()})
    rounding = replace(robust, name="rounding", forward=lambda inputs: robust.forward(inputs.round()))
    with pytest.raises(SearchRefused, match="rounding has a gradient of zero"):
        search(pictures, labels, **{**arguments, "classifier": rounding})

    def without_graph(inputs):
        with torch.no_grad():
            return robust.forward(inputs)

    with pytest.raises(SearchRefused, match="cannot be differentiated"):
        search(pictures, labels, **{**arguments, "classifier": replace(robust, forward=without_graph)})
    assert untouched.seen == []
    narrow = ClassifierOracle(
        replace(oracle.classifier, labels=("cat", "dog"), forward=lambda inputs: robust.forward(inputs)[:, :2])
    )
    with pytest.raises(SearchRefused, match="does not know boat, truck"):
        search(pictures, labels, **{**arguments, "oracle": narrow})


def test_a_generator_that_compares_losses_needs_no_gradients(pictures, labels, oracle) -> None:
    found = search(
        pictures, labels, classifier=WithoutGradients(), generator=CorruptionGenerator("brightness"), oracle=oracle,
        budget=1,
    )  # fmt: skip
    assert len(found) == 12 and found[0].clean_loss == pytest.approx(np.log(16))
