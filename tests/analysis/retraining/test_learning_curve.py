"""The learning curve as a figure, the decaying learning rate, and even samples of labelled pictures."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import torch

from analysis.errors import InvalidInput, TooFewResponses
from analysis.figures.paper import to_file
from analysis.figures.value import Points
from analysis.retraining.held_out import sample_evenly
from analysis.retraining.learning_curve import learning_curve
from analysis.retraining.training import Recipe

CURVE = [
    {"epoch": 0, "loss": 2.7, "right": 0.1},
    {"epoch": 1, "loss": 1.9, "right": 0.4},
    {"epoch": 2, "loss": 2.0, "right": 0.4},
]
REPORT = {"losses": [2.5, 1.5], "held_out": {"curve": CURVE, "kept_epoch": 1}}


def test_the_figure_has_every_loss_where_it_was_measured(tmp_path: Path) -> None:
    figure = learning_curve(REPORT, name="robust")
    trained, held_out = figure.traces
    assert isinstance(trained, Points) and (trained.x, trained.y) == ((0.5, 1.5), (2.5, 1.5))
    assert isinstance(held_out, Points) and (held_out.x, held_out.y) == ((0.0, 1.0, 2.0), (2.7, 1.9, 2.0))
    assert figure.y.range[1] > 2.7 and "Kept: epoch 1." in " ".join(figure.notes)
    assert "robust" in figure.title and "held-out loss from 2.700 to 2.000" in figure.description
    assert to_file(figure, tmp_path / "curve.svg", width="column").stat().st_size > 1000


def test_without_a_held_out_part_there_is_one_line_and_without_epochs_none() -> None:
    figure = learning_curve({"losses": [0.5], "held_out": {"curve": [], "kept_epoch": 1}}, name="robust")
    assert len(figure.traces) == 1 and "Kept" not in " ".join(figure.notes)
    with pytest.raises(TooFewResponses, match="No epoch of robust was trained"):
        learning_curve({"losses": []}, name="robust")


@pytest.mark.parametrize(("every", "factor"), [(7, 0.1), (2, 0.5), (0, 0.1)])
def test_the_rate_decays_as_that_of_torchs_step_lr(every: int, factor: float) -> None:
    """The authors' program: StepLR by 7 epochs and 0.1; 0 epochs is the constant rate of the paper."""
    recipe = Recipe(epochs=20, decay_every=every, decay=factor)
    optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=recipe.learning_rate)
    schedule = torch.optim.lr_scheduler.StepLR(optimiser, step_size=every or 1000, gamma=factor)
    for epoch in range(20):
        assert recipe.rate(epoch) == pytest.approx(optimiser.param_groups[0]["lr"], rel=1e-12)
        optimiser.step()
        schedule.step()
    with pytest.raises(InvalidInput, match="decays by a factor"):
        Recipe(decay=0.0)


def test_a_sample_is_even_over_categories_and_depends_on_contents_alone() -> None:
    contents = {f"{category}{n}": (category, f"{category}{n}") for category in "abc" for n in range(10)}
    contents |= {f"rare{n}": ("d", f"rare{n}") for n in range(2)}
    chosen = sample_evenly(contents, count=14, seed=3)
    assert Counter(contents[name][0] for name in chosen) == {"a": 4, "b": 4, "c": 4, "d": 2}
    renamed = {f"x {name}": content for name, content in reversed(contents.items())}
    assert {name.removeprefix("x ") for name in sample_evenly(renamed, count=14, seed=3)} == chosen
    assert sample_evenly(contents, count=14, seed=4) != chosen
    twice = contents | {"copy": contents["a0"]}
    assert len(sample_evenly(twice, count=32, seed=0)) == 32
    with pytest.raises(InvalidInput, match="There are 32 different originals, and 33 are asked for"):
        sample_evenly(twice, count=33, seed=0)
