"""How much of a crowd's answers came from looking: what it must show before sameness may be claimed of it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from analysis.clusters import clustered
from analysis.differences.answers import AnswersToOne

#: A crowd of which less is certain could not have shown a difference: careless answers make everything alike.
ATTENTIVE = 0.8
#: Answers to pictures that are changed no more than this stand in for clean ones where nobody saw any.
_HARDLY_CHANGED = 0.15


def attentive_share(answers: AnswersToOne, *, choices: int = 16, level: float = 0.95) -> float:
    """Lower bound of the share of answers that came from looking, from pictures that anybody can name.

    Parameters
    ----------
    answers : AnswersToOne
        People's answers to clean pictures, or to the least changed ones.
    choices : int
        Labels between which they chose.
    level : float
        One-sided, in (0, 1).

    Returns
    -------
    float
        In [0, 1]; 0 with fewer than two people or originals.

    Notes
    -----
    Who does not look is right in 1 of ``choices``; who looks is right in at most all: the share is at least
    ``(accuracy - 1 / choices) / (1 - 1 / choices)``. The accuracy is the mean over people, its bound two-way over
    people and originals.
    """
    if answers.people is None or min(len(answers.people.names), len(answers.originals.names)) < 2:
        return 0.0
    cell = answers.by_cell(np.array([-np.inf, np.inf]))
    sums = [one.sums.toarray() for one in (cell.people, cell.originals) if one is not None]
    rate = float(cell.means[0])
    spread = clustered(sums, cell.singles)
    if rate in (0.0, 1.0):
        # all alike: the exact bound of so many people (Clopper and Pearson 1934)
        least = float((1.0 - level) ** (1.0 / len(answers.people.names))) if rate == 1.0 else 0.0
    else:
        least = rate - float(spread.reach(2.0 * level - 1.0)[0])
    chance = 1.0 / choices
    return float(np.clip((least - chance) / (1.0 - chance), 0.0, 1.0))


def least_changed(answers: AnswersToOne) -> AnswersToOne:
    """Answers to the least changed pictures, which stand in for clean ones where nobody saw any."""
    return answers.select(answers.place <= max(_HARDLY_CHANGED, float(answers.place.min())))


def attentive_shares(
    answers: Mapping[str, AnswersToOne], clean: AnswersToOne | None, scales: frozenset[str] = frozenset()
) -> dict[str, float]:
    """How much of people's answers to each corruption surely came from looking.

    Parameters
    ----------
    answers : mapping of corruption to AnswersToOne
        Whether they were right.
    clean : AnswersToOne or None
        To clean pictures, if there are any.
    scales : frozenset of str
        Published experiments without clean pictures of their own: from their least changed ones.
    """
    shared = None if clean is None else attentive_share(clean)
    return {
        name: attentive_share(least_changed(own)) if shared is None or name in scales else shared
        for name, own in answers.items()
    }
