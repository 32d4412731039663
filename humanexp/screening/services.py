from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db import transaction

from analysis.acceptance.golds import hard_golds, withdrawal_of
from analysis.acceptance.record import SessionRecord
from analysis.acceptance.rules import PRACTICE_NOT_PASSED, judge
from analysis.study.rules import RuleSet, SentinelSettings
from humanexp.core import clock
from humanexp.core.errors import Conflict, InvalidRequest
from humanexp.core.models import User, record
from humanexp.jobs import services as jobs
from humanexp.jobs.models import JobState
from humanexp.jobs.registry import Progress, silent
from humanexp.jobs.selectors import latest_for
from humanexp.participation.answers import rows_of, session_rows
from humanexp.participation.models import Session
from humanexp.screening import selectors
from humanexp.screening.models import Verdict, WithdrawnGold
from humanexp.studies import permissions
from humanexp.studies.models import Action, Study

JUDGE_STUDY = "screening.judge_study"
#: Sessions whose answers are read together; a study of so many is judged within a second or two.
AT_ONCE = 200
#: Golds are looked at again when so many times more sessions are finished.
GROWTH = 1.05


def rules_of(study: Study) -> RuleSet:
    """The rule set that the study was created with."""
    return RuleSet.from_dict(study.rule_set)


def judge_session(session: Session, *, rules: RuleSet | None = None) -> Verdict:
    """Judge a complete session and append the verdict; asked again, nothing is added unless something changed.

    What a person has decided stands: rules never overrule it. Where a rule counts sentinels over all sessions of a
    person, their other sessions are judged anew; where golds turn out to be hard, a job judges the study anew.
    """
    if session.state not in selectors.JUDGED_STATES:
        raise Conflict("A session is judged when every trial is answered.")
    rules = rules or rules_of(session.study)
    rows = session_rows(session)
    verdict = _judge(session, rules, rows=rows)
    if _is_pooled(SessionRecord.from_rows(rows), rules):
        for other in selectors.other_sessions(session):
            _judge(other, rules_of(other.study))
    if withdrawal_of(rules) is not None and is_time_to_look(finished=selectors.finished_count(session.study)):
        withdraw_hard_golds(study=session.study, rules=rules, judge_anew=True)
    return verdict


def forget_erased() -> int:
    """Remove the verdicts on sessions whose answers were taken back and erased: their evidence tells of the answers."""
    return Verdict.objects.filter(session__erased_at__isnull=False).delete()[0]


def is_time_to_look(*, finished: int) -> bool:
    """At every session of a small study, and whenever a larger one has grown by a twentieth.

    A look reads all golds, so the looks of a whole study cost some twenty times its golds, however large it is.
    """
    if finished <= 1:
        return finished == 1
    return math.floor(math.log(finished, GROWTH)) > math.floor(math.log(finished - 1, GROWTH))


def judge_study(study: Study, *, rules: RuleSet | None = None, report: Progress = silent) -> list[Verdict]:
    """Judge every complete session; returns the current verdicts. With other rules, those that change are appended.

    Golds that turn out to be hard are withdrawn on the way; whoever was shown one is judged anew without it.
    """
    rules = rules or rules_of(study)
    sessions = list(study.sessions.filter(state__in=selectors.JUDGED_STATES).order_by("pk"))
    found: dict[int, Verdict] = {}
    due = sessions
    while due:
        for first in range(0, len(due), AT_ONCE):
            found |= _judge_together(study, due[first : first + AT_ONCE], rules)
            report(min(first + AT_ONCE, len(due)), len(due))
        withdrawn = withdraw_hard_golds(study=study, rules=rules)
        people = selectors.people_shown(study, [gold.original for gold in withdrawn]) if withdrawn else set()
        due = [session for session in sessions if session.participant_id in people]
    return [found[session.pk] for session in sessions]


def judge_soon(*, study: Study, by: User) -> list[Verdict] | None:
    """Judge every complete session: at once where it takes a moment, else (None) by a job."""
    permissions.check(by, Action.REVIEW, study)
    record(action="judge", subject=f"study:{study.slug}", study=study.slug, by=by)
    if selectors.finished_count(study) <= AT_ONCE:
        return judge_study(study)
    _have_judged(study, by=by)
    return None


def _have_judged(study: Study, by: User | None = None) -> None:
    """Queue a job that judges the study anew; one that still waits will do."""
    subject = f"study:{study.slug}"
    job = latest_for(subject, JUDGE_STUDY)
    if job is None or job.state != JobState.QUEUED:
        jobs.submit(JUDGE_STUDY, subject=subject, by=by, study_id=study.pk)


def withdraw_hard_golds(*, study: Study, rules: RuleSet | None = None, judge_anew: bool = False) -> list[WithdrawnGold]:
    """Withdraw every gold that too few of the otherwise accepted people name; returns those that are new.

    What is too few, the rule set says; most say nothing, and nothing is withdrawn. A gold stays withdrawn, and the next
    verdicts do not count it. With `judge_anew`, a job for that is stored together with it.
    """
    rules = rules or rules_of(study)
    terms = withdrawal_of(rules)
    if terms is None:
        return []
    known = selectors.withdrawn_golds(study)
    standing = [gold for gold in selectors.gold_performance(study, rules) if gold.original not in known]
    now = clock.now()
    hard = [
        WithdrawnGold(
            study=study,
            original=gold.original,
            category=gold.category,
            shown=gold.shown,
            right=gold.right,
            withdrawn_at=now,
        )
        for gold in hard_golds(standing, terms)
    ]
    if hard:
        with transaction.atomic():
            # Two may judge at once: the constraint lets one enter it.
            WithdrawnGold.objects.bulk_create(hard, ignore_conflicts=True)
            if judge_anew:
                _have_judged(study)
    return hard


