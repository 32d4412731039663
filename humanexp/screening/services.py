from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from analysis.acceptance import RuleSet, SessionRecord, judge
from humanexp.core import clock
from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.core.models import User
from humanexp.experiments import selectors as experiments
from humanexp.experiments.models import Session, Study
from humanexp.screening import selectors
from humanexp.screening.models import Verdict


def rules_of(study: Study) -> RuleSet:
    """The rule set that the study was created with."""
    return RuleSet.from_dict(study.rule_set)


def judge_session(session: Session, *, rules: RuleSet | None = None) -> Verdict:
    """Judge a complete session and append the verdict; asked again, nothing is added unless something changed.

    What a person has decided stands: rules never overrule it.
    """
    if session.state not in selectors.JUDGED_STATES:
        raise Conflict("A session is judged when every trial is answered.")
    return _judge(session, experiments.session_rows(session), rules or rules_of(session.study))


def judge_study(study: Study, *, rules: RuleSet | None = None) -> list[Verdict]:
    """Judge every complete session; returns the current verdicts. With other rules, those that change are appended."""
    by_code: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in experiments.trial_rows(study):
        by_code[row["session"]].append(row)
    rules = rules or rules_of(study)
    sessions = study.sessions.filter(state__in=selectors.JUDGED_STATES).order_by("pk")
    return [_judge(session, by_code[session.code], rules) for session in sessions]


@transaction.atomic
def _judge(session: Session, rows: Sequence[Mapping[str, Any]], rules: RuleSet) -> Verdict:
    # Two runs at once must not append the same verdict twice.
    Session.objects.select_for_update().get(pk=session.pk)
    current = Verdict.objects.filter(session=session).order_by("-pk").first()
    if current is not None and current.is_by_person:
        return current
    fields = _fields(rows, rules)
    if current is not None and all(getattr(current, name) == value for name, value in fields.items()):
        return current
    return Verdict.objects.create(session=session, decided_at=clock.now(), **fields)


@transaction.atomic
def decide(*, session: Session, accepted: bool, written_reason: str, by: User) -> Verdict:
    """Append a person's decision, with the rules' evidence beside it. Payment does not depend on it."""
    reason = written_reason.strip()
    if len(reason) < 10:
        raise InvalidRequest(
            "Write down why, in a sentence: it stands beside the results.",
            fields={"written_reason": "at least 10 characters"},
        )
    if session.state not in selectors.JUDGED_STATES:
        raise Conflict("A session is judged when every trial is answered.")
    fields = _fields(experiments.session_rows(session), rules_of(session.study))
    fields |= {"accepted": accepted, "reasons": [] if accepted else [selectors.BY_HAND]}
    return Verdict.objects.create(
        session=session, decided_by=by, written_reason=reason, decided_at=clock.now(), **fields
    )


@transaction.atomic
def return_to_rules(*, session: Session) -> Verdict:
    """Take a person's decision back: the rules' verdict is appended again."""
    fields = _fields(experiments.session_rows(session), rules_of(session.study))
    return Verdict.objects.create(session=session, decided_at=clock.now(), **fields)


def _fields(rows: Sequence[Mapping[str, Any]], rules: RuleSet) -> dict[str, Any]:
    found = judge(SessionRecord.from_rows(rows), rules)
    return {
        "accepted": found.accepted,
        "reasons": list(found.reasons),
        "flags": list(found.flags),
        "evidence": [outcome.to_dict() for outcome in found.evidence],
        "rule_set": found.rule_set,
        "rule_version": found.rule_version,
    }
