"""Reads of recruitment: what was launched, who is where, and what it costs."""

from __future__ import annotations

from humanexp.recruitment.selectors.attention import Attention, attention, finished_not_submitted
from humanexp.recruitment.selectors.books import Books, books
from humanexp.recruitment.selectors.budgets import (
    Budget,
    Liability,
    budget_of,
    committed_cents,
    liability,
    month_budget,
    place_cents,
)
from humanexp.recruitment.selectors.campaigns import (
    SuggestedTerms,
    campaign_by_entry,
    campaigns_of,
    campaigns_with_hits,
    free_sessions,
    hits_by_state,
    hits_to_ask_about,
    live_entries,
    places_left,
    sessions_allowed,
    suggested_terms,
    unfinished_campaigns,
)
from humanexp.recruitment.selectors.entrances import Entrance, entrance_of
from humanexp.recruitment.selectors.payments import (
    account_of,
    assignments_of,
    latest_payments,
    ledger,
    ledger_rows,
    notices,
    payable,
    payment_summary,
    unmatched,
    waiting_payments,
)
from humanexp.recruitment.selectors.people import (
    exclusion_code,
    exclusions,
    has_passed,
    is_excluded,
    participant_hashes,
    took_part,
)
from humanexp.recruitment.selectors.progress import OpenedBin, Progress, progress, sessions_over_time
from humanexp.recruitment.selectors.rejections import RejectedWork, rejections, signs_against
from humanexp.recruitment.selectors.tally import Tally, tally_of
from humanexp.recruitment.selectors.wages import TopUpPlan, TopUpRow, WageEstimate, top_up_plan, wage_estimate

__all__ = [
    "Attention",
    "Books",
    "Budget",
    "Entrance",
    "Liability",
    "OpenedBin",
    "Progress",
    "RejectedWork",
    "SuggestedTerms",
    "Tally",
    "TopUpPlan",
    "TopUpRow",
    "WageEstimate",
    "account_of",
    "assignments_of",
    "attention",
    "books",
    "budget_of",
    "campaign_by_entry",
    "campaigns_of",
    "campaigns_with_hits",
    "committed_cents",
    "entrance_of",
    "exclusion_code",
    "exclusions",
    "finished_not_submitted",
    "free_sessions",
    "has_passed",
    "hits_by_state",
    "hits_to_ask_about",
    "is_excluded",
    "latest_payments",
    "ledger",
    "ledger_rows",
    "liability",
    "live_entries",
    "month_budget",
    "notices",
    "participant_hashes",
    "payable",
    "payment_summary",
    "place_cents",
    "places_left",
    "progress",
    "rejections",
    "sessions_allowed",
    "sessions_over_time",
    "signs_against",
    "suggested_terms",
    "tally_of",
    "took_part",
    "top_up_plan",
    "unfinished_campaigns",
    "unmatched",
    "wage_estimate",
    "waiting_payments",
]
