"""Questions about sessions, trials and answers."""

from __future__ import annotations

from humanexp.participation.selectors.answers import (
    answers_of,
    gold_answers,
    iter_timing_rows,
    iter_trial_rows,
    rows_of,
    rule_rows_of,
    session_rows,
)
from humanexp.participation.selectors.closing import closing_answers, closing_rows
from humanexp.participation.selectors.faults import RefusedCalls, refused_calls
from humanexp.participation.selectors.own_results import (
    KEPT_DAYS,
    OwnResult,
    own_result_address,
    own_result_behind,
    result_on_card,
)
from humanexp.participation.selectors.sessions import (
    SILENT_AFTER,
    counted_sessions,
    holding_slots,
    is_at_work,
    kept_slots,
    rivals_of,
    session_counts,
    session_for_token,
    session_of,
    standing_of,
    under_way,
)
from humanexp.participation.selectors.set_ups import longer_windows, set_up_rows
from humanexp.participation.selectors.showings import (
    PICTURES,
    given_out,
    seen_originals,
    stimuli_of,
    stimulus_pictures,
    stimulus_pks,
    unfetched_answers,
)

__all__ = [
    "KEPT_DAYS",
    "OwnResult",
    "PICTURES",
    "RefusedCalls",
    "SILENT_AFTER",
    "answers_of",
    "closing_answers",
    "closing_rows",
    "counted_sessions",
    "given_out",
    "gold_answers",
    "holding_slots",
    "is_at_work",
    "iter_timing_rows",
    "iter_trial_rows",
    "kept_slots",
    "refused_calls",
    "longer_windows",
    "own_result_address",
    "own_result_behind",
    "result_on_card",
    "rivals_of",
    "rows_of",
    "rule_rows_of",
    "seen_originals",
    "session_counts",
    "session_for_token",
    "session_of",
    "session_rows",
    "standing_of",
    "set_up_rows",
    "stimuli_of",
    "stimulus_pictures",
    "stimulus_pks",
    "under_way",
    "unfetched_answers",
]
