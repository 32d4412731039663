"""Answers that are implausibly fast: the page asks once, between two blocks, and nothing else changes."""

from __future__ import annotations

import pytest

from analysis.study.rules import FastSettings, RuleSet, load_rule_set
from humanexp.participation import presentation
from humanexp.participation.models import Response
from humanexp.participation.presentation import UNDER_MS, too_fast_ms
from tests.factories import collecting_study

FAST_MS, SLOW_MS = 150.0, 900.0


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """The study at hand has short blocks."""
    monkeypatch.setattr(presentation, "LEAST", 2)


@pytest.fixture
def study(stimulus_set):
    """Three main rounds."""
    design = {"sessions": 2, "main_trials": 16, "practice_trials": 4, "consistency_pairs": 2, "block_trials": 12}
    return collecting_study(design=design)


def answer_block(tab, block, rt_ms):
    for position in range(block["first"], block["last"] + 1):
        assert tab.answer(position, "cat", rt_ms=rt_ms).status_code == 201


def asks(tab):
    return tab.get("session/").json()["slow_down"]


def blocks_of(session):
    practice = [block for block in session.blocks if block["kind"] != "main"]
    return practice, [block for block in session.blocks if block["kind"] == "main"]


def test_the_page_asks_once_between_two_blocks(tab, session):
    practice, (first, second, *_) = blocks_of(session)
    for block in practice:
        answer_block(tab, block, FAST_MS)
        assert asks(tab) is False, "practice is not measured"
    for position in range(first["first"], first["last"]):
        tab.answer(position, "cat", rt_ms=FAST_MS)
        assert asks(tab) is False, "only between blocks"
    tab.answer(first["last"], "cat", rt_ms=FAST_MS)
    assert asks(tab) is True
    assert asks(tab) is True, "a page that is loaded again in the break shows it again"
    tab.answer(second["first"], "cat", rt_ms=FAST_MS)
    assert asks(tab) is False
    session.refresh_from_db()
    assert session.slow_down_at == second["first"], "and later answers ask no second time"
    assert Response.objects.filter(session=session, rt_ms=FAST_MS).count() == second["first"] + 1, "evidence stays"


def test_plausible_answers_are_never_asked_about(tab, session):
    practice, (first, *_) = blocks_of(session)
    for block in (*practice, first):
        answer_block(tab, block, SLOW_MS)
    session.refresh_from_db()
    assert session.slow_down_at is None and not asks(tab)


def test_the_time_differs_from_that_of_every_rule_and_is_told_to_nobody(tab, session):
    rules = load_rule_set("vcr")
    under_ms = too_fast_ms(rules.to_dict())
    gates = [settings.under_ms for settings in rules.settings_of(FastSettings)]
    assert gates and all(abs(under_ms - gate) >= 25 for gate in gates)
    taken = rules.to_dict()
    for rule in taken["rule"]:
        if rule["kind"] == "fast":
            rule["settings"]["under_ms"] = UNDER_MS
    assert RuleSet.from_dict(taken) and abs(too_fast_ms(taken) - UNDER_MS) >= 25
    assert too_fast_ms({}) == UNDER_MS
    practice, (first, *_) = blocks_of(session)
    for block in (*practice, first):
        answer_block(tab, block, FAST_MS)
    told = tab.get("session/").content.decode()
    assert str(int(under_ms)) not in told
