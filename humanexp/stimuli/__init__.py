"""Source pictures and the stimuli made from them."""

from __future__ import annotations
