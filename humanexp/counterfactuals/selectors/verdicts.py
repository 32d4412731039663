"""What people said of the pictures of a round, from the sessions that count."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from analysis.categories import IS_ONE
from humanexp.counterfactuals.models import Round
from humanexp.participation.selectors import iter_trial_rows
from humanexp.screening.selectors import accepted_sessions

#: Only the first showing of a picture counts.
_FIRST_SHOWINGS = frozenset({"main", "consistency_first"})


@dataclass(frozen=True)
class RoundVerdicts:
    """Votes by the key of the original: {"yes", "n", "accepted"}; a tie is no acceptance."""

    by_key: dict[str, dict[str, Any]]

    @property
    def unanswered(self) -> int:
        return sum(not votes["n"] for votes in self.by_key.values())

    @property
    def fewest(self) -> int:
        """Answers to the picture that has fewest."""
        return min((votes["n"] for votes in self.by_key.values()), default=0)


def verdicts_on(one: Round) -> RoundVerdicts:
    """Majority of yes to both questions, per picture."""
    counting = accepted_sessions(one.study)
    yes: Counter[str] = Counter()
    answers: Counter[str] = Counter()
    for row in iter_trial_rows(one.study):
        if row["session"] in counting and row["role"] in _FIRST_SHOWINGS:
            answers[row["stimulus"]] += 1
            yes[row["stimulus"]] += row["response"] == IS_ONE
    return RoundVerdicts(
        {
            key: {"yes": yes[name], "n": answers[name], "accepted": 2 * yes[name] > answers[name]}
            for key, name in one.stimuli.items()
        }
    )
