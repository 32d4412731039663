"""The pooled table of published experiments, recomputed from the raw files with numpy alone."""

from __future__ import annotations

import csv
import os
from collections import defaultdict
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t

from analysis.findings.benchmark import benchmark_table, corrected_difference
from analysis.findings.benchmark_parts import Experiment
from analysis.findings.model.agreement import AverageObserver
from analysis.findings.model.entry import HUMANS
from analysis.findings.observations import Observations, joined, read_predictions, read_trials
from analysis.published_trials import read_published_trials

#: right (True or False) by observer, condition and picture
Right = dict[str, dict[str, dict[str, bool]]]
NEEDED = 30


def read(folder: Path, name: str) -> tuple[Observations, Observations]:
    published = read_published_trials(sorted(folder.glob("*.csv")), study=name)
    trials = published.trials
    human = trials["participant"].map(published.observers) == "human"
    networks = trials[~human].rename(columns={"participant": "classifier"}).assign(label_space=16)
    return read_trials(trials[human]), read_predictions(networks)[0]


def raw(folder: Path) -> tuple[Right, dict[str, dict[str, list[bool]]]]:
    """First answers by picture (the name's part behind number, experiment and observer), and all answers."""
    first: Right = defaultdict(lambda: defaultdict(dict))
    every: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for path in sorted(folder.glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                right = row["object_response"] == row["category"]
                picture = row["imagename"].split("_", 3)[3].rsplit(".", 1)[0]
                if "_n0" in picture:
                    picture = picture[picture.index("_n0") + 1 :]
                first[row["subj"]][row["condition"]].setdefault(picture, right)
                every[row["subj"]][row["condition"]].append(right)
    return first, every


def pair(a: dict[str, dict[str, bool]], b: dict[str, dict[str, bool]], conditions: list[str]) -> np.ndarray | None:
    values = []
    for condition in conditions:
        common = sorted(set(a.get(condition, {})) & set(b.get(condition, {})))
        if len(common) < NEEDED:
            continue
        x, y = (np.array([one[condition][name] for name in common]) for one in (a, b))
        p, q, observed = x.mean(), y.mean(), (x == y).mean()
        expected = p * q + (1 - p) * (1 - q)
        kappa = 1.0 if expected == 1 else (observed - expected) / (1 - expected)
        values.append([(p - q) ** 2, observed, kappa])
    return np.mean(values, axis=0) if values else None


def included(every: dict[str, dict[str, list[bool]]], people: list[str]) -> list[str]:
    """Conditions in which people are right more than 20 % of the time; of several, that of unchanged pictures not."""
    conditions = sorted({one for name in people for one in every[name]})
    means = {one: np.mean([np.mean(every[name][one]) for name in people if one in every[name]]) for one in conditions}
    controls = [one for one in conditions if len(conditions) > 1 and float(one) == 0]
    return [one for one in conditions if one not in controls and means[one] > 0.2]


def recomputed(folders: list[Path]) -> dict[str, list[np.ndarray | float]]:
    """Means over experiments by observer: accuracy and the three of pairs; nan where there are none."""
    found: dict[str, list[list[float]]] = defaultdict(list)
    for folder in folders:
        first, every = raw(folder)
        people = [name for name in first if name.startswith("subject")]
        conditions = included(every, people)

        def accuracy(name: str) -> float:
            return float(np.mean([np.mean(every[name][one]) for one in conditions if one in every[name]]))  # noqa: B023

        def of_pairs(pairs: list[tuple[str, str]]) -> list[float]:
            values = [one for a, b in pairs if (one := pair(first[a], first[b], conditions)) is not None]  # noqa: B023
            return list(np.mean(values, axis=0)) if values else [np.nan] * 3

        means = [np.mean([np.mean(every[name][one]) for name in people if one in every[name]]) for one in conditions]
        found[HUMANS].append([float(np.mean(means)), *of_pairs(list(combinations(people, 2)))])
        for name in set(first) - set(people):
            found[name].append([accuracy(name), *of_pairs([(name, person) for person in people])])
    with np.errstate(all="ignore"):
        return {name: [np.nanmean(column) if not np.isnan(column).all() else np.nan for column in np.array(rows).T]
                for name, rows in found.items()}  # fmt: skip


def numbers(one: AverageObserver) -> list[float]:
    means = (one.ood_accuracy, one.accuracy_difference, one.observed_consistency, one.error_consistency)
    return [np.nan if mean is None else mean.value for mean in means]


@pytest.mark.verify
@pytest.mark.skipif("REFERENCE_DATA" not in os.environ, reason="REFERENCE_DATA names no folder with published trials")
def test_all_published_sets_pooled_are_what_the_raw_files_say() -> None:
    folders = [path for path in sorted((Path(os.environ["REFERENCE_DATA"]) / "published").iterdir()) if path.is_dir()]
    assert len(folders) >= 3
    table = benchmark_table({folder.name: read(folder, folder.name) for folder in folders})
    expected = recomputed(folders)
    assert {one.observer for one in table} == set(expected)
    for one in table:
        np.testing.assert_allclose(numbers(one), expected[one.observer], rtol=0, atol=1e-12, err_msg=one.observer)
    people = table[0]
    # From the raw answers: people's shape bias, as published .9587
    assert people.shape_bias is not None and people.shape_bias.value == pytest.approx(0.9587, abs=5e-5)


def trials_of(tmp_path: Path, answers: dict[str, list[bool]], name: str = "edges") -> tuple[Observations, Observations]:
    folder = tmp_path / name
    folder.mkdir()
    for observer, right in answers.items():
        rt = "0.5" if observer.startswith("subject") else ""
        rows = [
            f"{observer},1,{number},{rt},{'dog' if one else 'cat'},dog,0,{number:04d}_e_s_0_dog_00_dog{number}.png"
            for number, one in enumerate(right)
        ]
        text = "subj,session,trial,rt,object_response,category,condition,imagename\n" + "\n".join(rows) + "\n"
        (folder / f"{observer}.csv").write_text(text, encoding="utf-8")
    return read(folder, name)


def right(rng: np.random.Generator, share: float, n: int = 200) -> list[bool]:
    return (rng.random(n) < share).tolist()


def test_ranks_order_what_the_pictures_order_and_leave_the_rest_open(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    answers = {f"subject-{k}": right(rng, 0.9) for k in range(4)}
    answers |= {"good": right(rng, 0.8), "twin": right(rng, 0.8), "bad": right(rng, 0.3)}
    places = {one.observer: one.ranks for one in benchmark_table({"edges": trials_of(tmp_path, answers)}) if one.ranks}
    assert {name: (one.best, one.worst) for name, one in places.items()} == {
        "good": (1, 2), "twin": (1, 2), "bad": (3, 3),
    }  # fmt: skip


def test_models_of_other_experiments_have_no_rank_among_these(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    people = {f"subject-{k}": right(rng, 0.9) for k in range(3)}
    both = {"a": right(rng, 0.8), "b": right(rng, 0.4)}
    table = benchmark_table(
        {
            "one": trials_of(tmp_path, people | both | {"alone": right(rng, 0.99)}, "one"),
            "two": trials_of(tmp_path, people | both, "two"),
        }
    )
    by_name = {one.observer: one for one in table}
    assert by_name["alone"].ranks is None and by_name["alone"].experiments == ("one",)
    assert by_name["a"].ranks is not None and by_name["a"].experiments == ("one", "two")
    assert not any(one.kind == "human" for one in table)  # subject-1 of two experiments is two people


def test_a_person_stands_next_to_the_others_and_few_people_widen_the_interval(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    ease = rng.normal(0, 2, 200)
    answers = {f"subject-{k}": (rng.random(200) < 1 / (1 + np.exp(-1 - ease))).tolist() for k in range(12)}
    answers["net"] = (rng.random(200) < 1 / (1 + np.exp(-ease))).tolist()
    whole = {one.observer: one for one in benchmark_table({"edges": trials_of(tmp_path, answers)})}
    few = {name: one for name, one in answers.items() if name in ("subject-0", "subject-1", "subject-2", "net")}
    part = {one.observer: one for one in benchmark_table({"edges": trials_of(tmp_path, few, "few")})}

    def width(one: AverageObserver) -> float:
        assert one.error_consistency is not None and one.error_consistency.interval is not None
        return one.error_consistency.interval[1] - one.error_consistency.interval[0]

    assert whole["subject-0"].kind == "human" and width(part["net"]) > width(whole["net"])
    first = np.array(answers["subject-0"])
    kappas = []
    for name, other in answers.items():
        if name in ("subject-0", "net"):
            continue
        p, q, observed = first.mean(), np.mean(other), (first == np.array(other)).mean()
        expected = p * q + (1 - p) * (1 - q)
        kappas.append((observed - expected) / (1 - expected))
    assert whole["subject-0"].error_consistency is not None
    assert whole["subject-0"].error_consistency.value == pytest.approx(np.mean(kappas), abs=1e-12)


def test_nothing_is_claimed_of_pairs_that_share_few_pictures(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    answers = {name: right(rng, 0.8, NEEDED - 1) for name in ("subject-1", "subject-2", "net")}
    table = benchmark_table({"edges": trials_of(tmp_path, answers)})
    assert all(one.error_consistency is None and one.ood_accuracy is not None for one in table)


def estimates(one: AverageObserver) -> tuple[float, tuple[float, float]]:
    corrected = one.corrected_accuracy_difference
    assert corrected is not None and corrected.interval is not None
    return corrected.value, corrected.interval


class TestSquaredDifference:
    def test_by_hand(self, tmp_path: Path) -> None:
        # Two people who answer alike are right on 36 of 40 pictures, the model on 28 of these: 8 pictures differ.
        person, model = [True] * 36 + [False] * 4, [True] * 28 + [False] * 12
        trials = trials_of(tmp_path, {"subject-1": person, "subject-2": person, "net": model})
        net = next(one for one in benchmark_table({"edges": trials}) if one.observer == "net")
        assert net.accuracy_difference is not None and net.accuracy_lead is not None
        assert net.accuracy_difference.value == pytest.approx(0.04) and net.accuracy_difference.interval is None
        assert net.accuracy_lead.value == pytest.approx(0.2)
        # Squares of the leads about .2: 8 x .64 + 32 x .04 = 6.4; over 40 squared, times 40/39.
        noise = 6.4 / 1600 * 40 / 39
        # Each picture adds 2 x .2 times its part; fourth moments 8 x .4096 + 32 x .0016 = 3.328 leave 34.9 degrees.
        reach = t.ppf(0.975, 3 * 6.4**2 / 3.328 - 2) * np.sqrt(0.16 * noise)
        half = reach**2 / 0.08
        value, interval = estimates(net)
        assert value == pytest.approx(0.04 - noise)
        root = np.sqrt(reach**2 + half**2)
        assert interval == pytest.approx((0.04 + half - root - noise, 0.04 + half + root - noise))
        assert interval == pytest.approx((0.00767, 0.13177), abs=2e-4)
        lower, upper = net.accuracy_lead.interval or (0.0, 0.0)
        assert (upper - lower) / 2 == pytest.approx(reach / 0.4)

    def test_the_corrected_one_is_the_mean_over_pairs_of_different_pictures(self, tmp_path: Path) -> None:
        """An oracle without any variance: of two pictures drawn apart, the errors do not multiply."""
        rng = np.random.default_rng(5)
        answers = {f"subject-{k}": right(rng, 0.9, 50) for k in range(3)} | {"net": right(rng, 0.6, 50)}
        table = benchmark_table({"edges": trials_of(tmp_path, answers)})
        net = next(one for one in table if one.observer == "net")
        of_people = []
        for k in range(3):
            lead = np.array(answers[f"subject-{k}"], float) - np.array(answers["net"], float)
            of_people.append(np.mean([a * b for a, b in combinations(lead, 2)]))
        assert estimates(net)[0] == pytest.approx(np.mean(of_people), abs=1e-12)
        assert net.accuracy_lead is not None
        people = np.mean([np.mean(answers[f"subject-{k}"]) for k in range(3)])
        assert net.accuracy_lead.value == pytest.approx(people - np.mean(answers["net"]), abs=1e-12)
        of_pairs = [
            np.mean([a * b for a, b in combinations(np.array(answers[x], float) - np.array(answers[y], float), 2)])
            for x, y in combinations([f"subject-{k}" for k in range(3)], 2)
        ]
        among = table[0].corrected_accuracy_difference
        assert among is not None and among.value == pytest.approx(max(0.0, float(np.mean(of_pairs))), abs=1e-12)
        assert table[0].accuracy_lead is None

    def test_over_experiments_it_is_the_mean(self, tmp_path: Path) -> None:
        rng = np.random.default_rng(6)
        tables = {}
        for name, share in (("one", 0.4), ("two", 0.7)):
            answers = {f"subject-{k}": right(rng, 0.9, 60) for k in range(3)} | {"net": right(rng, share, 60)}
            tables[name] = trials_of(tmp_path, answers, name)

        def net(chosen: list[str]) -> AverageObserver:
            found = benchmark_table({name: tables[name] for name in chosen})
            return next(one for one in found if one.observer == "net")

        alone = [estimates(net([name]))[0] for name in tables]
        value, (lower, upper) = estimates(net(list(tables)))
        assert value == pytest.approx(np.mean(alone), abs=1e-12) and lower < value < upper

    @pytest.mark.verify
    @pytest.mark.parametrize(
        ("lead", "spread"), [(0.0, 0.0), (0.0, 0.05), (0.05, 0.0), (0.15, 0.05)], ids=["null", "people", "near", "far"]
    )
    def test_intervals_cover_what_was_planted(self, lead: float, spread: float) -> None:
        """Three conditions with leads of both directions; `spread` is by how much people differ."""
        rng, runs, covered, values = np.random.default_rng(7), 150, 0, []
        leads = np.array([lead, -lead, lead])
        truth = lead**2 + spread**2
        for _ in range(runs):
            ability = spread * rng.choice([-1.0, 1.0], 8)
            shared = rng.random((3, 100))
            # Half of what makes a picture hard is common to all observers.
            draws = np.where(rng.random((9, 3, 100)) < 0.5, shared, rng.random((9, 3, 100)))
            right_of = draws < np.concatenate([0.7 + ability[:, None] + 0 * leads, [0.7 - leads]])[..., None]
            frames = [published(f"subject-{k}", one) for k, one in enumerate(right_of[:8])]
            made = Experiment("x", joined(frames), published("net", right_of[8]))
            found = corrected_difference({"x": made.parts_of("net")}, 0.95)
            assert found is not None and found.interval is not None
            covered += found.interval[0] <= truth <= found.interval[1]
            values.append(made.parts_of("net")["accuracy_difference"])
        unbiased = np.array([one.value - one.noise for one in values])
        assert abs(unbiased.mean() - truth) < 3.5 * unbiased.std() / np.sqrt(runs)
        assert covered / runs > 0.95 - 3.0 * np.sqrt(0.05 * 0.95 / runs)


def published(observer: str, right_of: np.ndarray) -> Observations:
    """Rows of conditions, columns of pictures that differ between conditions."""
    conditions, count = right_of.shape
    names = np.array([f"c{c}-p{k}" for c in range(conditions) for k in range(count)])
    text = {"session": "", "category": "cat", "corruption": "x", "input_kind": "", "response": ""}
    columns = {name: np.full(names.size, value) for name, value in text.items()}
    nothing = np.full(names.size, np.nan)
    return Observations(
        observer=np.full(names.size, observer), original=names, stimulus=names,
        condition=np.repeat([f"{c + 1}" for c in range(conditions)], count), visual_change=nothing,
        correct=right_of.ravel().astype(np.float64), rt_ms=nothing, timing_ok=nothing,
        imported=np.ones(names.size, dtype=np.bool_), **columns,
    )  # fmt: skip
