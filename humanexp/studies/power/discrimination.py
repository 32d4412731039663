"""How many people it takes to find that people tell two corruptions apart, or to show that they cannot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from analysis.claims import telling_apart as claims
from analysis.errors import InvalidInput
from humanexp.studies.models import Study
from humanexp.studies.plans import plan_head
from humanexp.studies.selectors import configuration_of

#: True shares of right answers, of people without bias, that a reader may have in mind; guessing is 0.5.
SHARES = (0.55, 0.6, 0.65, 0.7, 0.8)
POWER, ALPHA = 0.8, 0.05
#: Believed lean of people's criteria: towards "same"; in ABX towards neither side.
LEAN = {"same-different": 0.5, "abx": 0.0}


@dataclass(frozen=True, kw_only=True)
class NeededPeople:
    """What one aim takes; None where it is beyond any study."""

    #: true share of right answers of people without bias, and their d'
    share: float
    d_prime: float
    people: int | None
    #: trials of a pair
    trials: int | None
    #: whether the plan has so many people
    is_planned: bool


@dataclass(frozen=True, kw_only=True)
class TellingApart:
    """The comparisons of a plan, and what they could show."""

    pairs: int
    people: int
    #: planned trials of a pair, and those of one person; plain pairs of a person
    trials: int
    trials_each: int
    plain_each: int
    d_prime_margin: float
    #: to show that people of these shares tell the pair apart
    detect: tuple[NeededPeople, ...]
    #: to show that people who cannot tell them apart are within the margin
    equivalent: NeededPeople
    #: what is believed, and by which test
    assumed: str


def telling_apart(study: Study) -> TellingApart | None:
    """None where a study compares no pictures. Differences are sought at the hardest step of Holm's rule."""
    from analysis.similarity import PlannedPairs, d_prime_of, people_for_equivalence, people_to_detect
    from analysis.spec.analysis_plan import D_PRIME_MARGIN, OBSERVER_MODEL

    configuration, summary = configuration_of(study), plan_head(study)["summary"]
    asked = configuration.design.discrimination
    # Either answer is right in half of the trials: beside every trial of a pair stands one of a corruption with itself.
    planned = [2 * count for name, count in summary.get("comparisons", {}).items() if len(set(name.split(" / "))) == 2]
    if asked is None or not planned:
        return None
    pairs, trials, sessions = len(planned), min(planned), configuration.max_sessions_per_worker
    people = -(-summary["sessions"] // sessions)
    each = max(1, round(trials / people))
    plain = asked.sentinels * min(sessions, summary["sessions"])
    does = PlannedPairs(each, plain, form=asked.form, bias=LEAN[asked.form])

    def needed(d_prime: float, share: float, count: Callable[[], int]) -> NeededPeople:
        try:
            wanted = count()
        except InvalidInput:
            return NeededPeople(share=share, d_prime=d_prime, people=None, trials=None, is_planned=False)
        return NeededPeople(
            share=share, d_prime=d_prime, people=wanted, trials=wanted * each, is_planned=wanted <= people
        )

    d_primes = {share: d_prime_of(share, asked.form, OBSERVER_MODEL) for share in SHARES}
    return TellingApart(
        pairs=pairs,
        people=people,
        trials=trials,
        trials_each=each,
        plain_each=does.plain_each,
        d_prime_margin=D_PRIME_MARGIN,
        detect=tuple(
            needed(d_prime, share, lambda d=d_prime: people_to_detect(d, does, power=POWER, alpha=ALPHA / pairs))  # type: ignore[misc]
            for share, d_prime in d_primes.items()
        ),
        equivalent=needed(0.0, 0.5, lambda: people_for_equivalence(does, power=POWER, alpha=ALPHA)),
        assumed=claims.planned_sentence(
            power=POWER,
            alpha=ALPHA,
            pairs=pairs,
            model=OBSERVER_MODEL,
            bias=does.bias,
            bias_sd=does.bias_sd,
            careless=does.careless,
            plain_missed=does.plain_missed,
            plain_each=does.plain_each,
        ),
    )
