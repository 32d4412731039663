"""Simulated studies: people and models answer the same stimuli of several corruption functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from analysis.arrays import FloatArray, IntArray
from analysis.differences.answers import AnswersToOne, Clusters
from analysis.differences.beside import attentive_share
from analysis.power.crowd import LogisticDrop, marginal_logit

Curve = Callable[[FloatArray], FloatArray]

SMOOTH = LogisticDrop(0.93, 1 / 16, 0.55, 0.12)
SHARP = LogisticDrop(0.93, 1 / 16, 0.90, 0.03)
CLIFF = LogisticDrop(0.95, 1 / 16, 0.60, 0.01)

#: Clean pictures that everybody sees, and how many of them people name.
CLEAN_EACH, CLEAN = 10, 0.96


CATEGORIES = np.char.zfill(np.arange(16).astype(str), 2)


@dataclass(frozen=True)
class Size:
    """People, and answers of each on a corruption; effects of pictures and people on the logit."""

    people: int
    each: int
    image_sd: float = 2.0
    person_sd: float = 0.5
    #: part of the pictures' variance that belongs to the original
    original_share: float = 0.5
    #: standard deviation between 16 categories on the logit, 0 for one category; those that are easier for people are
    #: harder for models, and are shown up to four times as often
    category_sd: float = 0.0

    @property
    def ease(self) -> FloatArray:
        """How much easier each category is for people; for models in reverse."""
        return ease_of(self.category_sd)

    def categories_of(self, rng: np.random.Generator, originals: int) -> IntArray | None:
        return categories_of(rng, originals) if self.category_sd else None


def ease_of(sd: float) -> FloatArray:
    """How much easier each category is on the logit: those that are shown more often are easier."""
    return np.asarray(sd * norm.ppf((np.arange(16) + 0.5) / 16))


def categories_of(rng: np.random.Generator, originals: int) -> IntArray:
    """The category of each original, some shown up to four times as often as others."""
    often = np.linspace(0.4, 1.6, 16)
    return rng.choice(16, originals, p=often / often.sum())


@dataclass(frozen=True, eq=False)
class Study:
    people: dict[str, AnswersToOne]
    models: dict[str, dict[str, AnswersToOne]]
    #: people's answers to clean pictures
    clean: AnswersToOne

    @property
    def attentive(self) -> dict[str, float]:
        return dict.fromkeys(self.people, attentive_share(self.clean))


def simulated(
    rng: np.random.Generator,
    size: Size,
    people: Sequence[Curve],
    models: Sequence[Sequence[Curve]],
    *,
    shares_pictures: bool = True,
    careless: float = 0.0,
    answers_per_stimulus: int = 1,
) -> Study:
    """One study.

    Parameters
    ----------
    rng : numpy Generator
    size : Size
    people : sequence of callable
        True marginal curve of people on each corruption.
    models : sequence of sequence of callable
        Those of each model.
    shares_pictures : bool
        Whether pictures that are hard for people are hard for models (and for all models alike).
    careless : float
        Share of people's answers, of everybody's alike, that are guesses between 16 labels.
    answers_per_stimulus : int
        People who answer the same stimulus; it divides the number of answers.

    Notes
    -----
    As `power.crowd.simulate_answers`: originals are shared between the functions, each has one stimulus of each.
    Unless told otherwise every answer has a stimulus of its own. A model answers every stimulus once.
    """
    count = size.people * size.each
    who = np.repeat(np.arange(size.people), size.each)
    person = rng.normal(0.0, size.person_sd, size.people)
    by_original, own_sd = np.sqrt(size.original_share) * size.image_sd, np.sqrt(1 - size.original_share) * size.image_sd
    stimuli = count // answers_per_stimulus
    shown = np.arange(count) % stimuli
    original = rng.normal(0.0, by_original, stimuli)
    names, persons = (
        np.char.zfill(np.arange(stimuli).astype(str), 6),
        np.char.zfill(np.arange(size.people).astype(str), 6),
    )
    kinds = size.categories_of(rng, stimuli)
    image_sd = np.hypot(size.image_sd, size.category_sd)
    clean = np.repeat(np.arange(size.people), CLEAN_EACH)
    chance = expit(marginal_logit(np.full(len(clean), CLEAN), size.person_sd) + person[clean])
    study = Study(
        {},
        {f"model {number}": {} for number in range(len(models))},
        AnswersToOne(
            np.zeros(len(clean)),
            answered(rng, chance, careless),
            Clusters(np.char.zfill(np.arange(len(clean)).astype(str), 6), np.arange(len(clean))),
            Clusters(persons, clean),
        ),
    )
    for number, truth in enumerate(people):
        corruption = f"corruption {number}"
        v, of = rng.random(stimuli), rng.permutation(stimuli)
        effect = original[of] + rng.normal(0.0, own_sd, stimuli)
        kind = None if kinds is None else kinds[of]
        ease = 0.0 if kind is None else size.ease[kind]
        logit = marginal_logit(truth(v), np.hypot(image_sd, size.person_sd)) + effect + ease
        study.people[corruption] = AnswersToOne(
            v[shown],
            answered(rng, expit(logit[shown] + person[who]), careless),
            Clusters(names, of[shown]),
            Clusters(persons, who),
            None if kind is None else Clusters(CATEGORIES, kind[shown]),
        )
        originals = Clusters(names, of)
        categories = None if kind is None else Clusters(CATEGORIES, kind)
        for model, curves in zip(study.models, models, strict=True):
            theirs = effect if shares_pictures else rng.normal(0.0, size.image_sd, stimuli)
            chance = expit(marginal_logit(curves[number](v), image_sd) + theirs - ease)
            study.models[model][corruption] = AnswersToOne(v, answered(rng, chance), originals, None, categories)
    return study


def answered(rng: np.random.Generator, chance: FloatArray, careless: float = 0.0) -> FloatArray:
    """Right or wrong; a careless answer is right in 1 of 16."""
    chance = np.where(rng.random(len(chance)) < careless, 1 / 16, chance) if careless else chance
    return np.asarray(rng.random(len(chance)) < chance, dtype=np.float64)


def expit(logit: FloatArray) -> FloatArray:
    return np.asarray(1.0 / (1.0 + np.exp(-logit)))
