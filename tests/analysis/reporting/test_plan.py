from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from analysis.errors import InvalidInput
from analysis.findings.model.findings import Findings
from analysis.reporting.plan import Deviation, FrozenPlan, deviations, freeze_plan
from tests.analysis.findings.examples import STORED, findings as example, like

SETTINGS = {"seed": 7, "n_bootstrap": 1000, "level": 0.95, "margin": 0.03, "selection": None}
SNAPSHOT = {
    "title": "Noise",
    "configuration": {"design": {"main_trials": 40, "sessions": 60}},
    "rules": {"version": "3"},
}


def findings(**changed: object) -> Findings:
    return example(settings={**{name: SETTINGS[name] for name in SETTINGS if name != "selection"}, **changed})


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.text(), plain, max_size=4))
def test_a_plan_survives_storing_and_its_digest_follows_the_content_alone(snapshot: dict[str, object]) -> None:
    plan = freeze_plan(snapshot, SETTINGS)
    assert FrozenPlan.from_dict(plan.to_dict()) == plan
    turned = dict(reversed(snapshot.items()))
    assert freeze_plan(turned, dict(reversed(SETTINGS.items()))).digest == plan.digest
    assert freeze_plan({**snapshot, "more": 1}, SETTINGS).digest != plan.digest or snapshot.get("more") == 1


def test_a_plan_that_was_changed_afterwards_is_refused() -> None:
    stored = freeze_plan(SNAPSHOT, SETTINGS).to_dict()
    stored["content"]["analysis"]["margin"] = 0.05
    with pytest.raises(InvalidInput, match="changed after it was frozen"):
        FrozenPlan.from_dict(stored)


def test_values_that_are_not_plain_are_refused() -> None:
    with pytest.raises(InvalidInput, match="plain values"):
        freeze_plan({"when": object()}, SETTINGS)
    with pytest.raises(InvalidInput, match="plain values"):
        freeze_plan({"level": float("nan")}, SETTINGS)


def test_what_was_done_as_planned_is_no_deviation() -> None:
    plan = freeze_plan(SNAPSHOT, SETTINGS)
    assert deviations(plan, findings(), snapshot=SNAPSHOT) == []
    # Another seed gives other random numbers, not another analysis; what the plan does not name binds nobody.
    assert deviations(plan, findings(seed=8, borrow={"fog": "frost"})) == []


def test_every_deviation_is_listed_with_what_was_planned_and_done() -> None:
    plan = freeze_plan(SNAPSHOT, SETTINGS)
    changed = {**SNAPSHOT, "configuration": {"design": {"main_trials": 50, "sessions": 60}}}
    flow = like(STORED.flow, accepted_by_hand=0, excluded_by_hand=2)
    done = like(findings(margin=0.05), selection={"timing_ok": True}, flow=flow)
    assert deviations(plan, done, snapshot=changed) == [
        Deviation("margin of equivalence of areas", "0.03", "0.05"),
        Deviation("choice of sessions and trials", "none", '{"timing_ok": true}'),
        Deviation("configuration / design / main trials", "40", "50"),
        Deviation("sessions excluded by hand", "the rules decide", "2 sessions"),
    ]


def test_a_choice_counts_as_a_deviation_even_where_the_plan_does_not_name_one() -> None:
    plan = freeze_plan(SNAPSHOT, {"margin": 0.03})
    assert [one.what for one in deviations(plan, like(findings(margin=0.03), selection={"all_sessions": True}))] == [
        "choice of sessions and trials"
    ]
