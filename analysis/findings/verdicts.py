"""Does a model match people, or differ from them? Every model and corruption of a study, as one family."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.claims.models import overall_word, undecided_words, verdict_words
from analysis.differences import AnswersToOne, Beside, ModelBesidePeople, attentive_share, beside_people
from analysis.differences.attention import ATTENTIVE
from analysis.differences.beside import TRUE_GAP
from analysis.differences.windows import WINDOW
from analysis.findings.fits import CurveKey, FitSettings, FittedCurve, StudyCurves
from analysis.findings.model import HUMANS, Direction, VerdictOnAll, VerdictOnOne, WindowMean
from analysis.findings.observations import Observations

#: Answers to pictures that are changed no more than this stand in for clean ones where nobody saw any.
_HARDLY_CHANGED = 0.15


@dataclass(frozen=True, eq=False)
class Verdicts:
    """What was found, by classifier and corruption."""

    found: dict[str, ModelBesidePeople]
    level: float

    def of(self, classifier: str, corruption: str) -> Beside | None:
        """What was found on one corruption; None where nothing was compared."""
        model = self.found.get(classifier)
        return None if model is None else model.corruptions.get(corruption)

    def on_all(self, classifier: str) -> VerdictOnAll | None:
        """The verdict over all corruptions."""
        model = self.found.get(classifier)
        if model is None:
            return None
        differing = [one for one in model.corruptions.values() if one.differs]
        direction = _direction(any(one.above for one in differing), any(one.below for one in differing))
        statement = verdict_words(
            matches=model.matches, differs=bool(differing), direction=direction, difference=model.difference
        )
        if differing and not model.matches and len(model.corruptions) > 1:
            statement = f"{statement} on {len(differing)} of {len(model.corruptions)} corruptions"
        return VerdictOnAll(
            word=overall_word(matches=model.matches, differs=bool(differing)),
            statement=statement,
            matches=model.matches,
            differs=bool(differing),
            direction=direction,
            difference=model.difference,
            interval=model.interval(self.level),
            matches_on=tuple(name for name, one in model.corruptions.items() if one.matches),
            differs_on=model.differs_on,
        )


def verdicts_of(
    study: StudyCurves, people: Observations, settings: FitSettings, *, margin: float, window_margin: float
) -> Verdicts:
    """Compare the accuracy of every classifier with people's own, corruption by corruption.

    Parameters
    ----------
    study : StudyCurves
    people : Observations
        Their answers that count, clean ones among them.
    settings : FitSettings
    margin, window_margin : float
        As in `beside_people`.
    """
    theirs: dict[str, FittedCurve] = {}
    models: dict[str, dict[str, AnswersToOne]] = {}
    for key, curve in study.curves.items():
        human = study.curves.get(CurveKey(HUMANS, key.corruption, "accuracy"))
        if key.property != "accuracy" or human is None:
            continue
        if key.population == HUMANS:
            theirs[key.corruption] = curve
        elif curve.fit.config.label_space == human.fit.config.label_space and curve.answers is not None:
            models.setdefault(key.population, {})[key.corruption] = curve.answers
    answers = {name: curve.answers for name, curve in theirs.items() if curve.answers is not None}
    clean = people.clean
    shared = attentive_share(_answers(clean)) if len(clean) else None
    found = beside_people(
        answers,
        models,
        attentive={
            name: shared if shared is not None and name not in study.scales else _least_changed(own)
            for name, own in answers.items()
        },
        conditions=frozenset(study.scales),
        margin=margin,
        window_margin=window_margin,
        seed=settings.seed,
    )
    return Verdicts(found, settings.level)


def _answers(observations: Observations) -> AnswersToOne:
    return AnswersToOne.of(
        np.zeros(len(observations)), observations.correct, observations.original, observations.observer
    )


def _least_changed(answers: AnswersToOne) -> float:
    """From the answers to the least changed pictures."""
    rows = answers.place <= max(_HARDLY_CHANGED, float(answers.place.min()))
    return attentive_share(answers.select(rows))


def verdict_entry(one: Beside, level: float) -> VerdictOnOne:
    """The verdict on one corruption, at this level of its interval."""
    above, below = bool(one.above), bool(one.below)
    direction = _direction(above, below)
    if one.matches or one.differs:
        statement = verdict_words(
            matches=one.matches, differs=one.differs, direction=direction, difference=float(one.estimate[0])
        )
    else:
        statement = undecided_words(
            gaps=len(one.gaps),
            careless=one.is_within and one.attentive < ATTENTIVE,
            answers_to_match=one.answers_to_match,
            answers_to_differ=one.answers_to_differ,
            gap=TRUE_GAP,
        )
    windows = zip(one.ranges, one.estimate, one.lower, one.upper, one.significant, strict=True)
    return VerdictOnOne(
        word=overall_word(matches=one.matches, differs=one.differs),
        statement=statement,
        matches=one.matches,
        differs=one.differs,
        direction=direction,
        difference=float(one.estimate[0]),
        interval=one.interval(level),
        range=one.ranges[0],
        gaps=one.gaps,
        windows=tuple(
            WindowMean(range=span, difference=float(mean), lower=float(low), upper=float(high), significant=bool(shown))
            for span, mean, low, high, shown in list(windows)[1:]
        ),
        margin=one.margin,
        window_margin=one.window_margin,
        window=WINDOW,
        attentive=one.attentive,
        answers=one.answers,
        answers_to_match=one.answers_to_match,
        answers_to_differ=one.answers_to_differ,
    )


def _direction(above: bool, below: bool) -> Direction | None:
    if above and below:
        return "crosses"
    if above:
        return "above"
    return "below" if below else None
