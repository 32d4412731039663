from __future__ import annotations

import colorsys

import numpy as np
import pytest

from analysis.corruptions import CORRUPTIONS, corrupt
from analysis.corruptions.colour import random_direction
from analysis.corruptions.registry import stream_seed

COLOURS = np.random.default_rng(1).integers(0, 256, (8, 9, 3), dtype=np.uint8)
COLOURS[0, :4] = [[0, 0, 0], [255, 255, 255], [90, 90, 90], [255, 0, 0]]


def direction_of(name: str, seed: int, components: int) -> np.ndarray:
    return random_direction(components, stream_seed(seed, name, CORRUPTIONS[name].version))


def by_colorsys(colours: np.ndarray, change: object) -> np.ndarray:
    changed = [colorsys.hsv_to_rgb(*change(*colorsys.rgb_to_hsv(*(pixel / 255.0)))) for pixel in colours.reshape(-1, 3)]
    return np.array(changed).reshape(colours.shape) * 255.0


@pytest.mark.parametrize("added", [0.001, 0.1, 0.45, 1.0])
def test_brightness_is_added_to_the_value(added: float) -> None:
    expected = by_colorsys(COLOURS, lambda h, s, v: (h, s, min(v + added, 1.0)))
    assert np.abs(corrupt(COLOURS, "brightness", added, 0) - expected).max() <= 0.5 + 1e-3


def test_brightness_by_hand() -> None:
    # V of (100, 50, 20) is 100; 100 + 51 = 151; hue and saturation stay, so all grow by 1.51.
    pixel = np.array([[[100, 50, 20], [0, 0, 0], [250, 100, 0]]], dtype=np.uint8)
    brighter = corrupt(pixel, "brightness", 0.2, 0)
    assert brighter[0].tolist() == [[151, 76, 30], [51, 51, 51], [255, 102, 0]]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("along", [0.05, 0.6, 1.0])
def test_hue_saturation_value_against_colorsys(seed: int, along: float) -> None:
    turn, saturation, value = along * direction_of("hue_saturation_value", seed, 3)
    expected = by_colorsys(
        COLOURS,
        lambda h, s, v: ((h + turn / 2) % 1.0, float(np.clip(s + saturation, 0, 1)), float(np.clip(v + value, 0, 1))),
    )
    shifted = corrupt(COLOURS, "hue_saturation_value", along, seed)
    assert np.abs(shifted - expected).max() <= 0.5 + 5e-3


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("along", [0.05, 0.6, 1.0])
def test_color_jitter_against_the_formulas(seed: int, along: float) -> None:
    brightness, contrast, saturation, turn = along * direction_of("color_jitter", seed, 4)
    weights = np.array([0.299, 0.587, 0.114])
    x = np.clip(COLOURS * (1 + brightness), 0, 255)
    mean = (x @ weights).mean()
    x = np.clip(mean + (x - mean) * (1 + contrast), 0, 255)
    grey = (x @ weights)[..., None]
    x = np.clip(grey + (x - grey) * (1 + saturation), 0, 255)
    expected = by_colorsys(x, lambda h, s, v: ((h + turn / 2) % 1.0, s, v))
    jittered = corrupt(COLOURS, "color_jitter", along, seed)
    difference = np.abs(jittered - expected)
    # A hue is undetermined where the three channels agree to the last bit of float32.
    assert np.mean(difference > 0.51) <= 0.02
    assert np.median(difference) <= 0.5


def test_directions_have_a_largest_component_of_one_and_every_sign() -> None:
    directions = np.array([random_direction(3, seed) for seed in range(400)])
    assert np.abs(directions).max(axis=1) == pytest.approx(1.0)
    assert np.all(np.abs(np.sign(directions).mean(axis=0)) < 0.15)
    assert set(np.abs(directions).argmax(axis=1)) == {0, 1, 2}


def test_only_the_two_random_directions_may_be_drawn_again() -> None:
    again = {name for name, corruption in CORRUPTIONS.items() if corruption.redraws > 1}
    assert again == {"hue_saturation_value", "color_jitter"}
    assert all(CORRUPTIONS[name].redraws == 5 for name in again)
