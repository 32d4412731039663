"""What methods share whose curves are stored as many straight pieces."""

from __future__ import annotations

import numpy as np

from analysis.arrays import FloatArray
from analysis.curves.basis import SplineBasis, spline_basis
from analysis.curves.goodness import log_likelihood, pearson_dispersion
from analysis.curves.methods.base import DENSE_SEGMENTS, Cells, ChosenFit
from analysis.errors import InvalidInput


class DenseMethod:
    """Stored on 400 straight pieces."""

    name: str

    def basis(self, segments: int | None, degree: int | None) -> SplineBasis:
        """The one basis of such curves.

        Raises
        ------
        InvalidInput
            If another one is asked for.
        """
        if (segments, degree) not in ((None, None), (DENSE_SEGMENTS, 1)):
            raise InvalidInput(f"Segments and degree belong to the method spline; {self.name} has none to choose.")
        return spline_basis(DENSE_SEGMENTS, 1)


def described(
    basis: SplineBasis,
    cells: Cells,
    heights: FloatArray,
    parameters: float,
    *,
    smoothness: float = 0.0,
    hint: object = None,
) -> ChosenFit:
    """A fit with its deviance and dispersion, from heights at the knots, shape (K,)."""
    used = cells.trials > 0
    mean = np.interp(cells.v, np.linspace(0.0, 1.0, basis.size), heights)[used]
    correct, trials = cells.correct[used], cells.trials[used]
    deviance = 2.0 * float(log_likelihood(correct / trials, correct, trials) - log_likelihood(mean, correct, trials))
    return ChosenFit(
        heights, smoothness, parameters, pearson_dispersion(correct, trials, mean, parameters), max(deviance, 0.0), hint
    )
