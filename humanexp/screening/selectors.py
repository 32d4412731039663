"""Questions about verdicts and timing: which is current, who is excluded and why, what the evidence looks like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from analysis.acceptance.golds import Gold, gold_slack, tally_golds
from analysis.study.rules import RuleSet
from analysis.timing.certificate import TimingCertificate, certify
from humanexp.jobs.registry import Progress, silent
from humanexp.participation.answers import gold_answers, iter_timing_rows
from humanexp.participation.models import FINISHED, Session, SessionState, Trial, counting
from humanexp.participation.sessions import counted_sessions
from humanexp.screening.models import Verdict, WithdrawnGold
from humanexp.studies.models import Study
from humanexp.studies.tasks import TASKS

#: Sessions that are judged.
JUDGED_STATES = FINISHED
_NOT_JUDGED = (SessionState.OPEN, SessionState.WITHDRAWN)
#: The reason counted for sessions that a person excluded.
BY_HAND = "excluded by hand"
#: Trials after which a job says how far the certificate is.
REPORTED_EVERY = 20_000


def latest_verdicts(study: Study) -> QuerySet[Verdict]:
    """Of every finished session that counts, and has verdicts, the one that holds."""
    beside = Session.objects.filter(study=study).exclude(counting(), state__in=JUDGED_STATES)
    return Verdict.objects.filter(study=study, is_current=True).exclude(session__in=beside).order_by("pk")


def current_verdicts(study: Study) -> dict[int, Verdict]:
    """The latest verdict of every session of the study that has one, by its primary key; evidence on demand."""
    verdicts = latest_verdicts(study).defer("evidence").select_related("decided_by")
    return {verdict.session_id: verdict for verdict in verdicts}


@dataclass(frozen=True, kw_only=True)
class VerdictCounts:
    """Finished sessions of a study by what was found about them."""

    finished: int
    accepted: int
    #: those that do not count by their first reason, so that the counts add up; the most frequent first
    reasons: dict[str, int]
    #: for a person to look at, and nobody has decided
    flagged: int
    by_hand: int

    @property
    def judged(self) -> int:
        return self.accepted + self.excluded

    @property
    def unjudged(self) -> int:
        return self.finished - self.judged

    @property
    def excluded(self) -> int:
        return sum(self.reasons.values())


def verdict_counts(study: Study, *, finished: int | None = None) -> VerdictCounts:
    """In one pass over an index of current verdicts, less those on sessions that do not count, which are few.

    `finished`: how many sessions are, where a page has counted them already.
    """
    current = Verdict.objects.filter(is_current=True)
    counts = _alike(current.filter(study=study))
    # Afterwards: who takes their answers back in between is in neither. Their verdicts are looked up by the session.
    sessions = Session.objects.filter(study=study)
    counts.subtract(_alike(current.filter(session__in=sessions.filter(state__in=_NOT_JUDGED))))
    # `in` and no plain condition: SQLite looks up in an index what it is compared with
    beside = sessions.filter(state__in=JUDGED_STATES, is_verified__in=[False])
    counts.subtract(_alike(current.filter(session__in=beside)))
    excluded: Counter[str] = Counter()
    for alike, n in counts.items():
        if n and not alike.accepted:
            excluded[alike.reason] += n
    return VerdictCounts(
        finished=finished_count(study) if finished is None else finished,
        accepted=sum(n for alike, n in counts.items() if alike.accepted),
        reasons=dict(sorted(excluded.items(), key=lambda counted: (-counted[1], counted[0]))),
        flagged=sum(n for alike, n in counts.items() if alike.is_flagged and not alike.is_by_person),
        by_hand=sum(n for alike, n in counts.items() if alike.is_by_person),
    )


class _Alike(NamedTuple):
    """What a verdict says, as far as it is counted."""

    accepted: bool
    reason: str
    is_flagged: bool
    is_by_person: bool


def _alike(verdicts: QuerySet[Verdict]) -> Counter[_Alike]:
    counts: Counter[_Alike] = Counter()
    columns = verdicts.order_by().values_list("accepted", "reasons", "flags", "decided_by")
    for accepted, reasons, flags, by, n in columns.annotate(n=Count("*")):
        counts[_Alike(accepted, reasons[0] if reasons else BY_HAND, bool(flags), by is not None)] += n
    return counts


def flagged_in(studies: Collection[Study]) -> dict[int, int]:
    """By study, sessions that count and are flagged for a person, and that nobody has decided about."""
    flagged = Verdict.objects.filter(study__in=studies, is_current=True, decided_by=None).exclude(flags=[])
    groups = flagged.filter(counting("session"), session__state__in=JUDGED_STATES).order_by().values_list("study")
    return dict(groups.annotate(n=Count("pk")))


def finished_sessions(study: Study, *, shown: str = "") -> QuerySet[Session]:
    """In the order of their beginning: all, or those that are "accepted", "excluded", "flagged", "unjudged", or
    excluded for a reason."""
    sessions = Session.objects.filter(counting(), study=study, state__in=JUDGED_STATES).order_by("pk")
    if not shown:
        return sessions
    given = Verdict.objects.filter(session=OuterRef("pk"))
    if shown == "unjudged":
        return sessions.filter(~Exists(given))
    flagged = ~Q(flags=[]) & Q(decided_by=None)
    narrowed = {"accepted": Q(accepted=True), "excluded": Q(accepted=False), "flagged": flagged}
    wanted = narrowed.get(shown, Q(accepted=False, reasons__0=shown))
    # looked up session by session: a page of them ends the search
    return sessions.filter(Exists(given.filter(wanted, is_current=True)))


def verdicts_on(sessions: Collection[Session]) -> dict[int, Verdict]:
    """The latest verdicts on some sessions with their evidence, by the session's primary key."""
    verdicts = Verdict.objects.filter(session__in=list(sessions), is_current=True)
    return {verdict.session_id: verdict for verdict in verdicts}


