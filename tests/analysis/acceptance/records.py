"""Records of sessions for the tests of rules."""

from __future__ import annotations

from analysis.acceptance.record import SessionRecord
from analysis.acceptance.rules import judge
from analysis.labels.space import NO_ANSWER
from analysis.study.rules import load_rule_set
from tests.labels import label_at

VCR = load_rule_set("vcr")


def row(position, role, category, *, response=None, change=0.0, rt_ms=800.0, timing_ok=True, stimulus=None, task=None):
    response = category if response is None else response
    return {
        "position": position,
        "task": task or "categorisation",
        "role": role,
        "stimulus": stimulus or f"s{position}",
        "category": category,
        "corruption": "none" if change == 0 else "gaussian_noise",
        "visual_change": change,
        "response": response,
        "correct": response == category,
        "rt_ms": None if response == NO_ANSWER else rt_ms,
        "timing_ok": timing_ok,
    }


def session(**changes):
    """An attentive person's session: 10 practice, 40 main, 9 clean, 8 golds, 6 negatives, 4 pairs."""
    rows = []
    roles = ["practice"] * 10 + (["main"] * 5 + ["gold"]) * 8 + ["clean"] * 9 + ["negative"] * 6
    for number, role in enumerate(roles):
        change = (number % 20) / 20 + 0.02 if role == "main" else 0.0
        rows.append(row(number, role, label_at(number), change=change))
    for number in range(4):
        for role in ("consistency_first", "consistency_second"):
            rows.append(row(len(rows), role, label_at(3 * number), stimulus=f"pair{number}"))
    for name, change_row in changes.items():
        role = name
        for entry in rows:
            if entry["role"] == role:
                change_row(entry)
    return rows


def verdict(rows, rules=VCR):
    return judge(SessionRecord.from_rows(rows), rules)


def answer(entry, response):
    entry.update(response=response, correct=response == entry["category"])


def of_role(rows, role):
    return [entry for entry in rows if entry["role"] == role]


def outcome(judged, reason):
    return next(found for found in judged.evidence if found.reason == reason)
