"""The flow of inclusions: from sessions that were opened to sessions that count, with the reasons of the others."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from analysis.findings.model import Exclusion, Flow
from analysis.tables.sessions import REASON_SEPARATOR

if TYPE_CHECKING:
    import pandas as pd

#: Reason of a session that a person excluded without a failed gate.
BY_HAND = "excluded by hand"


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
    practised = sessions["practised"] if "practised" in sessions else sessions["state"].notna()
    left = sessions["left"] if "left" in sessions else sessions["state"].isna()
    windows = sessions["answer_window_ms"].notna() if "answer_window_ms" in sessions else sessions["state"].isna()
    for state, is_verified, is_practised, has_left, has_window, accepted, told, by_hand in zip(
        sessions["state"].astype(str).tolist(),
        verified.astype("boolean").fillna(True).tolist(),
        practised.astype("boolean").fillna(True).tolist(),
        left.astype("boolean").fillna(False).tolist(),
        windows.tolist(),
        sessions["accepted"].astype("boolean").tolist(),
        sessions["reasons"].astype("string").fillna("").tolist(),
        sessions["by_hand"].astype("boolean").fillna(False).tolist(),
        strict=True,
    ):
        if state in ("completed", "submitted") and not is_verified:
            counts["unverified"] += 1
            continue
        if state in ("completed", "submitted") and not is_practised:
            counts["practice not passed"] += 1
            continue
        counts[state] += 1
        if state not in ("completed", "submitted"):
            counts["left"] += state == "open" and has_left
            continue
        if accepted is not True and accepted is not False:
            counts["unjudged"] += 1
            continue
        counts["longer window"] += has_window
        if accepted:
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
        excluded=tuple(
            Exclusion(reason=reason, n=n) for reason, n in sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
        ),
        accepted_by_hand=counts["accepted by hand"],
        excluded_by_hand=counts["excluded by hand"],
        not_submitted=counts["completed"],
        unverified=counts["unverified"],
        practice_not_passed=counts["practice not passed"],
        left=counts["left"],
        longer_window=counts["longer window"],
    )
