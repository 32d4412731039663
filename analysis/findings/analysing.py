"""`analyse`: tables in, every number out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict, get_args

from analysis import __version__
from analysis.differences.twin import Twins
from analysis.errors import TableRefused
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
from analysis.findings.consistency import consistency_differences, with_ranks
from analysis.findings.contrasts import contrast_entries
from analysis.findings.curve_entries import curve_entries, guessing_notes, reach_entries, study_caveats
from analysis.findings.discrimination import discrimination_entries
from analysis.findings.factors import factor_entries, with_factors
from analysis.findings.fits import FitSettings, Report, Steps, StudyCurves, fit_study
from analysis.findings.group_means import group_indices_entries, group_means_entries
from analysis.findings.groups import group_entries
from analysis.findings.leaderboard import difficulty_entries, leaderboard_entries
from analysis.findings.levels import level_entries
from analysis.findings.lists import check_lists, with_truth_of
from analysis.findings.model.agreement import Observer
from analysis.findings.model.comparisons import Comparison, Leader
from analysis.findings.model.curves import AlikeClasses, Discrimination, Similarity
from analysis.findings.model.entry import HUMANS
from analysis.findings.model.findings import Findings, Labels
from analysis.findings.model.people import SessionCounts, TrialCounts
from analysis.findings.model.settings import Settings
from analysis.findings.model_discrimination import model_discrimination_entries
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
    without_truth,
)
from analysis.findings.outcomes import categories_of
from analysis.findings.pair_entries import comparison_entries, similarity_entries
from analysis.findings.persons import person_entries
from analysis.findings.pipeline import AnalysedTables
from analysis.findings.recruiters import Origins, origins_of, recruiter_entries
from analysis.findings.sensitivity import inclusion_flow, sensitivity_entries
from analysis.findings.soft_agreement import soft_agreement_entries
from analysis.findings.validation import validation_entries
from analysis.findings.verdicts import Verdicts, twins_of, verdicts_of
from analysis.labels.files import default_labels
from analysis.labels.space import NONE_OF_THESE, LabelSpace
from analysis.similarity.sensitivity import d_prime_of
from analysis.study.analysis_plan import VALIDATION_THRESHOLD, ObserverModel
from analysis.study.design import DiscriminationForm

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FINDINGS_VERSION", "analyse", "fit_study"]

#: Changes when the same tables would give other numbers.
FINDINGS_VERSION = "findings-8"


def analyse(
    trials: pd.DataFrame,
    predictions: pd.DataFrame | None = None,
    settings: Settings | None = None,
    *,
    study: str,
    discrimination: pd.DataFrame | None = None,
    sessions: Mapping[str, object] | None = None,
    session_table: pd.DataFrame | None = None,
    stimuli: pd.DataFrame | None = None,
    level_predictions: pd.DataFrame | None = None,
    answers: pd.DataFrame | None = None,
    comparisons: pd.DataFrame | None = None,
    labels: LabelSpace | None = None,
    factors: Sequence[str] = (),
    factor_table: pd.DataFrame | None = None,
    executor: Executor | None = None,
    report: Report | None = None,
    **options: object,
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
    settings : Settings, optional
        What decides the numbers: `Settings.planned` makes them.
    study : str
        Its name.
    discrimination : pandas.DataFrame, optional
        Same/different trials; by default those among ``trials``.
    sessions : mapping, optional
        Counts of sessions and exclusions, copied into the result.
    session_table : pandas.DataFrame, optional
        Columns of `tables.sessions.SESSIONS`: the flow of inclusions, and what each rule of screening does to the
        headline numbers. Sessions of recruiters without a weight, where others have one, are left out.
    stimuli : pandas.DataFrame, optional
        Columns of `analysis.tables.stimuli.STIMULI`: coverage and reach.
    level_predictions : pandas.DataFrame, optional
        Columns of `analysis.tables.stimuli.LEVEL_PREDICTIONS`: fixed levels beside areas.
    answers : pandas.DataFrame, optional
        Columns of `analysis.tables.trials.ANSWERS`: what became of the trials of models that were asked in words.
    comparisons : pandas.DataFrame, optional
        Columns of `analysis.tables.comparisons.COMPARISONS`: same/different and ABX of such models.
    labels : LabelSpace, optional
        Labels that people chose among, and that pictures show; by default the product's.
    factors : sequence of str
        Further columns of ``trials`` that say something of the picture, such as its background: accuracy by each.
    factor_table : pandas.DataFrame, optional
        Columns of `analysis.tables.stimuli.FACTORS`: further factors, by picture.
    executor : Executor, optional
        Where curves are fitted and compared (`analysis.compute.executor`), with the same result; here, without one.
    report : callable, optional
        Called with (steps done, steps in all, what); what it raises is let through.
    **options
        Settings by their names, in place of those of ``settings``; a seed at least, where there are none.

    Returns
    -------
    Findings
        Observers, accuracies, curves, comparisons, similarity, discrimination, error consistency, and more;
        `Findings.to_json` gives plain values in a fixed order, floats unrounded. The same call with
        ``result.settings`` on the same tables gives the same result.

    Raises
    ------
    TableRefused
        If a table lacks a column or a value, people's trials hold other labels than ``labels``, or their lists of
        options and labels contradict themselves (`observations.check_lists`).
    InvalidInput
        If the seed is negative.
    """
    chosen = {} if settings is None else settings.model_dump(exclude_unset=True)
    settings = Settings.planned(**chosen | options)
    told: tuple[str, ...] = ()
    if factor_table is not None:
        trials, named, told = with_factors(trials, factor_table)
        factors = (*factors, *named)
    origins = origins_of(trials, session_table, settings.recruiter_weights)
    tables = AnalysedTables(origins.trials, predictions, discrimination, session_table, stimuli, level_predictions)
    if labels is not None:
        _check_labels(trials, labels)
    labels = labels or default_labels()
    check_lists(trials, labels)
    added: dict[str, object] = {"labels": Labels.of(labels, n=len(labels))}
    if answers is not None:
        added["asked"] = asked_entries(answers)
    if comparisons is not None:
        added["model_discrimination"] = tuple(model_discrimination_entries(comparisons, **_comparing(settings)))
    if sessions is not None:
        added["sessions"] = SessionCounts.model_validate(sessions)
    if session_table is not None:
        added["flow"] = inclusion_flow(session_table)
    people, (networks, _) = read_trials(tables.trials), _predictions_of(tables)
    groups = group_entries(people, networks, labels, level=settings.level)
    if groups:
        added["groups"] = tuple(groups)
    if factors:
        added["factors"] = tuple(factor_entries(tables.trials, people, networks, factors, level=settings.level))
    found = _findings(study, tables, origins, labels, settings, executor, Steps(report)).model_copy(update=added)
    crowd = found.crowd_of(people_asked(tables.trials, tables.discrimination))
    return found.model_copy(update={"crowd": crowd, "notes": (*found.notes, *told)})


