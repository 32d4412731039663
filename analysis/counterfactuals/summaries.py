"""What is read from finished searches: budgets, comparisons, agreement of generators, and what a reader should know."""

from __future__ import annotations

import filecmp
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.counterfactuals.corrupting import CorruptionGenerator
from analysis.counterfactuals.files import SearchRecord
from analysis.counterfactuals.score import OrientedRobustness, score
from analysis.counterfactuals.search import Counterfactual
from analysis.counterfactuals.specifications import load_generator
from analysis.errors import InvalidInput, TooFewResponses, UnknownName
from analysis.examples import folder_of, located

#: Of the autoencoder that comes with HumanExp.
DRAWINGS_ONLY = (
    "The autoencoder autoencoder.pt, which comes with HumanExp, was trained on drawings of 64 px. It is no use on "
    "photographs: its pictures of them are blurred beyond recognition, and the scores say nothing about a model. "
    "Search drawings with it, or put a published autoencoder of taming-transformers on the server."
)
#: Of searches along a corruption before the walk looked past local maxima and asked oracles at every strength.
FORMER_WALK = (
    "This search was made by an earlier version, whose walk along a corruption stopped short of the greatest loss that "
    "the oracle accepts. Its OOR can be too high. Compare it only with searches of that version, or search again."
)

#: So near to a whole number of levels, a signed step is taken for one.
_WHOLE = 0.01


def caveats(spec: str, digest: str = "", *, by_people: bool = False) -> list[str]:
    """Caveats of a generator.

    Parameters
    ----------
    spec : str
        As for `load_generator`.
    digest : str
        Of the generator at the time of a search that was made with it; empty where none was.
    by_people : bool
        Whether people judge that search.
    """
    kind, _, rest = spec.partition(":")
    if kind == "vqgan" and is_shipped(Path(rest.partition(",")[0])):
        return [DRAWINGS_ONLY]
    if kind == "corruption" and digest:
        try:
            generator = load_generator(spec)
        except UnknownName:  # a function of somebody's own that is gone
            return []
        if isinstance(generator, CorruptionGenerator) and digest in generator.former_digests(by_people=by_people):
            return [FORMER_WALK]
    return []


def signed_step_caveats(fgsm: float) -> list[str]:
    """What an initial signed step amounts to in pictures of 8 bits, where that is another size.

    Parameters
    ----------
    fgsm : float
        Of 1, as `Control` takes it.
    """
    levels = round(255 * fgsm)
    if abs(255 * fgsm - levels) < _WHOLE:
        return []
    told = f"Pictures have 8 bits: the initial signed step of {fgsm:g} "
    if not levels:
        return [f"{told}changes nothing. The smallest useful one is {1 / 255:.4f}, one of 255 levels."]
    return [f"{told}acts as one of {levels / 255:.4f}, {levels} of 255 levels."]


def is_shipped(checkpoint: Path) -> bool:
    """Whether a file of weights is the autoencoder that comes with HumanExp, wherever it was copied to."""
    own, found = folder_of("counterfactuals") / "autoencoder.pt", located(checkpoint)
    return found.is_file() and filecmp.cmp(own, found, shallow=False)


#: A finished search, picture by picture.
Searched = Sequence[Counterfactual] | Sequence[SearchRecord]


@dataclass(frozen=True, slots=True)
class BudgetPoint:
    """What a search with a smaller budget would have found.

    Attributes
    ----------
    budget : int
        Perturbations allowed, from 0.
    mean_loss : float
        Mean loss of the kept pictures, over the valid ones; the same pictures at every budget.
    mean_steps : float
        Mean accepted steps.
    score : OrientedRobustness
    """

    budget: int
    mean_loss: float
    mean_steps: float
    score: OrientedRobustness


def score_of(found: Searched, budget: int | None = None) -> OrientedRobustness:
    """Score of a search, or of the same search cut off after ``budget`` perturbations."""
    return score(
        clean_correct=[one.clean_correct for one in found],
        valid=[one.valid for one in found],
        counterfactual_correct=[_response_at(one, budget) == one.label for one in found],
    )


