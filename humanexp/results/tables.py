"""What goes into an analysis: trials with verdicts, predictions, sessions and stimuli; and studies in one table."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from statistics import fmean
from typing import TYPE_CHECKING, TypedDict, cast

from analysis.classifiers.papers import kind_of
from analysis.study.analysis_plan import AnalysisPlan
from analysis.tables.comparisons import COMPARISONS
from analysis.tables.stimuli import FACTORS, LEVEL_PREDICTIONS, STIMULI
from analysis.tables.trials import ANSWERS
from humanexp.core.batches import batches_of
from humanexp.core.errors import InvalidRequest
from humanexp.core.storage import media_path
from humanexp.evaluations.models import EvaluationRun
from humanexp.evaluations.selectors import (
    answers_for,
    comparisons_on,
    kinds_on,
    predictions_for,
    read_predictions,
    run_by_pk,
)
from humanexp.participation.answers import iter_trial_rows, unfetched_answers
from humanexp.participation.models import Session, SessionState, counting
from humanexp.participation.sessions import session_counts
from humanexp.participation.set_ups import closing_rows, longer_windows, set_up_rows
from humanexp.results.imported_exports import kept_export, settings_of
from humanexp.results.models import TrialImport
from humanexp.screening.models import Verdict
from humanexp.screening.selectors import accepted_sessions, current_verdicts, excluded_counts
from humanexp.stimuli.models import StimulusSet
from humanexp.stimuli.selectors.sets import NOT_MEASURED, has_levels, manifest
from humanexp.studies.models import Origin, Study
from humanexp.studies.selectors import configuration_of

if TYPE_CHECKING:
    import pandas as pd

    from analysis.findings.model.agreement import AverageObserver
    from analysis.findings.observations import Observations


#: Reason of sessions that the plan does not count although the rules accept them.
LONGER_WINDOW = "longer answer window"
#: Answers that are read at once.
CHUNK = 2000


class AnalysisTables(TypedDict):
    """Arguments of `analysis.findings.analysing.analyse`."""

    trials: pd.DataFrame
    predictions: pd.DataFrame
    level_predictions: pd.DataFrame | None
    answers: pd.DataFrame | None
    comparisons: pd.DataFrame | None
    stimuli: pd.DataFrame | None
    session_table: pd.DataFrame | None
    sessions: Mapping[str, object]
    factor_table: pd.DataFrame | None


def analysis_tables(study: Study) -> AnalysisTables:
    """Everything that `analysis.findings.analysing.analyse` reads of a study, by the name of its argument."""
    kept = kept_export(study)
    if kept is not None:
        return {
            "trials": trials_of(study),
            "predictions": predictions_of(study),
            "level_predictions": kept.table(LEVEL_PREDICTIONS),
            "answers": kept.table(ANSWERS),
            "comparisons": kept.table(COMPARISONS),
            "stimuli": kept.table(STIMULI),
            "session_table": sessions_of(study),
            "sessions": session_summary(study),
            "factor_table": kept.table(FACTORS),
        }
    return {
        "trials": trials_of(study),
        "predictions": predictions_of(study),
        "level_predictions": level_predictions_of(study),
        "answers": answers_of(study),
        "comparisons": comparisons_on(study.slug),
        "stimuli": stimuli_of(study),
        "session_table": sessions_of(study),
        "sessions": session_summary(study),
        "factor_table": factors_of(study),
    }


def analysis_settings(study: Study) -> dict[str, object]:
    """What the study decided about its analysis before anybody looked: `analysis.findings.model.people.Settings`."""
    kept = kept_export(study)
    if kept is not None:
        return dict(settings_of(kept))
    if not study.configuration:
        return AnalysisPlan().settings()
    configuration = configuration_of(study)
    # Without weights of their own recruiters count by the places that are planned with them.
    weights = configuration.recruiter_weights
    return configuration.analysis.settings() | {"recruiter_weights": weights}


def network_kinds(study: Study) -> dict[str, str]:
    """Kind of every network of the study that has one: as the installation says it, or as its export did."""
    kept = kept_export(study)
    if kept is not None:
        return dict(kept.settings.network_kinds)
    made = kinds_on(study.stimulus_set) if study.stimulus_set is not None else {}
    if study.origin != Origin.IMPORTED:
        return made
    observers = TrialImport.objects.get(study=study).observers
    published = [name for name, of_kind in observers.items() if of_kind == "classifier"]
    known = {name: kind for name in published if (kind := kind_of("", name))}
    return known | {_name_here(name, published): kind for name, kind in made.items()}


def trials_of(study: Study) -> pd.DataFrame:
    """Every answer of people, columns of the TRIALS schema; `accepted` is the current verdict on its session."""
    import pandas as pd

    from analysis.tables.trials import TRIALS

    chunks = list(trial_chunks(study))
    return pd.concat(chunks, ignore_index=True) if chunks else TRIALS.frame([])


def trial_chunks(study: Study) -> Iterator[pd.DataFrame]:
    """The same a chunk at a time: the answers of a large study are never held as a whole."""
    from analysis.tables.trials import TRIALS

    if study.origin == Origin.IMPORTED:
        frame = _imported(study, "human")
        for start in range(0, len(frame), CHUNK):
            yield frame.iloc[start : start + CHUNK]
        return
    accepted = accepted_sessions(study) - left_out(study)
    for chunk in batches_of(CHUNK, iter_trial_rows(study)):
        yield TRIALS.frame(row | {"accepted": row["session"] in accepted} for row in chunk)


def predictions_of(study: Study) -> pd.DataFrame:
    """Every prediction on the study's stimuli, columns of the PREDICTIONS schema."""
    from analysis.tables.stimuli import PREDICTIONS

    kept = kept_export(study)
    if kept is not None:
        predictions = kept.table(PREDICTIONS)
        return PREDICTIONS.frame([]) if predictions is None else predictions
    if study.origin == Origin.IMPORTED:
        trials = _imported(study, "classifier")
        chosen = trials[[name for name in PREDICTIONS.names if name in trials.columns]].to_dict("records")
        named = zip(trials["participant"], chosen, strict=True)
        published = PREDICTIONS.frame(
            {str(column): cell for column, cell in row.items()}
            | {"classifier": name, "confidence": None, "label_space": len(study.space)}
            for name, row in named
        )
        return _with_evaluated(study, published)
    if study.stimulus_set is None:
        return PREDICTIONS.frame([])
    return _without(predictions_for(study.stimulus_set), study, keep=_person_families(study))


