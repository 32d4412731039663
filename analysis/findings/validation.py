"""Validation studies: do people agree that a picture shows the wanted category, and that it could be used as one?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from analysis.agreement.labels import guessed_agreement, label_agreement, one_coin
from analysis.errors import InvalidInput
from analysis.findings.model.checks import JudgedImage, JudgedLabel, Judgements, Validation
from analysis.study.analysis_plan import VALIDATION_THRESHOLD
from analysis.study.validation import JUDGEMENTS

if TYPE_CHECKING:
    import pandas as pd

_ROLES = ("main", "consistency_first")


def validation_entries(frame: pd.DataFrame, *, threshold: float = VALIDATION_THRESHOLD) -> Validation | None:
    """Agreement of qualified people picture by picture, and which pictures are accepted.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns of `analysis.tables.trials.TRIALS`. Qualified are the people of accepted sessions; sentinels and second
        showings are no judgements.
    threshold : float
        A picture is accepted when a larger share of its qualified answers says yes to both questions.

    Returns
    -------
    Validation or None
        ``images``: one entry a picture and wanted category with ``n``, shares of yes to the questions, ``agreement``
        (with the most frequent of the four answers), ``accepted`` by majority and ``accepted_one_coin`` beside it with
        its ``certainty``; ``labels``: the same by wanted category; ``overall``: the same over all, ``people``,
        ``qualified``, ``threshold``, agreement on each question, and agreement by guessing; None without judgements.

    Raises
    ------
    InvalidInput
        If the threshold lies outside [0, 1).

    Notes
    -----
    ImageNet-D (supplement): accepted = the majority of qualified workers says yes to both questions. One-coin EM runs
    over "yes to both" against the rest.
    """
    if not 0.0 <= threshold < 1.0:
        raise InvalidInput(f"A share above which pictures are accepted lies in [0, 1), not at {threshold}.")
    if "task" not in frame.columns or not (frame["task"] == "validation").any():
        return None
    judged = frame[(frame["task"] == "validation") & frame["role"].isin(_ROLES) & frame["response"].isin(JUDGEMENTS)]
    qualified = judged[judged["accepted"].astype("boolean").fillna(False).to_numpy(dtype=bool)]
    overall = partial(
        Judgements,
        people=int(judged["participant"].nunique()),
        qualified=int(qualified["participant"].nunique()),
        answers=len(qualified),
        threshold=threshold,
    )
    if qualified.empty:
        return Validation(images=(), overall=overall())
    order = [name for name in ("participant", "session", "position") if name in qualified.columns]
    qualified = qualified.sort_values(order, kind="stable")
    wanted = qualified["wanted"] if "wanted" in qualified.columns else qualified["category"]
    pictures = [
        f"{stimulus}\t{category}"
        for stimulus, category in zip(qualified["stimulus"].astype(str), wanted.astype(str), strict=True)
    ]
    answers = qualified["response"].astype(str).tolist()
    shows, usable = ([answer.split("-")[place] for answer in answers] for place in (0, 1))
    both = ["yes" if answer == "yes-yes" else "no" for answer in answers]
    found = {name: label_agreement(pictures, given) for name, given in (("shows", shows), ("usable", usable))}
    joint = label_agreement(pictures, answers)
    weighed = one_coin(pictures, qualified["participant"].astype(str).tolist(), both, labels=2)
    rates = {name: _share_of_yes(pictures, given) for name, given in (("s", shows), ("u", usable), ("b", both))}
    images = []
    for one in joint.pictures:
        stimulus, category = one.picture.split("\t")
        images.append(
            JudgedImage(
                stimulus=stimulus,
                wanted=category,
                n=one.n,
                shows=rates["s"][one.picture],
                usable=rates["u"][one.picture],
                yes_to_both=rates["b"][one.picture],
                agreement=one.agreement,
                accepted=rates["b"][one.picture] > threshold,
                accepted_one_coin=weighed.answers[one.picture] == "yes",
                certainty=weighed.certainty[one.picture],
            )
        )
    guessed = guessed_agreement([one.n for one in joint.pictures], len(JUDGEMENTS))
    return Validation(
        images=tuple(images),
        labels=_by_label(images),
        overall=overall(
            agreement_by_guessing=guessed.expected,
            agreement_by_guessing_upper=guessed.upper,
            agreement=joint.agreement,
            agreement_shows=found["shows"].agreement,
            agreement_usable=found["usable"].agreement,
            mean_image_agreement=float(np.mean([one.agreement for one in joint.pictures])),
            accepted_share=float(np.mean([image.accepted for image in images])),
            accepted_share_one_coin=float(np.mean([image.accepted_one_coin for image in images])),
            decided_otherwise=sum(image.accepted != image.accepted_one_coin for image in images),
        ),
    )


def _by_label(images: Sequence[JudgedImage]) -> tuple[JudgedLabel, ...]:
    """Shares over all answers to the pictures of each label."""
    found = []
    for wanted in sorted({image.wanted for image in images}):
        mine = [image for image in images if image.wanted == wanted]
        answers = [image.n for image in mine]
        share = partial(np.average, weights=answers)
        found.append(
            JudgedLabel(
                wanted=wanted,
                pictures=len(mine),
                answers=sum(answers),
                shows=float(share([image.shows for image in mine])),
                usable=float(share([image.usable for image in mine])),
                yes_to_both=float(share([image.yes_to_both for image in mine])),
                agreement=float(share([image.agreement for image in mine])),
                accepted=sum(image.accepted for image in mine),
            )
        )
    return tuple(found)


def _share_of_yes(pictures: list[str], given: list[str]) -> dict[str, float]:
    names, code = np.unique(np.asarray(pictures, dtype=np.str_), return_inverse=True)
    yes = np.bincount(code, weights=np.asarray(given) == "yes") / np.bincount(code)
    return {str(name): float(share) for name, share in zip(names, yes, strict=True)}
