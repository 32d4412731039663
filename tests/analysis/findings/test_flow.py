from __future__ import annotations

from hypothesis import given, settings, strategies as st

from analysis.findings.sensitivity import inclusion_flow
from analysis.tables.sessions import SESSIONS


def table(*rows: tuple[str, bool | None, str, bool]) -> object:
    return SESSIONS.frame(
        {
            "session": f"S-{number}",
            "participant": f"P-{number}",
            "state": state,
            "answered": 1,
            "trials": 2,
            "accepted": accepted,
            "reasons": reasons or None,
            "by_hand": by_hand,
        }
        for number, (state, accepted, reasons, by_hand) in enumerate(rows)
    )


def test_sessions_are_counted_at_each_step_with_their_first_reason() -> None:
    flow = inclusion_flow(
        table(
            ("open", None, "", False),
            ("withdrawn", None, "", False),
            ("completed", None, "", False),
            ("completed", True, "", False),
            ("submitted", True, "", True),
            ("submitted", False, "gold trials failed | timing", False),
            ("submitted", False, "gold trials failed", False),
            ("submitted", False, "timing", False),
            ("submitted", False, "", True),
        )
    )
    assert (flow.opened, flow.finished, flow.submitted, flow.not_submitted) == (9, 7, 5, 2)
    assert (flow.withdrawn, flow.unfinished, flow.unjudged, flow.accepted) == (1, 1, 1, 2)
    assert [(one.reason, one.n) for one in flow.excluded] == [
        ("gold trials failed", 2), ("excluded by hand", 1), ("timing", 1),
    ]  # fmt: skip
    assert (flow.accepted_by_hand, flow.excluded_by_hand) == (1, 1)
    assert flow.to_json()["excluded"][0] == {"reason": "gold trials failed", "n": 2}


states = st.sampled_from(["open", "completed", "submitted", "withdrawn"])


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(states, st.sampled_from([True, False, None]), st.sampled_from(["", "a", "a | b"]), st.booleans())
    )
)
def test_every_session_that_was_opened_ends_in_exactly_one_place(
    rows: list[tuple[str, bool | None, str, bool]],
) -> None:
    flow = inclusion_flow(table(*rows))
    assert flow.opened == flow.withdrawn + flow.unfinished + flow.unjudged + flow.accepted + flow.excluded_total
    assert flow.finished == flow.unjudged + flow.accepted + flow.excluded_total == flow.submitted + flow.not_submitted
