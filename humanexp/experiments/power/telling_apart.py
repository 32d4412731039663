"""How many trials it takes to find that people tell two corruptions apart, or to show that they cannot."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from analysis.errors import InvalidInput
from humanexp.experiments.models import Study
from humanexp.experiments.plans import plan_head
from humanexp.experiments.selectors import configuration_of

#: True shares of right answers that a reader may have in mind; guessing is 0.5.
SHARES = (0.55, 0.6, 0.65, 0.7, 0.8)
POWER, ALPHA = 0.9, 0.05
#: Believed correlation of two answers of one person about one pair.
CORRELATION = 0.05


@dataclass(frozen=True, kw_only=True)
class NeededTrials:
    """What one aim takes; None where it is beyond any study."""

    #: true share of right answers
    share: float
    trials: int | None
    people: int | None
    #: whether the plan has so many trials of a pair
    is_planned: bool


@dataclass(frozen=True, kw_only=True)
class TellingApart:
    """The comparisons of a plan, and what they could show."""

    form: str
    pairs: int
    people: int
    #: planned trials of a pair, and those of one person
    trials: int
    trials_each: int
    margin: float
    #: to find people of these shares better than guessing
    detect: tuple[NeededTrials, ...]
    #: to show that people who guess are within the margin of guessing
    equivalent: NeededTrials
    power: float = POWER
    alpha: float = ALPHA
    correlation: float = CORRELATION

    @property
    def bound(self) -> float:
        """Share of right answers below which a pair counts as indistinguishable."""
        return 0.5 + self.margin


def telling_apart(study: Study) -> TellingApart | None:
    """None where a study compares no pictures. Differences are sought at the hardest step of Holm's rule."""
    from analysis.similarity import (
        share_right,
        trials_for_equivalence,
        trials_to_detect,
    )
    from analysis.spec.analysis_plan import D_PRIME_MARGIN, OBSERVER_MODEL

    configuration, summary = configuration_of(study), plan_head(study)["summary"]
    asked = configuration.design.discrimination
    # Either answer is right in half of the trials: beside every trial of a pair stands one of a corruption with itself.
    planned = [2 * count for name, count in summary.get("comparisons", {}).items() if len(set(name.split(" / "))) == 2]
    if asked is None or not planned:
        return None
    pairs, trials = len(planned), min(planned)
    people = -(-summary["sessions"] // configuration.max_sessions_per_worker)
    each = max(1, round(trials / people))
    margin = share_right(D_PRIME_MARGIN, asked.form, OBSERVER_MODEL) - 0.5

    def needed(share: float, count: Callable[[], int]) -> NeededTrials:
        try:
            wanted = count()
        except InvalidInput:
            return NeededTrials(share=share, trials=None, people=None, is_planned=False)
        return NeededTrials(share=share, trials=wanted, people=math.ceil(wanted / each), is_planned=wanted <= trials)

    designed: dict[str, Any] = {"power": POWER, "trials_each": each, "icc": CORRELATION}
    return TellingApart(
        form=asked.form,
        pairs=pairs,
        people=people,
        trials=trials,
        trials_each=each,
        margin=margin,
        detect=tuple(
            needed(share, lambda share=share: trials_to_detect(share, alpha=ALPHA / pairs, **designed))  # type: ignore[misc]
            for share in SHARES
        ),
        equivalent=needed(0.5, lambda: trials_for_equivalence(margin, alpha=ALPHA, **designed)),
    )
