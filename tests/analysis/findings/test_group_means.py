"""Means over kinds and families: from tables to findings, and the words and tables that pages and reports show."""

from __future__ import annotations

from statistics import fmean
from typing import Any

import pandas as pd
import pytest

from analysis.findings.analysing import analyse
from analysis.findings.group_means import group_indices_entries
from analysis.findings.model.comparisons import Comparison
from analysis.findings.model.findings import Findings
from tests.analysis.findings.examples import comparison
from tests.analysis.findings.studies import study

#: From which visual change on each network is wrong.
LOSES_FROM = {"early": 0.3, "too early": 0.35, "late": 0.9}
KINDS = {"early": "supervised", "too early": "supervised", "late": "vit"}


def networks(base: pd.DataFrame) -> pd.DataFrame:
    def one(name: str, loses_from: float) -> pd.DataFrame:
        right = base["visual_change"].fillna(0.0) < loses_from
        return base.assign(classifier=name, correct=right, response=base["category"].where(right, "na"))

    return pd.concat([one(name, loses_from) for name, loses_from in LOSES_FROM.items()], ignore_index=True)


@pytest.fixture(scope="module")
def found() -> Findings:
    trials, base = study(people=8, trials_each=80, corruptions=("gaussian_blur", "gaussian_noise"))
    return analyse(
        trials, networks(base), study="s", seed=1, n_bootstrap=8, sensitivity=False, estimand="people",
        network_kinds=KINDS,
    )  # fmt: skip


def test_means_are_those_of_the_networks_and_their_indices(found: Findings) -> None:
    by_group = {one.group: one for one in found.group_means}
    assert set(by_group) == {"supervised", "vit", "blur", "noise"}
    leaders = {one.classifier: one.verdict for one in found.leaderboard if one.property == "accuracy" and one.verdict}
    both = fmean(leaders[name].difference for name in ("early", "too early"))
    assert by_group["supervised"].difference == pytest.approx(both)
    assert by_group["vit"].difference == pytest.approx(leaders["late"].difference)
    assert by_group["vit"].interval == pytest.approx(leaders["late"].interval)
    own = [one.shown for one in found.own_comparisons() if one.classifier == "late"]
    assert by_group["vit"].hmri == pytest.approx(fmean(one.hmri for one in own))
    assert by_group["vit"].mrsi == pytest.approx(fmean(one.mrsi for one in own))


def test_kinds_that_differ_are_said_to_and_families_that_do_not_are_not(found: Findings) -> None:
    kinds, families = found.group_contrasts
    assert kinds.pair == ("vit", "supervised") and kinds.differ
    assert kinds.statement == (
        "the 1 network “vision transformer” is right more often than the 2 networks “supervised”, by "
        f"{kinds.difference:.3f}"
    )
    assert not families.differ and families.statement.endswith("not shown to differ")


def test_of_consistency_there_are_means_of_what_is_shown_alone(found: Findings) -> None:
    by_group = {one.group: one for one in found.group_indices}
    assert set(by_group) == {"supervised", "vit", "blur", "noise"}
    own = {(one.classifier, one.corruption): one.shown for one in found.own_comparisons("consistency")}
    early = [one for (network, _), one in own.items() if network != "late"]
    noise = [one for (_, function), one in own.items() if function == "gaussian_noise"]
    assert len(early) == 4 and len(noise) == 3
    for group, members in (("supervised", early), ("noise", noise)):
        for name in ("human_area", "classifier_area", "hmri", "mrsi"):
            assert getattr(by_group[group], name) == pytest.approx(fmean(getattr(one, name) for one in members))
    assert {one.grouping for one in found.group_contrasts} == {"kinds", "families"}, "of accuracy alone"
    assert len(found.group_contrasts) == 2


def test_only_functions_count_on_which_all_networks_were_compared() -> None:
    def one(network: str, function: str, hmri: float, **changed: Any) -> Comparison:
        return comparison(network, function, hmri, property="consistency", common_range=None, **changed)

    pairs = [
        one("a", "gaussian_blur", 0.9), one("b", "gaussian_blur", 0.5), one("a", "gaussian_noise", 0.7),
        one("b", "gaussian_noise", 0.3), one("a", "frost", 0.1), one("b", "frost", 0.1, borrowed=True),
        comparison("a", "frost", 0.2, property="accuracy"),
    ]  # fmt: skip
    entries = {one.group: one for one in group_indices_entries(pairs, {"a": "vit", "b": "supervised"})}
    hmri = {group: entry.hmri for group, entry in entries.items()}
    assert hmri == pytest.approx({"vit": 0.8, "supervised": 0.4, "blur": 0.7, "noise": 0.5})
    assert entries["blur"].networks == ("a", "b") and entries["vit"].corruptions == ("gaussian_blur", "gaussian_noise")
    assert group_indices_entries(pairs[:2], {"a": "vit"}) == (), "one kind, one family"
    assert group_indices_entries(pairs[-1:], {}) == ()


@pytest.mark.verify
def test_without_kinds_there_are_families_alone() -> None:
    trials, base = study(people=6, trials_each=80, corruptions=("gaussian_blur", "gaussian_noise"))
    plain = analyse(trials, networks(base), study="s", seed=1, n_bootstrap=8, sensitivity=False, estimand="people")
    assert {one.grouping for one in plain.group_means} == {"families"}
