"""Sentences of CLIP: the paper's to the letter beside the product's, each with a name and a digest."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from analysis.classifiers.loading import load_classifier
from analysis.classifiers.networks import TorchNetwork
from analysis.classifiers.sentences import asked_for, of_labels, prompt, vcr
from analysis.errors import ClassifierUnavailable
from analysis.labels.files import default_labels
from analysis.labels.imagenet import class_ids


def test_the_products_sentences_have_articles() -> None:
    assert prompt("cat") == "a picture of a cat" and prompt("airplane") == "a picture of an airplane"
    found = of_labels(default_labels(), None)
    assert found.labels == default_labels().ids and str(found).startswith("product of 16 entry16 (")


def test_vcr_has_its_template_to_the_letter_for_all_classes() -> None:
    found = vcr()
    assert found.labels == class_ids() and len(found.texts) == 1000
    assert found.texts[0] == "a picture of tench" and all(text.startswith("a picture of ") for text in found.texts)
    by_hand = hashlib.sha256()
    for place, (label, text) in enumerate(zip(found.labels, found.texts, strict=True)):
        by_hand.update(f"{chr(0) if place else ''}{label}\x00{text}".encode())
    assert found.digest == by_hand.hexdigest() and found.digest[:12] in str(found)


def test_sentences_that_nobody_knows_are_refused_with_the_list() -> None:
    assert asked_for("ViT-B-32/openai") == ("ViT-B-32/openai", None)
    network, found = asked_for("ViT-B-32/openai#vcr")
    assert network == "ViT-B-32/openai" and found == vcr()
    with pytest.raises(ClassifierUnavailable, match="no sentences 'clip'; there are: vcr"):
        asked_for("ViT-B-32/openai#clip")


def test_a_network_answers_among_the_classes_and_keeps_what_it_was_asked_with(tmp_path: Path) -> None:
    small = pytest.importorskip("tests.analysis.classifiers.small_networks")
    folder = small.clip_folder(tmp_path / "clip")
    plain, asked = load_classifier(f"open_clip:{folder}"), load_classifier(f"open_clip:{folder}#vcr")
    assert isinstance(plain, TorchNetwork) and isinstance(asked, TorchNetwork)
    pictures = np.random.default_rng(0).integers(0, 256, (2, 48, 48, 3), dtype=np.uint8)
    assert plain.predict(pictures).shape == (2, 16) and asked.predict(pictures).shape == (2, 1000)
    assert asked.facts == {"sentences": str(vcr())} and plain.digest != asked.digest
    with pytest.raises(ClassifierUnavailable, match="sentences of its own"):
        load_classifier(f"open_clip:{folder}#vcr", labels=_mapping(tmp_path))


def _mapping(folder: Path) -> Path:
    path = folder / "labels.csv"
    path.write_text("label,category\n" + "".join(f"{one},{one}\n" for one in default_labels().ids))
    return path
