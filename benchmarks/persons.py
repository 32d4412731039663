"""Proof of person on published answers: ten people, nine vision-language models, networks, the same 1,200 pictures.

    REFERENCE_DATA=/path python -m benchmarks.persons [--networks FOLDER] [--sessions 2000] [--only catches]

Wanted at 24 sentinels and 1 % false alarms: naive networks and vision-language models whose family of weights is not in
the registry caught in at least 95 %, each model by itself. Everything else is reported, at 4, 8, 16 and 24 sentinels.

Every person is scored by a table of the nine others (leave one person out), every model against a registry without its
family of weights. A session is so many of the 1,200 cue-conflict pictures, drawn at random; the threshold is that of
simulated honest sessions (`analysis.persons.score.simulated`). `--networks` names files of networks in the same layout:
model-vs-human kept nine under `raw-data/cue-conflict` in its commits 4f948e9 and 93ee676; without them the registry has
vision-language models only, and drawings of edges (three networks, leave one network out) are all that networks say.

Imitators turn texture answers to shape until their shape bias is .84, .92 or .96. Ten people bound nobody: the exact
limit for the share of people who are flagged is printed with every table.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pandas as pd

from analysis.arrays import FloatArray, IntArray
from analysis.clusters import exact_bound
from analysis.labels.conflicts import conflicts
from analysis.labels.files import default_labels
from analysis.persons.calibration import EVIDENCE, FALSE_ALARMS, judge_people
from analysis.persons.score import PEOPLE, AnswerTable, Pictures, SentinelAnswers, balanced, scores, simulated
from benchmarks import _command

SIZES = (4, 8, 16, 24)
GOAL = 0.95
BIASES = (0.84, 0.92, 0.96)
#: Models that share weights, or most of their training, by how their names begin.
FAMILIES = {"llava": "LLaVA", "moe_llava": "LLaVA", "swag": "SWAG"}
Coded = dict[str, tuple[IntArray, IntArray]]


@dataclass(frozen=True, eq=False)
class Data:
    """Pictures, and every observer's answers by picture (`-1` where silent)."""

    pictures: Pictures
    people: Mapping[str, IntArray]
    models: Mapping[str, IntArray]
    talking: frozenset[str]

    @property
    def families(self) -> dict[str, str]:
        return {name: family_of(name) for name in self.models}

    def table(self, kind: Mapping[str, IntArray], weights: Mapping[str, float]) -> AnswerTable:
        every = np.arange(len(self.pictures))
        return AnswerTable.fitted(self.pictures, {name: (every, own) for name, own in kind.items()}, weights)

    def people_without(self, name: str = "") -> AnswerTable:
        return self.table(self.people, {one: 1.0 for one in self.people if one != name})

    def registry_without(self, family: str = "") -> AnswerTable:
        kept = [name for name in self.models if self.families[name] != family]
        return self.table(self.models, balanced(self.families, kept))


def family_of(name: str) -> str:
    return next((family for start, family in FAMILIES.items() if name.startswith(start)), name)


def cue_conflict(folder: Path, networks: Path | None) -> Data:
    """Ten people, nine vision-language models, and networks where their files are at hand."""
    people = _trials(sorted((folder / "published/cue-conflict").glob("*.csv")))
    talking = []
    for file in sorted((folder / "vlm").glob("*.csv")):
        own = pd.read_csv(file, dtype=str, keep_default_na=False)
        talking.append(pd.DataFrame({"o": file.stem[16:], "picture": own["image"], "response": own["pred_label"]}))
    nets = _trials(sorted(networks.glob("*.csv"))) if networks else people.iloc[:0]
    nets = nets[~nets["o"].str.startswith("subject")]
    parts = [_answers(part) for part in (people, pd.concat([*talking, nets]))]
    return _data(parts[0], parts[1], frozenset(str(one["o"].iloc[0]) for one in talking))


def edges(folder: Path) -> Data:
    """Ten people and three networks on 160 drawings of edges."""
    table = _trials(sorted((folder / "published/edge-experiment").glob("*.csv")))
    table["picture"] = table["picture"].str.replace(r"^.*_", "", regex=True)
    is_person = table["o"].str.startswith("subject")
    parts = [_answers(part, right="category") for part in (table[is_person], table[~is_person])]
    return _data(parts[0], parts[1], frozenset())


def _trials(files: list[Path]) -> pd.DataFrame:
    read = [pd.read_csv(file, dtype=str, keep_default_na=False).rename(columns=str.lower) for file in files]
    table = pd.concat([one[["subj", "object_response", "category", "imagename"]] for one in read])
    table.columns = pd.Index(["o", "response", "category", "picture"])
    table["picture"] = table["picture"].str.replace(r"\.\w+$", "", regex=True)
    return table


