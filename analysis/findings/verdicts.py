"""Does a model match people, or differ from them? Every model and corruption, beside a twin of people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np
from numpy.typing import NDArray

from analysis.claims import claim
from analysis.claims.claim import too_few_words
from analysis.claims.models import (
    fragility_words,
    individuals_words,
    overall_word,
    twin_words,
    undecided_words,
    verdict_words,
    withheld_words,
)
from analysis.curves.categories import pictures_needed
from analysis.differences import beside
from analysis.differences.answers import AnswersToOne, Clusters
from analysis.differences.beside import ATTENTIVE, Beside, ModelBesidePeople, beside_people
from analysis.differences.compared import Compared, Sources
from analysis.differences.fragility import Place, Removal, fragility
from analysis.differences.individuals import Called, individuals
from analysis.differences.ranks import rank_sets
from analysis.differences.twin import TWINS, CurveAnswers, Twins, simulated_twins
from analysis.differences.windows import FEWEST, STRETCH, WINDOW
from analysis.findings.fits import CurveKey, FitSettings, FittedCurve, StudyCurves
from analysis.findings.model.comparisons import (
    Direction,
    Fragility,
    Individuals,
    RankSet,
    VerdictOnAll,
    VerdictOnOne,
    WindowMean,
)
from analysis.findings.model.entry import HUMANS, Twin
from analysis.findings.observations import Observations
from analysis.findings.outcomes import clean_to_one, counted_weights


def twins_of(study: StudyCurves, settings: FitSettings) -> Twins | None:
    """Twins of people on every corruption, in accuracy; None without refits or without a classifier.

    Parameters
    ----------
    study : StudyCurves
    settings : FitSettings
    """
    if not settings.n_bootstrap or all(key.population == HUMANS for key in study.curves):
        return None
    curves = {
        key.corruption: _answers(curve, settings)
        for key, curve in study.curves.items()
        if key.population == HUMANS and key.property == "accuracy"
    }
    return simulated_twins(curves, seed=settings.seed) if curves else None


def twin_entry(twins: Twins, corruptions: Sequence[str]) -> Twin:
    """Median and range of the twins' indices, and of their means over several corruptions."""
    low, middle, high = np.quantile(twins.mean(list(corruptions)), [0.05, 0.5, 0.95], axis=0).tolist()
    (hmri, mrsi), (hmri_range, mrsi_range) = middle, zip(low, high, strict=True)
    return Twin(
        draws=TWINS,
        hmri=hmri,
        hmri_range=hmri_range,
        mrsi=mrsi,
        mrsi_range=mrsi_range,
        shared=twins.shared.pictures,
        shared_by=twins.shared.by,
        statement=twin_words(
            hmri=hmri, hmri_range=hmri_range, mrsi=mrsi, mrsi_range=mrsi_range, shared_by=twins.shared.by
        ),
    )


def _answers(curve: FittedCurve, settings: FitSettings) -> CurveAnswers:
    """People's answers behind a curve, and those that hold its left end."""
    outcomes, answers = curve.outcomes, curve.outcomes.answers
    weights = counted_weights(outcomes, settings.estimand, settings.equal_categories, settings.recruiters)
    clean = outcomes.clean
    count = 0 if clean is None else len(np.asarray(clean.correct))
    held = np.empty(0, dtype=np.str_) if clean is None else np.asarray(clean.images, dtype=np.str_)
    people = np.empty(0, dtype=np.str_) if clean is None else np.asarray(clean.participants, dtype=np.str_)
    none: NDArray[np.float64] = np.empty(0)
    return CurveAnswers(
        fit=curve.judged,
        place=np.concatenate([outcomes.place, np.zeros(count)]),
        correct=np.concatenate([outcomes.outcome, none if clean is None else np.asarray(clean.correct, dtype=float)]),
        people=Clusters.of(np.concatenate([answers.observer, people])),
        stimuli=Clusters.of(np.concatenate([answers.stimulus, np.char.add("clean ", held)])),
        originals=Clusters.of(np.concatenate([answers.original, held])),
        is_clean=np.arange(len(answers) + count) >= len(answers),
        weights=None if weights is None else np.concatenate(weights),
    )


