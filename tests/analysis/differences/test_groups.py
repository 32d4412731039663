"""Means over kinds of networks and families of functions: by hand, by brute force, recovered; and alike ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.arrays import FloatArray
from analysis.differences.answers import AnswersToOne, Clusters
from analysis.differences.beside import beside_people
from analysis.differences.groups import Groups, group_means
from benchmarks.claims.groups import FEW, SMALL, Size, grouped, simulated

KINDS = {"model 0": "vit", "model 1": "supervised", "model 2": "supervised"}
FAMILIES = {"corruption 0": "blur", "corruption 1": "blur", "corruption 2": "noise"}
#: Answers of an observer on one function, two in each cell of .05.
PLACE = np.repeat((np.arange(20) + 0.5) / 20, 6)


def answers(right: FloatArray, *, people: bool) -> AnswersToOne:
    names = np.char.zfill(np.arange(len(PLACE)).astype(str), 3)
    who = Clusters(np.array(["a", "b", "c", "d"]), np.arange(len(PLACE)) % 4) if people else None
    return AnswersToOne(PLACE, right, Clusters(names, np.arange(len(PLACE))), who)


def by_hand() -> tuple[dict[str, AnswersToOne], dict[str, dict[str, AnswersToOne]]]:
    right = {"people": [4, 5, 6], "model 0": [4, 4, 4], "model 1": [3, 2, 5], "model 2": [1, 3, 5]}
    every = {name: {f"corruption {k}": [n] for k, n in enumerate(own)} for name, own in right.items()}
    pattern = {n: np.tile(np.arange(6) < n, 20).astype(float) for n in range(7)}
    made = {
        name: {corruption: answers(pattern[n], people=name == "people") for corruption, (n,) in own.items()}
        for name, own in every.items()
    }
    return made.pop("people"), made


def test_means_and_contrasts_by_hand() -> None:
    people, models = by_hand()
    found = group_means(people, models, kinds=KINDS, families=FAMILIES)
    means = {one.group: one.difference for one in found.means}
    # Model minus people, of six: model 0: 0 -1 -2; model 1: -1 -3 -1; model 2: -3 -2 -1.
    assert means == pytest.approx({"vit": -3 / 18, "supervised": -11 / 36, "blur": -10 / 36, "noise": -4 / 18})
    kinds, families = found.contrasts
    assert (kinds.pair, families.pair) == (("vit", "supervised"), ("noise", "blur"))
    assert (kinds.difference, families.difference) == pytest.approx((11 / 36 - 3 / 18, 10 / 36 - 4 / 18))
    assert [one.networks for one in found.means[:2]] == [("model 0",), ("model 1", "model 2")]


def test_a_group_of_one_network_is_that_network() -> None:
    rng = np.random.default_rng(0)
    people, models = simulated(rng, SMALL, [0.0, 0.05, 0.1], [0.0, 0.0, 0.1], True)
    (mean,) = [one for one in group_means(people, models, kinds=KINDS, families={}).means if one.group == "vit"]
    own = beside_people(people, models, attentive={})["model 0"]
    assert mean.difference == pytest.approx(own.difference)
    assert mean.interval == pytest.approx(own.interval(0.95))


@pytest.mark.verify
def test_the_interval_is_that_of_brute_force() -> None:
    """The estimate is linear in the answers: weights by changing one at a time, then the two-way sums of squares."""
    theirs, networks = simulated(np.random.default_rng(1), Size(5, 24), [0.0] * 3, [0.0], True)
    kinds = {"model 0": "a", "model 1": "b", "model 2": "b"}

    def mean(people: dict[str, AnswersToOne], models: dict[str, dict[str, AnswersToOne]]) -> Groups:
        return group_means(people, models, kinds=kinds, families={}, draws=10)

    base = next(one for one in mean(theirs, networks).means if one.group == "b")
    by_original: dict[str, float] = {}
    by_person: dict[str, float] = {}
    singles: dict[tuple[str, int], float] = {}
    for observer, own in (("people", theirs), *networks.items()):
        for corruption, one in own.items():
            if observer == "model 0":
                continue
            cell = np.minimum((one.place * 20).astype(int), 19)
            for row in range(len(one.place)):
                changed = one.outcome.copy()
                changed[row] = 1.0 - changed[row]
                other = {**own, corruption: replace(one, outcome=changed)}
                people, models = (other, networks) if observer == "people" else (
                    theirs, {**networks, observer: other})  # fmt: skip
                moved = next(m for m in mean(people, models).means if m.group == "b").difference - base.difference
                weight = moved / (changed[row] - one.outcome[row])
                same = cell == cell[row]
                n = int(same.sum())
                value = weight * (one.outcome[row] - one.outcome[same].mean()) * np.sqrt(n / max(n - 1, 1))
                name = str(one.originals.names[one.originals.codes[row]])
                by_original[name] = by_original.get(name, 0.0) + value
                if one.people is not None:
                    who = str(one.people.names[one.people.codes[row]])
                    by_person[who] = by_person.get(who, 0.0) + value
                    singles[corruption, row] = value

    def way(sums: dict[str, float]) -> tuple[float, float]:
        u = np.array(list(sums.values()))
        count = len(u)
        freedom = float(np.clip(3 * (u**2).sum() ** 2 / (u**4).sum() - 2, 1, count - 1))
        return float((u**2).sum() * count / (count - 1)), freedom

    (v_person, d_person), (v_original, d_original) = way(by_person), way(by_original)
    total = max(v_person + v_original - sum(one**2 for one in singles.values()), v_person, v_original)
    freedom = total**2 / (v_person**2 / d_person + v_original**2 / d_original)
    from scipy.stats import t

    reach = t.ppf(0.975, max(freedom, 1.0)) * np.sqrt(total)
    assert base.interval == pytest.approx((base.difference - reach, base.difference + reach), rel=1e-6)


def test_without_two_groups_nothing_is_said() -> None:
    people, models = by_hand()
    assert group_means(people, models, kinds={"model 0": "vit"}, families={}) == Groups()
    assert group_means({}, {}, kinds=KINDS, families=FAMILIES) == Groups()
    only = group_means(people, models, kinds={}, families=FAMILIES)
    assert {one.grouping for one in only.means} == {"families"}


def test_functions_that_not_all_networks_answered_are_left_out() -> None:
    people, models = by_hand()
    del models["model 2"]["corruption 2"]
    found = group_means(people, models, kinds=KINDS, families=FAMILIES)
    assert {one.corruptions for one in found.means} == {("corruption 0", "corruption 1")}


@pytest.mark.verify
@pytest.mark.parametrize("size", [SMALL, FEW], ids=["40 people", "12 people"])
def test_groups_that_are_alike_are_not_said_to_differ(size: Size) -> None:
    study = grouped(size, [[0.02, 0.0], [0.01, 0.01]], [[0.0], [0.0]])
    told = [study(np.random.default_rng(seed)) for seed in range(40)]
    # 40 studies: the level, and 3 standard errors.
    assert np.mean([one["any false"] for one in told]) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 40)
    assert np.mean([one["means cover"] for one in told]) >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 40)


@pytest.mark.verify
def test_a_kind_that_is_better_is_found_with_its_difference() -> None:
    study = grouped(SMALL, [[0.0, 0.0], [0.10, 0.10]], [[0.0], [0.0]])
    told = [study(np.random.default_rng(seed)) for seed in range(30)]
    assert np.mean([one["difference is said"] for one in told]) >= 0.9
    assert np.mean([one["means cover"] for one in told]) >= 0.85