def history(session: Session) -> list[Verdict]:
    """Every verdict on a session, the current one first."""
    return list(Verdict.objects.filter(session=session).select_related("decided_by").order_by("-pk"))


def accepted_sessions(study: Study) -> set[str]:
    """Codes of the sessions that count."""
    return set(latest_verdicts(study).filter(accepted=True).values_list("session__code", flat=True))


def excluded_counts(study: Study) -> dict[str, int]:
    """Sessions that do not count, by their first reason, so that the counts add up; the most frequent first."""
    return verdict_counts(study).reasons


def unjudged(study: Study) -> list[Session]:
    """Complete sessions without a verdict."""
    judged = Verdict.objects.filter(study=study, is_current=True).values("session_id")
    return list(Session.objects.filter(counting(), study=study, state__in=JUDGED_STATES).exclude(pk__in=judged))


def finished_count(study: Study) -> int:
    # `in`, as above: the beginning of an index says all of it
    return Session.objects.filter(study=study, state__in=JUDGED_STATES, is_verified__in=[True]).count()


def other_sessions(session: Session) -> list[Session]:
    """The same person's other finished sessions of the study family."""
    mine = counted_sessions(session.participant_id).filter(state__in=JUDGED_STATES)
    return list(mine.exclude(pk=session.pk).select_related("study").order_by("pk"))


def withdrawn_golds(study: Study) -> dict[str, WithdrawnGold]:
    """By the original's name."""
    return {gold.original: gold for gold in WithdrawnGold.objects.filter(study=study)}


def gold_performance(study: Study, rules: RuleSet | None = None) -> list[Gold]:
    """Every gold picture with how many of the otherwise accepted people answered it rightly; the hardest first."""
    rules = rules or RuleSet.from_dict(study.rule_set)
    found = latest_verdicts(study).values_list("session_id", "reasons", "evidence")
    latest = {session: (reasons, evidence) for session, reasons, evidence in found}
    slack = {session: gold_slack(reasons, evidence, rules) for session, (reasons, evidence) in latest.items()}
    answers = gold_answers(study)
    return tally_golds(
        (slack.get(session), original, category, right) for session, original, category, right in answers
    )


def people_shown(study: Study, originals: Collection[str]) -> set[int]:
    """Participants to whom one of these originals was shown as a gold."""
    shown = Trial.objects.filter(session__study=study, role="gold", stimulus__source_image__key__in=originals)
    return set(shown.values_list("session__participant_id", flat=True))


def certificate_of(study: Study, report: Progress = silent) -> TimingCertificate:
    """Every timed answer after practice that was not taken back: practice may be in slow motion, and enters nothing."""
    timed = {name for name, task in TASKS.items() if task.is_timed}
    return certify(_reported(iter_timing_rows(study, timed), report))


def _reported(rows: Iterator[dict[str, Any]], report: Progress) -> Iterator[dict[str, Any]]:
    for number, row in enumerate(rows, start=1):
        if number % REPORTED_EVERY == 0:
            report(number, 0)
        yield row
