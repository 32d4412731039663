"""Whom do the rules exclude, and does that move the human area? Planned studies, scripted answers, real rules.

    python -m benchmarks.screening [--people 1000] [--processes 2]

Wanted of `vcr`: at most 3 % of honest people excluded (lapses, a favourite guess, misses that rise with visual
change), the human area of accepted and of all honest sessions at most 0.005 apart for every corruption, and 99 % of
random clickers and of people with one key caught. The share of people who answer half of the trials at random is
reported.

Every kind of people is judged alone, and all of them together: of eight people two or three are careful then.

Machines in people's places are reported, too: a network, a vision-language model, a person who sends a network's
answers, and an imitator.

The rules `imagenet-d` are measured on packets of 20 pictures, and reported: they are the published ones.

Golds are pictures that imperfect classifiers find easy; those that people find hard are withdrawn. Long sessions have
16 trials of qualification (twice), 40 corrupted ones and 8 golds; bare ones no qualification; short ones 16 and 5, and
a person does three of them, whose golds are counted together.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

import numpy as np

from analysis.acceptance.golds import gold_slack, hard_golds, tally_golds, withdrawal_of
from analysis.acceptance.record import SessionRecord
from analysis.acceptance.rules import Verdict, judge
from analysis.curves.fit import fit_curve
from analysis.design.planner import plan_study
from analysis.labels.files import default_labels
from analysis.study.design import DesignConfig
from analysis.study.rules import RuleSet, load_rule_set
from analysis.study.validation import ValidationDesign
from benchmarks import _command
from humanexp.simulation.observers import DEMO_CURVES, ObserverModel, random_stream
from humanexp.simulation.personas import MACHINE_KINDS, TruePicture, personas

HONEST, CAUGHT = ("careful", "average", "lifelike"), ("random", "one-button")
#: Rules of screening do not catch machines (docs/proof-of-person.md): what becomes of them is reported.
REPORTED = ("inconsistent", "careless", "too-fast", *MACHINE_KINDS)
#: Lines of the acceptance of this method.
MOST_HONEST, LEAST_CAUGHT, MOST_DIFFERENCE = 0.03, 0.99, 0.005
#: Sessions planned together; more people are more studies.
STUDY_SESSIONS = 125
ORIGINALS = 640
CORRUPTIONS = tuple(DEMO_CURVES)
#: Share of presentations that a good computer shows a frame too long.
DROPPED = 0.004


@dataclass(frozen=True)
class Setting:
    """One kind of session."""

    name: str
    config: DesignConfig
    sessions_per_person: int = 1
    rules: str = "vcr"
    kinds: tuple[str, ...] = (*HONEST, *CAUGHT, *REPORTED)

    @property
    def stimuli_per_original(self) -> int:
        return max(len(CORRUPTIONS), -(-self.config.sessions * self.config.main_trials * 3 // (2 * ORIGINALS)))


LONG = Setting("long", DesignConfig(sessions=STUDY_SESSIONS, main_trials=40, qualification_trials=16))
BARE = Setting("bare", DesignConfig(sessions=STUDY_SESSIONS, main_trials=40))
SHORT = Setting(
    "short",
    DesignConfig(
        sessions=STUDY_SESSIONS,
        sessions_per_participant=3,
        main_trials=16,
        clean_trials=4,
        consistency_pairs=2,
        practice_trials=4,
    ),
    sessions_per_person=3,
)
SETTINGS = {setting.name: setting for setting in (LONG, BARE, SHORT)}
PACKETS = Setting(
    "packets",
    DesignConfig(sessions=STUDY_SESSIONS, main_trials=0, validation=ValidationDesign(shown="corrupted")),
    rules="imagenet-d",
    kinds=(*HONEST, "random", "yes-sayer", "careless", "inconsistent"),
)


@dataclass
class Outcome:
    """What became of the people of one persona."""

    people: int = 0
    excluded: int = 0
    #: golds that were withdrawn, over all studies
    withdrawn: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    #: people with a flag, by flag
    flags: Counter[str] = field(default_factory=Counter)
    #: (corruption, visual change, right, accepted) of every corrupted main answer
    answers: list[tuple[str, float, bool, bool]] = field(default_factory=list)

    @property
    def share(self) -> float:
        return self.excluded / self.people

    def add(self, other: Outcome) -> None:
        self.people += other.people
        self.excluded += other.excluded
        self.withdrawn += other.withdrawn
        self.reasons += other.reasons
        self.flags += other.flags
        self.answers += other.answers

    def area_differences(self) -> dict[str, float]:
        """Area of accepted minus area of all sessions, by corruption."""
        result = {}
        for corruption in CORRUPTIONS:
            mine = [answer for answer in self.answers if answer[0] == corruption]
            areas = [
                fit_curve([a[1] for a in chosen], [a[2] for a in chosen]).area
                for chosen in ([a for a in mine if a[3]], mine)
            ]
            result[corruption] = areas[0] - areas[1]
        return result


def study_of(setting: Setting, seed: int) -> tuple[list[Any], dict[str, TruePicture], ObserverModel]:
    """Session plans, what every stimulus shows, and the people's model."""
    observers = ObserverModel(curves=DEMO_CURVES, seed=seed)
    rng = random_stream(seed, "study")
    originals = {f"o{k:04d}": default_labels().ids[k % len(default_labels())] for k in range(ORIGINALS)}
    rows: list[dict[str, Any]] = []
    for original, category in originals.items():
        shared = {"original": original, "category": category}
        rows.append({**shared, "stimulus": f"{original}-clean", "corruption": "none", "visual_change": 0.0})
        rows += [
            {**shared, "stimulus": f"{original}-{name}-{j}", "corruption": name, "visual_change": float(rng.random())}
            for name in CORRUPTIONS
            for j in range(-(-setting.stimuli_per_original // len(CORRUPTIONS)))
        ]
    # Easy for people and for classifiers are two things: the effects correlate with 0.7.
    looks_easy = {o: observers.image_effect(o) + observers.image_sd * rng.standard_normal() for o in originals}
    candidates = {o for o, ease in looks_easy.items() if ease > np.median(list(looks_easy.values()))}
    plan = plan_study(originals, rows, setting.config, seed, gold_candidates=candidates)
    names = ("original", "category", "corruption", "visual_change")
    truth = {row["stimulus"]: TruePicture(**{name: row[name] for name in names}) for row in rows}
    return list(plan.sessions), truth, observers


def session_rows(session: Any, truth: dict[str, TruePicture], persona: Any, participant: str) -> list[dict[str, Any]]:
    """Columns of the trials that rules and curves read."""
    rng = random_stream(0, participant, session.slot, "frames")
    rows = []
    for trial in session.trials:
        picture = truth[trial.stimulus]
        # Trials of different sessions are different draws.
        given = persona.answer(
            [picture],
            participant=participant,
            position=1000 * session.slot + trial.position,
            wanted=trial.wanted or None,
        )
        rows.append(
            {
                "position": trial.position,
                "task": trial.task,
                "role": trial.role,
                "block": trial.block,
                "original": picture.original,
                "stimulus": trial.stimulus,
                "category": picture.category,
                "corruption": picture.corruption,
                "visual_change": picture.visual_change,
                "response": given.response,
                "correct": given.response == trial.correct_response if trial.correct_response else None,
                "rt_ms": given.rt_ms,
                "timing_ok": bool(rng.random() >= DROPPED),
            }
        )
    return rows


Rows = list[dict[str, Any]]
#: A kind of people, and everything that one of them answered, by session.
Person = tuple[str, list[Rows]]


def run(arguments: tuple[str, int, int, tuple[str, ...]]) -> dict[tuple[str, str], Outcome]:
    """One study answered by people of each persona in turn, and by all: the outcome by (company, persona)."""
    name, seed, sessions, kinds = arguments
    setting = PACKETS if name == PACKETS.name else SETTINGS[name]
    rules = load_rule_set(setting.rules)
    slots, truth, observers = study_of(setting, seed)
    known = personas(observers, seed)
    result: dict[tuple[str, str], Outcome] = {}
    everybody: list[Person] = []
    each = setting.sessions_per_person
    for kind in kinds:
        people: list[Person] = []
        for first in range(0, min(sessions, len(slots)) // each * each, each):
            participant = f"{kind}-{seed}-{first}"
            sat = slots[first : first + each]
            people.append((kind, [session_rows(slot, truth, known[kind], participant) for slot in sat]))
        result |= {("alone", kind): outcome for kind, outcome in judged(people, rules).items()}
        everybody += people
    return result | {("together", kind): outcome for kind, outcome in judged(everybody, rules).items()}


def judged(people: list[Person], rules: RuleSet) -> dict[str, Outcome]:
    """Judge everybody, withdraw golds that turn out to be hard, and judge everybody anew, as a study does.

    Who has no accepted session is excluded.
    """
    withdrawn: set[str] = set()
    terms = withdrawal_of(rules)
    while True:
        verdicts = [_verdicts(answered, rules, withdrawn) for _, answered in people]
        answers = [
            (slack, row["original"], row["category"], row["correct"])
            for (_, answered), found in zip(people, verdicts, strict=True)
            for rows, verdict in zip(answered, found, strict=True)
            for slack in [gold_slack(verdict.reasons, [o.to_dict() for o in verdict.evidence], rules)]
            for row in rows
            if row["role"] == "gold" and row["original"] not in withdrawn
        ]
        hard = {gold.original for gold in hard_golds(tally_golds(answers), terms)} if terms else set()
        if not hard:
            break
        withdrawn |= hard
    outcomes: dict[str, Outcome] = defaultdict(Outcome)
    for (kind, answered), found in zip(people, verdicts, strict=True):
        outcome = outcomes[kind]
        outcome.withdrawn = len(withdrawn)
        outcome.people += 1
        outcome.excluded += not any(verdict.accepted for verdict in found)
        outcome.reasons.update({reason for verdict in found for reason in verdict.reasons})
        outcome.flags.update({flag for verdict in found for flag in verdict.flags})
        for rows, verdict in zip(answered, found, strict=True):
            outcome.answers += [
                (row["corruption"], row["visual_change"], row["correct"], verdict.accepted)
                for row in rows
                if row["role"] == "main" and row["correct"] is not None
            ]
    return dict(outcomes)


def _verdicts(answered: list[Rows], rules: RuleSet, withdrawn: set[str]) -> list[Verdict]:
    """On all sessions of one person."""
    records = [SessionRecord.from_rows(rows, withdrawn=withdrawn) for rows in answered]
    return [
        judge(replace(record, others=tuple(other for other in records if other is not record)), rules)
        for record in records
    ]


def simulate(
    setting: Setting, people: int, kinds: tuple[str, ...], *, processes: int = 1, seed: int = 0
) -> dict[tuple[str, str], Outcome]:
    """So many people of each kind, in as many studies as they fill; outcomes by (company, kind)."""
    sessions = people * setting.sessions_per_person
    step = STUDY_SESSIONS // setting.sessions_per_person * setting.sessions_per_person
    work = [
        (setting.name, 1000 * seed + number, min(step, sessions - start), kinds)
        for number, start in enumerate(range(0, sessions, step))
    ]
    total: dict[tuple[str, str], Outcome] = defaultdict(Outcome)
    if processes == 1:
        found = map(run, work)
    else:
        with ProcessPoolExecutor(processes) as pool:
            found = iter(list(pool.map(run, work)))
    for outcomes in found:
        for key, outcome in outcomes.items():
            total[key].add(outcome)
    return dict(sorted(total.items()))


def report(setting: Setting, outcomes: dict[tuple[str, str], Outcome]) -> bool:
    name, met, reported = setting.name, True, REPORTED if setting is not PACKETS else setting.kinds
    for (company, kind), outcome in outcomes.items():
        if kind in reported:
            good = True
        elif kind in HONEST:
            good = outcome.share <= MOST_HONEST
        else:
            good = outcome.share >= LEAST_CAUGHT
        met &= good
        verdict = "" if kind in reported else ", met" if good else ", MISSED"
        golds = f"{outcome.withdrawn} golds withdrawn"
        print(f"{name}, {kind}, {company}: {outcome.people} people, {outcome.share:.2%} excluded{verdict}; {golds}")
        for word, counts in (("by", outcome.reasons), ("flag", outcome.flags)):
            for reason, count in counts.most_common():
                print(f"    {word} {reason}: {count / outcome.people:.2%}")
        if kind in HONEST and kind not in reported:
            for corruption, difference in outcome.area_differences().items():
                good = abs(difference) <= MOST_DIFFERENCE
                met &= good
                print(f"    area of {corruption}, accepted - all: {difference:+.4f}, {'met' if good else 'MISSED'}")
    return met


def main(
    *,
    people: Annotated[int, "of each kind"] = 1000,
    processes: int = 2,
    only: Literal["long", "bare", "short", "packets"] | None = None,
    seed: int = 0,
) -> bool:
    met = True
    for setting in (*SETTINGS.values(), PACKETS):
        if only in (None, setting.name):
            started = time.perf_counter()
            outcomes = simulate(setting, people, setting.kinds, processes=processes, seed=seed)
            met &= report(setting, outcomes)
            print(f"{setting.name}: {time.perf_counter() - started:.0f} s")
    return met


if __name__ == "__main__":
    _command.run(main)
