"""People's right answers as a mixed model with crossed random effects, in bambi.

    python mixed_model.py [FOLDER] [--draws 1000] [--tune 1000] [--chains 4]

FOLDER holds an export's trials.csv; without one, it is the folder above this file. Needs what the block below names:
`uv run mixed_model.py` installs it for one run, `pip install bambi "matplotlib<3.11"` for good.

    P(right) = g + (1 - g) / (1 + exp(-eta)),  g = 1 / 16
    eta      = curve of the corruption at the visual change + person + category + original within category

A curve is the natural cubic spline through its values at KNOTS: these values, log odds beyond guessing, are the fixed
effects. An area is the mean over visual change from 0 to 1 of P(right), over people and originals like these. Intervals
hold 95 % of the posterior.
"""

# /// script
# requires-python = ">=3.11"
# dependencies = ["arviz", "bambi>=0.17", "matplotlib<3.11", "numpy", "pandas", "pytensor", "scipy"]
# ///

from __future__ import annotations

import argparse
from itertools import combinations
from pathlib import Path

import arviz as az
import bambi as bmb
import numpy as np
import pandas as pd
import pytensor.tensor as pt
from scipy.interpolate import CubicSpline
from scipy.special import expit, logit, ndtri

CHOICES = 16
KNOTS = (0.0, 1 / 3, 2 / 3, 1.0)  # (0.0, 1.0) makes curves linear in the log odds
ROLES = ("main", "consistency_first")
GUESS = 1.0 / CHOICES
GRID = (np.arange(100) + 0.5) / 100


def curve_columns(visual_change: np.ndarray) -> np.ndarray:
    """Columns whose coefficients are a curve's values at KNOTS, shape (n, knots)."""
    return CubicSpline(KNOTS, np.eye(len(KNOTS)), bc_type="natural")(visual_change)


def read_answers(folder: Path) -> pd.DataFrame:
    """Accepted answers to corrupted pictures."""
    trials = pd.read_csv(folder / "trials.csv", dtype=str, keep_default_na=False)
    used = (
        (trials["accepted"] == "True")
        & (trials["task"] == "categorisation")
        & trials["role"].isin(ROLES)
        & (trials["corruption"] != "none")
        & (trials["visual_change"] != "")
    )
    trials = trials[used]
    if trials.empty:
        raise SystemExit("trials.csv holds no accepted answer to a corrupted picture with a visual change.")
    names = ["corruption", "participant", "category", "original"]
    answers = trials[names].reset_index(drop=True)
    answers["right"] = (trials["correct"] == "True").to_numpy(dtype=int)
    answers["visual_change"] = trials["visual_change"].to_numpy(dtype=float)
    return answers


def model_of(answers: pd.DataFrame) -> tuple[bmb.Model, list[str]]:
    """The model, and its fixed effects: corruption by corruption, and within one knot by knot."""
    columns = curve_columns(answers["visual_change"].to_numpy())
    data = answers.copy()
    terms = []
    for number, corruption in enumerate(sorted(answers["corruption"].unique())):
        for knot in range(len(KNOTS)):
            terms.append(f"curve_{number}_{knot}")
            data[terms[-1]] = np.where(answers["corruption"] == corruption, columns[:, knot], 0.0)
    link = bmb.Link(
        "guessing_logit",
        link=lambda rate: logit((rate - GUESS) / (1.0 - GUESS)),
        linkinv=lambda eta: GUESS + (1.0 - GUESS) * expit(eta),
        linkinv_backend=lambda eta: GUESS + (1.0 - GUESS) * pt.sigmoid(eta),
    )
    family = bmb.Family("guessing", bmb.Likelihood("Bernoulli", params=["p"], parent="p"), {"p": link})
    effects = ("1|participant", "1|category", "1|category:original")
    priors = {term: bmb.Prior("Normal", mu=0.0, sigma=5.0) for term in terms}
    priors |= {one: bmb.Prior("Normal", mu=0.0, sigma=bmb.Prior("HalfNormal", sigma=2.0)) for one in effects}
    formula = " + ".join(["right ~ 0", *terms, *(f"({one})" for one in effects)])
    return bmb.Model(formula, data, family=family, priors=priors), terms


def areas_of(values: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """Areas of curves with these values at KNOTS, shape (draws, corruptions); random effects have this sd."""
    eta = values @ curve_columns(GRID).T
    effects = ndtri((np.arange(50) + 0.5) / 50)
    rates = sum(expit(eta + (sd * effect)[:, None, None]) for effect in effects) / len(effects)
    return GUESS + (1.0 - GUESS) * np.asarray(rates).mean(axis=2)


def told(draws: np.ndarray, names: list[str]) -> pd.DataFrame:
    """Mean, sd and interval of quantities, draws in rows."""
    lower, upper = np.quantile(draws, [0.025, 0.975], axis=0)
    return pd.DataFrame(
        {"mean": draws.mean(axis=0), "sd": draws.std(axis=0), "lower": lower, "upper": upper}, index=names
    )


def main() -> None:
    """Fit the model and print fixed effects, sds, areas and contrasts of corruptions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    for name, default in (("draws", 1000), ("tune", 1000), ("chains", 4), ("cores", None), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    answers = read_answers(options.folder)
    corruptions = sorted(answers["corruption"].unique())
    print(
        f"{len(answers)} answers of {answers['participant'].nunique()} people"
        f" to pictures of {answers['original'].nunique()} originals"
    )
    model, terms = model_of(answers)
    print(model.formula)
    fitted = model.fit(
        draws=options.draws,
        tune=options.tune,
        chains=options.chains,
        cores=options.cores,
        random_seed=options.seed,
        target_accept=0.9,
    )
    spreads = [f"1|{name}_sigma" for name in ("participant", "category", "category:original")]
    found = az.summary(fitted, var_names=[*terms, *spreads], kind="diagnostics")
    print(f"\nWorst R-hat {found['r_hat'].max():.3f}, fewest effective draws {found['ess_bulk'].min():.0f}")

    draws = az.extract(fitted, var_names=[*terms, *spreads])
    values = np.stack([draws[term].to_numpy() for term in terms], axis=1)
    places = [f"{corruption} {knot:.2f}" for corruption in corruptions for knot in KNOTS]
    print("\nFixed effects: log odds beyond guessing, by corruption and visual change")
    print(told(values, places).round(3))
    sds = np.stack([draws[spread].to_numpy() for spread in spreads], axis=1)
    print("\nSds of the random effects, log odds")
    print(told(sds, ["participant", "category", "original within category"]).round(3))

    curves = values.reshape(len(values), len(corruptions), len(KNOTS))
    areas = areas_of(curves, np.sqrt((sds**2).sum(axis=1)))
    print("\nAreas")
    print(told(areas, corruptions).round(4))
    if len(corruptions) > 1:
        # Mean over visual change of a curve's log odds.
        levels = curves @ curve_columns(GRID).mean(axis=0)
        pairs = list(combinations(range(len(corruptions)), 2))
        names = [f"{corruptions[a]} - {corruptions[b]}" for a, b in pairs]
        print("\nContrasts of corruptions: mean difference in log odds")
        print(told(np.stack([levels[:, a] - levels[:, b] for a, b in pairs], axis=1), names).round(3))
        print("\nContrasts of corruptions: difference of areas")
        print(told(np.stack([areas[:, a] - areas[:, b] for a, b in pairs], axis=1), names).round(4))


if __name__ == "__main__":
    main()
