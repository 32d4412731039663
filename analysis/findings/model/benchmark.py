"""Observers of published experiments in one table, as the model-vs-human benchmark prints it."""

from __future__ import annotations

from typing import Literal

from analysis.entry import Entry
from analysis.findings.model.comparisons import RankSet
from analysis.findings.model.entry import Interval


class PooledMean(Entry):
    """A mean over experiments, with its interval for new people and new pictures."""

    value: float
    interval: Interval | None = None


class Standing(Entry):
    """One observer next to people, on average over experiments.

    Attributes
    ----------
    observer, kind : str
        "humans" are people among themselves; a single person is compared with the others.
    experiments : tuple of str
        Those that the observer answered.
    ood_accuracy : PooledMean or None
        Mean over the conditions that count.
    accuracy_difference, observed_consistency, error_consistency : PooledMean or None
        Means over people, each over conditions: the squared difference of accuracies, the share of pictures on which
        both are right or both wrong, and Cohen's kappa. None where no person shares enough pictures.
    accuracy_lead : PooledMean or None
        Mean over people, each over conditions, of the person's accuracy minus the observer's: above 0, people lead.
        None for people among themselves.
    corrected_accuracy_difference : PooledMean or None
        The squared difference of accuracies without what the choice of pictures adds to it on average, which the
        published number contains.
    shape_bias : PooledMean or None
        On cue-conflict pictures.
    ranks : RankSet or None
        Places that the data leave open by accuracy, among models of the same experiments.
    mean_rank : float or None
        As published: the mean of the places by accuracy difference, observed and error consistency among these models;
        1 is the most like people. It has no interval.
    """

    observer: str
    kind: Literal["humans", "human", "classifier"]
    experiments: tuple[str, ...]
    ood_accuracy: PooledMean | None = None
    accuracy_difference: PooledMean | None = None
    observed_consistency: PooledMean | None = None
    error_consistency: PooledMean | None = None
    shape_bias: PooledMean | None = None
    ranks: RankSet | None = None
    mean_rank: float | None = None
    accuracy_lead: PooledMean | None = None
    corrected_accuracy_difference: PooledMean | None = None
