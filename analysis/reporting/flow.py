"""The flow of inclusions: from sessions that were opened to sessions that count, with the reasons of the others."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from analysis.tables.sessions import REASON_SEPARATOR

if TYPE_CHECKING:
    import pandas as pd

#: Reason of a session that a person excluded without a failed gate.
BY_HAND = "excluded by hand"


@dataclass(frozen=True)
class Flow:
    """Sessions at each step; each that was opened is withdrawn, unfinished, unverified, unjudged, accepted or excluded.

    Parameters
    ----------
    opened : int
        Sessions that were ever opened.
    finished : int
        Sessions in which every trial was answered, and that can count.
    submitted : int
        Finished sessions that were handed in.
    withdrawn : int
        Taken back by the participant, or ended by them; their answers are in no table.
    unfinished : int
        Begun, and neither finished nor withdrawn.
    unjudged : int
        Finished, and not judged yet.
    accepted : int
        Sessions that count.
    excluded : tuple of (str, int)
        Judged sessions that do not count, by their first reason, the most frequent first.
    accepted_by_hand, excluded_by_hand : int
        Verdicts in which a person decided otherwise than the rules; they are among the accepted and the excluded.
    not_submitted : int
        Finished sessions that were not handed in; they are judged, too.
    unverified : int
        Every trial was answered, and whoever recruits the person has not listed the session: it cannot count.
    """

    opened: int
    finished: int
    submitted: int
    withdrawn: int
    unfinished: int
    unjudged: int
    accepted: int
    excluded: tuple[tuple[str, int], ...]
    accepted_by_hand: int
    excluded_by_hand: int
    not_submitted: int
    unverified: int = 0

    @property
    def excluded_total(self) -> int:
        """Judged sessions that do not count."""
        return sum(n for _, n in self.excluded)

    def to_dict(self) -> dict[str, Any]:
        """Plain values; ``excluded`` as a list of ``reason`` and ``n``."""
        return {**asdict(self), "excluded": [{"reason": reason, "n": n} for reason, n in self.excluded]}


def inclusion_flow(sessions: pd.DataFrame) -> Flow:
    """Count sessions at each step.

    Parameters
    ----------
    sessions : pandas.DataFrame
        Columns of `analysis.tables.SESSIONS`.
    """
    reasons: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    verified = sessions["verified"] if "verified" in sessions else sessions["state"].notna()
    for state, is_verified, accepted, told, by_hand in zip(
        sessions["state"].astype(str).tolist(),
        verified.astype("boolean").fillna(True).tolist(),
        sessions["accepted"].astype("boolean").tolist(),
        sessions["reasons"].astype("string").fillna("").tolist(),
        sessions["by_hand"].astype("boolean").fillna(False).tolist(),
        strict=True,
    ):
        if state in ("completed", "submitted") and not is_verified:
            counts["unverified"] += 1
            continue
        counts[state] += 1
        if state not in ("completed", "submitted"):
            continue
        if accepted is not True and accepted is not False:
            counts["unjudged"] += 1
        elif accepted:
            counts["accepted"] += 1
            counts["accepted by hand"] += by_hand
        else:
            reasons[told.split(REASON_SEPARATOR)[0] or BY_HAND] += 1
            counts["excluded by hand"] += by_hand
    finished = counts["completed"] + counts["submitted"]
    return Flow(
        opened=len(sessions),
        finished=finished,
        submitted=counts["submitted"],
        withdrawn=counts["withdrawn"],
        unfinished=counts["open"],
        unjudged=counts["unjudged"],
        accepted=counts["accepted"],
        excluded=tuple(sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))),
        accepted_by_hand=counts["accepted by hand"],
        excluded_by_hand=counts["excluded by hand"],
        not_submitted=counts["completed"],
        unverified=counts["unverified"],
    )