def curve_predictions_of(study: Study) -> pd.DataFrame:
    """The same without predictions on sentinels of persons, which enter no curve."""
    return _without(predictions_of(study), study, keep=frozenset())


def _person_families(study: Study) -> frozenset[str]:
    """Families of sentinels of persons that the study shows."""
    asked = configuration_of(study).design.persons if study.configuration else None
    if asked is None or not asked.per_session or study.stimulus_set is None:
        return frozenset()
    return frozenset(asked.families or study.stimulus_set.person_families)


def _without(predictions: pd.DataFrame, study: Study, *, keep: frozenset[str]) -> pd.DataFrame:
    """Predictions without those on sentinels of persons of other families."""
    families = set(study.stimulus_set.person_families) - keep if study.stimulus_set is not None else set()
    if not families:
        return predictions
    return predictions[~predictions["corruption"].isin(families)].reset_index(drop=True)


def participant_codes(study: Study) -> list[str]:
    """Everybody who has answers in the tables."""
    if study.origin == Origin.IMPORTED:
        return sorted(set(_imported(study, "human")["participant"]))
    sessions = Session.objects.filter(counting(), study=study)
    return sorted(set(sessions.values_list("participant__code", flat=True)))


def level_predictions_of(study: Study) -> pd.DataFrame | None:
    """Predictions on the published levels of the same originals; None where nobody made and evaluated them."""
    if study.stimulus_set is None or has_levels(study.stimulus_set):
        return None
    others = StimulusSet.objects.filter(source_set_id=study.stimulus_set.source_set_id).exclude(completed_at=None)
    for other in others.order_by("-completed_at"):
        if not has_levels(other):
            continue
        predictions = predictions_for(other)
        if predictions.empty:
            continue
        return _with_levels(predictions, other)
    return None


def _with_levels(predictions: pd.DataFrame, stimulus_set: StimulusSet) -> pd.DataFrame:
    """Predictions with the published level of each picture, columns of the LEVEL_PREDICTIONS schema."""
    import pandas as pd

    of_levels = stimulus_set.stimuli.exclude(corruption__in=["none", *stimulus_set.person_families])
    levels = pd.DataFrame(of_levels.values_list("key", "parameter"), columns=["stimulus", "level"])
    joined = predictions.merge(levels, on="stimulus", how="inner")
    return LEVEL_PREDICTIONS.validate(joined, source=f"predictions on {stimulus_set.name}")


@lru_cache(maxsize=256)
def _accuracy_at_levels(run_id: int, _digest: str) -> float | None:
    """Mean over the levels of a function, then over functions; the digest of the predictions tells them apart."""
    from analysis.findings.levels import fixed_rates

    run = run_by_pk(run_id)
    rates = fixed_rates(_with_levels(read_predictions(run), run.stimulus_set)).values()
    return fmean(rates) if rates else None


