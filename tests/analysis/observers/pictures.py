"""Stimuli as rows, and answers about them, where only what is asked and said matters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from analysis.classifiers.shards import ShownStimulus
from analysis.labels.files import default_labels
from analysis.tables.trials import ANSWERS


def stimuli(count: int, labels: Sequence[str] = (), *, corruption: str = "noise") -> list[ShownStimulus]:
    """Stimuli of all labels in turn, at visual changes that grow with their number."""
    labels = labels or default_labels().ids
    return [
        ShownStimulus(
            f"s{number:04}", f"o{number:04}", labels[number % len(labels)], corruption, (number + 0.5) / count, "", ""
        )
        for number in range(count)
    ]


def row(stimulus: str, response: str, **changes: object) -> dict[str, object]:
    return {
        "classifier": "m", "stimulus": stimulus, "original": stimulus, "category": "dog", "corruption": "none",
        "visual_change": 0.0, "wording": "describes", "order": 0, "repeat": 0, "shown": " ".join(default_labels().ids),
        "kind": "label" if response != "na" else "refusal", "response": response, "correct": response == "dog",
        "text": response, "tokens_in": 10, "tokens_out": 1, "fingerprint": "m 1", "purpose": "trial", **changes,
    }  # fmt: skip


def table(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    return ANSWERS.frame(rows)
