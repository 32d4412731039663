"""Same/different and ABX: how often crowds at the margin are called equivalent, and crowds that guess different.

python -m benchmarks.claims.telling_apart [--runs 20] [--cell NAME] [--kept FILE] [--write]

A person says "different" to a same pair with probability Phi(-a), with a criterion a that is normal over people (mean:
bias, sd), and to a different one as the observer model has it for d' = 1 (the margin) or 0. Of the answers a share is
careless and falls on either side. Each person answers 16 plain pairs as well, with d' = 6 (with care hardly any is
missed, so that nothing but careless answers tells of them). Planned: as many people as the Design page says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from analysis.clusters import exact_bound
from analysis.similarity.assay import Assay, assay_of, design_effect
from analysis.similarity.discrimination import p_below_margin
from analysis.similarity.sample_size import PlannedPairs, people_for_equivalence, people_to_detect
from analysis.similarity.sensitivity import Crowd, hits
from analysis.study.analysis_plan import D_PRIME_MARGIN, ObserverModel
from analysis.study.design import DiscriminationForm
from benchmarks.claims._cells import Cell, Limit, Outcome, run

ALPHA = 0.05
PLAIN_D_PRIME = 6.0
#: With it, and 4 % of careless answers, 4 % of plain differences are missed, as is planned.
PLANNED_PLAIN: dict[DiscriminationForm, float] = {"same-different": 4.55, "abx": 5.7}


@dataclass(frozen=True)
class Crowds:
    """Crowds of one kind."""

    people: int
    trials: int
    bias: float
    sd: float
    d_prime: float = D_PRIME_MARGIN
    #: of d' over people
    d_prime_sd: float = 0.0
    form: DiscriminationForm = "same-different"
    model: ObserverModel = "differencing"
    careless: float = 0.0
    #: whether careless answers are all those of some people
    careless_people: bool = False
    plain: int = 16
    #: wrong plain answers with which a session counts
    passes: int | None = None
    #: pictures of each kind that all people see, and the share of the noise that is theirs
    pictures: int = 0
    picture_noise: float = 0.3
    plain_d_prime: float = PLAIN_D_PRIME
    #: what criteria are stricter by on plain pairs
    plain_bias: float = 0.0

    def _said(
        self,
        rng: np.random.Generator,
        above: NDArray[np.float64],
        d_prime: NDArray[np.float64],
        signal: NDArray[np.bool_],
    ) -> NDArray[np.bool_]:
        from scipy.special import ndtr

        rate = ndtr(-above)
        for one in np.unique(d_prime):
            rows = signal & (d_prime == one)
            rate[rows] = hits(above[rows], float(one) ** 2, self.form, self.model)[0]
        return rng.random(len(above)) < rate

    def _lapsed(self, rng: np.random.Generator, person: NDArray[np.int64]) -> NDArray[np.bool_]:
        if self.careless_people:
            return np.asarray((rng.permutation(self.people) < round(self.careless * self.people))[person])
        return rng.random(len(person)) < self.careless

    def draw(self, rng: np.random.Generator) -> tuple[Crowd, Assay | None]:
        """Answers of one crowd, and what its plain pairs show."""
        above = self.bias + self.sd * rng.standard_normal(self.people)
        own = np.maximum(self.d_prime + self.d_prime_sd * rng.standard_normal(self.people), 0.0)
        state = np.random.default_rng(int(rng.integers(1 << 32)))
        person = np.repeat(np.arange(self.people), self.trials + self.plain)
        place = np.tile(np.arange(self.trials + self.plain), self.people)
        is_plain, signal = place >= self.trials, place % 2 == 1
        d_prime = np.where(is_plain, self.plain_d_prime, own[person])
        picture = None
        if self.pictures:
            picture = 2 * state.integers(self.pictures, size=len(person)) + signal
            said = self._of_pictures(rng, above[person], d_prime, signal, picture)
        else:
            said = self._said(rng, above[person] + self.plain_bias * is_plain, d_prime, signal)
        # The careless ones of people draw once, for plain pairs and others alike.
        said = np.where(self._lapsed(state, person), rng.random(len(person)) < 0.5, said)
        right = said == signal
        wrong = np.bincount(person[is_plain], weights=~right[is_plain], minlength=self.people)
        counts = np.ones(self.people, dtype=bool) if self.passes is None else wrong <= self.passes
        main = ~is_plain & counts[person]
        crowd = Crowd(
            said=said[main],
            signal=signal[main],
            person=np.unique(person[main], return_inverse=True)[1],
            picture=None if picture is None else np.unique(picture[main], return_inverse=True)[1],
            form=self.form,
            model=self.model,
        )
        if not self.plain:
            return crowd, None
        # Told apart by more than the margin is taken for granted: it can only make more crowds equivalent.
        assay = assay_of(
            right[is_plain],
            telling=signal[is_plain] | (self.form == "abx"),
            session=person[is_plain],
            person=person[is_plain],
            counts=counts[person[is_plain]],
            p_above_margin=lambda: 0.0,
            alpha=ALPHA,
        )
        return crowd, assay

    def _of_pictures(
        self,
        rng: np.random.Generator,
        above: NDArray[np.float64],
        d_prime: NDArray[np.float64],
        signal: NDArray[np.bool_],
        picture: NDArray[np.int64],
    ) -> NDArray[np.bool_]:
        """Differencing, part of the noise being one for all who see the same pictures."""
        from scipy.special import ndtr, ndtri

        shared = rng.standard_normal(2 * self.pictures)[picture] * np.sqrt(2.0 * self.picture_noise)
        own = rng.standard_normal(len(above)) * np.sqrt(2.0 * (1.0 - self.picture_noise))
        return np.asarray(
            np.abs(shared + own + np.where(signal, d_prime, 0.0)) > -np.sqrt(2.0) * ndtri(ndtr(-above) / 2.0)
        )


def at_the_margin(crowds: Crowds, rng: np.random.Generator) -> Outcome:
    crowd, assay = crowds.draw(rng)
    return {"equivalent": _is_below(crowd, assay)}


def _is_below(crowd: Crowd, assay: Assay | None) -> bool:
    # An estimate beyond the margin has a p-value of at least 1/2, with careless answers all the more.
    return crowd.d_prime < D_PRIME_MARGIN and p_below_margin(crowd, assay, D_PRIME_MARGIN) < ALPHA


def guessing(crowds: Crowds, rng: np.random.Generator) -> Outcome:
    crowd, _ = crowds.draw(rng)
    # No d' above 0: the p-value is 1/2.
    return {"different": crowd.d_prime > 0.0 and crowd.p_above(0.0) < ALPHA}


def equivalent_in(crowds: Crowds, rng: np.random.Generator) -> Outcome:
    """Power: people who cannot tell the pair apart."""
    crowd, assay = crowds.draw(rng)
    return {"equivalent, people guessing": _is_below(crowd, assay)}


def covered(crowds: Crowds, rng: np.random.Generator) -> Outcome:
    crowd, _ = crowds.draw(rng)
    tails = crowd.p_above(crowds.d_prime), crowd.p_below(crowds.d_prime)
    return {"covers": min(tails) >= ALPHA / 2.0, "d' is below its bound": crowd.p_below(crowd.d_prime) >= ALPHA}


def share_covered(people: int, trials: int, rng: np.random.Generator) -> Outcome:
    """The interval of the share right, of people whose own shares differ."""
    skill = rng.beta(6.0, 4.0, people)
    person = np.repeat(np.arange(people), trials)
    right = rng.random(people * trials) < skill[person]
    effect, ratio = design_effect(right, person, ALPHA / 2.0)
    effective = len(right) / (effect * ratio)
    low, high = exact_bound(float(right.mean()) * effective, effective, ALPHA / 2.0)
    return {"covers": low <= 0.6 <= high}


def planned_for(planned: PlannedPairs, d_prime: float | None = None) -> Callable[[np.random.Generator], Outcome]:
    """A study of as many people as planned, and one of fewer by 1.3: equivalent without a d', else different."""
    people = people_for_equivalence(planned) if d_prime is None else people_to_detect(d_prime, planned)

    def reached(rng: np.random.Generator, people: int) -> bool:
        crowd, assay = Crowds(
            people,
            planned.trials_each,
            planned.bias,
            planned.bias_sd,
            d_prime=d_prime or 0.0,
            form=planned.form,
            careless=planned.careless,
            plain=planned.plain_each,
            plain_d_prime=PLANNED_PLAIN[planned.form],
            # Who is without bias in ABX is as often right about A as about B.
            plain_bias=2.3 if planned.form == "abx" else 0.0,
        ).draw(rng)
        if d_prime is None:
            return _is_below(crowd, assay)
        return crowd.d_prime > 0.0 and crowd.p_above(0.0) < ALPHA

    def study(rng: np.random.Generator) -> Outcome:
        fewer = max(round(people / 1.3), 2)
        return {"reached": reached(rng, people), "reached with 1.3 times fewer": reached(rng, fewer), "people": people}

    return study


