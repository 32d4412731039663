"""Reads of recruitment: what was launched, who is where, and what it costs."""

from __future__ import annotations

from humanexp.recruitment.selectors.campaigns import (
    SuggestedTerms,
    campaign_by_entry,
    campaigns_of,
    free_sessions,
    hits_to_ask_about,
    live_entries,
    places_left,
    sessions_allowed,
    suggested_terms,
    unfinished_campaigns,
)
from humanexp.recruitment.selectors.payments import (
    account_of,
    assignments_of,
    committed_cents,
    ledger,
    payable,
    payment_summary,
    unmatched,
    waiting_payments,
)
from humanexp.recruitment.selectors.progress import (
    Attention,
    OpenedBin,
    Progress,
    attention,
    progress,
    sessions_over_time,
)

__all__ = [
    "Attention",
    "OpenedBin",
    "Progress",
    "SuggestedTerms",
    "account_of",
    "assignments_of",
    "attention",
    "campaign_by_entry",
    "campaigns_of",
    "committed_cents",
    "free_sessions",
    "hits_to_ask_about",
    "ledger",
    "live_entries",
    "payable",
    "payment_summary",
    "places_left",
    "progress",
    "sessions_allowed",
    "sessions_over_time",
    "suggested_terms",
    "unfinished_campaigns",
    "unmatched",
    "waiting_payments",
]