def budget_study(found: Searched, budgets: Sequence[int]) -> list[BudgetPoint]:
    """How loss and OOR change with the budget, from one search with the largest.

    Parameters
    ----------
    found : sequence of Counterfactual, or of their records
    budgets : sequence of int
        From 0 to the budget of the search.

    Raises
    ------
    TooFewResponses
        If no picture is valid.
    """
    valid = [one for one in found if one.valid]
    if not valid:
        raise TooFewResponses("The oracle accepted no picture at step 0: there is nothing to follow.")
    points = []
    for budget in budgets:
        if budget < 0:
            raise InvalidInput(f"A budget is 0 or more, not {budget}.")
        steps = [min(budget, one.accepted_steps) for one in valid]
        losses = [one.losses[step] for one, step in zip(valid, steps, strict=True)]
        points.append(BudgetPoint(budget, float(np.mean(losses)), float(np.mean(steps)), score_of(found, budget)))
    return points


@dataclass(frozen=True, slots=True)
class SearchSummary:
    """One search among several of the same pictures: step sizes, controls, generators.

    Attributes
    ----------
    name : str
    mean_loss : float
        Mean loss of the kept pictures, over the valid ones; NaN where none is.
    mean_steps : float
        Mean accepted steps of the valid ones; NaN where none is.
    score : OrientedRobustness
    """

    name: str
    mean_loss: float
    mean_steps: float
    score: OrientedRobustness


def compare_searches(searches: Mapping[str, Searched]) -> list[SearchSummary]:
    """What several searches of the same pictures found, for studies of the step size and of the controls.

    Parameters
    ----------
    searches : mapping of str to sequence of Counterfactual
        Finished searches by name, for example ``"step 0.05"``.

    Raises
    ------
    InvalidInput
        If the searches are not of the same number of pictures.
    """
    if len({len(found) for found in searches.values()}) > 1:
        raise InvalidInput("Searches are compared on the same pictures; these hold different numbers of them.")
    summaries = []
    for name, found in searches.items():
        valid = [one for one in found if one.valid]
        summaries.append(
            SearchSummary(
                name,
                float(np.mean([one.losses[-1] for one in valid])) if valid else float("nan"),
                float(np.mean([one.accepted_steps for one in valid])) if valid else float("nan"),
                score_of(found),
            )
        )
    return summaries


#: Of a search's summary, what is averaged over runs.
AVERAGED = ("mean_loss", "mean_steps", "sa", "vr", "ca", "oor", "oor_validated")


@dataclass(frozen=True, slots=True)
class SearchAverage:
    """Several searches that differ by chance alone, as one row of a study of step sizes.

    Attributes
    ----------
    name : str
    n_runs : int
    mean, sd : dict of str to float
        By name of `AVERAGED`: over the runs in which it is a number; NaN where there is none, and a standard deviation
        (of the runs, with n - 1) also where there is one.
    n_known : dict of str to int
        Runs in which it is a number.
    """

    name: str
    n_runs: int
    mean: dict[str, float]
    sd: dict[str, float]
    n_known: dict[str, int]

    @property
    def is_without_chance(self) -> bool:
        """Whether all runs came out the same: then they are one run, and their number says nothing."""
        return self.n_runs > 1 and all(sd == 0 for sd in self.sd.values() if np.isfinite(sd))

    def to_dict(self) -> dict[str, object]:
        """Plain numbers; what is no number becomes None."""
        plain = [{key: _number(value) for key, value in values.items()} for values in (self.mean, self.sd)]
        return {"name": self.name, "runs": self.n_runs, "mean": plain[0], "sd": plain[1], "known": self.n_known}


def average_searches(searches: Mapping[str, Sequence[Searched]]) -> list[SearchAverage]:
    """Means over runs of what `compare_searches` says of each.

    Parameters
    ----------
    searches : mapping of str to sequence of searches
        Runs by name, for example ``"step 0.05"``; all of the same number of pictures.

    Raises
    ------
    InvalidInput
        If searches differ in their number of pictures, or a name has no run.

    Notes
    -----
    OOR paper, Figure 4 and appendix H: step sizes 0.01, 0.05, 0.1, 0.2 and 0.5, "averaged over five runs".
    """
    flat = {f"{name}\n{number}": run for name, runs in searches.items() for number, run in enumerate(runs)}
    found = {one.name: one for one in compare_searches(flat)}
    averages = []
    for name, runs in searches.items():
        if not runs:
            raise InvalidInput(f"There is no run of {name}: a mean needs one.")
        averages.append(_average(name, [_averaged(found[f"{name}\n{number}"]) for number in range(len(runs))]))
    return averages