def _check_labels(trials: pd.DataFrame, labels: LabelSpace) -> None:
    """Refuse people's answers of other labels: chance, confusions and verdicts would be those of the wrong ones."""
    shown = trials[trials["task"] == "categorisation"]
    for column, known in (("category", labels.ids), ("response", (*labels.responses, NONE_OF_THESE))):
        strange = shown.loc[shown[column].notna() & ~shown[column].isin(known), column]
        if len(strange):
            raise TableRefused(
                f"trials, column {column!r}: {len(strange)} of {len(shown)} rows hold none of the {len(labels)} "
                f"labels of {labels.name}, the first {strange.iloc[0]!r}. Give those that people chose among."
            )


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
    study: str,
    tables: AnalysedTables,
    origins: Origins,
    labels: LabelSpace,
    settings: Settings,
    executor: Executor | None,
    steps: Steps,
) -> Findings:
    classifiers, label_spaces = _predictions_of(tables)
    observed = _Observed(
        read_trials(tables.trials),
        read_trials(tables.trials, accepted_only=False),
        curve_predictions(classifiers, tables.trials),
        label_spaces,
    )
    categories = categories_of(observed.people, observed.classifiers)
    fitting = FitSettings.of(settings, categories=categories, recruiters=origins.recruiters, space=labels)
    curves = fit_study(
        observed.people,
        observed.classifiers,
        label_spaces,
        fitting,
        everyone=observed.everyone,
        executor=executor,
        report=steps.fitted,
    )
    compared = _compare(curves, observed, fitting, executor, steps)
    steps.then("agreement of observers")
    found = _assemble(study, tables, observed, curves, compared, settings, fitting, executor)
    told = (observed.people, classifiers, curves, found.curves, found.comparisons, fitting)
    added = recruiter_entries(curves.judged, observed.people, fitting, origins=origins)
    if compared.verdicts is not None:
        groups = group_means_entries(curves, observed.people, compared.comparisons, fitting)
        indices = group_indices_entries(compared.comparisons, fitting.network_kinds)
        found = found.model_copy(update=groups | ({"group_indices": indices} if indices else {}))
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
        set_aside=read_set_aside(tables.trials),
    )
    return found.model_copy(update={"sensitivity": tuple(varied)})


def _predictions_of(tables: AnalysedTables) -> tuple[Observations, dict[str, int]]:
    """What classifiers answered, right by what is right for people."""
    asked = None if tables.predictions is None else with_truth_of(tables.predictions, tables.trials)
    return read_predictions(asked)


