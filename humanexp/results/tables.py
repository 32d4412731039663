"""What goes into an analysis: trials with verdicts, predictions, counts of sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from humanexp.core.storage import media_path
from humanexp.evaluations import selectors as evaluations
from humanexp.experiments import selectors as experiments
from humanexp.experiments.models import Origin, Study
from humanexp.results.models import TrialImport
from humanexp.screening import selectors as screening

if TYPE_CHECKING:
    import pandas as pd


def trials_of(study: Study) -> pd.DataFrame:
    """Every answer of people, columns of the TRIALS schema; `accepted` is the current verdict on its session."""
    from analysis.tables import TRIALS

    if study.origin == Origin.IMPORTED:
        return _imported(study, "human")
    accepted = screening.accepted_sessions(study)
    rows = experiments.trial_rows(study)
    return TRIALS.frame(row | {"accepted": row["session"] in accepted} for row in rows)


def predictions_of(study: Study) -> pd.DataFrame:
    """Every prediction on the study's stimuli, columns of the PREDICTIONS schema."""
    from analysis.tables import PREDICTIONS

    if study.origin == Origin.IMPORTED:
        trials = _imported(study, "classifier")
        chosen = trials[[name for name in PREDICTIONS.names if name in trials.columns]].to_dict("records")
        named = zip(trials["participant"], chosen, strict=True)
        return PREDICTIONS.frame(
            row | {"classifier": name, "confidence": None, "label_space": 16} for name, row in named
        )
    if study.stimulus_set is None:
        return PREDICTIONS.frame([])
    return evaluations.predictions_for(study.stimulus_set)


def session_summary(study: Study) -> dict[str, Any]:
    """Sessions opened, submitted, accepted, and the reasons of the excluded ones."""
    if study.origin == Origin.IMPORTED:
        count = int(_imported(study, "human")["session"].nunique())
        return {"opened": count, "submitted": count, "accepted": count, "excluded": {}}
    counts = experiments.session_counts(study)
    return {
        **counts,
        "accepted": len(screening.accepted_sessions(study)),
        "excluded": screening.excluded_counts(study),
    }


def _imported(study: Study, kind: str) -> pd.DataFrame:
    """Rows of the imported observers of one kind."""
    from analysis.tables import TRIALS

    trial_import = TrialImport.objects.get(study=study)
    names = [name for name, of_kind in trial_import.observers.items() if of_kind == kind]
    trials = TRIALS.read(media_path(trial_import.trials_file))
    return trials[trials["participant"].isin(names)].reset_index(drop=True)
