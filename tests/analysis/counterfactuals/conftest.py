"""Small pictures with two signs of their category, and linear networks that read one of them.

The upper left, upper right, lower left or lower right quarter is brighter by 90 levels; besides, a checkerboard of 4
levels lies over one quarter of the columns. Whoever reads the quarters is robust, whoever reads the board is fragile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
import torch

from analysis.classifiers.networks import TorchNetwork
from analysis.classifiers.preprocessing import Preprocessing
from analysis.counterfactuals.oracles import ClassifierOracle
from analysis.counterfactuals.port import Acceptance
from analysis.labels.files import default_labels

SIDE = 16
KNOWN = ("cat", "dog", "boat", "truck")


def bright_quarter(number: int) -> np.ndarray:
    weights = np.zeros((SIDE, SIDE))
    row, column = divmod(number, 2)
    weights[8 * row : 8 * row + 8, 8 * column : 8 * column + 8] = 1
    return weights


def board(number: int) -> np.ndarray:
    rows, columns = np.indices((SIDE, SIDE))
    return np.where((rows + columns) % 2, 1.0, -1.0) * (columns // 4 == number)


def draw_signs(labels: Sequence[str], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    numbers = [KNOWN.index(label) for label in labels]
    grey = np.stack([80 + 90 * bright_quarter(number) + 4 * board(number) for number in numbers])
    noisy = grey[..., None] + rng.normal(0, 2, (len(labels), SIDE, SIDE, 3))
    return np.clip(np.rint(noisy), 0, 255).astype(np.uint8)


def linear_network(name: str, sign: Callable[[int], np.ndarray], gain: float) -> TorchNetwork:
    layer = torch.nn.Linear(3 * SIDE * SIDE, len(default_labels().ids))
    weights = np.zeros((len(default_labels().ids), 3, SIDE, SIDE))
    bias = np.full(len(default_labels().ids), -20.0)
    for number, category in enumerate(KNOWN):
        weights[default_labels().ids.index(category)] = gain * sign(number) / SIDE**2
        bias[default_labels().ids.index(category)] = 0.0
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(weights.reshape(len(default_labels().ids), -1)))
        layer.bias.copy_(torch.from_numpy(bias))
    network = torch.nn.Sequential(torch.nn.Flatten(), layer).eval().requires_grad_(False)
    return TorchNetwork(
        name=name, labels=default_labels().ids, digest=name.ljust(64, "0"),
        inputs=Preprocessing(SIDE, (0, 0, 0), (1, 1, 1)), forward=network,
    )  # fmt: skip


@dataclass
class ScriptedOracle:
    """Refuses the pictures of a category at a given judgement, counted from 0."""

    refuses: dict[str, int] = field(default_factory=dict)
    classes: frozenset[str] = frozenset(default_labels().ids)
    name: str = "scripted"
    digest: str = "0" * 64
    seen: list[np.ndarray] = field(default_factory=list)

    def judge(self, pictures: np.ndarray, labels: Sequence[str]) -> Acceptance:
        accepted = np.array([self.refuses.get(label, 99) > len(self.seen) for label in labels], dtype=bool)
        self.seen.append(pictures.copy())
        return Acceptance(accepted, np.where(accepted, np.array(labels), ""))


@pytest.fixture
def robust() -> TorchNetwork:
    return linear_network("robust", bright_quarter, 40.0)


@pytest.fixture
def fragile() -> TorchNetwork:
    return linear_network("fragile", board, 900.0)


@pytest.fixture
def oracle() -> ClassifierOracle:
    return ClassifierOracle(linear_network("oracle", bright_quarter, 25.0))


@pytest.fixture
def scripted() -> type[ScriptedOracle]:
    return ScriptedOracle


@pytest.fixture
def labels() -> list[str]:
    return [KNOWN[number % 4] for number in range(12)]


@pytest.fixture
def pictures(labels: list[str]) -> np.ndarray:
    return draw_signs(labels, 0)


@pytest.fixture
def drawn() -> Callable[[Sequence[str], int], np.ndarray]:
    return draw_signs