RARELY = Limit(at_most=0.05)
COVERS = Limit(at_least=0.93)
MARGINAL = {
    "100 people x 40 trials, bias 0, sd 0": Crowds(100, 40, 0.0, 0.0),
    "100 x 40, bias 1.5, sd .8": Crowds(100, 40, 1.5, 0.8),
    "20 x 20, bias .75, sd .5": Crowds(20, 20, 0.75, 0.5),
    "5 x 40, bias .75, sd .5": Crowds(5, 40, 0.75, 0.5),
    "100 x 4, bias 0, sd .8": Crowds(100, 4, 0.0, 0.8),
    "100 x 40, bias 0, sd .5, 20 % careless answers": Crowds(100, 40, 0.0, 0.5, careless=0.2),
    "100 x 40, bias .75, sd .5, 30 % careless answers": Crowds(100, 40, 0.75, 0.5, careless=0.3),
    "100 x 40, bias 1.5, sd .8, 20 % careless answers": Crowds(100, 40, 1.5, 0.8, careless=0.2),
    "100 x 40, bias .75, sd .5, 20 % careless people": Crowds(100, 40, 0.75, 0.5, careless=0.2, careless_people=True),
    "100 x 40, bias 0, sd .5, 30 % careless, passing 3 of 4 plain pairs": Crowds(
        100, 40, 0.0, 0.5, careless=0.3, plain=4, passes=1
    ),
    "60 x 20, bias .75, sd .5, d' differs by person (sd .4)": Crowds(60, 20, 0.75, 0.5, d_prime_sd=0.4),
    "60 x 20, bias .75, sd .5, 30 shared pictures with .3 of the noise": Crowds(60, 20, 0.75, 0.5, pictures=30),
    "independent observation, 100 x 40, bias 1.5, sd .8": Crowds(100, 40, 1.5, 0.8, model="independent"),
    "ABX, 60 x 20, bias .5, sd .5": Crowds(60, 20, 0.5, 0.5, form="abx"),
}
GUESSERS = {
    "5 people x 8, bias 0, sd .5": Crowds(5, 8, 0.0, 0.5, d_prime=0.0, plain=0),
    "8 x 20, bias 1.5, sd .8": Crowds(8, 20, 1.5, 0.8, d_prime=0.0, plain=0),
    "100 x 4, bias 0, sd .8": Crowds(100, 4, 0.0, 0.8, d_prime=0.0, plain=0),
    "100 x 40, bias 1.5, sd .8": Crowds(100, 40, 1.5, 0.8, d_prime=0.0, plain=0),
    "ABX, 20 x 20, bias .5, sd .5": Crowds(20, 20, 0.5, 0.5, d_prime=0.0, plain=0, form="abx"),
}
POWER = {
    "60 people x 10 trials, bias .75, sd .5": Crowds(60, 10, 0.75, 0.5, d_prime=0.0),
    "60 x 20, bias .75, sd .5": Crowds(60, 20, 0.75, 0.5, d_prime=0.0),
    "100 x 40, bias .75, sd .5": Crowds(100, 40, 0.75, 0.5, d_prime=0.0),
    "100 x 40, bias 1.5, sd .8": Crowds(100, 40, 1.5, 0.8, d_prime=0.0),
    "100 x 40, bias .75, sd .5, 20 % careless answers": Crowds(100, 40, 0.75, 0.5, d_prime=0.0, careless=0.2),
}
PLANNED = {
    "equivalent, 10 trials each": (PlannedPairs(10, 8), None),
    "equivalent, 4 trials each": (PlannedPairs(4, 4), None),
    "equivalent, ABX, 10 trials each": (PlannedPairs(10, 8, form="abx", bias=0.0), None),
    "different, d' 1, 10 trials each": (PlannedPairs(10, 8), 1.0),
    "different, d' 1.5, 4 trials each": (PlannedPairs(4, 4), 1.5),
    "different, ABX, d' 1, 10 trials each": (PlannedPairs(10, 8, form="abx", bias=0.0), 1.0),
}
INTERVALS = {
    "5 people x 40, d' 1.5": Crowds(5, 40, 0.75, 0.5, d_prime=1.5, plain=0),
    "20 x 20, d' 1.5, bias 1.5, sd .8": Crowds(20, 20, 1.5, 0.8, d_prime=1.5, plain=0),
    "100 x 10, d' 2, bias 1.5, sd .8": Crowds(100, 10, 1.5, 0.8, d_prime=2.0, plain=0),
}
CELLS = (
    *(
        Cell("told-apart-equivalent", f"at the margin: {name}", partial(at_the_margin, one), {"equivalent": RARELY})
        for name, one in MARGINAL.items()
    ),
    *(
        Cell("told-apart-different", f"guessing: {name}", partial(guessing, one), {"different": RARELY})
        for name, one in GUESSERS.items()
    ),
    *(
        Cell(
            "told-apart-d-prime",
            f"interval: {name}",
            partial(covered, one),
            {"covers": COVERS, "d' is below its bound": Limit(at_least=1.0)},
        )
        for name, one in INTERVALS.items()
    ),
    *(
        Cell("told-apart-equivalent", f"power: {name}", partial(equivalent_in, one), runs=400)
        for name, one in POWER.items()
    ),
    *(
        Cell(
            "told-apart-planned",
            f"planned: {name}",
            planned_for(*one),
            {"reached": Limit(at_least=0.8), "reached with 1.3 times fewer": Limit(at_most=0.8)},
            runs=400,
        )
        for name, one in PLANNED.items()
    ),
    *(
        Cell(
            "told-apart-share-right",
            f"share right: {people} people x 40",
            partial(share_covered, people, 40),
            {"covers": COVERS},
        )
        for people in (5, 8, 30)
    ),
)

if __name__ == "__main__":
    run("telling_apart")
