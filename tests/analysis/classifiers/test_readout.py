"""Readouts: which layers a network has, what is fitted on their features, and what the file says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from scipy.stats import binom, norm

from analysis.classifiers.fitting import STRENGTHS, Example, Fitted, check_examples, fit, interval, parts_of
from analysis.classifiers.layers import features_of, tap
from analysis.classifiers.loading import load_classifier
from analysis.classifiers.networks import TorchNetwork, require_gradients
from analysis.classifiers.preprocessing import Preprocessing
from analysis.classifiers.readout import HeldOut, Readout, portable
from analysis.errors import ClassifierUnavailable, InvalidInput
from analysis.labels.space import Label, LabelSpace
from tests.analysis.classifiers import small_networks as small

SPACE = LabelSpace(name="fruits", labels=tuple(Label(id=one) for one in ("apple", "pear", "quince")))
PICTURES = np.random.default_rng(5).integers(0, 256, (5, 32, 32, 3), dtype=np.uint8)


def network_of(module: torch.nn.Module, n_labels: int = 16) -> TorchNetwork:
    inputs = Preprocessing(32, (0.5,) * 3, (0.25,) * 3)
    module = module.eval().requires_grad_(False)
    return TorchNetwork("net", tuple(f"label {n}" for n in range(n_labels)), "0" * 64, inputs, module)


class Tokens(torch.nn.Module):
    """Looks at patches as tokens, and compares their mean with sentences, as a CLIP network does."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.patches = torch.nn.Conv2d(3, 6, 8, stride=8)
        self.block = torch.nn.Linear(6, 6)
        self.visual = torch.nn.Linear(6, 4)
        self.register_buffer("sentences", torch.randn(16, 4))

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        tokens = self.patches(pictures).flatten(2).transpose(1, 2)
        return self.visual(self.block(tokens).mean(dim=1)) @ self.sentences.T


class TestLayers:
    def test_the_penultimate_layer_is_what_goes_into_the_last_linear_one(self) -> None:
        network = network_of(small.small_module())
        tapped = tap(network)
        assert (tapped.width, tapped.place) == (512, "the input of 3")
        found = features_of(network, tapped, PICTURES)
        inputs = network.inputs.apply_to_tensor(torch.from_numpy(PICTURES).permute(0, 3, 1, 2).float().div(255))
        np.testing.assert_array_equal(found, small.small_module()[:3](inputs).detach().numpy())

    def test_the_last_linear_layer_may_be_inside_of_another_module(self) -> None:
        layers = small.small_module()
        network = network_of(torch.nn.Sequential(layers[:3], torch.nn.Sequential(torch.nn.Identity(), layers[3])))
        tapped = tap(network)
        assert (tapped.place, tapped.width) == ("the input of 1.1", 512)
        bare = network_of(small.small_module())
        wanted = features_of(bare, tap(bare), PICTURES)
        np.testing.assert_array_equal(features_of(network, tapped, PICTURES), wanted)
        whole = network_of(torch.nn.Sequential(torch.nn.Sequential(layers[:2], torch.nn.Sequential(layers[2:]))))
        np.testing.assert_array_equal(features_of(whole, tap(whole), PICTURES), wanted)

    def test_places_of_a_named_layer_are_averaged(self) -> None:
        network = network_of(small.small_module())
        tapped = tap(network, "0")
        inputs = network.inputs.apply_to_tensor(torch.from_numpy(PICTURES).permute(0, 3, 1, 2).float().div(255))
        maps = small.small_module()[0](inputs).detach().numpy()
        assert tapped.width == 8
        np.testing.assert_allclose(features_of(network, tapped, PICTURES), maps.mean(axis=(2, 3)), atol=1e-6)

    def test_what_comes_next_does_not_change_a_layer(self) -> None:
        module = small.small_module()
        plain, writing = module, torch.nn.Sequential(module[0], torch.nn.ReLU(inplace=True), *module[2:])
        found = [features_of(one, tap(one, "0"), PICTURES) for one in map(network_of, (plain, writing))]
        np.testing.assert_array_equal(found[0], found[1])
        assert (found[0] < 0).any()

    def test_without_a_layer_of_the_labels_it_is_the_last_one_with_a_row_a_picture(self) -> None:
        network = network_of(Tokens())
        assert (tap(network).place, tap(network).width) == ("the output of visual", 4)
        tokens = tap(network, "block")
        assert tokens.width == 6 and features_of(network, tokens, PICTURES).shape == (5, 6)

    def test_a_convolution_can_be_the_last_layer(self) -> None:
        module = torch.nn.Sequential(
            torch.nn.Conv2d(3, 7, 8, stride=8), torch.nn.Conv2d(7, 16, 1), torch.nn.AdaptiveAvgPool2d(1),
            torch.nn.Flatten(),
        )  # fmt: skip
        assert (tap(network_of(module)).place, tap(network_of(module)).width) == ("the input of 1", 7)

    def test_a_layer_that_there_is_not_is_refused_with_those_that_there_are(self) -> None:
        with pytest.raises(ClassifierUnavailable, match="no layer 'layer4'; there are: penultimate, 0, 1, 2, 3"):
            tap(network_of(small.small_module()), "layer4")

    def test_of_an_exported_program_layers_are_called_as_in_the_network(self, tmp_path: Path) -> None:
        network = require_gradients(load_classifier(f"export:{small.export_file(tmp_path / 'net.pt2')}"))
        bare = network_of(small.small_module())
        for layer in ("penultimate", "0"):
            np.testing.assert_allclose(
                features_of(network, tap(network, layer), PICTURES),
                features_of(bare, tap(bare, layer), PICTURES),
                atol=1e-5,
            )
        with pytest.raises(ClassifierUnavailable, match="no layer 'layer4'; there are: penultimate, 0, 1, 2, 3"):
            tap(network, "layer4")

    def test_what_is_no_number_is_refused(self) -> None:
        module = small.small_module()
        with torch.no_grad():
            module[0].bias[2] = float("nan")
        network = network_of(module)
        with pytest.raises(ClassifierUnavailable, match="no numbers .* at the output of 0, first for picture 1 of 5"):
            features_of(network, tap(network, "0"), PICTURES)


