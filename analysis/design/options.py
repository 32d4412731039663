"""What each picture is offered with: its label among foils, in places drawn anew, or all labels and none of these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.design.catalogue import Catalogue, StimulusRow
from analysis.design.ordering import shuffled
from analysis.design.plan import SessionPlan
from analysis.errors import DesignRefused
from analysis.labels.space import MOST_ROWS, NONE_OF_THESE, LabelSpace
from analysis.study.design import DesignConfig

#: The task whose answers are labels.
NAMING = "categorisation"


def alternatives_of(config: DesignConfig, space: LabelSpace) -> int:
    """Labels that a trial offers: its own number of them, or all."""
    return config.alternatives or len(space)


def has_own_options(config: DesignConfig, space: LabelSpace) -> bool:
    """Whether trials offer some of the labels only."""
    return alternatives_of(config, space) < len(space)


def check_options(config: DesignConfig, catalogue: Catalogue) -> None:
    """Refuse options that these labels and pictures cannot give.

    Raises
    ------
    DesignRefused
        Saying what is missing.
    """
    space, asked = catalogue.space, config.alternatives
    if asked > len(space):
        raise _refused(f"{asked}, and the labels {space.name} are only {len(space)}: set it to {len(space)} or fewer.")
    if config.none_of_these and len(space.rows) >= MOST_ROWS and not has_own_options(config, space):
        raise DesignRefused(
            f"The grid of {space.name} has {len(space.rows)} rows, and keys reach no further one for none of these: "
            "give the labels a squarer grid, or leave none_of_these out.",
            place="design.none_of_these",
        )
    if not has_own_options(config, space):
        return
    shown = set(catalogue.category_of.values())
    if asked > len(shown):
        raise _refused(
            f"{asked}, and the pictures show only {len(shown)} of the labels {space.name}: a foil that is never right "
            f"would be known for one. Set it to {len(shown)} or fewer, or add pictures of the others."
        )
    for original in catalogue.category_of:
        right = catalogue.right_for(original)
        if asked - 1 > len(space) - len(right):
            raise _refused(
                f"{asked}, and for the picture {original} {len(right)} of {len(space)} labels are right: there are not "
                f"{asked - 1} foils. Ask for fewer alternatives."
            )
    if config.foils == "competing" and not any(one in space for one in catalogue.competing_of.values()):
        raise _refused(
            '"competing", and no picture says what competes with its label: import them with a column competing, or '
            'set it to "any".',
            "foils",
        )
    if config.foils in ("group", "other-group") and not space.groups():
        raise _refused(
            f'"{config.foils}", and the labels {space.name} have no groups: name a partition in `negatives`, or set '
            'it to "any".',
            "foils",
        )


def _refused(sentence: str, setting: str = "alternatives") -> DesignRefused:
    return DesignRefused(f"design.{setting} is {sentence}", place=f"design.{setting}")


def notes_on_options(config: DesignConfig, space: LabelSpace) -> list[str]:
    """What a researcher should know of them: one sentence each."""
    notes = []
    if has_own_options(config, space):
        notes.append(
            f"Every picture is offered with {config.alternatives} of {len(space)} labels, one of them right: a guess "
            f"is right in 1 of {config.alternatives}."
        )
    if config.none_of_these:
        notes.append("None of these can be answered, and is never right: the right label is always offered.")
    return notes


def with_options(
    sessions: Sequence[SessionPlan], config: DesignConfig, catalogue: Catalogue, rng: np.random.Generator
) -> tuple[SessionPlan, ...]:
    """The same sessions, in which every trial that names a picture states what it offers, in the order shown.

    Parameters
    ----------
    sessions : sequence of SessionPlan
    config : DesignConfig
    catalogue : Catalogue
    rng : numpy.random.Generator

    Returns
    -------
    tuple of SessionPlan
        The very sessions where trials offer all labels and nothing else.

    Notes
    -----
    Practice, golds and all other trials get theirs by one rule, so that options do not tell them apart. Over the study
    a label is a foil (alternatives - 1) times as often as it is right, as nearly as pictures allow: whichever label is
    offered, it is right with one chance. In every block the right label has all places equally often, in random order.
    The second showing of a picture has the foils of the first, in places of its own. None of these comes last.
    """
    space = catalogue.space
    last = (NONE_OF_THESE,) if config.none_of_these else ()
    if not has_own_options(config, space):
        whole = (*space.in_grid, *last) if last else ()
        return tuple(_offered(plan, {trial.position: whole for trial in plan.trials}) for plan in sessions)
    rows = catalogue.by_stimulus()
    foils = _Foils(config, catalogue, sessions, rows).deal(rng)
    planned = []
    for plan in sessions:
        places = _places(plan, config.alternatives, rng)
        options = {}
        for trial in plan.trials:
            if trial.task == NAMING:
                names = shuffled(foils[plan.slot, trial.stimulus], rng)
                names.insert(places[trial.position], catalogue.target_of(rows[trial.stimulus].original))
                options[trial.position] = (*names, *last)
        planned.append(_offered(plan, options))
    return tuple(planned)


def _offered(plan: SessionPlan, options: Mapping[int, tuple[str, ...]]) -> SessionPlan:
    trials = tuple(
        trial._replace(options=options[trial.position]) if trial.task == NAMING else trial for trial in plan.trials
    )
    return SessionPlan(slot=plan.slot, trials=trials)


def _places(plan: SessionPlan, alternatives: int, rng: np.random.Generator) -> dict[int, int]:
    """Place of the right label by position: in every block all places equally often, which are left over at random."""
    by_block: dict[int, list[int]] = {}
    for trial in plan.trials:
        by_block.setdefault(trial.block, []).append(trial.position)
    places: dict[int, int] = {}
    for positions in by_block.values():
        first = int(rng.integers(alternatives))
        drawn = [(first + number) % alternatives for number in range(len(positions))]
        places |= zip(positions, shuffled(drawn, rng), strict=True)
    return places


@dataclass(frozen=True)
class _Foils:
    """Deals foils to the pictures of every session."""

    config: DesignConfig
    catalogue: Catalogue
    sessions: Sequence[SessionPlan]
    rows: Mapping[str, StimulusRow]

    def deal(self, rng: np.random.Generator) -> dict[tuple[int, str], list[str]]:
        """Foils by slot and stimulus: of the labels that come first for the picture, those most behind."""
        showings: Counter[tuple[int, str]] = Counter(
            (plan.slot, trial.stimulus) for plan in self.sessions for trial in plan.trials if trial.task == NAMING
        )
        wanted: Counter[str] = Counter()
        for (_, stimulus), times in showings.items():
            wanted[self.catalogue.target_of(self.rows[stimulus].original)] += times * (self.config.alternatives - 1)
        given: Counter[str] = Counter()
        dealt: dict[tuple[int, str], list[str]] = {}
        for key in shuffled(list(showings), rng):
            original = self.rows[key[1]].original
            right = self.catalogue.right_for(original)
            free = [one for one in self.catalogue.space.ids if one not in right]
            tie = dict(zip(free, rng.random(len(free)), strict=True))

            def turn(
                one: str, original: str = original, tie: Mapping[str, float] = tie
            ) -> tuple[bool, bool, float, float]:
                done = given[one] / wanted[one] if wanted[one] else 1.0
                return not self._comes_first(one, original), not wanted[one], done, tie[one]

            dealt[key] = sorted(free, key=turn)[: self.config.alternatives - 1]
            given.update(dict.fromkeys(dealt[key], showings[key]))
        return dealt

    def _comes_first(self, foil: str, original: str) -> bool:
        space, target = self.catalogue.space, self.catalogue.target_of(original)
        match self.config.foils:
            case "competing":
                return foil == self.catalogue.competing_of.get(original)
            case "group":
                return space.group(foil) == space.group(target)
            case "other-group":
                return space.group(foil) != space.group(target)
        return True


def exchanged(options: tuple[str, ...], catalogue: Catalogue, *, before: str, after: str) -> tuple[str, ...]:
    """Options of a trial whose picture was replaced by one of another original.

    Parameters
    ----------
    options : tuple of str
        Of the trial; empty = all labels.
    catalogue : Catalogue
    before, after : str
        The originals.

    Returns
    -------
    tuple of str
        As many: the new label has the place of the old one, which stands where the new one was a foil. A foil that is
        right for the new picture gives way to another label.
    """
    if not set(catalogue.space.ids) - set(options) or not options:
        return options
    old, new = catalogue.target_of(before), catalogue.target_of(after)
    swap = {old: new, new: old}
    found = [swap.get(one, one) for one in options]
    right = catalogue.right_for(after) - {new}
    spare = [one for one in catalogue.space.ids if one not in {*found, *right}]
    return tuple(spare.pop(0) if one in right else one for one in found)
