"""Which labels a question offers where it offers fewer than there are: the right one and foils, by a seeded rule."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from analysis.errors import InvalidInput
from analysis.labels.space import LabelSpace
from analysis.observers.questions import drawn_from


def alternatives_of(
    stimulus: str,
    right: str,
    space: LabelSpace,
    *,
    count: int,
    seed: int,
    accepted: Collection[str] = (),
    first: Iterable[str] = (),
) -> tuple[str, ...]:
    """The labels that are offered with one stimulus, in all its questions.

    Parameters
    ----------
    stimulus : str
        Its name, which with the seed decides the draw.
    right : str
        Its label.
    space : LabelSpace
    count : int
        Labels to offer, 2 or more.
    seed : int
    accepted : collection of str
        Further labels that are right for it, which are no foils.
    first : iterable of str
        Labels that are foils before any is drawn, as far as they are labels of the space and wrong.

    Returns
    -------
    tuple of str, length `count`
        In the order of the space, which does not tell the right one.

    Raises
    ------
    InvalidInput
        If the labels have not so many different words.

    Notes
    -----
    Foils are drawn without replacement, each wrong label with equal chance. A label is passed over where its word
    begins with the word of one that is offered, or the reverse: "crane" the bird beside "crane" the machine would leave
    nothing to decide by, and the scores of two such words would not exclude each other. An observer that guesses is
    right in 1 of `count`.
    """
    wrong = [one for one in space.ids if one != right and one not in accepted]
    order = drawn_from("alternatives", seed, stimulus).permutation(len(wrong))
    known = set(wrong)
    offered = {right: _word(space, right)}
    for one in (*(label for label in first if label in known), *(wrong[int(place)] for place in order)):
        if len(offered) == count:
            break
        word = _word(space, one)
        if one not in offered and not any(_begins_alike(word, other) for other in offered.values()):
            offered[one] = word
    if len(offered) < count:
        raise InvalidInput(
            f"{stimulus}: {space.name} has only {len(offered) - 1} wrong labels whose words differ from each other and "
            f"from {offered[right]!r}, and {count} alternatives take {count - 1}. Ask for fewer alternatives."
        )
    return tuple(one for one in space.ids if one in offered)


def _word(space: LabelSpace, label: str) -> str:
    return space[label].word().casefold()


def _begins_alike(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)
