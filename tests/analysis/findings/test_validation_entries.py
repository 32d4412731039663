from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from analysis.errors import InvalidInput
from analysis.findings.model.checks import JudgedImage, Validation
from analysis.findings.validation import validation_entries
from analysis.study.validation import JUDGEMENTS


def judged(answers: dict[str, list[str]], *, accepted: bool = True, first: int = 0) -> pd.DataFrame:
    """Answers to pictures of chairs, the k-th answer to each by person k."""
    return pd.DataFrame(
        {
            "participant": f"P-{first + person}",
            "session": f"S-{first + person}",
            "position": place,
            "task": "validation",
            "role": "main",
            "stimulus": picture,
            "category": "chair",
            "wanted": "chair",
            "response": answer,
            "accepted": accepted,
        }
        for place, (picture, given) in enumerate(answers.items())
        for person, answer in enumerate(given)
    )


def images(found: Validation) -> dict[str, JudgedImage]:
    return {image.stimulus: image for image in found.images}


def test_hand_computed() -> None:
    frame = judged(
        {
            "good": ["yes-yes", "yes-yes", "yes-yes", "yes-no"],
            "toy": ["yes-no", "yes-no", "yes-no", "no-no"],
            "split": ["yes-yes", "yes-yes", "no-no", "no-no"],
        }
    )
    found = validation_entries(frame)
    assert found is not None
    good, toy, split = (images(found)[name] for name in ("good", "toy", "split"))
    assert (good.n, good.shows, good.usable, good.yes_to_both) == (4, 1.0, 0.75, 0.75)
    assert good.accepted and good.agreement == 0.75
    assert (toy.shows, toy.usable, toy.accepted) == (0.75, 0.0, False)
    # Half is no majority.
    assert not split.accepted
    overall = found.overall
    assert overall.accepted_share == pytest.approx(1 / 3)
    assert overall.agreement == pytest.approx((3 + 3 + 2) / 12)
    assert overall.agreement_shows == pytest.approx((4 + 3 + 2) / 12)
    assert (overall.people, overall.qualified, overall.answers) == (4, 4, 12)


def test_only_qualified_people_count_and_sentinels_are_no_judgements() -> None:
    frame = judged({"a": ["yes-yes", "yes-yes"]})
    others = [
        judged({"a": ["no-no"] * 5}, accepted=False, first=10),
        judged({"plain": ["yes-yes"]}).assign(role="gold", position=7),
        judged({"a": ["no-no"]}).assign(role="consistency_second", position=8),
        judged({"a": ["na"]}, first=20),
    ]
    found = validation_entries(pd.concat([frame, *others], ignore_index=True))
    assert found is not None
    assert list(images(found)) == ["a"] and images(found)["a"].n == 2
    assert (found.overall.people, found.overall.qualified) == (7, 2)


def test_a_threshold_is_configurable() -> None:
    frame = judged({"a": ["yes-yes", "yes-yes", "no-no"]})
    strict = validation_entries(frame, threshold=0.7)
    assert strict is not None and not strict.images[0].accepted
    with pytest.raises(InvalidInput):
        validation_entries(frame, threshold=1.0)


def test_one_coin_stands_beside_the_majority_and_hears_the_reliable() -> None:
    rng = np.random.default_rng(2)
    truth = rng.random(60) < 0.5
    answers = {
        f"p{number:02d}": [
            *(["yes-yes" if good else "no-no"] * 2),
            *("yes-yes" if rng.random() < 0.5 else "no-no" for _ in range(3)),
        ]
        for number, good in enumerate(truth)
    }
    found = validation_entries(judged(answers))
    assert found is not None
    by_coin = [image.accepted_one_coin == good for image, good in zip(found.images, truth, strict=True)]
    by_majority = [image.accepted == good for image, good in zip(found.images, truth, strict=True)]
    assert np.mean(by_coin) > 0.95 > np.mean(by_majority)
    assert found.overall.decided_otherwise == sum(image.accepted != image.accepted_one_coin for image in found.images)


def test_labels_hand_computed() -> None:
    chairs = judged({"good": ["yes-yes", "yes-yes", "yes-no"], "bad": ["no-no"] * 3})
    kettles = judged({"pot": ["yes-yes"] * 3}).assign(wanted="kettle", category="kettle", position=9)
    found = validation_entries(pd.concat([chairs, kettles], ignore_index=True))
    assert found is not None
    chair, kettle = found.labels
    assert (chair.wanted, chair.pictures, chair.answers, chair.accepted) == ("chair", 2, 6, 1)
    assert chair.shows == pytest.approx(3 / 6) and chair.usable == chair.yes_to_both == pytest.approx(2 / 6)
    assert chair.agreement == pytest.approx(5 / 6)
    assert (kettle.wanted, kettle.pictures, kettle.answers, kettle.agreement, kettle.accepted) == ("kettle", 1, 3, 1, 1)


def test_people_who_answer_at_random_agree_no_more_than_by_guessing() -> None:
    rng = np.random.default_rng(11)
    answers = {f"p{k:02d}": [str(one) for one in rng.choice(JUDGEMENTS, size=10)] for k in range(48)}
    found = validation_entries(judged(answers))
    assert found is not None and found.overall.is_like_guessing
    careful = {name: ["yes-yes"] * 9 + [given[0]] for name, given in answers.items()}
    found = validation_entries(judged(careful))
    assert found is not None and not found.overall.is_like_guessing
    alone = validation_entries(judged({"a": ["yes-yes"]}))
    assert alone is not None and alone.overall.is_like_guessing, "one answer agrees with nobody"


def test_studies_without_judgements_have_none() -> None:
    assert validation_entries(judged({"a": ["yes-yes"]}).assign(task="categorisation")) is None
    nobody = validation_entries(judged({"a": ["yes-yes"]}, accepted=False))
    assert nobody is not None and nobody.images == () and nobody.overall.qualified == 0