def _answers(table: pd.DataFrame, right: str = "") -> SentinelAnswers:
    if not right:
        table = table.assign(picture=table["picture"].str.replace(r"^.*_", "", regex=True))
        shape, texture, known = conflicts(table["picture"].to_numpy(dtype=np.str_))
        table, shape, texture = table[known], shape[known], texture[known]
    else:
        shape, texture = table[right].to_numpy(dtype=np.str_), np.full(len(table), "", dtype=np.str_)
    observer, picture, response = (table[name].to_numpy(dtype=np.str_) for name in ("o", "picture", "response"))
    return SentinelAnswers(observer, picture, np.full(len(table), "sentinel"), shape, texture, response)


def _data(people: SentinelAnswers, models: SentinelAnswers, talking: frozenset[str]) -> Data:
    pictures = Pictures.of(people, options=default_labels().ids)
    kinds = []
    for part in (people, models):
        own = {}
        for name, (shown, given) in pictures.coded(part).items():
            own[name] = np.full(len(pictures), -1, dtype=np.int64)
            own[name][shown] = given
        kinds.append(own)
    return Data(pictures, kinds[0], kinds[1], talking)


@dataclass(frozen=True, eq=False)
class Trial:
    """Sessions of one size: the pictures of each, and what the thresholds are found from."""

    data: Data
    shown: IntArray
    rng: np.random.Generator

    def threshold(self, people: AnswerTable, registry: AnswerTable) -> float:
        honest = simulated(people, PEOPLE, self.shown, self.rng)
        return min(float(np.quantile(scores(people, registry, self.shown, honest), FALSE_ALARMS)), -math.log(EVIDENCE))

    def flagged(self, people: AnswerTable, registry: AnswerTable, given: IntArray, threshold: float) -> float:
        return float((scores(people, registry, self.shown, given) <= threshold).mean())

    def people(self) -> dict[str, float]:
        """Share of each person's sessions that is flagged, by a table of the others."""
        registry = self.data.registry_without()
        found = {}
        for name, own in self.data.people.items():
            table = self.data.people_without(name)
            found[name] = self.flagged(table, registry, own[self.shown], self.threshold(table, registry))
        return found

    def models(self, bias: float | None = None) -> dict[str, float]:
        """Share of each model's sessions that is caught, by a registry without its family."""
        table, found = self.data.people_without(), {}
        for family in sorted(set(self.data.families.values())):
            registry = self.data.registry_without(family)
            threshold = self.threshold(table, registry)
            for name, own in self.data.models.items():
                if self.data.families[name] == family:
                    given = own if bias is None else imitating(self.data.pictures, own, bias, self.rng)
                    found[name] = self.flagged(table, registry, given[self.shown], threshold)
        return found

    def groups(self) -> dict[str, float]:
        """People who must not be flagged, and sessions that a machine answered in part."""
        table, registry = self.data.people_without(), self.data.registry_without()
        threshold = self.threshold(table, registry)
        size, rng = self.shown.shape, self.rng
        guesses = rng.integers(0, len(default_labels().ids), size)
        persons = np.stack(list(self.data.people.values()))
        one = persons[rng.integers(0, len(persons), (size[0], 1)), self.shown]
        # What people answer to other pictures: somebody who saw too little to know, and does not guess evenly.
        elsewhere = persons[rng.integers(0, len(persons), size), rng.integers(0, persons.shape[1], size)]
        machines = np.stack(list(self.data.models.values()))
        by_machine = machines[rng.integers(0, len(machines), (size[0], 1)), self.shown]
        half = rng.random(size) < 0.5
        kinds = {
            "guesses all": guesses,
            "guesses half": np.where(half, guesses, one),
            "sees half": np.where(half, elsewhere, one),
            "one key": np.broadcast_to(rng.integers(0, len(default_labels().ids), (size[0], 1)), size),
            "half by a machine": np.where(half, by_machine, one),
        }
        return {name: self.flagged(table, registry, given, threshold) for name, given in kinds.items()}


def imitating(pictures: Pictures, own: IntArray, bias: float, rng: np.random.Generator) -> IntArray:
    """A model that turns texture answers to shape with the probability that gives it this shape bias."""
    shape, texture = own == pictures.right, own == pictures.lure
    both = int(shape.sum() + texture.sum())
    turned = max(0.0, 1.0 - (1.0 - bias) * both / max(int(texture.sum()), 1))
    return np.where(texture & (rng.random(len(own)) < turned), pictures.right, own)


