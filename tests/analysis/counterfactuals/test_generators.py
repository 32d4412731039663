from __future__ import annotations

import numpy as np
import pytest

from analysis.corruptions import CORRUPTIONS, corrupt, find_corruption
from analysis.counterfactuals.pixels import PixelGenerator
from analysis.counterfactuals.port import Generator, Target, select
from analysis.counterfactuals.specifications import load_generator
from analysis.errors import SearchRefused, UnknownName
from analysis.labels.files import default_labels


@pytest.mark.parametrize("function", sorted(CORRUPTIONS))
def test_every_corruption_function_can_be_walked(function, pictures, labels, robust) -> None:
    generator = load_generator(f"corruption:{function},step=0.5")
    assert isinstance(generator, Generator) and generator.name == f"corruption:{function}"
    wide = np.repeat(np.repeat(pictures[:2], 4, axis=1), 4, axis=2)
    state = generator.start(wide, np.array([1, 2], np.int64))
    stepped = generator.step(state, default_labels().places_of(labels[:2]), Target(robust))
    assert (stepped["reaches"] >= 0.5).all()
    parameter = find_corruption(function).parameter_at(stepped["strengths"][1])
    assert np.array_equal(generator.paint(stepped).pictures[1], corrupt(wide[1], function, parameter, 2))


def test_pixels_stay_within_their_bound_and_raise_the_loss(pictures, labels, robust) -> None:
    generator, target, numbers = (
        PixelGenerator(epsilon=6 / 255, stride=4 / 255),
        Target(robust),
        default_labels().places_of(labels),
    )
    state = generator.start(pictures, np.zeros(12, np.int64))
    before = target.look(generator.paint(state).pictures, numbers).losses
    for _ in range(3):
        state = generator.step(state, numbers, target)
    changed = np.abs(generator.paint(state).pictures.astype(int) - pictures)
    assert changed.max() == 6
    assert (target.look(generator.paint(state).pictures, numbers).losses > before).all()
    assert len(select(state, np.array([2, 5]))["changes"]) == 2


def test_gradient_is_that_of_the_loss(pictures, labels, robust) -> None:
    import torch

    target, numbers = Target(robust), default_labels().places_of(labels)
    tensor = torch.from_numpy(pictures.transpose(0, 3, 1, 2).astype(np.float32) / 255)
    gradient = target.gradient(tensor, numbers)
    step = torch.zeros_like(tensor)
    step[:, 0, 2, 3] = 20 / 255
    moved = ((tensor + step) * 255).permute(0, 2, 3, 1).round().to(torch.uint8).numpy()
    found = target.look(moved, numbers).losses - target.look(pictures, numbers).losses
    np.testing.assert_allclose(found, 20 / 255 * gradient[:, 0, 2, 3].numpy(), rtol=0.05, atol=1e-5)


def test_specifications_are_read_or_refused() -> None:
    pixel = load_generator("pixel:epsilon=0.1,step=0.02")
    assert isinstance(pixel, PixelGenerator) and (pixel.epsilon, pixel.stride) == (0.1, 0.02)
    assert load_generator("pixel:").digest != pixel.digest
    with pytest.raises(UnknownName, match="names no generator"):
        load_generator("styles:x")
    with pytest.raises(UnknownName, match="no option 'speed'"):
        load_generator("corruption:frost,speed=2")
    with pytest.raises(UnknownName, match="no corruption named"):
        load_generator("corruption:fog")
    with pytest.raises(SearchRefused, match="no number"):
        load_generator("pixel:step=fast")
    with pytest.raises(SearchRefused, match="by epsilon"):
        load_generator("pixel:epsilon=0.01,step=0.02")
