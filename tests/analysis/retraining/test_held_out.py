"""The held-out part: what is taken out, what the curve says, which epoch is kept, and when training ends."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import statsmodels.api as sm
import torch

from analysis.classifiers.networks import TorchNetwork
from analysis.classifiers.preprocessing import Preprocessing
from analysis.errors import InvalidInput
from analysis.labels.files import default_labels
from analysis.labels.space import LabelSpace
from analysis.retraining.held_out import Epoch, Looked, epoch_of, hold_out, is_over, kept_epoch, sample_as
from analysis.retraining.training import Recipe, fine_tune, warnings_after, warnings_before

SIDE = 8


def point(epoch: int, loss: float, gain: float, standard_error: float = 0.01) -> Epoch:
    return Epoch(epoch, loss, 0.5 + gain, gain, standard_error)


class TestHoldOut:
    def test_every_category_gives_its_share_and_no_content_is_on_both_sides(self) -> None:
        contents = {
            f"{category}-{number}": (category, f"{category}{number // 2}")
            for category in "abcd"
            for number in range(20)
        }
        chosen = hold_out(contents, share=0.2, seed=3)
        assert Counter(name[0] for name in chosen) == dict.fromkeys("abcd", 4)
        assert not {contents[name][1] for name in chosen} & {contents[name][1] for name in contents.keys() - chosen}
        assert chosen == hold_out(dict(reversed(contents.items())), share=0.2, seed=3)
        assert chosen != hold_out(contents, share=0.2, seed=4)

    @pytest.mark.parametrize(
        ("n", "share", "expected"), [(1, 0.2, 0), (2, 0.2, 1), (3, 0.2, 1), (4, 0.2, 2), (20, 0.25, 5), (9, 0, 0)]
    )
    def test_how_many(self, n: int, share: float, expected: int) -> None:
        contents = {str(number): ("cat", f"{number:03}") for number in range(n)}
        assert len(hold_out(contents, share=share, seed=0)) == expected


class TestCurve:
    def test_a_point_by_hand(self) -> None:
        """Two stimuli of one original, one of another: sums 1 and 1, gain 2/3, residuals -1/3 and 1/3."""
        before = Looked(np.array([1.0, 2.0, 3.0]), np.array([True, False, False]))
        found = Looked(np.array([0.5, 1.0, 1.5]), np.array([True, True, True]))
        made = epoch_of(2, found, before, ["a", "a", "b"])
        assert (made.epoch, made.loss, made.right) == (2, 1.0, 1.0)
        assert made.gain == pytest.approx(2 / 3)
        assert made.standard_error == pytest.approx(np.sqrt(2 / 1 * (1 / 9 + 1 / 9)) / 3)
        assert made.is_better

    def test_the_standard_error_is_that_of_a_regression_with_clusters(self) -> None:
        rng = np.random.default_rng(0)
        names = rng.integers(0, 12, 80)
        before, after = (Looked(np.zeros(80), rng.random(80) < share) for share in (0.4, 0.6))
        change = after.right.astype(float) - before.right
        fitted = sm.OLS(change, np.ones(80)).fit(
            cov_type="cluster", cov_kwds={"groups": names, "use_correction": False}
        )
        n = len(set(names))
        expected = float(fitted.bse[0]) * np.sqrt(n / (n - 1))
        assert epoch_of(1, after, before, [str(name) for name in names]).standard_error == pytest.approx(expected)

    def test_of_one_original_no_gain_is_shown(self) -> None:
        made = epoch_of(1, Looked(np.zeros(2), np.ones(2, bool)), Looked(np.zeros(2), np.zeros(2, bool)), ["a", "a"])
        assert made.gain == 1.0 and not made.is_better and made.to_dict()["standard_error"] is None

    def test_chance_alone_is_better_about_as_often_as_a_normal_value_is_above_one(self) -> None:
        """Null: neither network knows more. One in 6.3 of normal values is above 1."""
        rng = np.random.default_rng(1)
        names = np.repeat(np.arange(40), 5).astype(str).tolist()
        looks = [[Looked(np.zeros(200), rng.random(200) < 0.5) for _ in range(2)] for _ in range(2000)]
        share = np.mean([epoch_of(1, after, before, names).is_better for before, after in looks])
        assert share == pytest.approx(0.1587, abs=0.03)

    def test_of_trainings_that_bring_nothing_three_in_ten_at_most_are_kept(self) -> None:
        """Null of the whole training: answers change at random over five epochs, as often to right as to wrong."""
        rng, kept = np.random.default_rng(1), 0
        names = np.repeat(np.arange(60), 4).astype(str).tolist()
        for _ in range(400):
            able = np.repeat(rng.beta(3.5, 1.5, 60), 4)
            right = rng.random(240) < able
            before = Looked(rng.random(240), right)
            curve = [epoch_of(0, before, before, names)]
            while len(curve) <= 5 and not is_over(curve, 2):
                right = np.where(rng.random(240) < 0.1, rng.random(240) < able, right)
                curve.append(epoch_of(len(curve), Looked(rng.random(240), right), before, names))
            kept += kept_epoch(curve) > 0
        assert kept / 400 <= 0.30 + 2.6 * np.sqrt(0.3 * 0.7 / 400)

    def test_the_lowest_loss_among_better_epochs_is_kept_and_nothing_where_none_is(self) -> None:
        before = point(0, 1.0, 0.0, 0.0)
        assert kept_epoch([before, point(1, 0.7, 0.1), point(2, 0.6, 0.2), point(3, 0.5, 0.005)]) == 2
        assert kept_epoch([before, point(1, 0.2, 0.0), point(2, 0.1, -0.1)]) == 0
        # A greater loss is no bar where more is right: people look at what is right.
        assert kept_epoch([before, point(1, 1.2, 0.3)]) == 1

    def test_patience_counts_epochs_since_the_lowest_loss(self) -> None:
        curve = [point(0, 1.0, 0), point(1, 0.8, 0), point(2, 0.9, 0)]
        assert not is_over(curve, 2) and is_over(curve, 1)
        assert is_over([*curve, point(3, 0.85, 0)], 2)


@dataclass
class Patterns:
    """Pictures in which a quarter is bright, or noise with nothing in it; originals are pairs of pictures."""

    seed: int
    n: int = 64
    is_noise: bool = False

    @property
    def original_names(self) -> list[str]:
        return [f"{self.seed}-{number // 2}" for number in range(self.n)]

    @property
    def space(self) -> LabelSpace:
        return default_labels()

    def __len__(self) -> int:
        return self.n

    def batch(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        categories = np.asarray(numbers % 4, dtype=np.int64)
        rng = np.random.default_rng(self.seed)
        noise = rng.integers(0, 256, (self.n, SIDE, SIDE, 3))[numbers]
        pictures = noise if self.is_noise else noise // 4 + 60
        if not self.is_noise:
            for picture, category in zip(pictures, categories, strict=True):
                row, column = divmod(int(category), 2)
                picture[4 * row : 4 * row + 4, 4 * column : 4 * column + 4] += 40
        return pictures.astype(np.uint8), categories


@dataclass
class Mixed:
    """Two kinds of pictures of the same number, one after the other."""

    first: Patterns
    second: Patterns

    @property
    def original_names(self) -> list[str]:
        return [*self.first.original_names, *self.second.original_names]

    @property
    def space(self) -> LabelSpace:
        return default_labels()

    def __len__(self) -> int:
        return len(self.first) + len(self.second)

    def batch(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n = len(self.first)
        both = [self.first.batch(np.arange(n)), self.second.batch(np.arange(len(self.second)))]
        pictures, categories = (np.concatenate(part) for part in zip(*both, strict=True))
        return pictures[numbers], categories[numbers]


def patterned(seed: int = 0) -> TorchNetwork:
    """A network that knows nothing yet."""
    torch.manual_seed(seed)
    module = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * SIDE * SIDE, len(default_labels().ids)))
    return TorchNetwork(
        "small", default_labels().ids, "0" * 64, Preprocessing(SIDE, (0.4,) * 3, (0.2,) * 3), module.eval()
    )


def accuracy(network: TorchNetwork, examples: Patterns) -> float:
    pictures, categories = examples.batch(np.arange(len(examples)))
    return float(np.mean(network.predict(pictures).argmax(axis=1) == categories))


RECIPE = Recipe(epochs=12, learning_rate=0.01, batch=8, patience=3)


def test_what_can_be_learned_is_learned_and_the_kept_weights_are_those_of_the_curve() -> None:
    held_out, test = Patterns(2), Patterns(3)
    made = fine_tune(patterned(), Patterns(1), RECIPE, held_out=held_out)
    assert made.kept > 0 and [one.epoch for one in made.curve] == list(range(len(made.losses) + 1))
    assert accuracy(made.network, held_out) == made.curve[made.kept].right > 0.95
    assert accuracy(made.network, test) > 0.95


@pytest.mark.parametrize("seed", range(5))
def test_pictures_of_pure_noise_leave_a_network_no_worse(seed: int) -> None:
    """It knows the patterns; noise with labels teaches it nothing, and would make it forget them."""
    known = fine_tune(patterned(seed), Patterns(1), RECIPE).network
    noise, others, test = Patterns(10 + seed, is_noise=True), Patterns(20 + seed, is_noise=True), Patterns(3)
    unguarded = fine_tune(known, noise, Recipe(epochs=30, learning_rate=0.05, batch=8))
    guarded = fine_tune(known, noise, Recipe(epochs=30, learning_rate=0.05, batch=8), held_out=others)
    assert accuracy(unguarded.network, test) < accuracy(known, test) - 0.1
    assert guarded.curve[guarded.kept].right >= guarded.curve[0].right
    assert accuracy(guarded.network, others) >= accuracy(known, others)
    assert len(guarded.losses) < 30
    if not guarded.kept:
        assert accuracy(guarded.network, test) == accuracy(known, test)
        assert warnings_after(guarded)


class Mislabelled(Patterns):
    """The same pictures with another category each."""

    def batch(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        pictures, categories = super().batch(numbers)
        return pictures, (categories + 1) % 4


def test_a_network_that_no_epoch_improves_keeps_its_weights() -> None:
    known = fine_tune(patterned(), Patterns(1), RECIPE).network
    made = fine_tune(known, Mislabelled(4), RECIPE, held_out=Patterns(2))
    assert made.kept == 0 and made.curve[-1].gain < -0.5 and len(made.losses) == RECIPE.patience
    pictures, _ = Patterns(3).batch(np.arange(64))
    assert np.array_equal(made.network.predict(pictures), known.predict(pictures))
    assert "no epoch raised" in warnings_after(made)[0]


def test_noise_among_pictures_that_are_known_leaves_them_known() -> None:
    """As in a stimulus set: the clean pictures are among the stimuli, held-out ones, too."""
    known = fine_tune(patterned(), Patterns(1), RECIPE).network
    changes = []
    for seed in range(10):
        mixed, others = (Mixed(Patterns(30 + seed + far), Patterns(60 + seed + far, is_noise=True)) for far in (0, 100))
        made = fine_tune(known, mixed, Recipe(epochs=10, learning_rate=0.01, batch=8), held_out=others)
        changes.append(accuracy(made.network, Patterns(3)) - accuracy(known, Patterns(3)))
    assert min(changes) >= -0.05


def test_an_early_end_is_the_same_after_an_interruption(tmp_path: Path) -> None:
    examples, held_out = Patterns(1, is_noise=True), Patterns(2, is_noise=True)
    whole = fine_tune(patterned(), examples, RECIPE, held_out=held_out)
    assert len(whole.losses) < RECIPE.epochs

    class Stopped(Exception):
        pass

    def stop(done: int, total: int, loss: float) -> None:
        if done == 13:
            raise Stopped

    checkpoint = tmp_path / "checkpoint.pt"
    with pytest.raises(Stopped):
        fine_tune(patterned(), examples, RECIPE, held_out=held_out, checkpoint=checkpoint, tell=stop)
    resumed = fine_tune(patterned(), examples, RECIPE, held_out=held_out, checkpoint=checkpoint)
    assert (resumed.curve, resumed.losses, resumed.kept) == (whole.curve, whole.losses, whole.kept)
    assert resumed.network.digest == whole.network.digest
    again = fine_tune(patterned(), examples, RECIPE, held_out=held_out, checkpoint=checkpoint)
    assert again.network.digest == whole.network.digest


def test_small_numbers_are_warned_of_with_the_number_and_the_reason() -> None:
    assert warnings_before(trained_on=4000, held_out=1000, share=0.2) == []
    few, hardly = warnings_before(trained_on=71, held_out=18, share=0.2)
    assert "71 originals, fewer than 320" in few and "learned by heart" in few
    assert "18 originals are held out" in hardly
    assert "nothing stops" in warnings_before(trained_on=4000, held_out=0, share=0.0)[0]


@pytest.mark.parametrize("wrong", [{"held_out": -0.1}, {"held_out": 0.6}, {"patience": 0}])
def test_an_impossible_share_or_patience_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match="share held out"):
        Recipe(**wrong)  # type: ignore[arg-type]


def test_as_many_of_each_category_are_taken_as_are_asked_for_and_no_content_twice() -> None:
    contents = {f"{one}{n}": (one, f"{one}{n % 5}") for one in ("cat", "dog", "owl") for n in range(7)}
    chosen = sample_as(contents, counts={"cat": 5, "dog": 2}, seed=3)
    assert chosen == sample_as(dict(reversed(contents.items())), counts={"dog": 2, "cat": 5}, seed=3)
    assert Counter(contents[name][0] for name in chosen) == {"cat": 5, "dog": 2}
    assert len({contents[name][1] for name in chosen}) == 7
    assert chosen != sample_as(contents, counts={"cat": 5, "dog": 2}, seed=4)
    with pytest.raises(InvalidInput, match="5 different originals of cat, and 6 are asked for"):
        sample_as(contents, counts={"cat": 6}, seed=3)
    with pytest.raises(InvalidInput, match="0 different originals of bee"):
        sample_as(contents, counts={"bee": 1}, seed=3)
