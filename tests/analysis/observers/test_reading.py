"""How replies are read: by hand, and on the raw answers of nine published models beside their authors' reading."""

from __future__ import annotations

import csv
import os
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from analysis.agreement.shape_bias import shape_bias
from analysis.labels.conflicts import conflicts
from analysis.labels.files import default_labels
from analysis.observers.scoring import read_answer
from tests.labels import of_the_sixteen


@of_the_sixteen
@pytest.mark.parametrize(
    ("text", "kind", "label"),
    [
        ("dog", "label", "dog"),
        ("Dog.", "label", "dog"),
        ("It is a dog, a large dog.", "label", "dog"),
        ("There are two knives... no: bears", "label", "bear"),
        ("a boat", "label", "boat"),
        ("", "miss", "na"),
        ("   \n", "miss", "na"),
        ("not a dog but a cat", "unreadable", "na"),
        ("a plane", "unreadable", "na"),
        ("cartoon", "unreadable", "na"),
        ("I'm sorry, I can't help with that.", "refusal", "na"),
        ("BLOCKED", "refusal", "na"),
        ("There is no image to reference.", "refusal", "na"),
        ("I cannot be sure, but I would say a truck.", "label", "truck"),
        ("A dog", "label", "dog"),
        ("K", "unreadable", "na"),
    ],
)
def test_words(text: str, kind: str, label: str) -> None:
    found = read_answer(text, default_labels().ids)
    assert (found.kind, found.label) == (kind, label)


@of_the_sixteen
@pytest.mark.parametrize(
    ("text", "kind", "label"),
    [
        ("K", "label", "dog"),
        ("K.", "label", "dog"),
        ("(K)", "label", "dog"),
        ("K. dog", "label", "dog"),
        ("K: dog\nK: dog", "label", "dog"),
        ("The image looks most like a bird.\nD.", "label", "bird"),
        ("The answer is E.", "label", "boat"),
        ("The answer is E", "label", "boat"),
        ("B. dog", "unreadable", "na"),
        ("A. airplane\nB. bear", "unreadable", "na"),
        ("A: airplanenB: bear", "unreadable", "na"),
        ("Z", "unreadable", "na"),
        ("A dog", "label", "dog"),
        ("A bear. ", "label", "bear"),
        ("A", "label", "airplane"),
    ],
)
def test_letters(text: str, kind: str, label: str) -> None:
    found = read_answer(text, default_labels().ids, "letters")
    assert (found.kind, found.label) == (kind, label)


def test_a_letter_names_the_label_at_its_place_in_the_order_shown() -> None:
    assert read_answer("B", ("truck", "oven", "dog"), "letters").label == "oven"


def _authors(text: str) -> str:
    """The rule that gives the authors' column: the first letter, or one behind "the answer is"."""
    found = re.match(r"([A-P])\b", text) or re.search(r"answer is ([A-P])\.", text)
    return default_labels().ids["ABCDEFGHIJKLMNOP".index(found[1])] if found else "None"


#: Model: share of shape by the authors' reading, and by ours; replies that are read otherwise; replies without a label.
PUBLISHED = {
    "llava_1_6_vicuna_13b": (0.572, 0.572, 0, {}),
    "llava_1_5_7b": (0.614, 0.614, 0, {}),
    "moe_llava_stablelm": (0.591, 0.591, 0, {}),
    "moe_llava_phi2": (0.596, 0.596, 0, {}),
    "qwen_vl_plus": (0.648, 0.648, 0, {}),
    "instructblip_flan_t5_xl": (0.682, 0.684, 27, {"unreadable": 29}),
    "gemini_pro_vision": (0.641, 0.641, 1, {"refusal": 6}),
    "llava_rlhf_1_5_7b": (0.617, 0.617, 0, {}),
    "internvl_chat_1_2_plus": (0.611, 0.611, 0, {}),
}


@of_the_sixteen
@pytest.mark.skipif("REFERENCE_DATA" not in os.environ, reason="REFERENCE_DATA names no folder with published answers")
@pytest.mark.parametrize("model", PUBLISHED)
def test_answers_of_published_models(model: str) -> None:
    (file,) = (Path(os.environ["REFERENCE_DATA"]) / "vlm").glob(f"*_{model}.csv")
    with file.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [_authors(row["response"]) for row in rows] == [row["pred_label"] for row in rows]
    ours = [read_answer(row["response"], default_labels().ids, "letters") for row in rows]
    theirs, mine, otherwise, without = PUBLISHED[model]
    shapes, textures, known = conflicts(np.array([row["image"] for row in rows]))

    def bias(labels: list[str]) -> float:
        return shape_bias(np.array(labels)[known], shapes[known], textures[known]).bias

    assert bias([row["pred_label"] for row in rows]) == pytest.approx(theirs, abs=5e-4)
    assert bias([one.label for one in ours]) == pytest.approx(mine, abs=5e-4)
    named = ["None" if one.kind != "label" else one.label for one in ours]
    assert sum(name != row["pred_label"] for name, row in zip(named, rows, strict=True)) == otherwise
    assert dict(Counter(one.kind for one in ours if one.kind != "label")) == without


#: Every reply that is read otherwise: model, the authors' label, ours (or the kind of answer), and how many.
DIFFERENCES = {
    ("gemini_pro_vision", "None", "bird"): 1,
    ("instructblip_flan_t5_xl", "None", "clock"): 1,
    ("instructblip_flan_t5_xl", "airplane", "unreadable"): 19,
    ("instructblip_flan_t5_xl", "bear", "unreadable"): 1,
    ("instructblip_flan_t5_xl", "chair", "unreadable"): 1,
    ("instructblip_flan_t5_xl", "clock", "unreadable"): 1,
    ("instructblip_flan_t5_xl", "elephant", "unreadable"): 4,
}


@of_the_sixteen
@pytest.mark.skipif("REFERENCE_DATA" not in os.environ, reason="REFERENCE_DATA names no folder with published answers")
def test_every_difference_from_the_authors_reading_is_known() -> None:
    found: Counter[tuple[str, str, str]] = Counter()
    replies = 0
    for model in PUBLISHED:
        (file,) = (Path(os.environ["REFERENCE_DATA"]) / "vlm").glob(f"*_{model}.csv")
        with file.open(newline="", encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                replies += 1
                ours = read_answer(row["response"], default_labels().ids, "letters")
                label = ours.label if ours.kind == "label" else "None"
                if label != row["pred_label"]:
                    found[model, row["pred_label"], label if ours.kind == "label" else ours.kind] += 1
    assert dict(found) == DIFFERENCES
    assert replies == 11_520 and found.total() == 28
