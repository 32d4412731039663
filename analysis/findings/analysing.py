"""`analyse`: tables in, every number out."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, get_args

from analysis import __version__
from analysis.differences.twin import Twins
from analysis.errors import InvalidInput
from analysis.findings.agreement import agreement_entries, error_consistency_entries, shape_bias_entries
from analysis.findings.answers import (
    accuracy_entries,
    asked_entries,
    confusion_entries,
    human_accuracy_entries,
    participant_entries,
    response_time_entries,
)
from analysis.findings.benchmark import published_benchmark
from analysis.findings.curve_entries import curve_entries, guessing_notes, reach_entries, study_caveats
from analysis.findings.discrimination import discrimination_entries
from analysis.findings.fits import FitSettings, Report, Steps, StudyCurves, fit_study
from analysis.findings.leaderboard import difficulty_entries, leaderboard_entries
from analysis.findings.levels import level_entries
from analysis.findings.model.agreement import Observer
from analysis.findings.model.comparisons import Comparison, Leader
from analysis.findings.model.curves import AlikeClasses, Discrimination, Similarity
from analysis.findings.model.entry import HUMANS, N_BOOTSTRAP
from analysis.findings.model.findings import Findings
from analysis.findings.model.people import SessionCounts, Settings, TrialCounts
from analysis.findings.observations import (
    Observations,
    accepted_answers,
    attended,
    curve_predictions,
    is_set_aside,
    people_asked,
    read_predictions,
    read_sentinels,
    read_set_aside,
    read_trials,
)
from analysis.findings.outcomes import categories_of
from analysis.findings.pair_entries import comparison_entries, similarity_entries
from analysis.findings.persons import person_entries
from analysis.findings.pipeline import AnalysedTables
from analysis.findings.recruiters import Origins, origins_of, recruiter_entries
from analysis.findings.sensitivity import inclusion_flow, sensitivity_entries
from analysis.findings.validation import validation_entries
from analysis.findings.verdicts import Verdicts, twins_of, verdicts_of
from analysis.similarity.sensitivity import d_prime_of
from analysis.study.analysis_plan import (
    BAND_MARGIN,
    D_PRIME_MARGIN,
    DISCRIMINATION_MARGIN,
    LEVEL,
    MARGIN,
    OBSERVER_MODEL,
    VALIDATION_THRESHOLD,
    Estimand,
    ObserverModel,
)
from analysis.study.design import DiscriminationForm

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FINDINGS_VERSION", "analyse", "fit_study"]

#: Changes when the same tables would give other numbers.
FINDINGS_VERSION = "findings-8"


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
    answers: pd.DataFrame | None = None,
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
    recruiter_weights: Mapping[str, float] | None = None,
    executor: Executor | None = None,
    report: Report | None = None,
) -> Findings:
    """Compute all findings of a study.

    Parameters
    ----------
    trials : pandas.DataFrame
        Columns of `tables.trials.TRIALS`. Accepted sessions count; of their trials those with role main, clean or
        consistency_first that were not set aside. People are pooled as the population "humans".
    predictions : pandas.DataFrame, optional
        Columns of `tables.stimuli.PREDICTIONS`. Classifiers are scored on the stimuli that people saw, and beside
        that on all.
    study : str
        Its name.
    seed : int
        Seed of every resampling; the same tables and seed give the same result.
    n_bootstrap : int
        Refits per resampled unit; 0 leaves intervals, bands and similarity out.
    discrimination : pandas.DataFrame, optional
        Same/different trials; by default those among ``trials``.
    sessions : mapping, optional
        Counts of sessions and exclusions, copied into the result.
    session_table : pandas.DataFrame, optional
        Columns of `tables.sessions.SESSIONS`: the flow of inclusions, and what each rule of screening does to the
        headline numbers.
    stimuli : pandas.DataFrame, optional
        Columns of `analysis.tables.stimuli.STIMULI`: coverage and reach.
    level_predictions : pandas.DataFrame, optional
        Columns of `analysis.tables.stimuli.LEVEL_PREDICTIONS`: fixed levels beside areas.
    answers : pandas.DataFrame, optional
        Columns of `analysis.tables.trials.ANSWERS`: what became of the trials of models that were asked in words.
    borrow : mapping of corruption to corruption, optional
        Compare classifiers on the first also with the human curve of the second, labelled borrowed.
    level : float
    margin, band_margin : float
        Margins of equivalence of curves, set before looking at results.
    d_prime_margin : float, optional
        Margin of equivalence of same/different and ABX. None, as in plans that were frozen before there was one: the
        d' at which an observer who judges every picture on its own is right in 1/2 + ``discrimination_margin``, and on
        that observer the verdict rests, whatever ``observer_model`` says.
    observer_model : {"differencing", "independent"}
        Observer of same/different and ABX on whose d' the verdict rests.
    discrimination_margin : float
        Read where ``d_prime_margin`` is None.
    validation_threshold : float
        Share of qualified answers that accepts a picture.
    sensitivity : bool
        Whether to compute headline numbers under other choices, too.
    estimand : {"categories", "people", "answers"}
        Whether curves are means in which people and categories count equally (of models: categories), people alone, or
        answers. They are the same where all gave equally many answers, equally many to each category.
    recruiter_weights : mapping of recruiter to float, optional
        By which the people of each recruiter count together in everything about people. Sessions of recruiters that
        ``session_table`` lacks are left out. Without any everybody counts once.
    executor : Executor, optional
        Where curves are fitted and compared (`analysis.compute.executor`), with the same result; here, without one.
    report : callable, optional
        Called with (steps done, steps in all, what); what it raises is let through.

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
    settings = Settings(
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
        **({"recruiter_weights": dict(recruiter_weights)} if recruiter_weights else {}),
    )
    tables = AnalysedTables(trials, predictions, discrimination, session_table, stimuli, level_predictions)
    origins = origins_of(trials, session_table, settings.recruiter_weights)
    tables = replace(tables, trials=origins.trials)
    found = _findings(study, tables, origins, settings, executor, Steps(report))
    if answers is not None:
        found = found.model_copy(update={"asked": asked_entries(answers)})
    if sessions is not None:
        found = found.model_copy(update={"sessions": SessionCounts.model_validate(sessions)})
    if session_table is not None:
        found = found.model_copy(update={"flow": inclusion_flow(session_table)})
    return found.model_copy(update={"crowd": found.crowd_of(people_asked(tables.trials, tables.discrimination))})


