from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Count, QuerySet

from analysis.corruptions.registry import NO_CORRUPTION
from analysis.tables.stimuli import PREDICTIONS
from analysis.tables.trials import ANSWERS
from humanexp.core.errors import Conflict, existing
from humanexp.core.storage import current_path
from humanexp.evaluations.models import EvaluationRun, Retraining, UploadedModel
from humanexp.stimuli.models import Stimulus, StimulusSet

if TYPE_CHECKING:
    import pandas as pd


#: Schemes of which nobody here knows what was shown to the network, or what runs.
_UNKNOWN = ("table:", "python:")


def all_runs() -> QuerySet[EvaluationRun]:
    return EvaluationRun.objects.select_related("stimulus_set__source_set__labels")


def completed_runs(stimulus_set: StimulusSet) -> QuerySet[EvaluationRun]:
    """Those that name pictures; a run of comparisons has answered a study, `comparisons_on`."""
    return stimulus_set.evaluations.exclude(completed_at=None).exclude(asking__has_key="task")


def _compared(study: str) -> QuerySet[EvaluationRun]:
    return EvaluationRun.objects.filter(asking__study=study).exclude(completed_at=None)


def comparisons_on(study: str) -> pd.DataFrame | None:
    """Comparisons of this study that models answered in words, columns of COMPARISONS; None where none did."""
    import pandas as pd

    from analysis.tables.comparisons import COMPARISONS

    frames = [
        COMPARISONS.validate(pd.read_parquet(current_path(run.answers_file)), source=run.answers_file)
        for run in _compared(study)
    ]
    return pd.concat(frames, ignore_index=True) if frames else None


def predictions_for(stimulus_set: StimulusSet) -> pd.DataFrame:
    """Predictions of every completed run on this set, columns of the PREDICTIONS schema; empty when there are none.

    Raises
    ------
    Conflict
        If one was made among labels that mean something else than those of the pictures.
    """
    import pandas as pd

    runs = list(completed_runs(stimulus_set))
    _check_identity(stimulus_set, runs)
    frames = [read_predictions(run) for run in runs]
    return pd.concat(frames, ignore_index=True) if frames else PREDICTIONS.frame([])


def _check_identity(stimulus_set: StimulusSet, runs: Sequence[EvaluationRun]) -> None:
    space = stimulus_set.source_set.space
    other = next((run for run in runs if run.labels_identity not in ("", space.identity)), None)
    if other is not None:
        raise Conflict(
            f"{other.name} answered among other labels (identity {other.labels_identity[:8]}) than those of the "
            f"pictures {stimulus_set.source_set} ({space.name}, {space.identity[:8]}): evaluate it again, or delete "
            "its predictions."
        )


def read_predictions(run: EvaluationRun) -> pd.DataFrame:
    """Predictions of one completed run, columns of the PREDICTIONS schema."""
    import pandas as pd

    return pd.read_parquet(current_path(run.predictions_file))


@dataclass(frozen=True, slots=True)
class HowDecided:
    """How a run decided: "own" where it was among the classifier's own labels."""

    rule: str
    decide: str
    labels_identity: str


def decisions_on(stimulus_set: StimulusSet) -> dict[str, HowDecided]:
    """How every completed run on this set decided, by its name."""
    return {
        run.name: HowDecided(run.rule, "own" if run.own_labels else run.decide, run.labels_identity)
        for run in completed_runs(stimulus_set)
    }


def kinds_on(stimulus_set: StimulusSet) -> dict[str, str]:
    """Kind of every network with predictions on this set that has one, by its name."""
    return {run.name: run.network_kind for run in completed_runs(stimulus_set) if run.network_kind}


def answers_for(stimulus_set: StimulusSet) -> pd.DataFrame | None:
    """Answers to every question to models that were asked in words here, columns of the ANSWERS schema; None: no model.

    Runs of earlier versions lack the columns of scores.
    """
    import pandas as pd

    files = completed_runs(stimulus_set).exclude(answers_file="").values_list("answers_file", flat=True)
    frames = [ANSWERS.validate(pd.read_parquet(current_path(file)), source=file) for file in files]
    return pd.concat(frames, ignore_index=True) if frames else None


def asked_how(stimulus_set: StimulusSet, study: str) -> dict[str, str]:
    """How models were asked in words about these pictures and about comparisons of the study, by their names.

    Nothing of runs of earlier versions.
    """
    from analysis.observers.methods import methods_text

    told = {run.name: methods_text(run.name, run.asking) for run in completed_runs(stimulus_set) if run.asking}
    told |= {run.name: run.asking["methods"] for run in _compared(study)}
    return {name: text for name, text in told.items() if text}


def guessing(runs: Sequence[EvaluationRun]) -> dict[int, str]:
    """What is said of runs that name clean pictures no better than by chance, by key."""
    from analysis.claims.claim import guessing_words, is_guessing

    judged = [run for run in runs if run.accuracy_clean is not None and run.stimulus_set.corruptions]
    clean = Stimulus.objects.filter(stimulus_set__in={run.stimulus_set_id for run in judged}, corruption=NO_CORRUPTION)
    counted = dict(clean.values_list("stimulus_set").annotate(count=Count("pk")).order_by())
    found = {}
    for run in judged:
        shown = counted.get(run.stimulus_set_id, 0)
        right = round((run.accuracy_clean or 0.0) * shown)
        is_own = run.own_labels or run.alternatives
        own = run.label_space if is_own else len(run.stimulus_set.source_set.space)
        if is_guessing(right, shown, 1.0 / own):
            found[run.pk] = guessing_words(run.name, right, shown)
    return found


def known_specs() -> list[str]:
    """Networks that have been evaluated here, to be offered again; no recorded answers, and nothing that runs code."""
    specs = EvaluationRun.objects.order_by("spec").values_list("spec", flat=True).distinct()
    return [spec for spec in specs if not spec.startswith(_UNKNOWN)]


def seen_whole(stimulus_set: StimulusSet) -> list[str]:
    """Names of classifiers that got whole pictures here; of recorded answers and code of others that is not known."""
    specs = completed_runs(stimulus_set).values_list("name", "spec")
    return [name for name, spec in specs if not spec.startswith(_UNKNOWN)]


def run_by_pk(pk: int) -> EvaluationRun:
    return existing(all_runs().filter(pk=pk).first(), "There is no such evaluation; it may have been deleted.")


def all_retrainings() -> QuerySet[Retraining]:
    return Retraining.objects.select_related("stimulus_set", "evaluation_set")


def retraining_by_pk(pk: int) -> Retraining:
    return existing(all_retrainings().filter(pk=pk).first(), "There is no such retraining.")


def all_uploaded_models() -> QuerySet[UploadedModel]:
    return UploadedModel.objects.select_related("created_by")
