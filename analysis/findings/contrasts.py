"""The pictures on which people and each classifier differ most, as entries of the findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from analysis.agreement.contrasts import contrasts
from analysis.findings.agreement import conditions_of, pictures_of
from analysis.findings.model.agreement import Contrast, ContrastPicture
from analysis.findings.observations import Observations

#: Pictures that are named of each kind.
MOST_SHOWN = 24


def contrast_entries(
    people: Observations, classifiers: Observations, label_spaces: Mapping[str, int], labels: int
) -> list[Contrast]:
    """Two entries for every classifier: what people alone name, and what it alone names.

    Parameters
    ----------
    people, classifiers : Observations
    label_spaces : mapping of classifier to int
        Number of labels each chose from; those with other labels than people's are left out.
    labels : int
        Labels of people.

    Returns
    -------
    list of Contrast
        By classifier; none where no picture has enough answers of people.
    """
    pictures, place = np.unique(pictures_of(people), return_inverse=True)
    answers = np.bincount(place, minlength=len(pictures))
    right = np.bincount(place, weights=people.correct, minlength=len(pictures)).astype(np.int64)
    first = np.unique(place, return_index=True)[1]
    entries: list[Contrast] = []
    for name in np.unique(classifiers.observer).tolist():
        if label_spaces.get(name, labels) != labels:
            continue
        own = classifiers.select(classifiers.observer == name)
        seen, at = np.unique(pictures_of(own), return_index=True)
        common, mine, theirs = np.intersect1d(pictures, seen, assume_unique=True, return_indices=True)
        rows = at[theirs]
        found = contrasts(right[mine], answers[mine], own.correct[rows] == 1.0, conditions_of(own)[rows])
        if not found.pictures:
            continue
        sides: tuple[tuple[Literal["people", "classifier"], NDArray[np.intp], float], ...] = (
            ("people", found.people_alone, found.expected_people_alone),
            ("classifier", found.model_alone, found.expected_model_alone),
        )
        for alone, chosen, expected in sides:
            shown = chosen[:MOST_SHOWN]
            entries.append(
                Contrast(
                    classifier=name,
                    named_by=alone,
                    pictures=found.pictures,
                    found=len(chosen),
                    expected=expected,
                    shown=tuple(
                        _picture(
                            people.select(place == mine[one]),
                            str(common[one]),
                            str(people.original[first[mine[one]]]),
                            str(own.response[rows[one]]),
                        )
                        for one in shown.tolist()
                    ),
                )
            )
    return entries


def _picture(answers: Observations, picture: str, original: str, response: str) -> ContrastPicture:
    given = Counter(answers.response.tolist())
    return ContrastPicture(
        picture=picture,
        original=original,
        category=str(answers.category[0]),
        condition=str(conditions_of(answers)[0]),
        answers=len(answers),
        right=int(answers.correct.sum()),
        most_given=min(given, key=lambda one: (-given[one], one)),
        response=response,
    )
