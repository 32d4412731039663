"""People whose true performance curves are known: the yardstick for everything that is estimated from their answers."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

#: Attenuation of a logit by a normal effect:
#: averaging sigmoid(x + s z) over z is close to sigmoid(x / sqrt(1 + (k s)^2)).
_LOGISTIC_NORMAL = 16 * math.sqrt(3) / (15 * math.pi)


@dataclass(frozen=True, kw_only=True)
class TrueCurve:
    """Share of right answers of the average honest person, over pictures and people, falling with visual change.

    ``top`` at no change, ``floor`` when nothing can be seen, half-way at ``middle``, with a logistic drop of ``width``.
    """

    top: float
    floor: float
    middle: float
    width: float

    def intended(self, visual_change: np.ndarray | float) -> np.ndarray:
        """Marginal accuracy aimed at, shape of the argument, in [0, 1]."""
        drop = 1 / (1 + np.exp(-(np.asarray(visual_change, dtype=float) - self.middle) / self.width))
        return np.asarray(self.top - (self.top - self.floor) * drop)


@dataclass(frozen=True, kw_only=True)
class ObserverModel:
    """How honest people answer: a curve a corruption, and normal effects of picture and person on the logit."""

    curves: Mapping[str, TrueCurve]
    image_sd: float = 2.0
    participant_sd: float = 0.5
    seed: int = 0

    def logit(self, corruption: str, visual_change: np.ndarray | float) -> np.ndarray:
        """Logit for the average picture and person, spread so that the average over effects is the intended curve."""
        intended = self._curve(corruption).intended(visual_change)
        spread = math.sqrt(1 + (self.image_sd**2 + self.participant_sd**2) * _LOGISTIC_NORMAL**2)
        return np.asarray(np.log(intended / (1 - intended)) * spread)

    def image_effect(self, original: str) -> float:
        return self.image_sd * _standard_normal(self.seed, "image", original)

    def participant_effect(self, participant: str) -> float:
        return self.participant_sd * _standard_normal(self.seed, "participant", participant)

    def probability_correct(self, corruption: str, visual_change: float, *, original: str, participant: str) -> float:
        """Chance that this person names this picture, without lapses."""
        effects = self.image_effect(original) + self.participant_effect(participant)
        return float(1 / (1 + np.exp(-(self.logit(corruption, visual_change) + effects))))

    def marginal(self, corruption: str, visual_change: np.ndarray) -> np.ndarray:
        """True share correct over all pictures and people, by Gauss-Hermite quadrature; shape of `visual_change`."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(61)
        sd = math.sqrt(self.image_sd**2 + self.participant_sd**2)
        logits = np.asarray(self.logit(corruption, visual_change))[..., None] + sd * nodes
        return np.asarray((1 / (1 + np.exp(-logits))) @ weights / weights.sum())

    def _curve(self, corruption: str) -> TrueCurve:
        """A clean picture is any corruption at no change."""
        return self.curves[corruption] if corruption in self.curves else next(iter(self.curves.values()))


#: The two kinds of noise are alike for these people, blur is harder: what the analysis should find. The shape is the
#: published one: people hold out until little of the picture is left, then fall quickly.
DEMO_CURVES: Mapping[str, TrueCurve] = {
    "gaussian_noise": TrueCurve(top=0.95, floor=0.07, middle=0.88, width=0.045),
    "uniform_noise": TrueCurve(top=0.95, floor=0.07, middle=0.88, width=0.045),
    "gaussian_blur": TrueCurve(top=0.95, floor=0.07, middle=0.80, width=0.06),
}


def random_stream(seed: int, *key: object) -> np.random.Generator:
    """A generator of its own for every (seed, key): the same answers whatever runs beside it."""
    digest = hashlib.blake2b("\x1f".join(map(str, (seed, *key))).encode(), digest_size=16).digest()
    return np.random.default_rng(int.from_bytes(digest, "big"))


def _standard_normal(seed: int, *key: object) -> float:
    return float(random_stream(seed, *key).standard_normal())
