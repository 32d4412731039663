"""What is said before a study is planned, against the plan itself."""

from __future__ import annotations

import pytest

from analysis.design.planner import plan_study, sufficiency_of
from analysis.errors import DesignRefused
from analysis.labels.files import default_labels
from analysis.study.design import DesignConfig
from humanexp.studies.presets import PRESETS, answers_for
from tests.analysis.design.pictures import PLAIN, picture_set, with_plain


def config_of(preset):
    return DesignConfig.from_dict(
        {**preset.values["design"], "sessions_per_participant": preset.values.get("max_sessions_per_worker", 1)}
    )


def planned(config, n):
    """The planner on that many originals, with stimuli in plenty; None where it refuses."""
    shares = [
        n // len(default_labels().ids) + (k < n % len(default_labels().ids)) for k in range(len(default_labels().ids))
    ]
    originals, rows = picture_set(shares, 400, functions=("gaussian_blur", "gaussian_noise"))
    if config.discrimination is not None:
        pairs = (("gaussian_blur", "gaussian_noise"),)
        config = config.but(discrimination=config.discrimination.but(pairs=pairs))
        rows = with_plain(originals, rows, plain=PLAIN)
    try:
        return plan_study(originals, rows, config.but(sessions=10), 1)
    except DesignRefused:
        return None


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.key)
@pytest.mark.parametrize("n", [20, 81, 150, 200])
def test_the_planner_does_as_it_was_said(preset, n):
    config = config_of(preset)
    said, plan = sufficiency_of(config.but(sessions=10), originals=n), planned(config, n)
    assert (said.demand is not None) == (plan is not None)
    if plan is not None:
        cut = [note for note in plan.notes if "originals are few" in note]
        assert said.cuts == tuple(cut)
    if said.smaller_comparisons:

        def fewer(trials):
            return config.but(discrimination=config.discrimination.but(trials=trials))

        assert planned(fewer(said.smaller_comparisons), n) is not None
        assert sufficiency_of(fewer(said.smaller_comparisons + 2), originals=n).demand is None


def test_81_pictures_make_a_smaller_study_of_naming_and_of_comparisons():
    vcr, validation, same, abx, rehearsal = answers_for(81, 16)
    assert (vcr.verdict, validation.verdict, same.verdict) == ("smaller", "yes", "smaller")
    assert "81 originals are few" in vcr.text and "main trials a session instead of 40" in vcr.text
    assert "with 40 comparisons takes 155" in same.text and "or ask for" in same.text
    assert abx.verdict in ("smaller", "no") and rehearsal.verdict == "yes"


def test_people_cannot_name_pictures_of_more_labels_than_they_can_choose_among():
    verdicts = {n_labels: [answer.verdict for answer in answers_for(750, n_labels)] for n_labels in (30, 31)}
    assert verdicts == {30: ["yes"] * 5, 31: ["no", "yes", "yes", "yes", "no"]}