@dataclass(frozen=True, eq=False)
class Verdicts:
    """What was found, by classifier and corruption, and the places left open to classifiers."""

    found: dict[str, ModelBesidePeople]
    level: float
    ranks: Mapping[str, RankSet] = field(default_factory=dict)
    #: what each verdict hangs on, and what people would be called; empty where it was not sought
    removals: Mapping[Place, tuple[Removal, ...]] = field(default_factory=dict)
    people: Mapping[str | None, Called] = field(default_factory=dict)
    #: why there is no verdict, by classifier and corruption
    withheld: Mapping[tuple[str, str], str] = field(default_factory=dict)
    #: how many people answered, by corruption
    crowds: Mapping[str, int] = field(default_factory=dict)

    def of(self, classifier: str, corruption: str) -> Beside | None:
        """What was found on one corruption; None where nothing was compared."""
        model = self.found.get(classifier)
        return None if model is None else model.corruptions.get(corruption)

    def on_leader(self, classifier: str) -> dict[str, VerdictOnAll | RankSet]:
        """What of it stands beside the classifier's means over corruptions: ``verdict`` and ``ranks``, where known."""
        known = {"verdict": self.on_all(classifier), "ranks": self.ranks.get(classifier)}
        return {name: value for name, value in known.items() if value is not None}

    def entry(self, classifier: str, corruption: str) -> VerdictOnOne | None:
        """The verdict on one corruption."""
        one = self.of(classifier, corruption)
        if one is None:
            return None
        told = {"people": self.crowds.get(corruption, 0), **self._robustness(classifier, corruption)}
        return verdict_entry(one, self.level).model_copy(update=told)

    def _robustness(self, classifier: str, corruption: str | None) -> dict[str, object]:
        """Fields on what the verdict hangs on, and on people; none where it was not sought."""
        told: dict[str, object] = {}
        if (classifier, corruption) in self.removals:
            told["fragility"] = tuple(
                Fragility.of(one, statement=_fragile(one)) for one in self.removals[classifier, corruption]
            )
        if corruption in self.people:
            called = self.people[corruption]
            told["individuals"] = Individuals.of(called, statement=individuals_words(**asdict(called)))
        return told

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
        ).model_copy(update=self._robustness(classifier, None))


def verdicts_of(
    study: StudyCurves,
    people: Observations,
    settings: FitSettings,
    *,
    robust: bool = False,
    tick: Callable[[], None] = lambda: None,
) -> Verdicts:
    """Compare the accuracy of every classifier with people's own, corruption by corruption.

    Parameters
    ----------
    study : StudyCurves
    people : Observations
        Their answers that count, clean ones among them.
    settings : FitSettings
    robust : bool
        Whether to seek what each verdict hangs on, and what people would be called.
    tick : callable
        Called now and then; what it raises is let through.
    """
    every = compared_of(study, people)
    compared = every.of_crowds(claim.FEWEST)
    found = found_of(compared, settings)
    # The order of models is of these pictures: people are not asked about it.
    ranks, withheld, crowds = _ranks(every, settings.seed), _withheld(every, found), every.crowds
    if not robust or not found:
        return Verdicts(found, settings.level, ranks, withheld=withheld, crowds=crowds)
    margins, seed = (settings.margin, settings.band_margin), settings.seed
    removals = fragility(compared, margin=margins[0], window_margin=margins[1], seed=seed, tick=tick)
    called = individuals(compared, margin=margins[0], window_margin=margins[1], seed=seed, tick=tick)
    return Verdicts(found, settings.level, ranks, removals, called, withheld, crowds)


def _withheld(compared: Compared, found: Mapping[str, ModelBesidePeople]) -> dict[tuple[str, str], str]:
    """Why nothing can be said of a model on a corruption that both answered."""
    people, models = compared.answers()
    told = {}
    for model, answered in models.items():
        judged = found[model].corruptions if model in found else {}
        for corruption, own in answered.items():
            if corruption in people and corruption not in judged:
                few = too_few_words(people[corruption].n_people)
                told[model, corruption] = f"no verdict: {few}" if few else _why_withheld(people[corruption], own)
    return told