def _is_pooled(record: SessionRecord, rules: RuleSet) -> bool:
    """Whether a rule counts the sentinels of so short a session together with those of the person's other ones."""
    return any(record.asked < settings.pool_under for settings in rules.settings_of(SentinelSettings))


def _judge_together(study: Study, sessions: Sequence[Session], rules: RuleSet) -> dict[int, Verdict]:
    """The same as judging one after the other; of most nothing changes, and those cost no transaction."""
    rows, found = rows_of(sessions, study), selectors.verdicts_on(sessions)
    withdrawn = selectors.withdrawn_golds(study).keys()
    for session in sessions:
        mine = rows[session.code]
        current = found.get(session.pk)
        if current is not None and (
            current.is_by_person or _says(current, _fields(session, rules, rows=mine, withdrawn=withdrawn))
        ):
            continue
        found[session.pk] = _judge(session, rules, rows=mine)
    return found


@transaction.atomic
def append_verdict(*, session: Session, **facts: Any) -> Verdict:
    """Add a verdict, which is the current one of its session from now on."""
    # Two at once: the second waits, and finds the first one's mark.
    Session.objects.select_for_update().get(pk=session.pk)
    Verdict.objects.filter(session=session, is_current=True).update(is_current=False)
    return Verdict.objects.create(session=session, study_id=session.study_id, decided_at=clock.now(), **facts)


@transaction.atomic
def _judge(session: Session, rules: RuleSet, *, rows: Sequence[Mapping[str, Any]] | None = None) -> Verdict:
    # Two runs at once must not append the same verdict twice.
    Session.objects.select_for_update().get(pk=session.pk)
    current = Verdict.objects.filter(session=session, is_current=True).first()
    if current is not None and current.is_by_person:
        return current
    fields = _fields(session, rules, rows=rows)
    if current is not None and _says(current, fields):
        return current
    return append_verdict(session=session, **fields)


def _says(verdict: Verdict, fields: Mapping[str, Any]) -> bool:
    return all(getattr(verdict, name) == value for name, value in fields.items())


@transaction.atomic
def decide(*, session: Session, accepted: bool, written_reason: str, by: User) -> Verdict:
    """Append a person's decision, with the rules' evidence beside it. Payment does not depend on it."""
    permissions.check(by, Action.REVIEW, session.study)
    reason = written_reason.strip()
    if len(reason) < 10:
        raise InvalidRequest(
            "Give a reason in one sentence; it appears next to the results.",
            fields={"written_reason": "at least 10 characters"},
        )
    if session.state not in selectors.JUDGED_STATES:
        raise Conflict("A session is judged when every trial is answered.")
    fields = _fields(session, rules_of(session.study))
    fields |= {"accepted": accepted, "reasons": [] if accepted else [selectors.BY_HAND]}
    _note("decide-session", session, by, accepted=accepted, reason=reason)
    return append_verdict(session=session, decided_by=by, written_reason=reason, **fields)


@transaction.atomic
def return_to_rules(*, session: Session, by: User | None = None) -> Verdict:
    """Take a person's decision back: the rules' verdict is appended again."""
    permissions.check(by, Action.REVIEW, session.study)
    fields = _fields(session, rules_of(session.study))
    _note("return-to-rules", session, by)
    return append_verdict(session=session, **fields)


def _note(action: str, session: Session, by: User | None, **facts: Any) -> None:
    record(action=action, subject=f"session:{session.code}", study=session.study.slug, by=by, **facts)


def _fields(
    session: Session,
    rules: RuleSet,
    *,
    rows: Sequence[Mapping[str, Any]] | None = None,
    withdrawn: Collection[str] | None = None,
) -> dict[str, Any]:
    if session.practised is False:
        ended = {"accepted": False, "reasons": [PRACTICE_NOT_PASSED], "flags": [], "evidence": []}
        return {**ended, "rule_set": rules.name, "rule_version": rules.version}
    record = _record(session, rows=rows, withdrawn=withdrawn)
    if _is_pooled(record, rules):
        record = replace(record, others=tuple(_record(other) for other in selectors.other_sessions(session)))
    found = judge(record, rules)
    return {
        "accepted": found.accepted,
        "reasons": list(found.reasons),
        "flags": list(found.flags),
        "evidence": [outcome.to_dict() for outcome in found.evidence],
        "rule_set": found.rule_set,
        "rule_version": found.rule_version,
    }


def _record(
    session: Session,
    *,
    rows: Sequence[Mapping[str, Any]] | None = None,
    withdrawn: Collection[str] | None = None,
) -> SessionRecord:
    """What the rules read of a session; what is not handed in is read from the database."""
    return SessionRecord.from_rows(
        session_rows(session) if rows is None else rows,
        withdrawn=selectors.withdrawn_golds(session.study).keys() if withdrawn is None else withdrawn,
        fetched=session.fetched,
        space=session.study.space,
    )