def average_networks(networks: Sequence[Sequence[SearchAverage]]) -> list[SearchAverage]:
    """Means over networks, of each the mean over its runs: deviations are those between networks alone.

    Parameters
    ----------
    networks : sequence of sequence of SearchAverage
        Of every network what `average_searches` says of its runs; a name may be missing in some.

    Returns
    -------
    list of SearchAverage
        Names in the order in which they first come; ``n_runs`` is the number of networks.
    """
    means: dict[str, list[Mapping[str, float]]] = {}
    for averages in networks:
        for one in averages:
            means.setdefault(one.name, []).append(one.mean)
    return [_average(name, own) for name, own in means.items()]


def _averaged(summary: SearchSummary) -> dict[str, float]:
    of_score = [name for name in AVERAGED if name not in ("mean_loss", "mean_steps")]
    return {
        "mean_loss": summary.mean_loss,
        "mean_steps": summary.mean_steps,
        **{name: float(getattr(summary.score, name)) for name in of_score},
    }


def _average(name: str, runs: Sequence[Mapping[str, float]]) -> SearchAverage:
    mean, sd, n_known = {}, {}, {}
    for quantity in AVERAGED:
        values = np.array([one[quantity] for one in runs], np.float64)
        known = values[np.isfinite(values)]
        n_known[quantity] = len(known)
        mean[quantity] = float(known.mean()) if len(known) else float("nan")
        sd[quantity] = float(known.std(ddof=1)) if len(known) > 1 else float("nan")
    return SearchAverage(name, len(runs), mean, sd, n_known)


def _number(value: float) -> float | None:
    return value if np.isfinite(value) else None


@dataclass(frozen=True, slots=True)
class GeneratorAgreement:
    """Do two generators rank models alike?

    Attributes
    ----------
    pair : tuple of two str
        Generators.
    rho, tau : float
        Rank correlations of Spearman and of Kendall (b) between the OOR of the same models; NaN when all are equal.
    n : int
        Models.
    """

    pair: tuple[str, str]
    rho: float
    tau: float
    n: int


def generator_agreement(oor: Mapping[str, Mapping[str, float]]) -> list[GeneratorAgreement]:
    """Rank correlations of OOR for every pair of generators.

    Parameters
    ----------
    oor : mapping of str to mapping of str to float
        OOR by generator and model; models that a generator lacks, or whose OOR is no number, are left out of its pairs.

    Raises
    ------
    TooFewResponses
        If a pair has fewer than three models in common.

    Notes
    -----
    OOR paper, Table 3.
    """
    from scipy.stats import kendalltau, rankdata

    generators = list(oor)
    agreements = []
    for place, first in enumerate(generators):
        for second in generators[place + 1 :]:
            models = [
                model
                for model in oor[first]
                if model in oor[second] and np.isfinite([oor[first][model], oor[second][model]]).all()
            ]
            if len(models) < 3:
                raise TooFewResponses(f"{first} and {second} share {len(models)} models: a ranking needs three.")
            a, b = ([oor[generator][model] for model in models] for generator in (first, second))
            ranks = rankdata(a), rankdata(b)
            varies = np.ptp(a) > 0 and np.ptp(b) > 0
            agreements.append(
                GeneratorAgreement(
                    (first, second),
                    float(np.corrcoef(*ranks)[0, 1]) if varies else float("nan"),
                    float(kendalltau(a, b).statistic) if varies else float("nan"),
                    len(models),
                )
            )
    return agreements


def _response_at(one: Counterfactual | SearchRecord, budget: int | None) -> str:
    if not one.responses:
        return ""
    return one.responses[-1 if budget is None else min(budget, one.accepted_steps)]
