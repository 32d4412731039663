"""Which golds are no easy pictures: those that careful people get wrong."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.study.rules import RuleSet, SentinelSettings

#: A gold is withdrawn when a result as bad as its own would be rarer than this if it were as easy as the others.
CHANCE = 0.01


@dataclass(frozen=True)
class Gold:
    """How otherwise accepted people did on one gold picture.

    Parameters
    ----------
    original, category : str
    shown, right : int
        Answers, and how many of them were right.
    """

    original: str
    category: str
    shown: int
    right: int

    @property
    def share(self) -> float:
        """Share of right answers, in [0, 1]; 0 without answers."""
        return self.right / self.shown if self.shown else 0.0


@dataclass(frozen=True)
class Withdrawal:
    """When a rule set takes a gold back.

    Parameters
    ----------
    under : float
        Share of right answers, in [0, 1]; a gold with a smaller one is hard.
    after : int
        Fewer answers do not decide.
    """

    under: float
    after: int


def withdrawal_of(rules: RuleSet) -> Withdrawal | None:
    """The rule set's terms: settings `withdraw_under` and `withdraw_after` of its rule of golds. None: never."""
    for settings in rules.settings_of(SentinelSettings):
        if settings.role == "gold" and settings.withdraw_under is not None and settings.withdraw_after is not None:
            return Withdrawal(float(settings.withdraw_under), int(settings.withdraw_after))
    return None


def gold_slack(reasons: Collection[str], evidence: Iterable[Mapping[str, Any]], rules: RuleSet) -> float | None:
    """By how many golds a session passes, negative if it fails; None when something else speaks against it.

    Parameters
    ----------
    reasons : collection of str
        Of the gates that the session failed.
    evidence : iterable of mapping
        What every rule found, as ``RuleOutcome.to_dict``.
    rules : RuleSet
        Says which reasons are those of golds.

    Returns
    -------
    float or None
        Infinite where no rule reads golds, or there were too few.
    """
    of_golds = {
        rule.reason
        for rule in rules.rules
        if isinstance(rule.settings, SentinelSettings) and rule.settings.role == "gold"
    }
    if set(reasons) - of_golds:
        return None
    judged = [o for o in evidence if o["reason"] in of_golds and o["passed"] is not None]
    return min((float(o["value"]) - float(o["threshold"]) for o in judged), default=math.inf)


def tally_golds(answers: Iterable[tuple[float | None, str, str, bool]]) -> list[Gold]:
    """Every gold with how otherwise accepted people did on it, the hardest first.

    Otherwise accepted: who would pass if this one gold were answered rightly. So a hard gold does not hide behind those
    whom it fails, and who presses any key, and so fails the others too, says nothing about it.

    Parameters
    ----------
    answers : iterable of (slack, original, category, right)
        One entry an answer; slack as `gold_slack` of its session.
    """
    shown: Counter[tuple[str, str]] = Counter()
    right: Counter[tuple[str, str]] = Counter()
    for slack, original, category, is_right in answers:
        if slack is not None and slack + (not is_right) >= 0:
            shown[original, category] += 1
            right[original, category] += is_right
    golds = [Gold(*key, shown=count, right=right[key]) for key, count in shown.items()]
    return sorted(golds, key=lambda gold: (gold.share, gold.original))


def hard_golds(golds: Sequence[Gold], terms: Withdrawal) -> list[Gold]:
    """Golds that too few people name, and fewer than name the other golds.

    Where people are careless all golds look hard alike. Then the pictures are not to blame, and none is withdrawn.

    Parameters
    ----------
    golds : sequence of Gold
        Those that stand, as `tally_golds` gives them.
    terms : Withdrawal
    """
    from scipy.special import betainc

    shown, right = sum(gold.shown for gold in golds), sum(gold.right for gold in golds)
    found = []
    for gold in golds:
        others = shown - gold.shown
        if gold.shown < terms.after or gold.share >= terms.under or not others:
            continue
        wrong, wrong_elsewhere = gold.shown - gold.right, others - (right - gold.right)
        # Binomial tail: as many wrong answers as these, or more, at the other golds' rate.
        if betainc(wrong, gold.right + 1, wrong_elsewhere / others) < CHANCE:
            found.append(gold)
    return found
