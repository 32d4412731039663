"""How many originals a session takes in every role, and what is cut when there are too few."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import partial

from analysis.design.plan import SHORT_ROUND, SHORT_ROUND_OF_PAIRS, Part, practice_parts, shortened
from analysis.errors import DesignRefused
from analysis.study.design import DesignConfig

#: Sessions under this many trials besides golds and negatives have the short set of sentinels.
SHORT_SESSION = 30
FULL_GOLDS, SHORT_GOLDS = 8, 5
#: With two alternatives a guess is right in half of the trials: as many as yes/no takes, whatever the length.
GOLDS_OF_TWO = 16
NEGATIVES = 6
#: A session takes at most this share of the main originals, so that assignments stay free enough to be balanced.
LARGEST_SHARE_OF_MAIN = 0.85
SHORT_PAIRS = 2


@dataclass(frozen=True, kw_only=True)
class Demand:
    """Trials of one session by role.

    `plain_pairs` are discrimination sentinels, `practice_pairs` those with feedback; these and the `pairs` take
    `pair_pictures` originals each. Practice is counted with all its rounds, whether or not a person comes to see them.
    `person` are sentinels of persons; `person_originals` those of the set that a person needs for all their sessions.
    """

    practice_parts: tuple[Part, ...]
    qualification: int
    gold: int
    negative: int
    consistency: int
    main: int
    clean: int
    pairs: int
    plain_pairs: int
    practice_pair_parts: tuple[Part, ...]
    sessions_per_participant: int
    qualification_tries: int = 1
    pair_pictures: int = 2
    person: int = 0
    person_originals: int = 0

    @property
    def practice(self) -> int:
        return sum(part.trials for part in self.practice_parts)

    @property
    def practice_pairs(self) -> int:
        return sum(part.trials for part in self.practice_pair_parts)

    @property
    def practice_originals(self) -> int:
        return (self.practice + self.pair_pictures * self.practice_pairs) * self.sessions_per_participant

    @property
    def qualification_originals(self) -> int:
        return self.qualification * self.qualification_tries * self.sessions_per_participant

    @property
    def gold_originals(self) -> int:
        """Golds, negatives and plain pairs share one pool of easy pictures."""
        return (self.gold + self.negative + self.pair_pictures * self.plain_pairs) * self.sessions_per_participant

    @property
    def consistency_originals(self) -> int:
        return self.consistency * self.sessions_per_participant

    @property
    def outside_main(self) -> int:
        return (
            self.practice_originals + self.qualification_originals + self.gold_originals + self.consistency_originals
            + self.person_originals
        )  # fmt: skip

    @property
    def main_originals(self) -> int:
        """Fewest main originals with which assignments stay free."""
        taken = (self.main + self.clean + self.pair_pictures * self.pairs) * self.sessions_per_participant
        return math.ceil(taken / LARGEST_SHARE_OF_MAIN)

    @property
    def originals(self) -> int:
        return self.outside_main + self.main_originals

    @property
    def trials(self) -> int:
        """Trials of a session, practice and qualification included."""
        return (
            self.practice + self.qualification + self.gold + self.negative + 2 * self.consistency
            + self.main + self.clean + self.pairs + self.plain_pairs + self.practice_pairs + self.person
        )  # fmt: skip


def demand_of(config: DesignConfig, *, originals: int, person_originals: int = 0) -> tuple[Demand, list[str]]:
    """What a session takes, cut until it fits the number of originals.

    Parameters
    ----------
    config : DesignConfig
    originals : int
        Pictures of the set.
    person_originals : int
        Of these, for sentinels of persons (`analysis.design.sentinels`).

    Returns
    -------
    Demand, list of str
        And one sentence for everything that was cut.

    Raises
    ------
    DesignRefused
        If even the smallest session does not fit.

    Notes
    -----
    Order of cutting (this project's choice): main trials first, then the sentinels of a short session (5 golds instead
    of 8, no negatives, 2 consistency pairs, 4 practice trials or one round at speed), never below the configured
    minimum of main trials.
    """
    asked = _full(config, main=config.main_trials, originals=originals, person_originals=person_originals)
    given = _fitting(config, originals=originals, person_originals=person_originals)
    if given is not None:
        return given, _cuts(asked, given, originals) + _warnings(given)
    smallest = smallest_demand(config, originals=originals, person_originals=person_originals)
    block = config.discrimination
    remedies = [f"Add at least {smallest.originals - originals} pictures"]
    if block is not None and (fewer := fewer_comparisons(config, originals=originals)):
        remedies.append(f"ask for {fewer} comparisons a session instead of {block.trials}")
    if config.sessions_per_participant > 1:
        remedies.append("ask for fewer sessions a participant")
    raise DesignRefused(
        f"{originals} originals are too few: the smallest session"
        + (f" with {block.trials} comparisons" if block is not None else "")
        + f" takes {smallest.originals} "
        f"({smallest.practice_originals} practice, {smallest.gold_originals} gold, "
        f"{smallest.consistency_originals} consistency, "
        + (f"{smallest.person_originals} sentinels of persons, " if smallest.person_originals else "")
        + f"{smallest.main_originals} main). "
        + f"{', or '.join(remedies)}."
    )


def fewer_comparisons(config: DesignConfig, *, originals: int) -> int:
    """The largest even number of comparisons a session that so many originals allow; 0 if none.

    Parameters
    ----------
    config : DesignConfig
        A session of comparisons; of others the answer is 0.
    originals : int
        Pictures of the set, at least 0.
    """
    block = config.discrimination
    if block is None:
        return 0
    for trials in range(block.trials - 2, 1, -2):
        fewer = config.but(discrimination=block.but(trials=trials))
        if _fitting(fewer, originals=originals, person_originals=0) is not None:
            return trials
    return 0


def _fitting(config: DesignConfig, *, originals: int, person_originals: int) -> Demand | None:
    """The largest session that fits, cut in the order that `demand_of` states; None where none does."""
    full = partial(_full, config, originals=originals, person_originals=person_originals)
    asked = full(main=config.main_trials)
    if asked.originals <= originals:
        return asked
    for short in (False, True):
        for main in range(config.main_trials, config.minimum_main_trials - 1, -1):
            demand = _shortened(config, full(main=main)) if short else full(main=main)
            if demand.originals <= originals:
                return demand
    # discrimination alone: only the sentinels could be cut
    smallest = smallest_demand(config, originals=originals, person_originals=person_originals)
    return smallest if smallest.originals <= originals else None


def smallest_demand(config: DesignConfig, *, originals: int, person_originals: int = 0) -> Demand:
    """What `demand_of` cuts a session to at most, whether or not so many originals are enough for it."""
    main = min(config.main_trials, config.minimum_main_trials)
    return _shortened(config, _full(config, main=main, originals=originals, person_originals=person_originals))


def _warnings(demand: Demand) -> list[str]:
    if demand.clean >= demand.gold:
        return []
    return [
        f"{demand.clean} clean trials a session beside {demand.gold} golds: most clean pictures are golds then, and "
        f"who tells clean pictures from others knows them. Raise clean_trials to {demand.gold}, or leave it out."
    ]


def _full(config: DesignConfig, *, main: int, originals: int, person_originals: int) -> Demand:
    block = config.discrimination
    with_choices = main > 0
    clean = _clean(config, main=main, originals=originals) if with_choices else 0
    pairs = block.trials if block else 0
    consistency = config.consistency_pairs if with_choices else 0
    short = main + clean + 2 * consistency + pairs < SHORT_SESSION
    usual = GOLDS_OF_TWO if config.alternatives == 2 else SHORT_GOLDS if short else FULL_GOLDS
    gold = config.gold_trials if config.gold_trials is not None else usual
    if config.clean_trials is None and with_choices:
        # Else who tells clean pictures from others would know most golds.
        clean = max(clean, gold)
    negative = config.negative_trials if config.negative_trials is not None else (0 if short else NEGATIVES)
    return Demand(
        practice_parts=practice_parts(config) if with_choices else (),
        qualification=config.qualification_trials if with_choices else 0,
        gold=gold if with_choices else 0,
        negative=negative if with_choices else 0,
        consistency=consistency,
        main=main,
        clean=clean,
        pairs=pairs,
        plain_pairs=block.sentinels if block else 0,
        practice_pair_parts=practice_parts(block) if block else (),
        sessions_per_participant=config.sessions_per_participant,
        qualification_tries=config.qualification_tries,
        pair_pictures=block.pictures if block else 2,
        person=config.person_trials if with_choices else 0,
        person_originals=person_originals,
    )


def _shortened(config: DesignConfig, demand: Demand) -> Demand:
    pairs = shortened(demand.practice_pair_parts, single=SHORT_ROUND_OF_PAIRS)
    if demand.main == 0:
        return dataclasses.replace(demand, practice_pair_parts=pairs)
    return dataclasses.replace(
        demand,
        practice_parts=shortened(demand.practice_parts, single=SHORT_ROUND),
        gold=min(demand.gold, FULL_GOLDS if config.alternatives == 2 else SHORT_GOLDS),
        negative=0,
        consistency=min(demand.consistency, SHORT_PAIRS),
        practice_pair_parts=pairs,
    )


def _clean(config: DesignConfig, *, main: int, originals: int) -> int:
    if config.clean_trials is not None:
        return config.clean_trials
    wanted = math.ceil(max(config.clean_answers, originals) / config.sessions)
    return min(wanted, max(2, main // 2))


_WORDS = (
    ("main", "main trials"),
    ("clean", "clean trials"),
    ("practice", "practice trials"),
    ("gold", "gold trials"),
    ("negative", "negative trials"),
    ("consistency", "consistency pairs"),
    ("practice_pairs", "practice pairs"),
)


def _cuts(asked: Demand, given: Demand, originals: int) -> list[str]:
    return [
        f"{originals} originals are few: {getattr(given, role)} {word} a session instead of {getattr(asked, role)}."
        for role, word in _WORDS
        if getattr(given, role) < getattr(asked, role)
    ]