@dataclass(frozen=True, eq=False)
class _Observed:
    """Whose answers are analysed: of people in accepted sessions and in all, and of classifiers."""

    people: Observations
    everyone: Observations
    classifiers: Observations
    label_spaces: dict[str, int]


@dataclass(frozen=True, eq=False)
class _Compared:
    """Corruptions beside each other, by population, and classifiers beside people."""

    similarity: dict[str, list[Similarity]]
    classes: list[AlikeClasses]
    verdicts: Verdicts | None
    comparisons: list[Comparison]
    twins: Twins | None
    leaderboard: list[Leader]


def _findings(
    study: str, tables: AnalysedTables, origins: Origins, settings: Settings, executor: Executor | None, steps: Steps
) -> Findings:
    classifiers, label_spaces = read_predictions(tables.predictions)
    observed = _Observed(
        read_trials(tables.trials),
        read_trials(tables.trials, accepted_only=False),
        curve_predictions(classifiers, tables.trials),
        label_spaces,
    )
    fitting = FitSettings(
        seed=settings.seed,
        n_bootstrap=settings.n_bootstrap,
        level=settings.level,
        estimand=settings.estimand,
        categories=categories_of(observed.people, observed.classifiers),
        recruiters=origins.recruiters,
    )
    curves = fit_study(
        observed.people,
        observed.classifiers,
        label_spaces,
        fitting,
        everyone=observed.everyone,
        executor=executor,
        report=steps.fitted,
    )
    compared = _compare(curves, observed, settings, fitting, executor, steps)
    steps.then("agreement of observers")
    told_apart = _told_apart(tables, settings)
    found = _assemble(study, tables, observed, curves, compared, settings, fitting, told_apart, executor)
    margins = (settings.margin, settings.band_margin) if compared.verdicts is not None else None
    told = (observed.people, classifiers, curves, found.curves, found.comparisons, fitting, margins)
    added = recruiter_entries(curves, observed.people, fitting, margin=settings.margin, origins=origins)
    found = found.model_copy(update=added | person_entries(tables.trials, *told))
    steps.then("other choices of sessions and trials")
    if not settings.sensitivity:
        return found
    varied = sensitivity_entries(
        curves,
        observed.everyone,
        accepted_answers(tables.trials),
        tables.sessions,
        fitting,
        margins=margins,
        set_aside=read_set_aside(tables.trials),
    )
    return found.model_copy(update={"sensitivity": tuple(varied)})


