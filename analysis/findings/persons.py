"""Who answered? People's answers to sentinel pictures against those of models to the same pictures."""

from __future__ import annotations

import math
import re
from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from analysis.claims.persons import bound_sentence
from analysis.findings.fits import FitSettings, StudyCurves, quiet_fit
from analysis.findings.model.comparisons import Comparison, VerdictOnOne
from analysis.findings.model.curves import Curve
from analysis.findings.model.entry import HUMANS
from analysis.findings.model.people import AreaWithout, Caught, PersonBound, Persons, VerdictWithout, WithoutSessions
from analysis.findings.observations import Observations, read_sentinels
from analysis.findings.outcomes import human_outcomes
from analysis.findings.sensitivity import verdicts_under
from analysis.labels.space import LabelSpace
from analysis.persons.calibration import CATCHES, Judged, bias_of_area, judge_people, machines_at_most
from analysis.persons.score import Pictures, SentinelAnswers
from analysis.persons.sentinels import SENTINELS

if TYPE_CHECKING:
    import pandas as pd

#: Of a person in a study that was not planned with sentinels, so many answers count, evenly spaced.
MOST_ANSWERS = 48
FEWEST_PEOPLE = 5
FALSE_ALARMS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
#: Shares of people without whom results are shown.
LEFT_OUT = (0.02, 0.05, 0.1)
_CUE_CONFLICT = "cue_conflict"
_NAME = re.compile(r"^.*?([a-z]+\d*-[a-z]+\d*)(?:\.\w+)?$")


def person_entries(
    trials: pd.DataFrame,
    people: Observations,
    classifiers: Observations,
    study: StudyCurves,
    curves: tuple[Curve, ...],
    comparisons: tuple[Comparison, ...],
    settings: FitSettings,
) -> dict[str, Persons]:
    """What the sentinels say, as a field of the findings; nothing where a study has none, or no model answered them.

    Parameters
    ----------
    trials : pandas.DataFrame
        Columns of `tables.trials.TRIALS`: those of the role "person" in accepted sessions; where there are none,
        answers to cue conflicts.
    people : Observations
        Answers that may enter curves.
    classifiers : Observations
        Answers of models to all pictures, sentinels among them: the registry.
    study, curves, comparisons
        As reported.
    settings : FitSettings
    """
    shown = read_sentinels(trials)
    sentinels = _answers(shown if len(shown) else _spread(people, settings.space), settings.space)
    registry = _of_pictures(_answers(classifiers, settings.space), sentinels.picture)
    names = sorted(set(sentinels.observer.tolist()))
    if len(names) < FEWEST_PEOPLE or not len(registry):
        return {}
    pictures = Pictures.of(sentinels, options=settings.space.ids)
    weights = {name: family_of(name) for name in set(registry.observer.tolist())}
    judged = judge_people(pictures, pictures.coded(sentinels), pictures.coded(registry), weights, seed=settings.seed)
    everybody = sorted(set(people.observer.tolist()) | set(names))
    caught = _caught(judged, weights)
    by_flag = _by_family(judged.catch, weights)
    least = min(judged.catch, key=lambda model: judged.catch[model], default="")
    found = Persons(
        people=len(everybody),
        scored=len(names),
        sentinels=int(np.median(judged.answers)),
        families=tuple(sorted(set(sentinels.family.tolist()))),
        models=len(weights),
        weights=len(set(weights.values())),
        scores=tuple(sorted(judged.scores.tolist())),
        flagged_people=len(judged.flagged),
        flagged=judged.flagged,
        share=judged.share.estimate,
        share_interval=(judged.share.lower, judged.share.upper),
        caught=caught,
        flag_catches=by_flag,
        flag_catches_least=judged.catch[least] if least else None,
        least_caught=least,
        bounds=tuple(_bound(catch, judged, len(everybody), people, curves, comparisons, settings) for catch in CATCHES),
        without=tuple(_without(judged, people, study, settings)),
    )
    return {"persons": found}


def family_of(model: str) -> str:
    """Family of weights by a model's name: its first word, in which versions and sizes do not stand."""
    word = re.match(r"[^\W\d_]+", model.lower())
    return word[0] if word else model.lower()


def _answers(observed: Observations, space: LabelSpace) -> SentinelAnswers:
    """With what each picture shows: its category, or the shape and the texture of a cue conflict."""
    shape, texture, is_conflict = observed.conflicts(space)
    known = is_conflict | np.isin(observed.corruption, [name for name in SENTINELS if name != _CUE_CONFLICT])
    known &= is_conflict | space.known(observed.category)
    kept, conflict = observed.select(known), is_conflict[known]
    return SentinelAnswers(
        kept.observer,
        # What stands before the name of a published cue conflict differs between observers.
        np.array(
            [_NAME.sub(r"\1", name) if one else name for name, one in zip(kept.stimulus, conflict, strict=True)],
            dtype=np.str_,
        ),
        np.where(conflict, _CUE_CONFLICT, kept.corruption),
        np.where(conflict, shape[known], kept.category),
        np.where(conflict, texture[known], ""),
        kept.response,
    )


def _of_pictures(answers: SentinelAnswers, pictures: NDArray[np.str_]) -> SentinelAnswers:
    known = np.isin(answers.picture, pictures)
    return SentinelAnswers(**{one.name: getattr(answers, one.name)[known] for one in fields(answers)})


def _spread(people: Observations, space: LabelSpace) -> Observations:
    """Answers to cue conflicts of a study that was not planned with sentinels: of each person a few, evenly spaced."""
    mine = people.select(people.conflicts(space)[2])
    chosen = [np.zeros(0, dtype=np.int64)]
    for name in np.unique(mine.observer):
        own = np.flatnonzero(mine.observer == name)
        chosen.append(own[np.unique(np.linspace(0, len(own) - 1, min(MOST_ANSWERS, len(own))).round().astype(int))])
    return mine.select(np.concatenate(chosen))


