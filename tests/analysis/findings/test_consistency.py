from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.findings.observations import read_predictions, read_trials
from analysis.findings.outcomes import classifier_agreement, human_agreement
from tests.analysis.findings.studies import study


def small(answers: list[tuple[str, str, str, str]]) -> pd.DataFrame:
    """Rows of (person, original, corruption, response)."""
    return pd.DataFrame(
        [
            {
                "participant": person,
                "task": "categorisation",
                "role": "clean" if corruption == "none" else "main",
                "original": original,
                "stimulus": f"{original}-{corruption}-{person}",
                "corruption": corruption,
                "visual_change": 0.0 if corruption == "none" else 0.5,
                "condition": None,
                "response": response,
                "correct": False,
                "accepted": True,
            }
            for person, original, corruption, response in answers
        ]
    )


def test_hand_computed() -> None:
    """a's "cat" meets b's cat and c's dog: 1/2; nobody else saw y clean: unknown; a miss agrees with nothing."""
    rows = read_trials(
        small(
            [
                ("a", "x", "blur", "cat"),
                ("a", "y", "blur", "cat"),
                ("d", "x", "blur", "na"),
                ("a", "y", "none", "cat"),
                ("b", "x", "none", "cat"),
                ("c", "x", "none", "dog"),
            ]
        )
    )
    names = zip(rows.observer, rows.original, rows.corruption, strict=True)
    found = dict(zip(names, human_agreement(rows, rows.clean), strict=True))
    assert found["a", "x", "blur"] == 0.5
    assert np.isnan(found["a", "y", "blur"]) and np.isnan(found["a", "y", "none"])
    assert found["d", "x", "blur"] == 0.0
    # Clean answers are compared with the others' alone.
    assert found["b", "x", "none"] == 0.0 and found["c", "x", "none"] == 0.0


def test_equals_brute_force_over_pairs() -> None:
    trials, _ = study(3, people=12, trials_each=20, clean_answers=8)
    rows = read_trials(trials)
    clean = rows.clean
    found = human_agreement(rows, clean)
    for k in range(len(rows)):
        others = [
            float(clean.response[j] == rows.response[k] and rows.response[k] != "na")
            for j in range(len(clean))
            if clean.original[j] == rows.original[k] and clean.observer[j] != rows.observer[k]
        ]
        assert found[k] == pytest.approx(np.mean(others)) if others else np.isnan(found[k])


def test_the_statistic_is_unbiased_whatever_the_number_of_clean_answers() -> None:
    """Two people who answer "cat" 70 % and "dog" 30 % of the time agree with probability 0.58."""
    rng = np.random.default_rng(0)
    rows = []

    def guess() -> str:
        return "cat" if rng.random() < 0.7 else "dog"

    for number in (1, 2, 6):
        for k in range(700):
            original = f"{number}-{k}"
            rows.append(("judge", original, "blur", guess()))
            rows.extend((f"p{j}", original, "none", guess()) for j in range(number))
    people = read_trials(small(rows))
    blurred = people.of("blur")
    found = human_agreement(blurred, people.clean)
    for number in (1, 2, 6):
        chosen = np.char.startswith(blurred.original, f"{number}-")
        assert found[chosen].mean() == pytest.approx(0.58, abs=0.06)


def test_a_classifier_is_compared_with_its_own_clean_prediction() -> None:
    _, predictions = study(1, people=4, trials_each=10)
    own, _ = read_predictions(predictions[predictions["original"] != "o0"])
    found = classifier_agreement(own, own.clean.select(own.clean.original != "o1"))
    clean = dict(zip(own.clean.original, own.clean.response, strict=True))
    clean.pop("o1", None)
    for k in range(len(own)):
        if own.original[k] in clean:
            assert found[k] == float(own.response[k] == clean[own.original[k]])
        else:
            assert np.isnan(found[k])
