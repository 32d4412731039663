from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from analysis.counterfactuals.latents import load_latent_generator
from analysis.counterfactuals.sparse_submodel import PUBLISHED_STRENGTH, fit_sparse_submodel
from analysis.counterfactuals.walked_latents import WalkedLatents
from analysis.errors import SearchRefused


def latents(n: int, moved: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Latents of 4 x 8 x 8 dimensions; the first `moved` are shifted by two standard deviations."""
    rng = np.random.default_rng(seed)
    before = rng.normal(size=(n, 4, 8, 8)).astype(np.float32)
    after = before + rng.normal(scale=0.1, size=before.shape).astype(np.float32)
    after.reshape(n, -1)[:, :moved] += 2
    return before, after


def test_finds_the_dimensions_that_were_moved() -> None:
    found = fit_sparse_submodel(*latents(200, 5, 1))
    selected = np.flatnonzero(found.dimensions)
    assert set(range(5)) >= set(selected) and len(selected) >= 2
    assert found.share == len(selected) / 256 and found.test_score > 0.8
    assert (found.n_train, found.n_test, found.strength) == (320, 80, PUBLISHED_STRENGTH)


def test_the_strength_weighs_the_mean_loss_against_the_coefficients() -> None:
    """Nothing is selected exactly when no gradient of the weighted mean loss exceeds 1."""
    before, after = latents(100, 1, 2)
    order = np.random.default_rng(0).permutation(100)[20:]
    both = np.concatenate([side[order].reshape(80, -1) for side in (before, after)]).astype(np.float64)
    standardised = (both - both.mean(axis=0)) / both.std(axis=0)
    residual = np.repeat([0.5, -0.5], 80)
    threshold = 1 / np.abs(residual @ standardised / 160).max()
    assert fit_sparse_submodel(before, after, strength=1.05 * threshold).share == 1 / 256
    with pytest.raises(SearchRefused, match="leaves no dimension"):
        fit_sparse_submodel(before, after, strength=0.98 * threshold)


def test_a_larger_strength_keeps_more() -> None:
    small = fit_sparse_submodel(*latents(100, 5, 3), strength=5)
    large = fit_sparse_submodel(*latents(100, 5, 3), strength=50)
    assert large.share > small.share


def test_nothing_moved_is_chance() -> None:
    rng = np.random.default_rng(4)
    before, after = rng.normal(size=(2, 60, 1, 8, 8)).astype(np.float32)
    found = fit_sparse_submodel(before, after)
    assert found.test_score < 0.75


def test_what_cannot_be_fitted_is_refused() -> None:
    before, after = latents(20, 5, 0)
    with pytest.raises(SearchRefused, match="one shape"):
        fit_sparse_submodel(before, after[:-1])
    with pytest.raises(SearchRefused, match="10 pictures"):
        fit_sparse_submodel(before[:9], after[:9])
    with pytest.raises(SearchRefused, match="above 0"):
        fit_sparse_submodel(before, after, strength=0)


def test_quantised_latents_are_the_nearest_codes_on_the_sides_that_are_asked_for() -> None:
    """OOR, section 3.2.1: after the encoder of originals, quantised of counterfactuals."""
    generator = load_latent_generator(Path("fixtures/counterfactuals/autoencoder.pt"))
    codes = generator.network.quantize.embedding.weight.detach().numpy()
    shape = (3, *generator.latent_shape)
    before, after = np.random.default_rng(5).normal(scale=codes.std(), size=(2, *shape)).astype(np.float32)
    vectors = after.transpose(0, 2, 3, 1)
    nearest = np.linalg.norm(vectors[..., None, :] - codes, axis=-1).argmin(axis=-1)
    expected = codes[nearest].transpose(0, 3, 1, 2)
    walked = WalkedLatents(before, after, 3)
    for latents, changes in (("encoder", (False, False)), ("published", (False, True)), ("quantised", (True, True))):
        taken = walked.taken(latents, generator)
        own = [not np.array_equal(one, given) for one, given in zip(taken, (before, after), strict=True)]
        assert tuple(own) == changes
        if changes[1]:
            assert np.array_equal(taken[1], expected)