def _compare(
    curves: StudyCurves,
    observed: _Observed,
    settings: Settings,
    fitting: FitSettings,
    executor: Executor | None,
    steps: Steps,
) -> _Compared:
    steps.then("similarity of corruptions")
    similarity, classes = similarity_entries(
        curves,
        (HUMANS, *sorted(observed.label_spaces)),
        observed.people,
        fitting,
        margin=settings.margin,
        band_margin=settings.band_margin,
        executor=executor,
    )
    steps.then("people beside classifiers")
    verdicts = None
    if settings.n_bootstrap:
        verdicts = verdicts_of(
            curves,
            observed.people,
            fitting,
            margin=settings.margin,
            window_margin=settings.band_margin,
            robust=settings.sensitivity,
            tick=steps.still,
        )
    comparisons = comparison_entries(curves, settings.borrow, verdicts, executor=executor)
    twins = twins_of(curves, fitting)
    leaderboard = leaderboard_entries(curves, comparisons, verdicts, twins, executor=executor)
    return _Compared(similarity, classes, verdicts, comparisons, twins, leaderboard)


def _told_apart(tables: AnalysedTables, settings: Settings) -> list[Discrimination]:
    """Same/different and ABX; without a margin of d' by the observer who judges every picture on its own."""
    margin = settings.d_prime_margin
    return discrimination_entries(
        attended(tables.trials if tables.discrimination is None else tables.discrimination),
        d_prime_margin={
            form: d_prime_of(0.5 + settings.discrimination_margin, form, "independent") if margin is None else margin
            for form in get_args(DiscriminationForm)
        },
        observer_model="independent" if margin is None else settings.observer_model,
        level=settings.level,
    )


def _assemble(
    study: str,
    tables: AnalysedTables,
    observed: _Observed,
    curves: StudyCurves,
    compared: _Compared,
    settings: Settings,
    fitting: FitSettings,
    told_apart: list[Discrimination],
    executor: Executor | None,
) -> Findings:
    """All findings but those under other choices of sessions and trials."""
    people, classifiers, level = observed.people, observed.classifiers, settings.level
    consistency, consistency_notes = error_consistency_entries(people, classifiers, level=level)
    agreement, agreement_notes = agreement_entries(people, classifiers, consistency, curves.scales, fitting)
    of_people, *of_classifiers = compared.similarity.values()
    persons = len(read_sentinels(tables.trials))
    threshold = VALIDATION_THRESHOLD if settings.validation_threshold is None else settings.validation_threshold
    return Findings(
        study=study,
        version=f"{__version__}+{FINDINGS_VERSION}",
        data_digest=tables.digest(),
        seed=settings.seed,
        n_bootstrap=settings.n_bootstrap,
        settings=settings,
        observers=(
            *(Observer(name=name, kind="human") for name in sorted(set(people.observer.tolist()))),
            *(Observer(name=name, kind="classifier") for name in sorted(observed.label_spaces)),
        ),
        accuracy=tuple(accuracy_entries(people, classifiers)),
        human_accuracy=tuple(human_accuracy_entries(people)),
        curves=tuple(curve_entries(curves, fitting, compared.twins, executor=executor)),
        comparisons=tuple(compared.comparisons),
        leaderboard=tuple(compared.leaderboard),
        similarity=tuple(of_people),
        classifier_similarity=tuple(entry for own in of_classifiers for entry in own),
        classes=tuple(compared.classes),
        discrimination=tuple(told_apart),
        error_consistency=tuple(consistency),
        agreement=tuple(agreement),
        benchmark=published_benchmark(study, people, classifiers, level=level, seed=settings.seed),
        difficulty=tuple(difficulty_entries(people, classifiers, level=level)),
        shape_bias=tuple(shape_bias_entries(people, classifiers, level=level)),
        confusion=tuple(confusion_entries(curves, people, classifiers)),
        response_times=tuple(response_time_entries(curves)),
        participants=tuple(participant_entries(curves, fitting)),
        sensitivity=(),
        levels=level_entries(curves, tables.level_predictions, tables.predictions),
        reach=tuple(reach_entries(tables.stimuli)),
        validation=validation_entries(tables.trials, threshold=threshold),
        trials=TrialCounts(
            rows=len(tables.trials),
            in_all_sessions=len(observed.everyone),
            in_accepted_sessions=len(people),
            predictions=len(classifiers),
            set_aside=int(is_set_aside(tables.trials).sum()),
            **({"persons": persons} if persons else {}),
        ),
        notes=(
            *guessing_notes(classifiers, observed.label_spaces),
            *curves.notes,
            *consistency_notes,
            *agreement_notes,
            *study_caveats(curves.curves),
        ),
    )
