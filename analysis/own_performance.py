"""One person's shares of right answers by amount of change, for that person: few answers, so no fitted curve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analysis.clusters import exact_bound
from analysis.errors import InvalidInput

#: Equal windows of visual change from which one starts; neighbours are put together until each has enough pictures.
WINDOWS = 8
#: A window has at least so many pictures: no single answer can be read off its share.
FEWEST_IN_WINDOW = 10
#: With fewer pictures than these, or fewer windows, no curve is shown: it is too few to tell.
FEWEST_PICTURES, FEWEST_WINDOWS = 40, 3
#: Chance that one window's interval misses its share.
MISSES = 0.05


@dataclass(frozen=True, kw_only=True)
class OwnWindow:
    """Pictures of one stretch of visual change.

    Attributes
    ----------
    start, end : float
        In [0, 1].
    pictures, right : int
    lower, upper : float
        Exact interval of the mean chance of a right answer, at level 1 - ``MISSES``.
    """

    start: float
    end: float
    pictures: int
    right: int
    lower: float
    upper: float

    @property
    def rate(self) -> float:
        return self.right / self.pictures

    @property
    def middle(self) -> float:
        return (self.start + self.end) / 2


@dataclass(frozen=True, kw_only=True)
class OwnPerformance:
    """What one person's answers say of them.

    Attributes
    ----------
    windows : tuple of OwnWindow
        From little to much change; empty where there are too few pictures to tell.
    all : OwnWindow
        All pictures together.
    is_like_guessing : bool
        The answers do not show that the person does better than by guessing.
    """

    windows: tuple[OwnWindow, ...]
    all: OwnWindow
    is_like_guessing: bool


def own_performance(visual_change: Sequence[float], correct: Sequence[bool], *, chance: float) -> OwnPerformance | None:
    """A person's shares by amount of change, each with its interval.

    Parameters
    ----------
    visual_change : sequence of float, shape (n,)
        In [0, 1].
    correct : sequence of bool, shape (n,)
        Every original once.
    chance : float
        Share of right answers of a person who guesses.

    Returns
    -------
    OwnPerformance or None
        None without an answer.

    Raises
    ------
    InvalidInput
        If the lengths differ.

    Notes
    -----
    Pictures of a window differ in how hard they are. The sum of answers with unequal chances spreads less than a
    binomial one of the same mean (Hoeffding 1956), so that the exact interval contains the mean chance at least as
    often as its level says, but for means within one answer of 0 and 1.
    """
    if len(visual_change) != len(correct):
        raise InvalidInput("As many amounts of change as answers are needed.")
    if not correct:
        return None
    answers = sorted(zip(visual_change, correct, strict=True))
    whole = _window(0.0, 1.0, [is_right for _, is_right in answers])
    found = tuple(_windows(answers))
    is_enough = whole.pictures >= FEWEST_PICTURES and len(found) >= FEWEST_WINDOWS
    at_least, _ = exact_bound(whole.right, whole.pictures, MISSES)
    return OwnPerformance(windows=found if is_enough else (), all=whole, is_like_guessing=at_least <= chance)


def _windows(answers: Sequence[tuple[float, bool]]) -> Iterator[OwnWindow]:
    """From little to much change, each with enough pictures; what is left at the end joins the last one."""
    cells: list[list[bool]] = [[] for _ in range(WINDOWS)]
    for change, is_right in answers:
        cells[min(int(change * WINDOWS), WINDOWS - 1)].append(is_right)
    for first, end, group in joined(cells):
        yield _window(first / WINDOWS, end / WINDOWS, group)


def joined(cells: Sequence[Sequence[bool]]) -> list[tuple[int, int, list[bool]]]:
    """Put neighbouring cells together until each group has `FEWEST_IN_WINDOW` answers.

    Parameters
    ----------
    cells : sequence of sequence of bool

    Returns
    -------
    list of (int, int, list of bool)
        The first cell of each group, the one after its last, and its answers. What is left at the end joins the last
        group, so that nothing is missing; empty where all answers together are too few.
    """
    groups: list[tuple[int, int, list[bool]]] = []
    start, gathered = 0, list[bool]()
    for number, cell in enumerate(cells, start=1):
        gathered += cell
        if len(gathered) >= FEWEST_IN_WINDOW:
            groups.append((start, number, gathered))
            start, gathered = number, []
    if groups and start < len(cells):
        first, _, last = groups.pop()
        groups.append((first, len(cells), last + gathered))
    return groups


def _window(start: float, end: float, answers: Sequence[bool]) -> OwnWindow:
    right = sum(answers)
    lower, upper = exact_bound(right, len(answers), MISSES / 2)
    return OwnWindow(start=start, end=end, pictures=len(answers), right=right, lower=lower, upper=upper)
