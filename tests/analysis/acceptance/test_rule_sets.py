"""Shipped rule sets, and those of a lab."""

from __future__ import annotations

import pytest

from analysis.errors import InvalidInput, UnknownName
from analysis.study.rules import RULE_SETS, RuleSet, load_rule_set, read_rule_set
from tests.analysis.acceptance.records import VCR, answer, row, session, verdict


def test_none_accepts_everything_and_imagenet_d_wants_every_check():
    rows = session()
    for entry in rows:
        answer(entry, "dog")
    assert verdict(rows, load_rule_set("none")).accepted
    screens = [row(n, "main", "chair", response="no-no", task="validation", change=0.0) for n in range(16)]
    screens += [
        row(16, "gold", "yes-yes", task="validation"),
        row(17, "negative", "no-no", task="validation"),
    ]
    for number in range(2):
        screens.append(row(20 + number, "consistency_first", "yes-yes", task="validation", stimulus=f"p{number}"))
        screens.append(row(30 + number, "consistency_second", "yes-yes", task="validation", stimulus=f"p{number}"))
    rules = load_rule_set("imagenet-d")
    assert verdict(screens, rules).accepted
    answer(screens[-1], "yes-no")
    assert verdict(screens, rules).reasons == ("inconsistent answers",)
    answer(screens[17], "yes-no")
    assert verdict(screens, rules).reasons == ("negative trials failed", "inconsistent answers")


@pytest.mark.parametrize("name", RULE_SETS)
def test_shipped_rule_sets_say_what_they_read_and_catch_and_survive_a_round_trip(name):
    rules = load_rule_set(name)
    assert RuleSet.from_dict(rules.to_dict()) == rules
    assert all(rule.reads and rule.honest and rule.careless and rule.reason for rule in rules.rules)


def test_a_lab_brings_its_own_file(tmp_path):
    path = tmp_path / "lab.toml"
    path.write_text(
        'name = "lab"\nversion = "3"\ndescription = "ours"\n[[rule]]\nkind = "fast"\nseverity = "gate"\n'
        'reason = "too fast"\nreads = "all"\nhonest = "0"\ncareless = "most"\n'
        "settings = { under_ms = 500, most = 0.0, minimum = 1 }\n"
    )
    rows = session()
    rows[15]["rt_ms"] = 450.0  # a gold trial
    judged = verdict(rows, read_rule_set(path))
    assert (judged.rule_set, judged.rule_version, judged.reasons) == ("lab", "3", ("too fast",))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("name = 1", "line 1: name must be text, not 1"),
        (
            'name = "a"\nversion = "1"\ndescription = "d"\n[[rule]]\nkind = "fast"',
            r"line 4: \[rule.1\] lacks 'careless'",
        ),
        ("name =", "no valid TOML"),
    ],
)
def test_a_broken_file_is_refused_with_its_name(tmp_path, text, sentence):
    path = tmp_path / "lab.toml"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=f"lab.toml.*{sentence}"):
        read_rule_set(path)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"kind": "quick"}, "no kind of rule 'quick'"),
        ({"severity": "wall"}, "rule.1.severity must be one of gate, flag"),
        ({"settings": {"under_ms": 1, "most": 0.1}}, r"\[rule.1.settings\] lacks 'minimum'"),
        ({"settings": {"under_ms": 1, "most": 0.1, "minimum": 1, "x": 1}}, "no setting 'x'"),
        (
            {"settings": {"under_ms": "a", "most": 0.1, "minimum": 1}},
            "rule.1.settings.under_ms must be a number",
        ),
    ],
)
def test_a_rule_that_cannot_be_applied_is_refused(changes, sentence):
    rule = next(rule for rule in VCR.to_dict()["rule"] if rule["kind"] == "fast")
    with pytest.raises(InvalidInput, match=sentence):
        RuleSet.from_dict({"name": "x", "version": "1", "description": "d", "rule": [{**rule, **changes}]})


def test_unknown_rule_sets_are_named():
    with pytest.raises(UnknownName, match="there are: imagenet-d, none, vcr"):
        load_rule_set("vrc")


def test_a_path_is_no_name_of_a_rule_set(tmp_path):
    path = tmp_path / "lab.toml"
    path.write_text('name = "lab"\nversion = "3"\ndescription = "ours"\n')
    for name in (path, tmp_path / "nothing.toml"):
        with pytest.raises(UnknownName, match=r"^There is no rule set '.*'; there are: imagenet-d, none, vcr\.$"):
            load_rule_set(str(name))


def test_the_error_shares_in_vcr_are_true():
    """8 golds, pass 6, and the other shares that the file states: exact binomials."""
    from math import comb

    def fails(n, m, p):
        return sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(m))

    half = 0.5 + 0.5 / 16
    assert fails(8, 6, 0.92) == pytest.approx(0.021, abs=0.001) and fails(8, 6, 0.97) == pytest.approx(0.001, abs=5e-4)
    assert 1 - fails(8, 6, half) == pytest.approx(0.17, abs=0.03)
    assert fails(5, 4, 0.92) == pytest.approx(0.054, abs=0.001) and fails(5, 4, 0.97) == pytest.approx(0.009, abs=0.001)
    assert fails(16, 13, 0.97) < 0.01 and fails(16, 13, 0.92) == pytest.approx(0.034, abs=0.002)
    assert 1 - fails(4, 3, 0.5) == pytest.approx(0.3125) and 1 - fails(16, 13, 0.5) == pytest.approx(0.0106, abs=1e-3)
