"""What is said of pairs that people had to tell apart."""

from __future__ import annotations

import pytest

from analysis.claims.telling_apart import d_prime_words, rule_sentence, verdict_words


@pytest.mark.parametrize(
    ("verdict", "as_answered", "has_plain_pairs", "told_apart", "said"),
    [
        ("equivalent", 0.7, True, True, "equivalent"),
        ("different", 3.0, False, False, "different"),
        ("undecided", 0.7, None, False, "undecided"),  # of an earlier version
        ("undecided", 1.7, True, True, "undecided"),
        ("undecided", None, True, True, "undecided"),
        ("undecided", 0.7, True, True, "undecided: this crowd could not have shown it"),
        ("undecided", 1.7, True, False, "undecided: this crowd could not have shown it"),
        (
            "undecided",
            0.7,
            False,
            False,
            "undecided: without plain pairs nothing says what this crowd could have shown",
        ),
    ],
)
def test_an_open_verdict_says_why_where_the_crowd_is_the_reason(
    verdict: str, as_answered: float | None, has_plain_pairs: bool | None, told_apart: bool, said: str
) -> None:
    words = verdict_words(
        verdict,
        d_prime_margin=1.0,
        as_answered=as_answered,
        has_plain_pairs=has_plain_pairs,
        plain_pairs_told_apart=told_apart,
    )
    assert words == said


def test_the_rule_names_the_observer_or_what_was_judged_before() -> None:
    assert "0.6" in rule_sentence(form="abx", margin=0.1, d_prime_margin=1.19, model=None)
    said = rule_sentence(form="same-different", margin=0.0558, d_prime_margin=1.0, model="differencing")
    assert "below 1 (" in said and "differ from each other" in said and "55.6 %" in said


def test_a_sensitivity_without_limit_is_said_in_words() -> None:
    assert d_prime_words(0.412, 0.9) == "d′ 0.41, at most 0.90"
    assert d_prime_words(2.0, None).endswith("no upper bound")
    assert d_prime_words(None, None) == "d′ not determined by these answers"
