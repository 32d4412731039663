"""Machines among people: does the interval for people alone contain their area, at the stated catch?

python -m benchmarks.claims.machines [--processes 1] [--write]

40 people of 60 answers each, of whom some are machines: a network whose curve falls early (the worst model of the
study), or a machine that is right in .97 whatever it sees. Each machine is flagged with exactly the stated chance, each
person with a chance of .01. At a catch of 0 nothing may be stated. "outside without it": how often the area's own
interval, which knows of no machines, misses the people's area.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.special import expit

from analysis.arrays import FloatArray
from analysis.claims.persons import BOUND
from analysis.curves.fit import fit_curve
from analysis.persons.calibration import bias_of_area, machines_at_most
from analysis.power.crowd import Curve, LogisticDrop, marginal_logit
from benchmarks.claims._cells import Cell, Limit, Outcome, run
from benchmarks.claims.area import area_of

PEOPLE = LogisticDrop(0.93, 1 / 16, 0.75, 0.06)
NETWORK = LogisticDrop(0.97, 1 / 16, 0.45, 0.06)
#: Standard deviations of people and of pictures on the logit.
PERSON_SD, PICTURE_SD = 0.7, 1.0
EACH = 60
FALSE_ALARMS = 0.01


def tireless(place: FloatArray) -> FloatArray:
    """A machine that corruption does not touch."""
    return np.full(len(place), 0.97)


def study(rng: np.random.Generator, *, people: int, machines: int, catch: float, machine: Curve) -> Outcome:
    """Accepted people, the last of whom are machines: what is stated of the area of the others."""
    person = np.repeat(np.arange(people), EACH)
    is_machine = person >= people - machines
    place = rng.random(len(person))
    sd = float(np.hypot(PERSON_SD, PICTURE_SD))
    ability = np.where(np.arange(people) < people - machines, rng.normal(0.0, PERSON_SD, people), 0.0)
    logit = np.where(
        is_machine, marginal_logit(machine(place), PICTURE_SD), marginal_logit(PEOPLE(place), sd) + ability[person]
    )
    right = rng.random(len(person)) < expit(logit + rng.normal(0.0, PICTURE_SD, len(person)))
    fit = fit_curve(place, right, participants=person, images=np.arange(len(person)), n_bootstrap=2)
    assert fit.area_interval is not None
    lower, upper = fit.area_interval
    truth = area_of(PEOPLE)
    flagged = rng.random(people) < np.where(np.arange(people) < people - machines, FALSE_ALARMS, catch)
    most = machines_at_most(int(flagged.sum()), people, catch)
    found = {"outside without it": float(not lower <= truth <= upper), "stated": float(most is not None)}
    if most is None:
        return found
    bias = bias_of_area((lower, upper), most / people, (area_of(NETWORK), 1.0))
    if bias is None:
        return {**found, "covers": 1.0, "width": 1.0}
    low, high = max(lower - bias.upper, 0.0), min(upper - bias.lower, 1.0)
    return {**found, "covers": float(low <= truth <= high), "width": high - low}


def cell(name: str, *, runs: int = 1000, **how: object) -> Cell:
    is_stated = how["catch"] != 0.0
    limits = {"covers": Limit(at_least=BOUND.rate)} if is_stated else {"stated": Limit(at_most=0.0)}
    return Cell(BOUND.name, name, partial(study, **how), limits, runs=runs)


CELLS = (
    cell("40 people, 4 of them networks, catch .9", people=40, machines=4, catch=0.9, machine=NETWORK),
    cell("40 people, 4 of them networks, catch .3", people=40, machines=4, catch=0.3, machine=NETWORK),
    cell("40 people, 12 of them networks, catch .6", people=40, machines=12, catch=0.6, machine=NETWORK),
    cell("40 people, 8 of them always right, catch .6", people=40, machines=8, catch=0.6, machine=tireless),
    cell("40 people, 12 of them networks, catch 0", people=40, machines=12, catch=0.0, machine=NETWORK, runs=200),
)

if __name__ == "__main__":
    run("machines")
