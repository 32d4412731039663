"""Training from nothing: what is learnt, what is not, and the same weights from the same seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from analysis.classifiers.description import Description
from analysis.classifiers.exported import save
from analysis.classifiers.loading import load_classifier
from analysis.errors import InvalidInput, PictureRefused
from analysis.labels.space import Label, LabelSpace
from analysis.retraining.small_network import (
    TrainingRecipe,
    _moved,
    _rate,
    has_colours,
    small_network,
    train_small_network,
)

SPACE = LabelSpace(name="bars", labels=tuple(Label(id=one) for one in ("upright", "lying", "none-at-all")))
QUICK = TrainingRecipe(epochs=4, batch=16, seed=1)


def bars(n: int, seed: int = 0, side: int = 16) -> tuple[NDArray[np.uint8], list[str]]:
    """A bright bar at a random place, upright or lying, or noise alone."""
    rng = np.random.default_rng(seed)
    pictures = rng.integers(0, 60, (n, side, side, 3)).astype(np.uint8)
    labels = [SPACE.ids[number % 3] for number in range(n)]
    for picture, label in zip(pictures, labels, strict=True):
        at = int(rng.integers(2, side - 4))
        if label == "upright":
            picture[:, at : at + 2] = 220
        elif label == "lying":
            picture[at : at + 2] = 220
    return pictures, labels


def test_it_learns_what_can_be_learnt_and_answers_in_the_order_of_ids(tmp_path: Path) -> None:
    made = train_small_network(*bars(180), SPACE, QUICK)
    assert made.network.labels == SPACE.ids == ("lying", "none-at-all", "upright")
    assert made.losses[-1] < made.losses[0] and len(made.losses) == 4
    assert 100_000 < made.n_weights < 500_000
    pictures, labels = bars(90, seed=9)
    answers = np.array(SPACE.ids)[made.network.predict(pictures).argmax(axis=1)]
    assert (answers == labels).mean() > 0.9
    save(
        made.network.forward,
        tmp_path / "bars.pt2",
        Description("bars", made.network.labels, made.network.inputs, made.network.outputs),
    )
    again: Any = load_classifier(f"export:{tmp_path / 'bars.pt2'}")
    assert again.labels == SPACE.ids and again.inputs.input_px == 16
    assert again.predict(pictures) == pytest.approx(made.network.predict(pictures), abs=1e-5)


def test_of_labels_dealt_at_random_nothing_is_learnt_that_holds_elsewhere() -> None:
    pictures, labels = bars(120)
    dealt = np.random.default_rng(3).permutation(labels).tolist()
    made = train_small_network(pictures, dealt, SPACE, QUICK)
    others, right = bars(300, seed=5)
    answers = np.array(SPACE.ids)[made.network.predict(others).argmax(axis=1)]
    assert np.mean(answers == np.random.default_rng(4).permutation(right)) < 0.5


def test_one_seed_gives_the_same_weights_and_leaves_torch_as_it_was() -> None:
    given = (*bars(60), SPACE)
    state = torch.get_rng_state()
    one, two, other = (train_small_network(*given, TrainingRecipe(epochs=1, batch=16, seed=seed)) for seed in (1, 1, 2))
    assert one.network.digest == two.network.digest != other.network.digest
    assert one.losses == two.losses
    assert torch.equal(torch.get_rng_state(), state)


def test_every_step_is_told() -> None:
    told: list[tuple[int, int]] = []
    recipe = TrainingRecipe(epochs=2, batch=16)
    train_small_network(*bars(33), SPACE, recipe, tell=lambda done, total, loss: told.append((done, total)))
    # 33 pictures are two batches of 16, and one picture alone has no variance: it is left out of that epoch.
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_pictures_are_moved_by_whole_pixels_with_their_border_continued() -> None:
    picture = torch.arange(16.0).reshape(1, 1, 4, 4).repeat(200, 1, 1, 1)
    moved = _moved(picture, np.random.default_rng(0), 1, flips=False)
    padded = torch.nn.functional.pad(picture[:1], (1, 1, 1, 1), mode="replicate")[0, 0]
    allowed = {tuple(padded[y : y + 4, x : x + 4].flatten().tolist()) for y in range(3) for x in range(3)}
    assert {tuple(one.flatten().tolist()) for one in moved} == allowed
    assert torch.equal(_moved(picture, np.random.default_rng(0), 0, flips=False), picture)
    mirrored = _moved(picture, np.random.default_rng(0), 0, flips=True)
    kinds = {tuple(one.flatten().tolist()) for one in mirrored}
    assert kinds == {tuple(picture[0].flatten().tolist()), tuple(picture[0].flip(2).flatten().tolist())}
    share = np.mean([torch.equal(one, picture[0]) for one in mirrored])
    assert 0.4 < share < 0.6


def test_grey_pictures_are_not_mirrored() -> None:
    grey = np.random.default_rng(0).integers(0, 256, (30, 16, 16, 1), dtype=np.uint8).repeat(3, axis=3)
    coloured = np.random.default_rng(0).integers(0, 256, (30, 16, 16, 3), dtype=np.uint8)
    assert not has_colours(grey) and has_colours(coloured)
    labels = [SPACE.ids[number % 3] for number in range(30)]
    recipe = TrainingRecipe(epochs=1, batch=16)
    assert not train_small_network(grey, labels, SPACE, recipe).flips
    assert train_small_network(coloured, labels, SPACE, recipe).flips
    never = TrainingRecipe(epochs=1, batch=16, flips=False)
    assert not train_small_network(coloured, labels, SPACE, never).flips


def test_the_rate_rises_and_falls_to_nothing() -> None:
    assert _rate(0.075) == pytest.approx(0.5)
    assert _rate(0.15) == pytest.approx(1.0)
    assert _rate(0.575) == pytest.approx(0.5)
    assert _rate(1.0) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("side", [16, 28, 32, 96])
def test_any_small_size_goes_through(side: int) -> None:
    with torch.inference_mode():
        assert small_network(10).eval()(torch.zeros(1, 3, side, side)).shape == (1, 10)


@pytest.mark.parametrize(
    ("pictures", "labels", "message"),
    [
        (bars(3)[0], ["lying", "upright"], "3 pictures and 2 labels"),
        (bars(3)[0][:0], [], "0 pictures"),
        (bars(3)[0], ["lying", "upright", "cat"], "'cat' is none of the 3 labels of bars"),
        (bars(3)[0], ["lying", "upright", "upright"], "1 labels of bars have no picture, the first is none-at-all"),
        (bars(3)[0][:, :, :15], list(SPACE.ids), "not 15 x 16"),
        (bars(3, side=16)[0][:, :15, :15], list(SPACE.ids), "16 to 96 px, not 15 x 15"),
    ],
)
def test_what_cannot_be_trained_on_is_refused(pictures: NDArray[np.uint8], labels: list[str], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        train_small_network(pictures, labels, SPACE, QUICK)


def test_other_than_pictures_are_refused() -> None:
    with pytest.raises(PictureRefused):
        train_small_network(bars(3)[0].astype(np.float32), list(SPACE.ids), SPACE, QUICK)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [
        {"epochs": 0}, {"batch": 1}, {"seed": -1}, {"shift_px": -1}, {"learning_rate": 0.0}, {"momentum": 1.0},
        {"weight_decay": -1.0}, {"label_smoothing": 1.0},
    ],
)  # fmt: skip
def test_a_recipe_without_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        TrainingRecipe(**wrong)


def test_a_loss_that_is_no_number_ends_the_training() -> None:
    with pytest.raises(InvalidInput, match="take a smaller learning rate"):
        train_small_network(*bars(60), SPACE, TrainingRecipe(epochs=3, batch=16, learning_rate=1e30))