def _compare(
    curves: StudyCurves, observed: _Observed, fitting: FitSettings, executor: Executor | None, steps: Steps
) -> _Compared:
    steps.then("similarity of corruptions")
    populations = (HUMANS, *sorted(observed.label_spaces))
    judged = curves.judged
    similarity, classes = similarity_entries(judged, populations, observed.people, fitting, executor=executor)
    steps.then("people beside classifiers")
    verdicts = None
    if fitting.n_bootstrap:
        verdicts = verdicts_of(judged, observed.people, fitting, robust=fitting.sensitivity, tick=steps.still)
    comparisons = comparison_entries(curves, fitting.borrow, verdicts, executor=executor)
    twins = twins_of(judged, fitting)
    leaderboard = leaderboard_entries(curves, comparisons, verdicts, twins, executor=executor)
    return _Compared(similarity, classes, verdicts, comparisons, twins, leaderboard)


def _told_apart(tables: AnalysedTables, settings: Settings) -> list[Discrimination]:
    """Same/different and ABX; without a margin of d' by the observer who judges every picture on its own."""
    return discrimination_entries(
        attended(tables.trials if tables.discrimination is None else tables.discrimination), **_comparing(settings)
    )


class _Comparing(TypedDict):
    """What decides d' of people and of models alike."""

    d_prime_margin: Mapping[DiscriminationForm, float]
    observer_model: ObserverModel
    level: float


def _comparing(settings: Settings) -> _Comparing:
    margin = settings.d_prime_margin
    return {
        "d_prime_margin": {
            form: d_prime_of(0.5 + settings.discrimination_margin, form, "independent") if margin is None else margin
            for form in get_args(DiscriminationForm)
        },
        "observer_model": "independent" if margin is None else settings.observer_model,
        "level": settings.level,
    }


def _assemble(
    study: str,
    tables: AnalysedTables,
    observed: _Observed,
    curves: StudyCurves,
    compared: _Compared,
    settings: Settings,
    fitting: FitSettings,
    executor: Executor | None,
) -> Findings:
    """All findings but those under other choices of sessions and trials."""
    people, classifiers, level = observed.people, observed.classifiers, settings.level
    consistency, consistency_notes = error_consistency_entries(people, classifiers, level=level)
    agreement, agreement_notes = agreement_entries(people, classifiers, consistency, curves.scales, fitting)
    differences, places = consistency_differences(people, classifiers, curves.scales, fitting)
    soft = soft_agreement_entries(people, classifiers, fitting.space, level=level)
    of_people, *of_classifiers = compared.similarity.values()
    counts = {"persons": len(read_sentinels(tables.trials)), "without_truth": without_truth(tables.trials)}
    threshold = VALIDATION_THRESHOLD if settings.validation_threshold is None else settings.validation_threshold
    found = Findings(
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
        discrimination=tuple(_told_apart(tables, settings)),
        error_consistency=tuple(consistency),
        agreement=tuple(with_ranks(agreement, places)),
        benchmark=published_benchmark(study, people, classifiers, level=level, seed=settings.seed, space=fitting.space),
        difficulty=tuple(difficulty_entries(people, classifiers, level=level)),
        contrasts=tuple(contrast_entries(people, classifiers, observed.label_spaces, len(fitting.space))),
        shape_bias=tuple(shape_bias_entries(people, classifiers, fitting.space, level=level)),
        confusion=tuple(confusion_entries(curves, people, classifiers, fitting.space)),
        response_times=tuple(response_time_entries(curves)),
        participants=tuple(participant_entries(curves, fitting)),
        sensitivity=(),
        levels=level_entries(
            curves,
            *(
                None if one is None else with_truth_of(one, tables.trials)
                for one in (tables.level_predictions, tables.predictions)
            ),
            level=level,
        ),
        reach=tuple(reach_entries(tables.stimuli)),
        validation=validation_entries(tables.trials, threshold=threshold),
        trials=TrialCounts(
            rows=len(tables.trials),
            in_all_sessions=len(observed.everyone),
            in_accepted_sessions=len(people),
            predictions=len(classifiers),
            set_aside=int(is_set_aside(tables.trials).sum()),
            **{name: count for name, count in counts.items() if count},
        ),
        notes=(
            *guessing_notes(classifiers, observed.label_spaces, fitting.space),
            *curves.notes,
            *consistency_notes,
            *agreement_notes,
            *study_caveats(curves.curves),
        ),
    )
    # Named only where a study has them.
    added = {"consistency_differences": tuple(differences), "soft_agreement": tuple(soft)}
    return found.model_copy(update={name: entries for name, entries in added.items() if entries})
