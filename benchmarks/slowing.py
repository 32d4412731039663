"""Does asking fast people to take their time move the human area, and does it hide people who click at random?

    python -m benchmarks.slowing [--people 2000] [--seed 1]

Honest people answer by the observer model. One in ten of them is hasty: until the page asks, half of their answers come
between 0.28 and 0.335 s, mostly too late for the rule on speed and too soon for the page, and a quarter of those are
guesses; afterwards they answer like everybody. Random clickers answer between 0.18 and 0.335 s until the page asks, and
then obey: their answers come as late as those of careful people, and stay random.
Who is asked is decided by the function that the server uses, and who counts by the rules `vcr`, in sessions of 40
corrupted trials without a qualification, which would exclude clickers before anything is asked.

Wanted: the area of accepted sessions with and without those that were asked at most 0.005 apart for every corruption,
and 99 % of the clickers excluded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from analysis.curves.fit import fit_curve
from analysis.labels.files import default_labels
from analysis.labels.space import NO_ANSWER
from analysis.study.rules import load_rule_set
from benchmarks import _command
from benchmarks.screening import BARE, CORRUPTIONS, STUDY_SESSIONS, Rows, judged, session_rows, study_of
from humanexp.participation.presentation import asks_to_slow_down, too_fast_ms
from humanexp.simulation.observers import random_stream
from humanexp.simulation.personas import Answer, Honest, Persona, RandomClicker, TruePicture, personas

#: One honest person in so many is hasty; the share of their answers that come too fast, and of guesses among these.
HASTY_EVERY, HASTY_SHARE, HASTY_GUESSES = 10, 0.5, 0.25
#: One person in so many of a study clicks at random.
CLICKERS_EVERY = 10
#: Response times of a hasty person's quick answers, and of a clicker who hurries, ms.
HASTY_MS, HURRIED_MS = (280.0, 335.0), (180.0, 335.0)
#: Lines of the acceptance of this method.
MOST_DIFFERENCE, LEAST_CAUGHT = 0.005, 0.99


@dataclass(frozen=True, kw_only=True)
class Hasty(Persona):
    """An honest person in a hurry."""

    name: str = "hasty"
    calm: Honest

    def answer(
        self, pictures: Sequence[TruePicture], *, participant: str, position: int, wanted: str | None = None
    ) -> Answer:
        given = self.calm.answer(pictures, participant=participant, position=position, wanted=wanted)
        rng = random_stream(self.seed, participant, position, "haste")
        if given.response == NO_ANSWER or rng.random() >= HASTY_SHARE:
            return given
        response = str(rng.choice(default_labels().ids)) if rng.random() < HASTY_GUESSES else given.response
        return Answer(response=response, rt_ms=float(rng.uniform(*HASTY_MS)))


@dataclass(frozen=True, kw_only=True)
class Hurried(RandomClicker):
    """Clicks at random, and as fast as a hurried hand."""

    name: str = "hurried"

    def answer(
        self, pictures: Sequence[TruePicture], *, participant: str, position: int, wanted: str | None = None
    ) -> Answer:
        given = super().answer(pictures, participant=participant, position=position, wanted=wanted)
        rng = random_stream(self.seed, participant, position, "haste")
        return Answer(response=given.response, rt_ms=float(rng.uniform(*HURRIED_MS)))


@dataclass(frozen=True, kw_only=True)
class Obedient(RandomClicker):
    """Clicks at random, at the pace of careful people."""

    name: str = "obedient"

    def answer(
        self, pictures: Sequence[TruePicture], *, participant: str, position: int, wanted: str | None = None
    ) -> Answer:
        given = super().answer(pictures, participant=participant, position=position, wanted=wanted)
        rng = random_stream(self.seed, participant, position, "calm")
        return Answer(response=given.response, rt_ms=float(850 * np.exp(0.3 * rng.standard_normal())))


def asked_at(rows: Rows, under_ms: float) -> int | None:
    """Number of the first row of the block before which the page asks; None where it never does."""
    for number in range(1, len(rows)):
        if rows[number]["block"] == rows[number - 1]["block"]:
            continue
        measured = [row for row in rows[:number] if "practice" not in row["role"] and row["role"] != "qualification"]
        given = [row["rt_ms"] for row in measured if row["rt_ms"] is not None]
        if asks_to_slow_down(fast=sum(rt_ms < under_ms for rt_ms in given), answered=len(given)):
            return number
    return None


def rows_of(
    session: Any, truth: dict[str, TruePicture], before: Persona, after: Persona, who: str, under_ms: float
) -> tuple[Rows, bool]:
    """A session of somebody who answers otherwise once the page has asked; whether it did."""
    rows = session_rows(session, truth, before, who)
    at = asked_at(rows, under_ms)
    return (rows, False) if at is None else (rows[:at] + session_rows(session, truth, after, who)[at:], True)


@dataclass
class Found:
    people: int = 0
    asked: int = 0
    asked_and_excluded: int = 0
    clickers: int = 0
    clickers_asked: int = 0
    clickers_caught: int = 0


def measure(people: int, seed: int) -> tuple[Found, dict[str, tuple[float, float]]]:
    """Counts, and by corruption the area of all accepted sessions and of those that were not asked."""
    rules = load_rule_set("vcr")
    under_ms = too_fast_ms(rules.to_dict())
    found = Found()
    answers: list[tuple[str, float, bool, bool]] = []
    for number, start in enumerate(range(0, people, STUDY_SESSIONS)):
        slots, truth, observers = study_of(BARE, 1000 * seed + number)
        calm = personas(observers, seed)["lifelike"]
        assert isinstance(calm, Honest)
        clicks = Hurried(seed=seed), Obedient(seed=seed)
        everybody: list[tuple[str, list[Rows]]] = []
        for slot, session in enumerate(slots[: min(STUDY_SESSIONS, people - start)]):
            who = f"person-{number}-{slot}"
            is_clicker = slot % CLICKERS_EVERY == 0
            is_hasty = not is_clicker and slot % HASTY_EVERY == 1
            before, after = clicks if is_clicker else ((Hasty(seed=seed, calm=calm) if is_hasty else calm), calm)
            rows, is_asked = rows_of(session, truth, before, after, who, under_ms)
            # Every person is a kind of their own, so that the outcome tells who was excluded.
            everybody.append(
                (f"{'clicker' if is_clicker else 'honest'} {'asked' if is_asked else 'calm'} {slot}", [rows])
            )
        for kind, outcome in judged(everybody, rules).items():
            is_asked = " asked " in kind
            if kind.startswith("clicker"):
                found.clickers += 1
                found.clickers_asked += is_asked
                found.clickers_caught += outcome.excluded
                continue
            found.people += 1
            found.asked += is_asked
            found.asked_and_excluded += is_asked and outcome.excluded
            answers += [(*row[:3], is_asked) for row in outcome.answers if row[3]]
    return found, {corruption: _areas(answers, corruption) for corruption in CORRUPTIONS}


def _areas(answers: list[tuple[str, float, bool, bool]], corruption: str) -> tuple[float, float]:
    mine = [answer for answer in answers if answer[0] == corruption]
    calm = [answer for answer in mine if not answer[3]]
    every, without = (float(fit_curve([a[1] for a in some], [a[2] for a in some]).area) for some in (mine, calm))
    return every, without


def main(people: Annotated[int, "in all"] = 2000, seed: Annotated[int, "of the simulated people"] = 1) -> bool:
    """Print every figure; False if a line is missed."""
    found, areas = measure(people, seed)
    print(f"honest people: {found.people}, asked: {found.asked}, of these excluded: {found.asked_and_excluded}")
    caught = found.clickers_caught / found.clickers
    print(
        f"clickers: {found.clickers}, asked: {found.clickers_asked}, excluded: {caught:.2%} "
        f"(at least {LEAST_CAUGHT:.0%})"
    )
    met = caught >= LEAST_CAUGHT and found.asked > 0 and found.clickers_asked > 0
    for corruption, (every, without) in areas.items():
        good = abs(every - without) <= MOST_DIFFERENCE
        met &= good
        told = "met" if good else "MISSED"
        print(
            f"    area of {corruption}: {every:.4f}, without those asked {without:.4f}, {every - without:+.4f}, {told}"
        )
    return met


if __name__ == "__main__":
    _command.run(main)
