"""Which golds are no easy pictures: those that careful people get wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from analysis.acceptance.rule_sets import RuleSet

#: A gold that a smaller share of otherwise accepted people name is withdrawn.
GOLD_FLOOR = 0.9
#: Fewer showings do not decide: two misses in 20 are no reason yet, and an easy picture (97 % right) has three or more
#: in one case of fifty.
GOLD_MINIMUM = 20


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

    @property
    def is_hard(self) -> bool:
        """Whether it is to be withdrawn."""
        return self.shown >= GOLD_MINIMUM and self.share < GOLD_FLOOR


def is_otherwise_accepted(reasons: Collection[str], rules: RuleSet) -> bool:
    """Whether nothing but golds speaks against a session, so that a bad gold cannot hide behind its own failures.

    Parameters
    ----------
    reasons : collection of str
        Of the gates that the session failed.
    rules : RuleSet
        That it was judged by.
    """
    of_golds = {rule.reason for rule in rules.rules if rule.settings.get("role") == "gold"}
    return not set(reasons) - of_golds


def tally_golds(answers: Iterable[tuple[str, str, bool]]) -> list[Gold]:
    """Every gold that was answered, the hardest first.

    Parameters
    ----------
    answers : iterable of (original, category, right)
        Of otherwise accepted people.
    """
    shown: Counter[tuple[str, str]] = Counter()
    right: Counter[tuple[str, str]] = Counter()
    for original, category, is_right in answers:
        shown[original, category] += 1
        right[original, category] += is_right
    golds = [Gold(*key, shown=count, right=right[key]) for key, count in shown.items()]
    return sorted(golds, key=lambda gold: (gold.share, gold.original))
