"""Networks beside people on average over kinds of networks and over families of functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from analysis.claims import claim
from analysis.claims.groups import families_words, kinds_words
from analysis.corruptions import FAMILIES
from analysis.differences.groups import GroupContrast as Contrast, group_means
from analysis.findings.fits import FitSettings, StudyCurves
from analysis.findings.model.comparisons import Comparison, GroupContrast, GroupIndices, Grouping, GroupMean
from analysis.findings.observations import Observations
from analysis.findings.verdicts import compared_of
from analysis.observers.kinds import KINDS

_FAMILY_OF = {one.name: one.family for family in FAMILIES for one in family}


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
        families=_FAMILY_OF,
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


def group_indices_entries(comparisons: Sequence[Comparison], kinds: Mapping[str, str]) -> tuple[GroupIndices, ...]:
    """Areas and indices of consistency on average over groups; empty without two groups.

    Parameters
    ----------
    comparisons : sequence of Comparison
        Where people's consistency was not measured, none of them is of it.
    kinds : mapping of network to str
        Id of the kind of each network that has one.

    Notes
    -----
    VCR (Shen et al.), section 4.2, speaks of both properties. The means are those of the curves, not of raw answers as
    for accuracy: the consistency of people is agreement with another person's answer to the clean picture, that of
    networks with their own, and no variance of their difference is calibrated here. So there are neither intervals nor
    tests. Only functions count on which all networks were compared with people.
    """
    own = {
        (one.classifier, one.corruption): one.shown
        for one in comparisons
        if one.property == "consistency" and not one.borrowed
    }
    networks = tuple(dict.fromkeys(network for network, _ in own))
    functions = [
        name for name in dict.fromkeys(name for _, name in own) if all((network, name) in own for network in networks)
    ]
    groupings: dict[Grouping, tuple[Mapping[str, str], Sequence[str]]] = {
        "kinds": (kinds, networks),
        "families": (_FAMILY_OF, functions),
    }
    entries: list[GroupIndices] = []
    for grouping, (group_of, members) in groupings.items():
        groups = dict.fromkeys(group_of[one] for one in members if one in group_of)
        if len(groups) < 2:
            continue
        for group in groups:
            inside = tuple(one for one in members if group_of.get(one) == group)
            of, on = (inside, tuple(functions)) if grouping == "kinds" else (networks, inside)
            pairs = [own[network, name] for network in of for name in on]
            if not pairs:
                continue
            means = {
                name: fmean(getattr(one, name) for one in pairs)
                for name in ("human_area", "classifier_area", "hmri", "mrsi")
            }
            entries.append(
                GroupIndices(
                    grouping=grouping, group=group, property="consistency", networks=of, corruptions=on, **means
                )
            )
    return tuple(entries)


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