def _by_family(catch: dict[str, float], weights: dict[str, str]) -> float | None:
    """Mean over families of the mean of their models."""
    own: dict[str, list[float]] = {}
    for model, share in catch.items():
        own.setdefault(weights[model], []).append(share)
    return float(np.mean([np.mean(shares) for shares in own.values()])) if own else None


def _caught(judged: Judged, weights: dict[str, str]) -> tuple[Caught, ...]:
    entries = []
    for alarms in FALSE_ALARMS:
        catch = judged.catches(alarms)
        mean = _by_family(catch, weights)
        if mean is not None:
            entries.append(Caught(false_alarms=alarms, families=mean, least=min(catch.values())))
    return tuple(entries)


def _bound(
    catch: float,
    judged: Judged,
    people: int,
    counted: Observations,
    curves: tuple[Curve, ...],
    comparisons: tuple[Comparison, ...],
    settings: FitSettings,
) -> PersonBound:
    unscored = max(people - len(judged.names), 0)
    machines = machines_at_most(len(judged.flagged), len(judged.names), catch, unscored=unscored)
    statement = bound_sentence(catch, machines, people)
    if machines is None:
        return PersonBound(catch=catch, machines=None, statement=statement)
    areas, verdicts = [], []
    for curve in curves:
        if curve.population != HUMANS or curve.property != "accuracy" or curve.interval is None:
            continue
        share = _share(counted, curve.corruption, machines, settings)
        own = [
            one.area
            for one in curves
            if one.population != HUMANS and (one.corruption, one.property) == (curve.corruption, "accuracy")
        ]
        bias = bias_of_area(curve.interval, share, (min(own, default=curve.chance), 1.0))
        lower, upper = curve.interval
        areas.append(
            AreaWithout(
                corruption=curve.corruption,
                area=curve.area,
                interval=None if bias is None else (max(lower - bias.upper, 0.0), min(upper - bias.lower, 1.0)),
                bias=None if bias is None else (bias.lower, bias.upper),
            )
        )
        for one in comparisons:
            if one.verdict is not None and one.corruption == curve.corruption and not one.borrowed:
                stands = bias is not None and stands_anyway(one.verdict, (bias.lower, bias.upper), share)
                verdicts.append(
                    VerdictWithout(
                        classifier=one.classifier, corruption=one.corruption, word=one.verdict.word, stands=stands
                    )
                )
    return PersonBound(
        catch=catch, machines=machines, statement=statement, areas=tuple(areas), verdicts=tuple(verdicts)
    )


def _share(people: Observations, corruption: str, machines: int, settings: FitSettings) -> float:
    """Largest share that so many people have of a curve: of its people, or of its answers where these count."""
    own = people.of(corruption)
    _, answers = np.unique(own.observer, return_counts=True)
    weight = answers.astype(np.float64) if settings.estimand == "answers" else np.ones(len(answers))
    return float(np.sort(weight)[::-1][:machines].sum() / weight.sum()) if len(weight) else 1.0


def stands_anyway(verdict: VerdictOnOne, bias: tuple[float, float], share: float) -> bool:
    """Whether a verdict would be the same however so many machines answered.

    The mean difference moves by the bias of the area. A window may move by up to ``share / (1 - share)``, because
    accuracy within it lies between 0 and 1. An undecided model stays undecided.
    """
    if verdict.word == "undecided":
        return True
    low, high = verdict.interval[0] + bias[0], verdict.interval[1] + bias[1]
    reach = share / (1.0 - share) if share < 1.0 else math.inf
    if verdict.word == "matches":
        inside = (
            abs(edge) + reach <= verdict.window_margin for one in verdict.windows for edge in (one.lower, one.upper)
        )
        return -verdict.margin <= low and high <= verdict.margin and all(inside)
    is_above = low > 0.0 or any(one.significant and one.lower - reach > 0.0 for one in verdict.windows)
    is_below = high < 0.0 or any(one.significant and one.upper + reach < 0.0 for one in verdict.windows)
    return {"above": is_above, "below": is_below, "crosses": is_above and is_below}[verdict.direction or "crosses"]


def _without(
    judged: Judged,
    people: Observations,
    study: StudyCurves,
    settings: FitSettings,
) -> list[WithoutSessions]:
    """Areas and verdicts without the k people whose scores are lowest."""
    ordered = [judged.names[place] for place in np.argsort(judged.scores, kind="stable")]
    counts = sorted({max(1, round(share * len(ordered))) for share in LEFT_OUT} | {1})
    entries = []
    for count in counts:
        kept = people.select(~np.isin(people.observer, ordered[:count]))
        if count >= len(ordered) or not len(kept):
            continue
        areas = []
        for key in study.curves:
            if key.population == HUMANS and key.property == "accuracy":
                outcomes = human_outcomes(kept, key.corruption, "accuracy", study.scales.get(key.corruption))
                fit = quiet_fit(outcomes, settings)
                if fit is not None:
                    areas.append(AreaWithout(corruption=key.corruption, area=fit.area))
        verdicts = verdicts_under(study, kept, settings) if settings.n_bootstrap else ()
        entries.append(
            WithoutSessions(
                people=count,
                areas=tuple(areas),
                verdicts=tuple(
                    VerdictWithout(classifier=one.classifier, corruption="", word=one.word, stands=False)
                    for one in verdicts
                ),
            )
        )
    return entries
