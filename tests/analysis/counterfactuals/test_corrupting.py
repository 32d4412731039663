"""The walk along a corruption: it passes local maxima, its losses never fall, and it ends at the greatest loss."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
import pytest

from analysis.classifiers.loading import load_classifier
from analysis.corruptions import CORRUPTIONS, corrupt, find_corruption
from analysis.corruptions.registry import Corruption
from analysis.counterfactuals.ascent import Ascent
from analysis.counterfactuals.corrupting import CLOSER, LOOKS, CorruptionGenerator
from analysis.counterfactuals.port import Acceptance, Look, Target
from analysis.counterfactuals.search import run_to_the_end
from analysis.generation.originals import prepare_original
from analysis.labels.files import default_labels

PHOTOGRAPHS = Path(os.environ.get("REFERENCE_DATA", "")) / "photos16"
#: Of the domain, at which an exhaustive search looks.
EXHAUSTIVE = np.linspace(0.0, 1.0, 101)


@pytest.fixture
def ramp(monkeypatch: pytest.MonkeyPatch) -> None:
    """A corruption that brightens by up to 180 levels, in proportion to its strength."""
    made = Corruption(
        name="ramp", label="Ramp", family="test", version="1", low=0.0, high=180.0, scale="linear", unit="levels",
        function=lambda intensities, parameter, seed: intensities + np.float32(parameter),
    )  # fmt: skip
    monkeypatch.setitem(CORRUPTIONS, "ramp", made)


class Hills:
    """A target whose loss is a given function of the strength of ``ramp`` in a grey picture."""

    def __init__(self, at: list[float], losses: list[float]) -> None:
        self.at, self.losses = at, losses
        self.n_looks = 0
        self.space = default_labels()

    def numbers(self, labels: list[str]) -> np.ndarray:
        return self.space.places_of(labels)

    def look(self, pictures: np.ndarray, numbers: np.ndarray) -> Look:
        self.n_looks += len(pictures)
        strengths = (pictures.reshape(len(pictures), -1).mean(axis=1) - 60) / 180
        return Look(np.full(len(pictures), "cat"), np.interp(strengths, self.at, self.losses))


GREY = np.full((3, 8, 8, 3), 60, np.uint8)
SEEDS, NUMBERS = np.zeros(3, np.int64), np.zeros(3, np.intp)


def walked(target: object, steps: int, stride: float = 0.1) -> list[dict[str, np.ndarray]]:
    generator = CorruptionGenerator("ramp", stride)
    states = [generator.start(GREY, SEEDS)]
    for _ in range(steps):
        states.append(generator.step(states[-1], NUMBERS, target))  # type: ignore[arg-type]
    return states


def test_a_local_maximum_does_not_hold_the_walk(ramp) -> None:
    """A hill of 1 at a fifth of the domain, a valley, and a summit of 2 at nine tenths."""
    target = Hills([0.0, 0.2, 0.5, 0.9, 1.0], [0.0, 1.0, 0.2, 2.0, 1.5])
    states = walked(target, 10)
    strengths = [state["strengths"][0] for state in states]
    # Two strides up the first hill; then at once over the valley to what is higher; then up to the summit.
    assert strengths[:3] == pytest.approx([0.0, 0.1, 0.2])
    assert strengths[3] > 0.65 and strengths[3] == pytest.approx(0.7, abs=0.05)
    assert strengths[-1] == pytest.approx(0.9, abs=0.005)
    losses = [state["losses"][0] for state in states[1:]]
    assert np.all(np.diff(losses) >= 0) and losses[-1] == pytest.approx(2.0, abs=0.03)
    # No stride is looked at twice.
    assert target.n_looks == 3 * (1 + 10 * (LOOKS + 4 * CLOSER))


def test_a_loss_that_falls_from_the_start_leaves_the_picture_at_the_weak_end(ramp) -> None:
    assert [state["strengths"].max() for state in walked(Hills([0.0, 1.0], [1.0, 0.0]), 3)] == [0, 0, 0, 0]


def test_of_equal_losses_the_stronger_is_taken(ramp) -> None:
    states = walked(Hills([0.0, 1.0], [1.0, 1.0]), 2, stride=0.25)
    assert [state["strengths"].max() for state in states] == [0, 0.25, 0.5]


def test_a_walk_that_goes_on_from_its_arrays_is_the_same(pictures, labels, robust) -> None:
    generator, numbers = CorruptionGenerator("gaussian_noise"), default_labels().places_of(labels)
    state = generator.start(pictures, np.arange(12, dtype=np.int64))
    for _ in range(3):
        state = generator.step(state, numbers, Target(robust))
        again = {name: values.copy() for name, values in state.items()}
    one, other = (generator.step(which, numbers, Target(robust)) for which in (state, again))
    assert all(np.array_equal(one[name], other[name]) for name in one)


#: What earlier versions stored with a search along gaussian_blur, in steps of 0.1: the first, and the one that asked a
#: network at one strength a step.
FORMER = "31ceb9ceafb17252fb02641ee77f229730124f1b28512358a1dbc8c2aba8b076"
RARELY_ASKED = "3dfedbde61168dfb8af46bfc68fb72bd288f186e3a7255971e8e20d5b1265410"


def test_the_digest_tells_the_walks_apart() -> None:
    generator = CorruptionGenerator("gaussian_blur")
    assert generator.former_digests(by_people=True) == (FORMER,)
    assert generator.former_digests(by_people=False) == (FORMER, RARELY_ASKED)
    digests = {FORMER, RARELY_ASKED, generator.digest, generator.beside(Brightness(1.0)).digest}
    assert len(digests) == 4


class Brightness:
    """An oracle that accepts ``ramp`` up to a strength, and not within a gap."""

    name, digest, classes = "brightness", "b", frozenset(default_labels().ids)

    def __init__(self, most: float, gap: tuple[float, float] = (2.0, 2.0)) -> None:
        self.most, self.gap = most, gap

    def judge(self, pictures: np.ndarray, labels: Sequence[str]) -> Acceptance:
        strengths = (pictures.reshape(len(pictures), -1).mean(axis=1) - 60) / 180
        accepted = (strengths <= self.most + 1e-3) & ~((self.gap[0] < strengths) & (strengths < self.gap[1]))
        return Acceptance(accepted, np.where(accepted, labels, ""))


def found_beside(oracle: Brightness, target: object, budget: int = 10) -> Ascent:
    generator = CorruptionGenerator("ramp").beside(oracle)
    ascent = Ascent(GREY, ["cat"] * 3, [0, 0, 0], target=target, generator=generator, budget=budget)  # type: ignore[arg-type]
    run_to_the_end(ascent, oracle)
    return ascent


@pytest.mark.parametrize("most", [0.0, 0.055, 0.3, 0.47, 0.994])
def test_the_walk_goes_up_to_the_first_strength_that_is_refused(ramp, most: float) -> None:
    ascent = found_beside(Brightness(most), Hills([0.0, 1.0], [0.0, 1.0]))
    for trace in ascent.traces:
        # What is refused within the last stride is proposed no more: the budget is spent.
        is_proposed = most <= 0.9
        assert trace.ending == ("refused" if is_proposed else "budget")
        assert trace.losses[-1] == pytest.approx(most, abs=0.008)
        assert len(trace.oracle_responses) == len(trace.losses) + is_proposed


def test_what_the_oracle_accepts_behind_a_refusal_is_not_taken(ramp) -> None:
    """It is accepted by chance there: on the way the object was lost."""
    ascent = found_beside(Brightness(1.0, gap=(0.3, 0.7)), Hills([0.0, 1.0], [0.0, 1.0]))
    assert ascent.traces[0].losses[-1] == pytest.approx(0.3, abs=0.008)


def test_the_greatest_accepted_loss_is_kept_where_it_lies_before_the_refusal(ramp) -> None:
    ascent = found_beside(Brightness(0.58), Hills([0.0, 0.25, 0.5, 1.0], [0.0, 1.0, 0.2, 5.0]))
    assert ascent.traces[0].losses[-1] == pytest.approx(1.0, abs=0.05)
    assert ascent.traces[0].ending == "refused"


def test_an_oracle_that_accepts_everything_changes_nothing(ramp) -> None:
    target = Hills([0.0, 0.2, 0.5, 0.9, 1.0], [0.0, 1.0, 0.2, 2.0, 1.5])
    alone = [state["losses"][0] for state in walked(target, 10)][1:]
    trace = found_beside(Brightness(1.0), target).traces[0]
    assert (trace.ending, trace.losses[1:]) == ("budget", pytest.approx(alone))


@pytest.fixture(scope="module")
def photographs() -> tuple[np.ndarray, list[str]]:
    if "REFERENCE_DATA" not in os.environ or not PHOTOGRAPHS.is_dir():
        pytest.skip("REFERENCE_DATA names no folder with photographs (photos16)")
    paths = sorted(PHOTOGRAPHS.glob("*/*.jpg"))[::30]
    pictures = [cv2.resize(prepare_original(path, 224), (64, 64), interpolation=cv2.INTER_AREA) for path in paths]
    return np.stack(pictures), [path.parent.name for path in paths]


@pytest.mark.verify
@pytest.mark.parametrize("function", sorted(CORRUPTIONS))
def test_the_walk_ends_where_an_exhaustive_search_does(function: str, photographs) -> None:
    """Within 0.01 nats on average, on photographs, after a budget that covers the domain."""
    pictures, labels = photographs
    target, numbers = (
        Target(load_classifier("export:fixtures/classifiers/clean.pt2")),
        default_labels().places_of(labels),
    )
    generator = CorruptionGenerator(function)
    state = generator.start(pictures, np.arange(len(pictures), dtype=np.int64))
    corruption = find_corruption(function)
    greatest = np.full(len(pictures), -np.inf)
    for strength in EXHAUSTIVE:
        parameter = corruption.parameter_at(float(strength))
        shown = np.stack([corrupt(one, function, parameter, seed) for seed, one in enumerate(pictures)])
        greatest = np.maximum(greatest, target.look(shown, numbers).losses)
    for _ in range(10):
        state = generator.step(state, numbers, target)
    found = target.look(generator.paint(state).pictures, numbers).losses
    assert float(np.mean(greatest - found)) <= 0.01
