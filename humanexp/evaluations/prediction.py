"""From a stimulus set and a classifier to a table of predictions, in parts so that an interrupted run goes on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from humanexp.core.storage import media_path
from humanexp.evaluations import services
from humanexp.evaluations.models import EvaluationRun
from humanexp.jobs.registry import Progress
from humanexp.stimuli.models import Stimulus

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from analysis.classifiers import Classifier, RecordedPredictions

#: Stimuli a part file holds: what is lost when the process is killed.
PART = 512
BATCH = 64


def predict_stimulus_set(run: EvaluationRun, progress: Progress) -> None:
    """Predict every stimulus of the run's set and complete the run."""
    import pandas as pd

    from analysis.classifiers import load_classifier
    from analysis.tables import PREDICTIONS

    # python: runs code; only the command line, which leaves no account behind, may ask for it.
    classifier = load_classifier(run.spec, device=run.device, allow_code=run.created_by_id is None)
    folder = media_path(f"evaluations/{run.pk}-{classifier.digest[:16]}")
    folder.mkdir(parents=True, exist_ok=True)
    stimuli = list(run.stimulus_set.stimuli.select_related("source_image"))
    parts = []
    for start in range(0, len(stimuli), PART):
        chunk = stimuli[start : start + PART]
        parts.append(_predicted_part(run, classifier, chunk, folder))
        progress(min(start + PART, len(stimuli)), len(stimuli), f"{run.name}: pictures classified")
    table = pd.concat([pd.read_parquet(part) for part in parts], ignore_index=True)
    path = folder / "predictions.parquet"
    PREDICTIONS.write(table, path)
    clean = table[table["corruption"] == "none"]
    services.complete(
        run=run,
        predictions_file=path,
        count=len(table),
        accuracy_clean=float(clean["correct"].mean()) if len(clean) else None,
        classifier_digest=classifier.digest,
        label_space=int(table["label_space"].iloc[0]) if len(table) else classifier.label_space,
        preprocessing=classifier.preprocessing,
    )


def _predicted_part(
    run: EvaluationRun, classifier: Classifier | RecordedPredictions, stimuli: list[Stimulus], folder: Path
) -> Path:
    """Part file of these stimuli, named by their content: it is used again only for the very same pictures."""
    from analysis.tables import PREDICTIONS

    content = hashlib.sha256("".join(f"{run.name}{stimulus.key}{stimulus.sha256}" for stimulus in stimuli).encode())
    path = folder / f"part-{content.hexdigest()[:24]}.parquet"
    if not path.exists():
        unfinished = path.with_suffix(f".{run.pk}.tmp.parquet")
        PREDICTIONS.write(PREDICTIONS.frame(_rows(run, classifier, stimuli)), unfinished)
        unfinished.replace(path)
    return path


def _rows(
    run: EvaluationRun, classifier: Classifier | RecordedPredictions, stimuli: list[Stimulus]
) -> Iterator[dict[str, Any]]:
    from analysis.classifiers import classify

    for start in range(0, len(stimuli), BATCH):
        batch = stimuli[start : start + BATCH]
        decisions = classify(classifier, [stimulus.key for stimulus in batch], partial(_pictures, batch))
        for stimulus, response, confidence in zip(batch, decisions.responses, decisions.confidence, strict=True):
            category = stimulus.source_image.category
            yield {
                "classifier": run.name,
                "stimulus": stimulus.key,
                "original": stimulus.source_image.key,
                "category": category,
                "corruption": stimulus.corruption,
                "visual_change": stimulus.visual_change,
                "response": str(response),
                "correct": bool(response == category),
                "confidence": float(confidence),
                "label_space": decisions.label_space,
            }


def _pictures(stimuli: list[Stimulus]) -> NDArray[np.uint8]:
    """The decoded files, uint8 (n, h, w, 3) RGB."""
    import numpy as np
    from PIL import Image

    return np.stack([np.asarray(Image.open(media_path(stimulus.file)).convert("RGB")) for stimulus in stimuli])