def accuracies_at_levels() -> dict[str, float]:
    """Accuracy of every evaluated network at the levels of ImageNet-C, by its digest; of several sets the newest."""
    found = {}
    for run in EvaluationRun.objects.exclude(completed_at=None).select_related("stimulus_set").order_by("completed_at"):
        if run.classifier_digest and has_levels(run.stimulus_set):
            accuracy = _accuracy_at_levels(run.pk, run.predictions_sha256)
            if accuracy is not None:
                found[run.classifier_digest] = accuracy
    return found


def answers_of(study: Study) -> pd.DataFrame | None:
    """Answers of models that were asked in words, columns of the ANSWERS schema; None where none was asked."""
    made = None if study.stimulus_set is None else answers_for(study.stimulus_set)
    if made is None or study.origin != Origin.IMPORTED:
        return made
    rows = _on_published_pictures(study, made, set(_imported(study, "classifier")["participant"]))
    return ANSWERS.validate(rows, source=f"answers about the pictures of {study.slug}")


def stimuli_of(study: Study) -> pd.DataFrame | None:
    """The study's stimuli, columns of the STIMULI schema."""
    if study.stimulus_set is None or study.stimulus_set.metric == NOT_MEASURED:
        return None
    return manifest(study.stimulus_set)


def factors_of(study: Study) -> pd.DataFrame | None:
    """What is known of the study's pictures, columns of the FACTORS schema; None where nothing is."""
    if study.stimulus_set is None:
        return None
    images = study.stimulus_set.source_set.images.exclude(factors={}).order_by("key").values_list("key", "factors")
    rows = [
        {"original": key, "factor": name, "value": value}
        for key, factors in images
        for name, value in sorted(factors.items())
        if value
    ]
    return FACTORS.frame(rows) if rows else None


def sessions_of(study: Study) -> pd.DataFrame | None:
    """Every session that was opened, columns of the SESSIONS schema; None for imported trials without a table of them.

    Who took their answers back is counted, and not named.
    """
    from analysis.tables.sessions import REASON_SEPARATOR, SESSIONS

    if study.origin == Origin.IMPORTED:
        kept = kept_export(study)
        return None if kept is None else kept.table(SESSIONS)
    verdicts, out = current_verdicts(study), left_out(study)
    windows = longer_windows(study)
    unfetched = unfetched_answers(Session.objects.filter(study=study))
    rows = []
    for session in Session.objects.filter(study=study).select_related("participant").order_by("pk").iterator():
        verdict = verdicts.get(session.pk)
        withdrawn = session.state == SessionState.WITHDRAWN
        rows.append(
            {
                "session": session.code,
                "participant": None if withdrawn else session.participant.code,
                "state": session.state,
                "answered": session.cursor,
                "trials": session.total,
                "unfetched": unfetched.get(session.pk),
                "verified": session.is_verified,
                "qualified": None if session.practised is False else session.qualified,
                "practised": session.practised,
                "answer_window_ms": windows.get(session.code),
                "left": session.left_at is not None,
                "slowed": session.slow_down_at is not None,
                "language": session.language or None,
                "recruiter": session.recruiter or None,
                "seen_before": session.seen_before,
                "accepted": None if verdict is None else verdict.accepted and session.code not in out,
                "reasons": _reasons(verdict, is_out=session.code in out),
                "flags": None if verdict is None else REASON_SEPARATOR.join(verdict.flags) or None,
                "by_hand": None if verdict is None else verdict.is_by_person,
                "rule_set": None if verdict is None else f"{verdict.rule_set} {verdict.rule_version}",
            }
        )
    return SESSIONS.frame(rows)


def left_out(study: Study) -> set[str]:
    """Codes of sessions with a longer answer window, where the plan says that these do not count."""
    plan = configuration_of(study).analysis if study.configuration else AnalysisPlan()
    return set() if plan.count_longer_windows else set(longer_windows(study))


def _reasons(verdict: Verdict | None, *, is_out: bool) -> str | None:
    """The reasons of the rules, and, of a session that they accept, what the plan says of it."""
    from analysis.tables.sessions import REASON_SEPARATOR

    if verdict is None:
        return None
    return REASON_SEPARATOR.join((*verdict.reasons, *((LONGER_WINDOW,) if is_out else ()))) or None


def closing_of(study: Study) -> pd.DataFrame:
    """What participants said at the end, columns of the CLOSING schema; texts that nobody cleared are left out."""
    from analysis.tables.sessions import CLOSING

    return CLOSING.frame(list(closing_rows(study)))


