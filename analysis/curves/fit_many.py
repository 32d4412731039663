"""Fit many curves, in any executor."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from typing import Any

from analysis.compute import SerialExecutor
from analysis.curves.curve import CurveFit
from analysis.curves.fit import fit_curve


def fit_curves(
    samples: Mapping[str, Mapping[str, Any]], *, executor: Executor | None = None, **options: Any
) -> dict[str, CurveFit]:
    """Fit one curve a sample.

    Parameters
    ----------
    samples : mapping of name to keyword arguments of `fit_curve`
        At least ``visual_change`` and ``correct``.
    executor : Executor, optional
        Where they are fitted (`analysis.compute.executor`); here, without one. The curves are the same: resampling
        follows from an integer ``rng`` and the names of clusters alone.
    **options
        Keyword arguments of `fit_curve` for all samples.

    Returns
    -------
    dict of name to CurveFit
        In the order of ``samples``.

    Raises
    ------
    FitError, InvalidInput
        Of the first sample that cannot be fitted.
    """
    pool = SerialExecutor() if executor is None else executor
    futures = {name: pool.submit(fit_curve, **{**options, **sample}) for name, sample in samples.items()}
    return {name: future.result() for name, future in futures.items()}
