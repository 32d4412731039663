from __future__ import annotations

from analysis.design.planner import plan_study
from analysis.labels.files import default_labels
from analysis.study.design import DesignConfig
from analysis.study.validation import ValidationDesign
from tests.labels import of_the_sixteen


@of_the_sixteen
def test_originals_without_a_picture_to_judge_serve_practice_and_sentinels_first() -> None:
    names = {f"{category}-{number}": category for category in ("cat", "dog", "boat", "car") for number in range(8)}
    judged = {name for name in names if name.endswith(("-0", "-1", "-2", "-3"))}
    rows = [
        {"stimulus": f"{name}-none", "original": name, "category": kind, "corruption": "none", "visual_change": 0.0}
        for name, kind in names.items()
    ]
    rows += [
        {"stimulus": f"{name}-new", "original": name, "category": names[name], "corruption": "x", "visual_change": 0.4}
        for name in sorted(judged)
    ]
    design = ValidationDesign(shown="corrupted", answers_per_picture=2)
    for seed in range(5):
        plan = plan_study(names, rows, DesignConfig(sessions=2, main_trials=0, validation=design), seed)
        assert judged <= set(plan.pools["main"])
        shown = {trial.stimulus for trial in plan.sessions[0].trials if trial.role.startswith(("main", "consistency"))}
        assert shown == {f"{name}-new" for name in judged}


@of_the_sixteen
def test_the_only_original_of_a_category_may_serve_when_it_is_spare() -> None:
    names = {category: category for category in default_labels().ids}
    judged = default_labels().ids[:6]
    rows = [
        {"stimulus": f"{name}-{kind}", "original": name, "category": name, "corruption": kind, "visual_change": change}
        for name in names
        for kind, change in (("none", 0.0), ("x", 0.4))
        if kind == "none" or name in judged
    ]
    design = ValidationDesign(shown="corrupted", answers_per_picture=2)
    plan = plan_study(names, rows, DesignConfig(sessions=2, main_trials=0, validation=design), 1)
    assert set(judged) <= set(plan.pools["main"])