def setup_of(study: Study) -> pd.DataFrame:
    """What was measured and asked before practice, columns of the SETUP schema; values are coarse."""
    from analysis.tables.sessions import SETUP

    return SETUP.frame(list(set_up_rows(study)))


def session_summary(study: Study) -> dict[str, object]:
    """Sessions opened, submitted, accepted, and the reasons of the excluded ones."""
    kept = kept_export(study)
    if kept is not None and kept.sessions is not None:
        return dict(kept.sessions)
    if study.origin == Origin.IMPORTED:
        count = int(_imported(study, "human")["session"].nunique())
        return {"opened": count, "submitted": count, "accepted": count, "excluded": {}}
    counts, accepted = session_counts(study), accepted_sessions(study)
    out = accepted & left_out(study)
    return {
        **counts,
        "accepted": len(accepted - out),
        "excluded": excluded_counts(study) | ({LONGER_WINDOW: len(out)} if out else {}),
    }


def _imported(study: Study, kind: str) -> pd.DataFrame:
    """Rows of the imported observers of one kind."""
    from analysis.tables.trials import TRIALS

    trial_import = TrialImport.objects.get(study=study)
    names = [name for name, of_kind in trial_import.observers.items() if of_kind == kind]
    trials = TRIALS.read(media_path(trial_import.trials_file))
    if study.stimulus_set is not None and study.stimulus_set.metric != NOT_MEASURED:
        changes = _published_pictures(trial_import).set_index("stimulus")["visual_change"]
        trials["visual_change"] = trials["stimulus"].map(changes).astype(trials["visual_change"].dtype)
    return trials[trials["participant"].isin(names)].reset_index(drop=True)


def _published_pictures(trial_import: TrialImport) -> pd.DataFrame:
    """A row for each attached picture: its key in the stimulus set, and what the trials say of it."""
    import pandas as pd

    return pd.read_parquet(media_path(trial_import.pictures_file))


def _with_evaluated(study: Study, published: pd.DataFrame) -> pd.DataFrame:
    """Published predictions, and those of models that were asked about the attached pictures here."""
    import pandas as pd

    from analysis.tables.stimuli import PREDICTIONS

    if study.stimulus_set is None:
        return published
    made = predictions_for(study.stimulus_set)
    if made.empty:
        return published
    rows = _on_published_pictures(study, made, set(published["classifier"]))
    columns = [name for name in PREDICTIONS.names if name in rows]
    answered = PREDICTIONS.frame(cast("list[dict[str, object]]", rows[columns].to_dict("records")))
    both: list[pd.DataFrame] = [published, answered]
    return PREDICTIONS.validate(
        pd.concat(both, ignore_index=True),
        source=f"predictions on the pictures of {study.slug}",
    )


def _on_published_pictures(study: Study, made: pd.DataFrame, taken: set[str]) -> pd.DataFrame:
    """Rows of models that were asked about the attached pictures, with what the published trials say of these."""
    pictures = _published_pictures(TrialImport.objects.get(study=study))
    own = made.rename(columns={"stimulus": "key"})
    rows = own[["key", *own.columns.difference(pictures.columns, sort=False)]].merge(pictures, on="key")
    rows["classifier"] = rows["classifier"].map(lambda name: _name_here(name, taken))
    return rows


def _name_here(name: str, taken: Collection[str]) -> str:
    """Of a model that was asked here, among published ones."""
    return f"{name} (here)" if name in taken else name


def imported_studies() -> list[Study]:
    """All studies of imported trials, by name."""
    return list(Study.objects.filter(origin=Origin.IMPORTED).select_related("stimulus_set").order_by("slug"))


def pooled_standings(studies: Sequence[Study], *, seed: int = 0) -> tuple[AverageObserver, ...]:
    """People and models on average over the published conditions of these studies."""
    from analysis.findings.benchmark import benchmark_table

    if not studies:
        raise InvalidRequest("There are no imported trials: import some with import_trials.")
    collected = [study.slug for study in studies if study.origin != Origin.IMPORTED]
    if collected:
        raise InvalidRequest(
            f"{', '.join(collected)}: the trials were collected here and have no published conditions."
        )
    return benchmark_table({study.slug: _answers(study) for study in studies}, seed=seed)


def _answers(study: Study) -> tuple[Observations, Observations]:
    """By published condition, also where visual change was measured."""
    from analysis.findings.observations import read_predictions, read_trials

    trials, predictions = trials_of(study), predictions_of(study)
    for frame in (trials, predictions):
        frame["visual_change"] = frame["visual_change"].where(frame["condition"].isna())
    return read_trials(trials), read_predictions(predictions)[0]