def examples_of(labels: Sequence[str]) -> list[Example]:
    return [Example(f"{number:064x}", label) for number, label in enumerate(labels)]


def drawn(n: int, distance: float, seed: int, dimensions: int = 4, ids: Sequence[str] = SPACE.ids) -> Fitted:
    """Fitted on normal features of unit spread, whose means are `distance` apart."""
    rng = np.random.default_rng(seed)
    labels = [ids[number % len(ids)] for number in range(n)]
    features = rng.standard_normal((n, dimensions))
    for place, one in enumerate(ids):
        features[np.array(labels) == one, place] += distance / np.sqrt(2)
    space = LabelSpace(name="drawn", labels=tuple(Label(id=one) for one in ids))
    return fit(features.astype(np.float32), examples_of(labels), space, seed=seed)


class TestFitting:
    def test_the_interval_is_wilsons(self) -> None:
        # By hand: z = 1.96; centre (.8 + .19207) / 1.38415 = .71674, half .31361 / 1.38415 = .22658.
        assert interval(8, 10) == pytest.approx((0.4902, 0.9433), abs=2e-4)

    def test_weights_are_those_of_the_penalised_likelihood(self) -> None:
        """Oracle: the objective as it is written, minimised by another method."""
        rng = np.random.default_rng(1)
        labels = ["apple"] * 30 + ["pear"] * 12 + ["quince"] * 18
        features = rng.standard_normal((60, 3)) * [1.0, 5.0, 0.2] + np.repeat(np.eye(3), [30, 12, 18], axis=0)
        found = fit(features.astype(np.float32), examples_of(labels), SPACE)
        x = features.astype(np.float32).astype(np.float64)
        x = (x - x.mean(axis=0)) / x.std(axis=0)
        y = np.repeat([0, 1, 2], [30, 12, 18])
        weight = 60 / (3 * np.bincount(y)[y])

        def objective(parameters: np.ndarray) -> float:
            coefficients, intercepts = parameters[:9].reshape(3, 3), parameters[9:]
            logits = x @ coefficients.T + intercepts
            likelihood = logits[np.arange(60), y] - np.logaddexp.reduce(logits, axis=1)
            return float(-(weight @ likelihood) + (coefficients**2).sum() / (2 * found.strength))

        best = minimize(objective, np.zeros(12), method="BFGS", options={"gtol": 1e-6}).x
        wanted = x @ best[:9].reshape(3, 3).T + best[9:]
        logits = features @ found.weights.T + found.bias
        shares = [np.exp(one - np.logaddexp.reduce(one, axis=1, keepdims=True)) for one in (wanted, logits)]
        np.testing.assert_allclose(shares[1], shares[0], atol=2e-3)

    def test_a_planted_accuracy_comes_back(self) -> None:
        """Two normal clouds at a distance of 2: the best rule is right in a share of the normal distribution at 1."""
        held_out = drawn(1200, 2.0, 3, ids=("apple", "pear")).held_out
        assert held_out.low < norm.cdf(1.0) < held_out.high
        assert (held_out.n, held_out.folds) == (1200, 5)

    @pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 30), marks=pytest.mark.verify)])
    def test_labels_without_any_relation_are_named_by_chance(self, seeds: range) -> None:
        """Null: more dimensions than pictures, so that a readout knows all that it learned from by heart."""
        found = [drawn(45, 0.0, seed, dimensions=50).held_out for seed in seeds]
        n_right, n = sum(one.n_right for one in found), sum(one.n for one in found)
        assert binom.cdf(n_right, n, 1 / 3) > 1e-3 and binom.sf(n_right - 1, n, 1 / 3) > 1e-3
        assert np.mean([one.low <= 1 / 3 <= one.high for one in found]) >= 0.8

    @pytest.mark.verify
    def test_the_interval_covers_the_accuracy_on_other_pictures(self) -> None:
        """Of 60 readouts on 150 pictures, for the accuracy of the kept one on 3,000 others."""
        covered = []
        for seed in range(60):
            made = drawn(150, 2.0, seed)
            rng = np.random.default_rng(10_000 + seed)
            truth = np.arange(3000) % 3
            others = rng.standard_normal((3000, 4))
            others[np.arange(3000), truth] += 2.0 / np.sqrt(2)
            accuracy = ((others @ made.weights.T + made.bias).argmax(axis=1) == truth).mean()
            covered.append(made.held_out.low <= accuracy <= made.held_out.high)
        assert np.mean(covered) >= 0.88, np.mean(covered)

    def test_the_strength_is_chosen_by_pictures_outside(self) -> None:
        assert drawn(60, 0.0, 1, dimensions=40).strength == STRENGTHS[0]
        assert drawn(60, 8.0, 1).strength > STRENGTHS[0]

    def test_two_labels_are_fitted_as_two_rows(self) -> None:
        made = drawn(40, 6.0, 0, ids=("apple", "pear"))
        assert made.weights.shape == (2, 4) and made.held_out.accuracy > 0.9
        np.testing.assert_allclose(made.weights[0], -made.weights[1])

    def test_pictures_of_one_content_stay_together_and_order_does_not_matter(self) -> None:
        examples = examples_of(["apple"] * 7 + ["pear"] * 9)
        twice = [*examples, examples[0]]
        parts = parts_of(twice, 5, "0")
        assert parts[0] == parts[-1]
        again = dict(zip(reversed(examples), parts_of(examples[::-1], 5, "0"), strict=True))
        assert [again[one] for one in examples] == parts[:-1].tolist()
        assert set(parts_of(examples, 5, "1")) == set(range(5))
        assert np.any(parts_of(examples, 5, "1") != parts[:-1])

    def test_an_accepted_label_is_right_too(self) -> None:
        made = drawn(60, 0.0, 0)
        examples = [replace(one, accepted=SPACE.ids) for one in examples_of([SPACE.ids[n % 3] for n in range(60)])]
        features = np.random.default_rng(0).standard_normal((60, 4)).astype(np.float32)
        assert made.held_out.accuracy < 0.7 and fit(features, examples, SPACE).held_out.accuracy == 1.0

    @pytest.mark.parametrize(
        ("labels", "message"),
        [
            (["apple"] * 5 + ["pear"] * 5, "no pictures of quince: .* at least 3 pictures of each of the 3 labels"),
            (["apple"] * 5 + ["pear"] * 5 + ["quince"] * 2, r"too few pictures of quince \(2\): each label needs 3"),
        ],
    )
    def test_labels_with_too_few_pictures_are_refused(self, labels: list[str], message: str) -> None:
        with pytest.raises(InvalidInput, match=message):
            check_examples(examples_of(labels), SPACE)

    def test_a_picture_with_two_labels_is_refused(self) -> None:
        examples = [*examples_of(["apple", "pear"]), Example(f"{0:064x}", "quince")]
        with pytest.raises(InvalidInput, match="there twice, as apple and as quince"):
            check_examples(examples, SPACE)