def catches(data: Data, sessions: int, *, has_lures: bool) -> bool:
    """Print everything at each number of sentinels; whether the goal is met at the largest."""
    met = True
    for size in SIZES:
        rng = np.random.default_rng(size)
        shown = np.stack([rng.choice(len(data.pictures), size, replace=False) for _ in range(sessions)])
        trial = Trial(data, shown, rng)
        alarms = np.array(list(trial.people().values()))
        caught = trial.models()
        print(f"{size} sentinels: honest sessions flagged {alarms.mean():.2%}, of the worst person {alarms.max():.1%}")
        for kind, own in _kinds(data, caught).items():
            worst = min(own, key=lambda name: own[name])
            good = own[worst] >= GOAL
            met &= good or size < max(SIZES)
            verdict = (", met" if good else ", MISSED") if size == max(SIZES) else ""
            mean = float(np.mean(list(own.values())))
            print(f"    {kind}: caught {mean:.1%}, worst ({worst}) {own[worst]:.1%}{verdict}")
        if has_lures:
            for bias in BIASES:
                imitators = list(trial.models(bias).values())
                print(
                    f"    imitators of shape bias {bias}: caught {np.mean(imitators):.1%}, worst {min(imitators):.1%}"
                )
        print("    " + ", ".join(f"{name}: {share:.1%}" for name, share in trial.groups().items()))
        predictive(float(alarms.mean()), float(np.mean(list(caught.values()))))
    n = len(data.people)
    print(f"{n} people: were none of them flagged, up to {exact_bound(0, n, 0.025)[1]:.0%} of people still could be\n")
    return met


def _kinds(data: Data, caught: Mapping[str, float]) -> dict[str, dict[str, float]]:
    kinds = {
        "vision-language models": {name: own for name, own in caught.items() if name in data.talking},
        "networks": {name: own for name, own in caught.items() if name not in data.talking},
    }
    return {kind: own for kind, own in kinds.items() if own}


def predictive(alarms: float, caught: float) -> None:
    told = []
    for share in (0.005, 0.05, 0.2):
        value = share * caught / (share * caught + (1.0 - share) * alarms)
        told.append(f"{value:.0%} at {share:.1%} machines")
    print(f"    of the flagged, machines are {', '.join(told)} (these ten people's false alarms, these models)")


def contaminated(data: Data, studies: int) -> None:
    """Whole studies whose accepted people hold machines of families that the registry lacks.

    Each of the ten people is four people of different pictures, 24 each of a pool of 96 pictures: 40 in all.
    """
    for share in (0.0, 0.1, 0.3):
        told: dict[str, list[float]] = {"share": [], "covered": [], "caught": [], "alarms": []}
        for number in range(studies):
            rng = np.random.default_rng([number, int(100 * share)])
            family = str(rng.choice(sorted(set(data.families.values()))))
            within = [name for name in data.models if data.families[name] == family]
            pool = rng.choice(len(data.pictures), 96, replace=False)
            people: Coded = {}
            for name, own in data.people.items():
                for part, shown in enumerate(rng.permutation(pool).reshape(4, 24)):
                    people[f"{name}-{part}"] = (shown, own[shown])
            machines = round(share / (1.0 - share) * len(people))
            for count in range(machines):
                shown = rng.choice(pool, 24, replace=False)
                people[f"machine-{count}"] = (shown, data.models[str(rng.choice(within))][shown])
            every = np.arange(len(data.pictures))
            registry = {name: (every, own) for name, own in data.models.items() if data.families[name] != family}
            found = judge_people(
                data.pictures, people, registry, data.families, seed=number, n_simulated=399, with_catches=False
            )
            is_machine = np.array([name.startswith("machine") for name in found.names])
            low = np.isin(found.names, found.flagged)
            told["share"].append(found.share.estimate)
            told["covered"].append(float(found.share.lower <= machines / len(people) <= found.share.upper))
            told["alarms"].append(float(low[~is_machine].mean()))
            if machines:
                told["caught"].append(float(low[is_machine].mean()))
        means: dict[str, FloatArray] = {name: np.asarray(np.mean(own)) for name, own in told.items() if own}
        caught = f"caught {means['caught']:.1%}, " if "caught" in means else ""
        print(
            f"{share:.0%} machines among the accepted ({studies} studies of 40 people, 24 sentinels): {caught}honest "
            f"flagged {means['alarms']:.2%}, share estimated {means['share']:.3f}, interval covers in "
            f"{means['covered']:.2f}"
        )


def main(
    *,
    networks: Annotated[Path | None, "folder of networks' files, as model-vs-human has them"] = None,
    sessions: int = 2000,
    studies: int = 20,
    only: Literal["catches", "edges", "contaminated"] | None = None,
) -> bool:
    folder = Path(os.environ.get("REFERENCE_DATA", ""))
    if not (folder / "published/cue-conflict").is_dir() or not os.environ.get("REFERENCE_DATA"):
        print("skipped: REFERENCE_DATA names no folder of published trials (docs/reference-data.md)")
        return True
    data, met = cue_conflict(folder, networks), True
    if only in (None, "catches"):
        print(f"Cue conflict: {len(data.people)} people, {len(data.models)} models, {len(data.pictures)} pictures")
        met &= catches(data, sessions, has_lures=True)
    if only in (None, "edges"):
        print("Drawings of edges: 10 people, 3 networks, 160 pictures")
        catches(edges(folder), sessions, has_lures=False)
    if only in (None, "contaminated"):
        contaminated(data, studies)
    return met


if __name__ == "__main__":
    _command.run(main)