def _why_withheld(people: AnswersToOne, own: AnswersToOne) -> str:
    """Name what is thin, the category that lacks most pictures first."""
    needed: dict[str, tuple[int, list[tuple[float, float]]]] = {}
    for side in (people, own):
        stretches: dict[str, list[tuple[float, float]]] = {}
        for gap in side.thin_categories:
            stretches.setdefault(gap.category, []).append((gap.start, gap.end))
        for name, where in stretches.items():
            # A new picture is shown to both: the side that lacks more of them tells how many.
            needed[name] = max(needed.get(name, (0, [])), (sum(pictures_needed(*one) for one in where), sorted(where)))
    thin = [(name, where, more) for name, (more, where) in needed.items()]
    return withheld_words(sorted(thin, key=lambda one: -one[2]), fewest=FEWEST, stretch=STRETCH)


def found_of(compared: Compared, settings: FitSettings) -> dict[str, ModelBesidePeople]:
    """What is found on every model."""
    answers, models = compared.answers()
    return beside_people(
        answers,
        models,
        attentive=compared.attentive(),
        conditions=compared.conditions,
        margin=settings.margin,
        window_margin=settings.band_margin,
        seed=settings.seed,
    )


def _ranks(compared: Compared, seed: int) -> dict[str, RankSet]:
    """The places that are open to each model."""
    answers, models = compared.answers()
    sets = rank_sets(answers, models, conditions=compared.conditions, seed=seed)
    return {name: RankSet(best=best, worst=worst, classifiers=len(sets)) for name, (best, worst) in sets.items()}


def compared_of(study: StudyCurves, people: Observations) -> Compared:
    """The answers behind the accuracy curves of people and of the classifiers that stand beside them."""
    theirs: dict[str, Sources] = {}
    models: dict[str, dict[str, Sources]] = {}
    for key, curve in study.curves.items():
        human = study.curves.get(CurveKey(HUMANS, key.corruption, "accuracy"))
        if key.property != "accuracy" or human is None:
            continue
        category = Clusters.of(curve.outcomes.answers.category)
        if key.population == HUMANS:
            theirs[key.corruption] = Sources(curve.answers, category, _sessions(curve.outcomes.answers))
        elif curve.fit.config.chooses_alike(human.fit.config):
            models.setdefault(key.population, {})[key.corruption] = Sources(curve.answers, category)
    clean = people.clean
    held = clean_to_one(clean, study.n_labels)
    return Compared(
        theirs,
        models,
        None if held is None else Sources(held, Clusters.of(clean.category), _sessions(clean)),
        frozenset(study.scales),
        study.n_labels,
    )


def attentive_shares(answers: Mapping[str, AnswersToOne], people: Observations, n_labels: int) -> dict[str, float]:
    """The same as `analysis.differences.beside.attentive_shares`, from the clean answers among all of people's."""
    return beside.attentive_shares(answers, clean_to_one(people.clean, n_labels), choices=n_labels)


def _sessions(answers: Observations) -> Clusters:
    """The session of each answer; the person where sessions are not known."""
    return Clusters.of(np.where(answers.session == "", answers.observer, answers.session))


def _fragile(one: Removal) -> str:
    return fragility_words(
        unit=one.unit, count=one.count, size=len(one.names), word=one.word, tried=one.tried, exact=one.exact
    )


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
            stretches=one.gaps,
        )
    windows = zip(one.ranges, one.estimate, one.lower, one.upper, one.significant, strict=True)
    return VerdictOnOne.of(
        one,
        word=overall_word(matches=one.matches, differs=one.differs),
        statement=statement,
        direction=direction,
        difference=float(one.estimate[0]),
        interval=one.interval(level),
        range=one.ranges[0],
        windows=tuple(
            WindowMean(range=span, difference=float(mean), lower=float(low), upper=float(high), significant=bool(shown))
            for span, mean, low, high, shown in list(windows)[1:]
        ),
        window=WINDOW,
    )


def _direction(above: bool, below: bool) -> Direction | None:
    if above and below:
        return "crosses"
    if above:
        return "above"
    return "below" if below else None