def written(folder: Path, **changes: object) -> Path:
    """A readout of the exported network in the same folder."""
    network = require_gradients(load_classifier(f"export:{small.export_file(folder / 'net.pt2')}"))
    rng = np.random.default_rng(0)
    made = Readout(
        weights=rng.standard_normal((3, 512)).astype(np.float32),
        bias=rng.standard_normal(3).astype(np.float32),
        labels=SPACE.ids,
        labels_name="fruits",
        labels_identity=SPACE.identity,
        network=portable(f"export:{folder / 'net.pt2'}", folder),
        network_digest=network.digest,
        layer="penultimate",
        learned=frozenset({"a" * 64, "b" * 64}),
        strength=0.1,
        held_out=HeldOut(20, 15, *interval(15, 20), folds=5, seed=4),
    )
    replace(made, **changes).write(folder / "fruits.npz")
    return folder / "fruits.npz"


class TestFile:
    def test_it_answers_with_its_own_labels_and_says_what_it_was_fitted_on(self, tmp_path: Path) -> None:
        path = written(tmp_path)
        found = require_gradients(load_classifier(f"readout:{path}", space=SPACE))
        made = Readout.read(path)
        network = require_gradients(load_classifier(f"export:{tmp_path / 'net.pt2'}"))
        logits = features_of(network, tap(network), PICTURES) @ made.weights.T + made.bias
        shares = np.exp(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))
        np.testing.assert_allclose(found.predict(PICTURES), shares, atol=1e-5)
        assert (found.name, found.labels, found.learned) == ("fruits", SPACE.ids, made.learned)
        assert found.facts["readout"] == (
            "of export:net.pt2@penultimate, fitted on 2 pictures, held-out accuracy 0.750 (95 % interval 0.531 to "
            "0.888; 5 parts, seed 4)"
        )

    def test_network_and_readout_can_be_moved_together(self, tmp_path: Path) -> None:
        (tmp_path / "here").mkdir()
        path = written(tmp_path / "here")
        assert str(tmp_path) not in json.dumps(Readout.read(path).network)
        (tmp_path / "here").rename(tmp_path / "there")
        load_classifier(f"readout:{tmp_path / 'there' / 'fruits.npz'}", space=SPACE)

    def test_its_digest_tells_all_that_decides(self, tmp_path: Path) -> None:
        first = Readout.read(written(tmp_path)).digest
        changes = ({"layer": "1"}, {"bias": np.zeros(3, np.float32)}, {"network_digest": "1" * 64})
        assert len({first, *(Readout.read(written(tmp_path, **one)).digest for one in changes)}) == 4
        assert Readout.read(written(tmp_path, strength=3.0)).digest == first

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"network_digest": "1" * 64}, "fitted on another export:net.pt2"),
            ({"layer": "layer4"}, "no layer 'layer4'"),
            ({"layer": "0"}, "reads 512 numbers of 0, which has 8"),
            ({"bias": np.zeros(2, np.float32)}, "do not go with its 3 labels"),
            ({"bias": np.full(3, np.nan, np.float32)}, "do not go with its 3 labels"),
            ({"network": "onnx:gone.onnx"}, "gone.onnx: there is no such program"),
            ({"network": "python:os:getcwd"}, "runs code and is not allowed here"),
        ],
    )
    def test_what_does_not_go_together_is_refused(
        self, tmp_path: Path, changes: dict[str, object], message: str
    ) -> None:
        path = written(tmp_path, **changes)
        with pytest.raises(ClassifierUnavailable, match=message):
            load_classifier(f"readout:{path}", space=SPACE)

    def test_other_labels_are_refused(self, tmp_path: Path) -> None:
        path = written(tmp_path)
        other = LabelSpace(name="others", labels=(*SPACE.labels, Label(id="fig")))
        with pytest.raises(ClassifierUnavailable, match="answers with the labels fruits .* have others .* else"):
            load_classifier(f"readout:{path}", space=other)
        with pytest.raises(ClassifierUnavailable, match="have entry16"):
            load_classifier(f"readout:{path}")
        with pytest.raises(ClassifierUnavailable, match="leave out the mapping file"):
            load_classifier(f"readout:{path}", labels=small.mapping_file(tmp_path))

    def test_a_damaged_file_and_one_with_code_are_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "fruits.npz"
        with pytest.raises(ClassifierUnavailable, match="no such file"):
            load_classifier(f"readout:{path}", space=SPACE)
        for content in (b"", b"PK\x03\x04 cut off"):
            path.write_bytes(content)
            with pytest.raises(ClassifierUnavailable, match="is no readout, or damaged"):
                load_classifier(f"readout:{path}", space=SPACE)
        np.savez(path, weights=np.array([{}], dtype=object), bias=np.zeros(1), about=np.zeros(1, np.uint8))
        with pytest.raises(ClassifierUnavailable, match="is no readout, or damaged"):
            load_classifier(f"readout:{path}", space=SPACE)
