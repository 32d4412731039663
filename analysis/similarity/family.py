"""A family of corruptions: classes of alike ones, and what reuse within them saves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from analysis.similarity.curves import CurveSimilarity, Pair


def alike_classes(names: Sequence[str], similarities: Mapping[Pair, CurveSimilarity]) -> list[list[str]]:
    """Group corruptions so that within a group every pair was shown to be equivalent (complete linkage).

    Parameters
    ----------
    names : sequence of str
        Corruptions.
    similarities : mapping of pair to CurveSimilarity

    Returns
    -------
    list of list of str
        Groups, each in the order of ``names``; the closest groups are joined first.
    """

    def distance(left: list[str], right: list[str]) -> float:
        worst = 0.0
        for one in left:
            for two in right:
                outcome = similarities.get((one, two)) or similarities.get((two, one))
                if outcome is None or not outcome.equivalent:
                    return float("inf")
                worst = max(worst, abs(outcome.difference))
        return worst

    groups = [[name] for name in names]
    while len(groups) > 1:
        closest = min(combinations(range(len(groups)), 2), key=lambda pair: distance(groups[pair[0]], groups[pair[1]]))
        if distance(groups[closest[0]], groups[closest[1]]) == float("inf"):
            break
        merged = sorted(groups[closest[0]] + groups[closest[1]], key=list(names).index)
        groups = [merged if k == closest[0] else group for k, group in enumerate(groups) if k != closest[1]]
    return groups


@dataclass(frozen=True)
class ReuseSaving:
    """What collecting people's answers once for each class of alike corruptions would save.

    Parameters
    ----------
    kept : dict of str to list of str
        For each class, the corruption with the most answers, and those that would reuse its curve.
    answers, saved : int
        Answers that were collected, and those of the corruptions that would reuse another's curve.
    """

    kept: dict[str, list[str]]
    answers: int
    saved: int

    @property
    def share(self) -> float:
        """Saved answers as a share of all, in [0, 1]."""
        return self.saved / self.answers if self.answers else 0.0


def reuse_saving(classes: Sequence[Sequence[str]], answers: Mapping[str, int]) -> ReuseSaving:
    """What reuse within classes would have saved.

    Parameters
    ----------
    classes : sequence of sequence of str
        From `alike_classes`.
    answers : mapping of corruption to int
        Answers behind each human curve.

    Notes
    -----
    Of VCR section 5, where the data of one corruption stand for those that are alike. A saving that was found with
    answers which exist helps the next study, not this one.
    """
    kept: dict[str, list[str]] = {}
    for group in classes:
        chosen = max(group, key=lambda name: answers[name])
        kept[chosen] = [name for name in group if name != chosen]
    saved = sum(answers[name] for others in kept.values() for name in others)
    return ReuseSaving(kept, sum(answers[name] for group in classes for name in group), saved)
