"""True curves and simulated experiments for recovery tests."""

from __future__ import annotations

import numpy as np

CHANCE = 1 / 16


def sharp(v: np.ndarray) -> np.ndarray:
    """0.93 down to chance, a logistic drop at 0.9."""
    return CHANCE + (0.93 - CHANCE) / (1 + np.exp((v - 0.9) / 0.03))


def kink(v: np.ndarray) -> np.ndarray:
    """0.93 to 0.88 until 0.8, then down to 0.06."""
    return np.where(v < 0.8, 0.93 - 0.05 * v / 0.8, 0.88 - 0.82 * (v - 0.8) / 0.2)


def gradual(v: np.ndarray) -> np.ndarray:
    """A slow logistic fall around 0.6."""
    return CHANCE + (0.93 - CHANCE) / (1 + np.exp((v - 0.6) / 0.12))


def crowd(
    seed: int,
    *,
    people: int,
    trials_each: int,
    answers_an_image: int = 1,
    image_sd: float = 2.0,
    participant_sd: float = 0.5,
    curve: object = sharp,
) -> dict[str, np.ndarray]:
    """Answers of a crowd with image and participant effects on the logit."""
    rng = np.random.default_rng(seed)
    n = people * trials_each
    originals = n // answers_an_image
    image = np.concatenate([rng.permutation(originals) for _ in range(answers_an_image + 1)])[:n]
    person = np.repeat(np.arange(people), trials_each)
    v = rng.uniform(0, 1, originals)[image]
    p = np.clip(curve(v), 1e-6, 1 - 1e-6)  # type: ignore[operator]
    effect = rng.normal(0, image_sd, originals)[image] + rng.normal(0, participant_sd, people)[person]
    chance_right = 1 / (1 + np.exp(-(np.log(p / (1 - p)) + effect)))
    return {
        "visual_change": v,
        "correct": rng.random(n) < chance_right,
        "participants": np.array([f"P-{k}" for k in person]),
        "images": np.array([f"image-{k}" for k in image]),
    }


def marginal_area(curve: object, sd: float) -> float:
    """Area of the curve averaged over normal effects of this standard deviation on the logit."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    v = (np.arange(4000) + 0.5) / 4000
    p = np.clip(curve(v), 1e-6, 1 - 1e-6)  # type: ignore[operator]
    logit = np.log(p / (1 - p))
    marginal = (1 / (1 + np.exp(-(logit[:, None] + sd * nodes))) * weights).sum(axis=1) / weights.sum()
    return float(marginal.mean())
