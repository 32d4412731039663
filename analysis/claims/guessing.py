"""Networks that guess: what is said wherever one is shown that names clean pictures no better than by chance."""

from __future__ import annotations

#: Pictures from which on it is said.
ENOUGH_PICTURES = 10
#: Chance that a network which only guesses names so many right or more; below it, it is taken to see something.
_LEVEL = 0.01


def is_guessing(right: int, shown: int, label_space: int) -> bool:
    """Whether so many right answers to clean pictures are no more than guessing gives.

    Parameters
    ----------
    right, shown : int
        Clean pictures named right, and all of them.
    label_space : int
        Labels that the network chose from.

    Notes
    -----
    Exact one-sided binomial test against ``1 / label_space`` at .01; with fewer than 10 pictures nothing is said.
    """
    from scipy.stats import binom

    return shown >= ENOUGH_PICTURES and float(binom.sf(right - 1, shown, 1.0 / label_space)) > _LEVEL


def guessing_words(name: str, right: int, shown: int) -> str:
    """What is said of a network that `is_guessing`, with what usually is the cause."""
    return (
        f"{name} names {right:,} of {shown:,} clean pictures right, no more than by guessing. Look at the order of its "
        "labels, its mean and std, and the order of its colours before you use its numbers."
    )
