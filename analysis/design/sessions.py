"""Sessions handed out from a plan: a share for each recruiter, and one for somebody who has seen some originals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from analysis.arrays import FloatArray, IntArray
from analysis.design.catalogue import Catalogue, StimulusRow
from analysis.design.options import exchanged
from analysis.design.plan import PlannedTrial, SessionPlan
from analysis.design.summary import STRATA
from analysis.errors import DesignRefused
from analysis.study.persons import PERSON

#: A session that keeps less than this share of its main trials is not worth a person's time.
LEAST_SHARE_OF_MAIN = 0.5


def without_seen(
    session: SessionPlan,
    catalogue: Catalogue,
    pools: Mapping[str, Collection[str]],
    *,
    seen: Collection[str],
    taken: Collection[str],
) -> SessionPlan:
    """The same session with every already seen original replaced by an unseen one of the same pool.

    Parameters
    ----------
    session : SessionPlan
    catalogue : Catalogue
    pools : mapping
        The plan's pools.
    seen : collection of str
        Originals that this person has seen in any session of the study family.
    taken : collection of str
        Corrupted stimuli that are planned for, or were given to, anybody.

    Returns
    -------
    SessionPlan
        Unchanged if nothing was seen. Corrupted trials get an untaken stimulus of the same corruption with the nearest
        visual change, sentinels of persons another one of their family; a trial without a replacement is left out and
        the positions close up. New pictures of a validation have a planned number of answers and are never replaced.

    Raises
    ------
    DesignRefused
        If fewer than half of the main trials, or not all golds, can be kept.
    """
    rows = catalogue.by_stimulus()
    seen = set(seen)
    if not any(rows[name].original in seen for trial in session.trials for name in trial.stimuli):
        return session
    used = seen | {rows[name].original for trial in session.trials for name in trial.stimuli}
    spent = set(taken)
    pool_of = {original: role for role, originals in pools.items() for original in originals}
    swapped: dict[str, StimulusRow | None] = {}
    kept: list[PlannedTrial] = []
    for trial in session.trials:
        names = trial.stimuli
        # A picture that must lack the wanted category is replaced by one of its own group.
        keep_group = bool(trial.wanted) and rows[trial.stimulus].category != trial.wanted
        for name in names:
            if name not in swapped:
                row = rows[name]
                if row.original not in seen:
                    swapped[name] = row
                elif _has_planned_count(trial):
                    swapped[name] = None
                else:
                    swapped[name] = _replacement(
                        row,
                        catalogue,
                        pools,
                        pool_of,
                        used,
                        # What enters no result may come up again with other people.
                        set() if trial.role in ("practice", "negative", PERSON) else spent,
                        keep_group=keep_group,
                    )
        shown = [found for name in names if (found := swapped[name]) is not None]
        if len(shown) < len(names):
            continue
        second, third = (*(row.stimulus for row in shown[1:]), None, None)[:2]
        kept.append(
            trial._replace(
                position=len(kept),
                stimulus=shown[0].stimulus,
                second_stimulus=second,
                third_stimulus=third,
                correct_response=shown[0].category if trial.task == "categorisation" else trial.correct_response,
                wanted=trial.wanted if keep_group or not trial.wanted else shown[0].category,
                options=exchanged(
                    trial.options, catalogue, before=rows[trial.stimulus].original, after=shown[0].original
                ),
            )
        )
    _check(session.trials, kept)
    return SessionPlan(slot=session.slot, trials=tuple(kept))


def _has_planned_count(trial: PlannedTrial) -> bool:
    """Whether another picture in this place would have an answer too many, and this one an answer too few."""
    return trial.task == "validation" and trial.role not in ("practice", "gold", "negative")


def _replacement(
    row: StimulusRow,
    catalogue: Catalogue,
    pools: Mapping[str, Collection[str]],
    pool_of: Mapping[str, str],
    used: set[str],
    spent: set[str],
    *,
    keep_group: bool = False,
) -> StimulusRow | None:
    """Nearest free stimulus of the pool; enters it into `used` and `spent`."""
    pool = set(pools[pool_of[row.original]]) - used
    if keep_group:
        group = catalogue.space.group(row.category)
        pool = {original for original in pool if catalogue.group_of(original) == group}
    clean = catalogue.clean.get(row.original)
    if clean is not None and row.stimulus == clean.stimulus:
        candidates = [catalogue.clean[original] for original in pool]
    else:
        candidates = [
            other
            for other in (*catalogue.corrupted, *catalogue.held_plain, *catalogue.person_sentinels)
            if other.corruption == row.corruption and other.original in pool and other.stimulus not in spent
        ]
    if not candidates:
        return None
    best = min(
        candidates,
        key=lambda other: (
            abs(other.visual_change - row.visual_change),
            other.category != row.category,
            other.stimulus,
        ),
    )
    used.add(best.original)
    spent.add(best.stimulus)
    return best


def _check(asked: tuple[PlannedTrial, ...], kept: list[PlannedTrial]) -> None:
    needed = [("main", LEAST_SHARE_OF_MAIN, "main trials"), ("gold", 1.0, "gold trials")]
    if any(trial.task == "validation" for trial in asked):
        # Every screen has its purpose: nothing may be left out.
        needed = [
            (role, 1.0, f"{role} trials") for role in ("main", "consistency_first", "gold", "negative", "practice")
        ]
    for role, share, words in needed:
        before = sum(trial.role == role for trial in asked)
        after = sum(trial.role == role for trial in kept)
        if after < share * before:
            raise DesignRefused(
                f"This person has seen too many of the pictures: {after} of {before} {words} are left. Add pictures to "
                "the study, or allow fewer sessions a participant."
            )


#: Roles of trials whose answers are analysed.
_COUNTED = frozenset({"main", "clean", "consistency_first"})
#: Corruption, visual change and category of a stimulus.
Shown = tuple[str, float, str]


def cells_of(sessions: Iterable[SessionPlan], shown: Mapping[str, Shown]) -> FloatArray:
    """How many trials of each session lie in each cell of the plan.

    Parameters
    ----------
    sessions : iterable of SessionPlan
    shown : mapping of stimulus to (corruption, visual change, category)

    Returns
    -------
    ndarray, shape (sessions, cells)
        A cell is a tenth of visual change of a corruption (of a pair of them, where pictures are compared), or a
        category: every trial lies in one of either kind.
    """
    counts = [_counts(session, shown) for session in sessions]
    columns = {cell: number for number, cell in enumerate(sorted({cell for own in counts for cell in own}))}
    found = np.zeros((len(counts), len(columns)))
    for row, own in enumerate(counts):
        for cell, count in own.items():
            found[row, columns[cell]] = count
    return found


def _counts(session: SessionPlan, shown: Mapping[str, Shown]) -> Counter[tuple[str, ...]]:
    counts: Counter[tuple[str, ...]] = Counter()
    for trial in session.trials:
        if trial.role not in _COUNTED:
            continue
        first, *others = (shown[name] for name in trial.stimuli)
        corruption, visual_change, category = first
        tenth = min(STRATA - 1, int(visual_change * STRATA))
        counts[trial.task, " / ".join(sorted({corruption, *(one[0] for one in others)})), str(tenth)] += 1
        counts["category", category] += 1
    return counts


def by_balance(cells: FloatArray, held: Sequence[int], free: Sequence[int]) -> list[int]:
    """Free sessions in the order in which they would best make what a recruiter holds like the whole plan.

    Parameters
    ----------
    cells : ndarray, shape (sessions, cells)
        As `cells_of` counts them.
    held : sequence of int
        Sessions that people of this recruiter hold.
    free : sequence of int

    Returns
    -------
    list of int
        Equally good ones in the order given.

    Notes
    -----
    The distance is Pearson's: squared differences between what is held with the session and as large a share of the
    plan, over that share, summed over cells.
    """
    expected = cells.mean(axis=0)
    share = (len(held) + 1) * expected
    apart = cells[list(held)].sum(axis=0) + cells[list(free)] - share
    used = expected > 0.0
    distance = (apart[:, used] ** 2 / share[used]).sum(axis=1)
    order: IntArray = np.argsort(np.round(distance, 9), kind="stable")
    return [free[number] for number in order.tolist()]
