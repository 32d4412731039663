"""Reads of recruitment: what was launched, who is where, and what it costs."""

from __future__ import annotations

from humanexp.recruitment.selectors.attention import Attention, attention, finished_not_submitted
from humanexp.recruitment.selectors.books import Books, books
from humanexp.recruitment.selectors.budgets import (
    Budget,
    budget_of,
    committed_cents,
    month_budget,
    place_cents,
)
from humanexp.recruitment.selectors.campaigns import (
    SuggestedTerms,
    campaign_by_entry,
    campaigns_of,
    campaigns_with_hits,
    hits_by_state,
    hits_to_ask_about,
    live_entries,
    sessions_allowed,
    suggested_terms,
    unfinished_campaigns,
)
from humanexp.recruitment.selectors.differences import differences, is_held, open_differences
from humanexp.recruitment.selectors.entrances import Entrance, entrance_of
from humanexp.recruitment.selectors.figures import (
    Figures,
    Funnel,
    Money,
    Places,
    figures_of,
    is_recruiting,
    money_of,
    payable_sum,
    payment_summary,
    places_of,
)
from humanexp.recruitment.selectors.payments import (
    account_of,
    assignments_of,
    latest_payments,
    ledger,
    ledger_rows,
    notices,
    payable,
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
from humanexp.recruitment.selectors.places import free_sessions, places_left, unaccepted_places
from humanexp.recruitment.selectors.rejections import (
    RejectedWork,
    proposal_on,
    proposed_rejections,
    rejections,
    rejections_need_two,
    signs_against,
)
from humanexp.recruitment.selectors.tally import Tally, tally_of
from humanexp.recruitment.selectors.timeline import OpenedBin, sessions_over_time
from humanexp.recruitment.selectors.wages import TopUpPlan, TopUpRow, Wage, top_up_plan, wage_at, wage_of
from humanexp.recruitment.selectors.ways_back import assignment_of_person, may_be_let_in, open_ways_back
from humanexp.recruitment.selectors.working_time import estimated_minutes, minutes_told

__all__ = [
    "assignment_of_person",
    "may_be_let_in",
    "open_ways_back",
    "Attention",
    "Books",
    "Budget",
    "Entrance",
    "Figures",
    "Funnel",
    "Money",
    "OpenedBin",
    "Places",
    "RejectedWork",
    "SuggestedTerms",
    "Tally",
    "TopUpPlan",
    "TopUpRow",
    "Wage",
    "account_of",
    "assignments_of",
    "attention",
    "books",
    "budget_of",
    "campaign_by_entry",
    "campaigns_of",
    "campaigns_with_hits",
    "committed_cents",
    "differences",
    "entrance_of",
    "estimated_minutes",
    "exclusion_code",
    "exclusions",
    "figures_of",
    "finished_not_submitted",
    "free_sessions",
    "has_passed",
    "hits_by_state",
    "hits_to_ask_about",
    "is_excluded",
    "is_recruiting",
    "is_held",
    "latest_payments",
    "ledger",
    "ledger_rows",
    "live_entries",
    "minutes_told",
    "money_of",
    "month_budget",
    "notices",
    "open_differences",
    "participant_hashes",
    "payable",
    "payable_sum",
    "payment_summary",
    "place_cents",
    "places_left",
    "places_of",
    "proposal_on",
    "proposed_rejections",
    "rejections",
    "rejections_need_two",
    "sessions_allowed",
    "sessions_over_time",
    "signs_against",
    "suggested_terms",
    "tally_of",
    "took_part",
    "top_up_plan",
    "unaccepted_places",
    "unfinished_campaigns",
    "unmatched",
    "wage_at",
    "wage_of",
    "waiting_payments",
]
