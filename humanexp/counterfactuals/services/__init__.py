"""Writes of this app: searches, rounds judged by people, frozen benchmarks, searches read together."""

from __future__ import annotations

from humanexp.counterfactuals.services.freezing import as_stimuli, freeze
from humanexp.counterfactuals.services.rounds import close_round, publish_round, start_round
from humanexp.counterfactuals.services.searching import (
    ROUND_KIND,
    SEARCH_KIND,
    complete,
    create_search,
    default_model_name,
    start,
    store_records,
)
from humanexp.counterfactuals.services.transfer import GROUP_KIND, start_transfer

__all__ = [
    "GROUP_KIND",
    "ROUND_KIND",
    "SEARCH_KIND",
    "as_stimuli",
    "close_round",
    "complete",
    "create_search",
    "default_model_name",
    "freeze",
    "publish_round",
    "start",
    "start_round",
    "start_transfer",
    "store_records",
]
