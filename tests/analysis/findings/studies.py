"""Simulated studies as the tables that an analysis reads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from analysis.findings.analysing import analyse
from analysis.labels.files import default_labels
from analysis.tables.sessions import SESSIONS
from tests.analysis.curves.truths import gradual
from tests.labels import label_at

WRONG_CLASSIFIER = "near-sighted"


def study(
    seed: int = 0,
    *,
    people: int = 24,
    trials_each: int = 60,
    corruptions: tuple[str, ...] = ("blur", "noise"),
    shift: float = 0.0,
    clean_answers: int = 5,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Trials and predictions: new stimulus per answer, clean answers by other people, one gold each.

    ``shift`` moves the truth of the second corruption; the one classifier is worse than people everywhere.
    """
    rng = np.random.default_rng(seed)
    originals = people * trials_each // 4
    category = {f"o{k}": label_at(k) for k in range(originals)}
    rows: list[dict[str, Any]] = []
    for person in range(people):
        shown = rng.permutation(originals)[: trials_each + clean_answers]
        for position, k in enumerate(shown):
            original = f"o{k}"
            clean = position >= trials_each
            corruption = "none" if clean else corruptions[position % len(corruptions)]
            v = 0.0 if clean else float(rng.random())
            place = v + (shift if corruption == corruptions[-1] else 0.0)
            rows.append(
                answer(
                    rng,
                    person,
                    position,
                    role="clean" if clean else "main",
                    original=original,
                    stimulus=f"{original}-clean" if clean else f"{original}-{corruption}-{person}",
                    category=category[original],
                    corruption=corruption,
                    visual_change=v,
                    right=float(gradual(np.array(min(place, 1.0)))),
                )
            )
        rows.append(
            answer(
                rng,
                person,
                trials_each + clean_answers,
                role="gold",
                original="gold",
                stimulus="gold-clean",
                category="cat",
                corruption="none",
                visual_change=0.0,
                right=0.0,
            )
        )
    trials = pd.DataFrame(rows)
    return trials, predictions_for(rng, trials)


def analysed(*tables: pd.DataFrame, **settings: Any) -> dict[str, Any]:
    """Every number as it is stored."""
    return analyse(*tables, **settings).to_json()


def sessions_of(trials: pd.DataFrame, reasons: dict[str, str], *, flags: dict[str, str]) -> pd.DataFrame:
    """The table of sessions behind some trials; those with a reason do not count."""
    return SESSIONS.frame(
        {
            "session": code,
            "participant": code.replace("S", "P"),
            "state": "submitted",
            "answered": 1,
            "trials": 1,
            "accepted": code not in reasons,
            "reasons": reasons.get(code),
            "flags": flags.get(code),
            "by_hand": False,
        }
        for code in sorted(trials["session"].unique())
    )


def answer(rng: np.random.Generator, person: int, position: int, *, right: float, **columns: Any) -> dict[str, Any]:
    """One answered trial that is right with this probability."""
    category = columns["category"]
    others = [name for name in default_labels().ids if name != category]
    response = category if rng.random() < right else str(rng.choice([*others, "na"]))
    return {
        "study": "simulated",
        "participant": f"P-{person}",
        "session": f"S-{person}",
        "position": position,
        "block": 0,
        "task": "categorisation",
        **columns,
        "condition": None,
        "second_stimulus": None,
        "second_corruption": None,
        "response": response,
        "correct": response == category,
        "accepted": True,
        "simulated": False,
    }


def predictions_for(rng: np.random.Generator, trials: pd.DataFrame) -> pd.DataFrame:
    """One classifier on every stimulus of the trials and on one that nobody saw."""
    pictures = trials.drop_duplicates("stimulus")
    rows = []
    for picture in pictures.itertuples():
        right = float(gradual(np.array(min(picture.visual_change * 1.6, 1.0)))) * 0.95
        others = [name for name in default_labels().ids if name != picture.category]
        response = picture.category if rng.random() < right else str(rng.choice(others))
        rows.append(
            {
                "classifier": WRONG_CLASSIFIER,
                "stimulus": picture.stimulus,
                "original": picture.original,
                "category": picture.category,
                "corruption": picture.corruption,
                "visual_change": picture.visual_change,
                "condition": None,
                "response": response,
                "correct": response == picture.category,
                "confidence": 0.5,
                "label_space": len(default_labels()),
            }
        )
    unseen = {**rows[0], "stimulus": "unseen", "corruption": "blur", "visual_change": 0.99}
    return pd.DataFrame([*rows, unseen])


def imported(conditions: dict[str, float], *, people: int = 4, each: int = 40, seed: int = 0) -> pd.DataFrame:
    """Published trials: a condition instead of a visual change; right with the probability given per condition."""
    rng = np.random.default_rng(seed)
    rows = []
    for person in range(people):
        for place, (condition, right) in enumerate(conditions.items()):
            for k in range(each):
                row = answer(
                    rng,
                    person,
                    place * each + k,
                    role="main",
                    original=f"image-{condition}-{k}",
                    stimulus=f"{person:04d}-{condition}-{k}.png",
                    category=label_at(k),
                    corruption="experiment",
                    visual_change=None,
                    right=right,
                )
                rows.append({**row, "condition": condition})
    return pd.DataFrame(rows)
