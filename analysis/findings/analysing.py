"""`analyse`: tables in, every number out."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from typing import TYPE_CHECKING, get_args

import numpy as np

import analysis
from analysis.errors import InvalidInput
from analysis.findings.agreement import agreement_entries
from analysis.findings.answers import confusion_entries, participant_entries, response_time_entries
from analysis.findings.caveats import CONSISTENCY
from analysis.findings.cue_conflict import shape_bias_entries
from analysis.findings.curve_entries import curve_entries
from analysis.findings.difficulty import difficulty_entries
from analysis.findings.discrimination import discrimination_entries
from analysis.findings.error_consistency import error_consistency_entries
from analysis.findings.fits import FitSettings, Report, StudyCurves, fit_study
from analysis.findings.leaderboard import leaderboard_entries
from analysis.findings.levels import level_entries
from analysis.findings.model import (
    HUMANS,
    LEVEL,
    N_BOOTSTRAP,
    AlikeClasses,
    Choice,
    Findings,
    Observer,
    SessionCounts,
    Settings,
    Similarity,
    TrialCounts,
)
from analysis.findings.observations import (
    accepted_answers,
    digest_of,
    read_predictions,
    read_trials,
    sentinel_originals,
)
from analysis.findings.observers import accuracy_entries, human_accuracy_entries
from analysis.findings.outcomes import categories_of
from analysis.findings.pair_entries import comparison_entries, similarity_entries
from analysis.findings.sensitivity import sensitivity_entries
from analysis.findings.stimulus_reach import reach_entries
from analysis.findings.twins import twins_of
from analysis.findings.validation import validation_entries
from analysis.findings.verdicts import verdicts_of
from analysis.findings.flow import inclusion_flow
from analysis.similarity import d_prime_of
from analysis.spec.analysis_plan import (
    BAND_MARGIN,
    D_PRIME_MARGIN,
    DISCRIMINATION_MARGIN,
    MARGIN,
    OBSERVER_MODEL,
    VALIDATION_THRESHOLD,
    Estimand,
    ObserverModel,
)
from analysis.spec.design import DiscriminationForm

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FINDINGS_VERSION", "analyse", "fit_study"]

#: Changes when the same tables would give other numbers.
FINDINGS_VERSION = "findings-5"


def analyse(
    trials: pd.DataFrame,
    predictions: pd.DataFrame | None = None,
    *,
    study: str,
    seed: int,
    n_bootstrap: int = N_BOOTSTRAP,
    discrimination: pd.DataFrame | None = None,
    sessions: Mapping[str, object] | None = None,
    session_table: pd.DataFrame | None = None,
    stimuli: pd.DataFrame | None = None,
    level_predictions: pd.DataFrame | None = None,
    borrow: Mapping[str, str] | None = None,
    level: float = LEVEL,
    margin: float = MARGIN,
    band_margin: float = BAND_MARGIN,
    discrimination_margin: float = DISCRIMINATION_MARGIN,
    d_prime_margin: float | None = D_PRIME_MARGIN,
    observer_model: ObserverModel = OBSERVER_MODEL,
    validation_threshold: float = VALIDATION_THRESHOLD,
    sensitivity: bool = True,
    estimand: Estimand = "categories",
    executor: Executor | None = None,
    report: Report | None = None,
) -> Findings:
    """Compute all findings of a study.

    Parameters
    ----------
    trials : pandas.DataFrame
        Columns of `analysis.tables.TRIALS`. Accepted sessions count; of their trials those with role main, clean or
        consistency_first. People are pooled as the population "humans".
    predictions : pandas.DataFrame, optional
        Columns of `analysis.tables.PREDICTIONS`. Classifiers are scored on the stimuli that people saw, and beside
        that on all.
    study : str
        Name that is written into the result.
    seed : int
        Seed of every resampling; the same tables and seed give the same result.
    n_bootstrap : int
        Refits per resampled unit; 0 leaves intervals, bands and similarity out.
    discrimination : pandas.DataFrame, optional
        Same/different trials; by default those among ``trials``.
    sessions : mapping, optional
        Counts of sessions and exclusions, copied into the result.
    session_table : pandas.DataFrame, optional
        Columns of `analysis.tables.SESSIONS`: the flow of inclusions, and what each rule of screening does to the
        headline numbers.
    stimuli : pandas.DataFrame, optional
        Columns of `analysis.tables.STIMULI`: coverage and reach.
    level_predictions : pandas.DataFrame, optional
        Columns of `analysis.tables.LEVEL_PREDICTIONS`: fixed levels beside areas.
    borrow : mapping of corruption to corruption, optional
        Compare classifiers on the first also with the human curve of the second, labelled borrowed.
    level : float
        Level of intervals.
    margin, band_margin : float
        Margins of equivalence of curves, set before looking at results.
    d_prime_margin : float, optional
        Margin of equivalence of same/different and ABX. None, as in plans that were frozen before there was one: the
        d' at which an observer who judges every picture on its own is right in 1/2 + ``discrimination_margin``; the
        verdict rests on that observer then, whatever ``observer_model`` says.
    observer_model : {"differencing", "independent"}
        Observer of same/different and ABX on whose d' the verdict rests.
    discrimination_margin : float
        Read where ``d_prime_margin`` is None.
    validation_threshold : float
        Share of qualified answers that accepts a picture.
    sensitivity : bool
        Whether headline numbers are also computed under other choices of sessions and trials.
    estimand : {"categories", "people", "answers"}
        Whether curves are means in which people and categories count equally (of models: categories), people alone, or
        answers. They are the same where all gave equally many answers, equally many to each category.
    executor : Executor, optional
        Where curves are fitted and compared (`analysis.compute.executor`); here, without one. The result is the same.
    report : callable, optional
        Called with (steps done, steps in all, what) on the way; what it raises is let through.

    Returns
    -------
    Findings
        Observers, accuracies, curves, comparisons, similarity, discrimination, error consistency, and more;
        `Findings.to_json` gives plain values in a fixed order, floats unrounded. The same call with
        ``**result.settings.to_json()`` on the same tables gives the same result.

    Raises
    ------
    TableRefused
        If a table lacks a column or a value.
    InvalidInput
        If the seed is negative.
    """
    if seed < 0:
        raise InvalidInput(f"A seed is not negative, but {seed} was given.")
    people, everyone = read_trials(trials), read_trials(trials, accepted_only=False)
    classifiers, label_spaces = read_predictions(predictions)
    # Golds and practice pictures enter no curve, human or classifier.
    classifiers = classifiers.select(~np.isin(classifiers.original, sentinel_originals(trials)))
    settings = FitSettings(
        seed=seed,
        n_bootstrap=n_bootstrap,
        level=level,
        estimand=estimand,
        categories=categories_of(people, classifiers),
    )
    steps = _Steps(report)
    curves = fit_study(
        people, classifiers, label_spaces, settings, everyone=everyone, executor=executor, report=steps.fitted
    )
    steps.then("similarity of corruptions")
    similarity: dict[str, list[Similarity]] = {}
    classes: list[AlikeClasses] = []
    for population in (HUMANS, *sorted(label_spaces)):
        similarity[population], groups = similarity_entries(
            curves, population, people, settings, margin=margin, band_margin=band_margin
        )
        classes.extend(groups)
    steps.then("people beside classifiers")
    verdicts = None
    if n_bootstrap:
        verdicts = verdicts_of(
            curves,
            people,
            settings,
            margin=margin,
            window_margin=band_margin,
            robust=sensitivity,
            tick=steps.still,
        )
    comparisons = comparison_entries(curves, dict(borrow or {}), verdicts, executor=executor)
    twins = twins_of(curves, settings)
    leaderboard = leaderboard_entries(curves, comparisons, verdicts, twins, executor=executor)
    steps.then("agreement of observers")
    consistency, consistency_notes = error_consistency_entries(people, classifiers, level=level)
    agreement, agreement_notes = agreement_entries(people, classifiers, consistency, curves.scales, settings)
    told_apart = discrimination_entries(
        trials if discrimination is None else discrimination,
        d_prime_margin={
            form: d_prime_of(0.5 + discrimination_margin, form, "independent")
            if d_prime_margin is None
            else d_prime_margin
            for form in get_args(DiscriminationForm)
        },
        observer_model="independent" if d_prime_margin is None else observer_model,
        level=level,
    )
    steps.then("other choices of sessions and trials")
    varied: list[Choice] = []
    if sensitivity:
        varied = sensitivity_entries(
            curves,
            everyone,
            accepted_answers(trials),
            session_table,
            settings,
            margins=(margin, band_margin) if verdicts is not None else None,
        )
    tables = (trials, predictions, discrimination)
    of_people = similarity.pop(HUMANS)
    found = Findings(
        study=study,
        version=f"{analysis.__version__}+{FINDINGS_VERSION}",
        data_digest=digest_of(*tables, *([] if level_predictions is None else [level_predictions])),
        seed=seed,
        n_bootstrap=n_bootstrap,
        settings=Settings(
            seed=seed,
            n_bootstrap=n_bootstrap,
            level=level,
            margin=margin,
            band_margin=band_margin,
            discrimination_margin=discrimination_margin,
            d_prime_margin=d_prime_margin,
            observer_model=observer_model,
            validation_threshold=validation_threshold,
            borrow=dict(borrow or {}),
            sensitivity=sensitivity,
            estimand=estimand,
        ),
        observers=(
            *(Observer(name=name, kind="human") for name in sorted(set(people.observer.tolist()))),
            *(Observer(name=name, kind="classifier") for name in sorted(label_spaces)),
        ),
        accuracy=tuple(accuracy_entries(people, classifiers)),
        human_accuracy=tuple(human_accuracy_entries(people)),
        curves=tuple(curve_entries(curves, settings, twins, executor=executor)),
        comparisons=tuple(comparisons),
        leaderboard=tuple(leaderboard),
        similarity=tuple(of_people),
        classifier_similarity=tuple(entry for own in similarity.values() for entry in own),
        classes=tuple(classes),
        discrimination=tuple(told_apart),
        error_consistency=tuple(consistency),
        agreement=tuple(agreement),
        difficulty=tuple(difficulty_entries(people, classifiers, level=level)),
        shape_bias=tuple(shape_bias_entries(people, classifiers, level=level)),
        confusion=tuple(confusion_entries(curves, people, classifiers)),
        response_times=tuple(response_time_entries(curves)),
        participants=tuple(participant_entries(curves, settings)),
        sensitivity=tuple(varied),
        levels=level_entries(curves, level_predictions, predictions),
        reach=tuple(reach_entries(stimuli)),
        validation=validation_entries(trials, threshold=validation_threshold),
        trials=TrialCounts(
            rows=len(trials),
            in_all_sessions=len(everyone),
            in_accepted_sessions=len(people),
            predictions=len(classifiers),
        ),
        notes=(*curves.notes, *consistency_notes, *agreement_notes, *_caveats(curves)),
    )
    if sessions is not None:
        found = found.model_copy(update={"sessions": SessionCounts.model_validate(sessions)})
    return found if session_table is None else found.model_copy(update={"flow": inclusion_flow(session_table)})


class _Steps:
    """Tells how far an analysis is: curves, then the parts that follow."""

    #: parts after the curves
    later = 4

    def __init__(self, report: Report | None) -> None:
        self._report = report
        self._done = 0
        self._total = self.later
        self._what = ""

    def fitted(self, done: int, total: int, what: str) -> None:
        self._done, self._total = done, total + self.later
        if self._report is not None:
            self._report(self._done, self._total, what)

    def still(self) -> None:
        """Tell that a part goes on, so that it can be stopped."""
        if self._report is not None:
            self._report(self._done, self._total, self._what)

    def then(self, what: str) -> None:
        self._done += 1
        self._what = what
        if self._report is not None:
            self._report(self._done, self._total, what)


def _caveats(curves: StudyCurves) -> list[str]:
    """Sentences that must stand beside the numbers."""
    consistency = [key for key in curves.curves if key.property == "consistency"]
    both = any(key.population == HUMANS for key in consistency) and any(key.population != HUMANS for key in consistency)
    return [CONSISTENCY] if both else []
