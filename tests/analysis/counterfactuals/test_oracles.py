from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.counterfactuals.oracles import ClassifierOracle, EnsembleOracle
from analysis.counterfactuals.port import Oracle
from analysis.counterfactuals.specifications import load_oracle
from analysis.errors import ClassifierUnavailable, OracleUnavailable, UnknownName
from tests.analysis.classifiers import small_networks as small


def test_a_classifier_accepts_what_it_names(pictures, labels, oracle) -> None:
    assert isinstance(oracle, Oracle) and oracle.name == "classifier:oracle"
    told = ["dog", *labels[1:]]
    judged = oracle.judge(pictures, told)
    assert list(judged.accepted) == [False] + [True] * 11
    assert list(judged.responses) == labels


def test_an_oracle_may_know_fewer_categories(pictures, labels, robust) -> None:
    few = ClassifierOracle(
        replace(robust, labels=("cat", "zebra"), forward=lambda inputs: robust.forward(inputs)[:, :2])
    )
    assert few.classes == {"cat"}
    assert set(few.judge(pictures, labels).responses) == {"cat"}
    with pytest.raises(OracleUnavailable, match="knows none"):
        ClassifierOracle(replace(robust, labels=("zebra", "lion")))


def test_an_ensemble_needs_more_than_half(pictures, labels, scripted) -> None:
    yes, no, other = scripted(), scripted({"cat": 0}), scripted({"cat": 0, "dog": 0})
    judged = EnsembleOracle((yes, no, other)).judge(pictures, labels)
    assert list(judged.accepted) == [label != "cat" for label in labels]
    assert [str(response) for response in judged.responses[:3]] == ["", "dog", "boat"]
    even = EnsembleOracle((scripted(), scripted({"dog": 0})))
    assert not even.judge(pictures, labels).accepted[1]
    assert even.classes == yes.classes
    with pytest.raises(OracleUnavailable, match="two members"):
        EnsembleOracle((yes,))


def test_specifications_are_read_or_refused() -> None:
    clean, robust = (f"classifier:export:fixtures/classifiers/{name}.pt2" for name in ("clean", "robust"))
    assert len(load_oracle(robust).classes) == 16
    assert load_oracle(f"ensemble:{robust} | {clean}").name == "ensemble of classifier:robust, classifier:clean"
    with pytest.raises(OracleUnavailable, match="in rounds"):
        load_oracle("crowd:")
    with pytest.raises(UnknownName, match="names no oracle"):
        load_oracle("friend:me")
    with pytest.raises(ClassifierUnavailable):
        load_oracle("clip:ViT-B-32@/nowhere/weights.pt")


def test_no_picture_needs_no_network(oracle) -> None:
    assert len(oracle.judge(np.zeros((0, 16, 16, 3), np.uint8), []).accepted) == 0


def test_clip_compares_a_picture_with_an_image_of_its_category(tmp_path, drawn) -> None:
    folder = small.clip_folder(tmp_path / "clip")
    oracle = load_oracle(f"clip:{folder}")
    assert oracle.name == "clip:clip" and len(oracle.classes) == 16
    # Other sentences than those of the classifier of the same weights.
    assert oracle.digest != load_oracle(f"classifier:open_clip:{folder}").digest
    pictures = np.repeat(np.repeat(drawn(["cat", "dog"], 3), 4, axis=1), 4, axis=2)
    judged = oracle.judge(pictures, ["cat", "dog"])
    assert list(judged.accepted) == list(judged.responses == np.array(["cat", "dog"]))
    from analysis.classifiers import clip

    network = clip.load(str(folder), sentence=lambda category: f"an image of {category}")
    assert oracle.digest == network.digest
