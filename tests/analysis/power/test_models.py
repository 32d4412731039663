"""What a planned study would say of models: rates of simulated studies, beside those measured of real analyses."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from analysis.claims.models import planned_words
from analysis.errors import InvalidInput
from analysis.power.crowd import Crowd, LogisticDrop, simulate_study
from analysis.power.models import ModelsReport, estimate_models
from analysis.power.study import PlannedStudy

CURVE = LogisticDrop(0.93, 1 / 16, 0.55, 0.12)


def test_a_large_study_matches_a_twin_and_a_small_one_leaves_it_open() -> None:
    crowd = Crowd(150, 60)
    large = PlannedStudy(crowd, functions=2, clean_answers=600, curve=CURVE)
    found = estimate_models(large, gap=0.15, runs=2)
    assert (found.people, found.functions, found.answers, found.runs) == (150, 2, 9000, 2)
    assert found.matches == found.matches_one == 1.0 and found.gap_differs == 1.0
    assert found.own_matches_one >= found.own_matches
    small = estimate_models(replace(large, crowd=replace(crowd, people=12, trials_each=20), clean_answers=60), runs=2)
    assert small.matches == small.own_matches == 0.0 and small.differs <= 0.5
    assert ModelsReport(**json.loads(json.dumps(found.to_dict()))) == found
    assert estimate_models(large, gap=0.15, runs=2) == found
    assert found.interval(1.0)[1] == 1.0


def test_a_twin_has_peoples_curve_and_their_difficulty_or_its_own() -> None:
    """At one place the shares right agree, and only with shared difficulty the same stimuli are right."""
    crowd = Crowd(4000, 1, image_sd=2.0, participant_sd=0.0)
    rng = np.random.default_rng(3)
    ((answers, shown),) = simulate_study([lambda v: 0.0 * v + 0.6], crowd, rng)
    people = answers.correct[np.argsort(answers.visual_change)]
    for own, agree in ((None, True), (rng.normal(0.0, crowd.original_sd, crowd.stimuli), False)):
        model = shown.answered(lambda v: 0.0 * v + 0.6, crowd, rng, own=own)
        right = model.outcome[np.argsort(model.place)]
        assert right.mean() == pytest.approx(0.6, abs=0.03)
        assert (np.corrcoef(people, right)[0, 1] > 0.2) == agree


def test_what_is_told_beforehand() -> None:
    rates = {"matches": 0.99, "own_matches": 0.84, "matches_one": 1.0, "own_matches_one": 0.95}
    alike, worse = planned_words(people=200, corruptions=3, answers=5000, gap=0.05, gap_differs=1.0, **rates)
    assert alike == (
        "With 200 people and 5,000 answers on each corruption, a model that is exactly like people would be said to "
        "match them on all 3 corruptions in 99 % of such studies if the same pictures are hard for it, in 84 % if "
        "others are; on one in 100 % and 95 %."
    )
    assert worse == "A model whose area is smaller by 0.05 would be said to differ on a corruption in 100 %."
    rates = dict.fromkeys(rates, 0.1)
    (alike, _) = planned_words(people=60, corruptions=1, answers=960, gap=0.05, gap_differs=0.4, **rates)
    assert alike.endswith(
        "would be said to match them in 10 % of such studies, whichever pictures are hard for it. Else it mostly stays "
        "undecided, which is no sign against it."
    )


@pytest.mark.parametrize("bad", [{"gap": 0.0}, {"gap": 0.95}, {"runs": 0}, {"seed": -1}])
def test_impossible_questions_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(InvalidInput):
        estimate_models(PlannedStudy(Crowd(12, 20)), **bad)  # type: ignore[arg-type]
