"""Networks beside people on average over kinds of networks and over families of functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from analysis.claims import claim
from analysis.claims.groups import families_words, kinds_words
from analysis.corruptions import FAMILIES
from analysis.differences.groups import GroupContrast as Contrast, group_means
from analysis.findings.fits import FitSettings, StudyCurves
from analysis.findings.model.comparisons import Comparison, GroupContrast, GroupMean
from analysis.findings.observations import Observations
from analysis.findings.verdicts import compared_of
from analysis.observers.kinds import KINDS


def group_means_entries(
    study: StudyCurves,
    people: Observations,
    comparisons: Sequence[Comparison],
    settings: FitSettings,
) -> dict[str, tuple[GroupMean, ...] | tuple[GroupContrast, ...]]:
    """Means over groups and all pairs of them, by their names in the findings; empty without two groups.

    Parameters
    ----------
    study : StudyCurves
    people : Observations
        Their answers that count.
    comparisons : sequence of Comparison
        Of the same curves: indices of each network on each function.
    settings : FitSettings
        Among them the kinds of networks.

    Notes
    -----
    As of verdicts on models, functions to which fewer than `claim.FEWEST` people answered are left out. Families are
    those of the built-in functions (`analysis.corruptions.FAMILIES`); VCR's Fig. 3 has noise, blur and others.
    """
    compared = compared_of(study, people).of_crowds(claim.FEWEST)
    answers, models = compared.answers()
    found = group_means(
        answers,
        models,
        kinds=settings.network_kinds,
        families={one.name: one.family for family in FAMILIES for one in family},
        conditions=compared.conditions,
        level=settings.level,
        seed=settings.seed,
    )
    shown = {
        (one.classifier, one.corruption): one.shown
        for one in comparisons
        if one.property == "accuracy" and not one.borrowed
    }
    means = []
    for mean in found.means:
        own = [shown[network, name] for network in mean.networks for name in mean.corruptions]
        indices = {"hmri": fmean(one.hmri for one in own), "mrsi": fmean(one.mrsi for one in own)}
        means.append(GroupMean.of(mean, **indices))
    if not means:
        return {}
    counts = {one.group: len(one.networks) for one in means if one.grouping == "kinds"}
    contrasts = tuple(GroupContrast.of(one, statement=_statement(one, counts)) for one in found.contrasts)
    return {"group_means": tuple(means), "group_contrasts": contrasts}


def _statement(one: Contrast, counts: Mapping[str, int]) -> str:
    first, second = one.pair
    if one.grouping == "families":
        return families_words(first, second, difference=one.difference, differ=one.differ)
    return kinds_words(
        KINDS[first].name,
        KINDS[second].name,
        counts=(counts[first], counts[second]),
        difference=one.difference,
        differ=one.differ,
    )
