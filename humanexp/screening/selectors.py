"""Questions about verdicts: which is current, who is excluded and why, what the evidence looks like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from operator import itemgetter

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet

from analysis.acceptance import Gold, RuleSet, gold_slack, tally_golds
from humanexp.experiments import selectors as experiments
from humanexp.experiments.counting import counting
from humanexp.experiments.models import Session, SessionState, Study, Trial
from humanexp.screening.models import Verdict, WithdrawnGold

#: Sessions that are judged.
JUDGED_STATES = (SessionState.COMPLETED, SessionState.SUBMITTED)
#: The reason counted for sessions that a person excluded.
BY_HAND = "excluded by hand"


def latest_verdicts(study: Study) -> QuerySet[Verdict]:
    """Of every session that has verdicts the one that holds; counted and narrowed in the database."""
    given = Verdict.objects.filter(counting("session"), session__study=study, session__state__in=JUDGED_STATES)
    return given.filter(_HOLDS).order_by("pk")


def current_verdicts(study: Study) -> dict[int, Verdict]:
    """The latest verdict of every session of the study that has one, by its primary key; evidence on demand."""
    verdicts = latest_verdicts(study).defer("evidence").select_related("decided_by")
    return {verdict.session_id: verdict for verdict in verdicts}


@dataclass(frozen=True, kw_only=True)
class VerdictCounts:
    """Finished sessions of a study by what was found about them."""

    finished: int
    judged: int
    accepted: int
    #: for a person to look at, and nobody has decided
    flagged: int
    by_hand: int

    @property
    def unjudged(self) -> int:
        return self.finished - self.judged

    @property
    def excluded(self) -> int:
        return self.judged - self.accepted


def verdict_counts(study: Study, *, excluded: int | None = None) -> VerdictCounts:
    """`excluded`: how many do not count, where a page has asked it already."""
    excluded = sum(excluded_counts(study).values()) if excluded is None else excluded
    by_hand = Q(decided_by__isnull=False)
    counts = _few(study, _FLAGGED | by_hand).aggregate(
        flagged=Count("pk", filter=_FLAGGED), by_hand=Count("pk", filter=by_hand)
    )
    judged = finished_sessions(study).filter(Exists(Verdict.objects.filter(session=OuterRef("pk")))).count()
    return VerdictCounts(finished=finished_count(study), judged=judged, accepted=judged - excluded, **counts)


_FLAGGED = ~Q(flags=[]) & Q(decided_by=None)


def _few(study: Study, saying: Q) -> QuerySet[Verdict]:
    """Latest verdicts that say what few do: asked of the verdicts, where an index tells it, and not of all sessions."""
    judged = Session.objects.filter(counting(), pk=OuterRef("session"), study=study, state__in=JUDGED_STATES)
    return Verdict.objects.filter(saying, Exists(judged), _HOLDS).order_by()


#: There is no later one.
_HOLDS = ~Exists(Verdict.objects.filter(session=OuterRef("session"), pk__gt=OuterRef("pk")))


def finished_sessions(study: Study, *, shown: str = "") -> QuerySet[Session]:
    """In the order of their beginning: all, or those that are "accepted", "excluded", "flagged", "unjudged", or
    excluded for a reason."""
    sessions = Session.objects.filter(counting(), study=study, state__in=JUDGED_STATES).order_by("pk")
    if not shown:
        return sessions
    given = Verdict.objects.filter(session=OuterRef("pk"))
    if shown == "unjudged":
        return sessions.filter(~Exists(given))
    narrowed = {"accepted": Q(accepted=True), "excluded": Q(accepted=False), "flagged": _FLAGGED}
    wanted = narrowed.get(shown, Q(accepted=False, reasons__0=shown))
    # looked up session by session: a page of them ends the search
    return sessions.filter(Exists(given.filter(wanted, _HOLDS)))


def verdicts_on(sessions: Collection[Session]) -> dict[int, Verdict]:
    """The latest verdicts on some sessions with their evidence, by the session's primary key."""
    verdicts = Verdict.objects.filter(session__in=list(sessions)).select_related("decided_by").order_by("pk")
    return {verdict.session_id: verdict for verdict in verdicts}


def history(session: Session) -> list[Verdict]:
    """Every verdict on a session, the current one first."""
    return list(Verdict.objects.filter(session=session).select_related("decided_by").order_by("-pk"))


def accepted_sessions(study: Study) -> set[str]:
    """Codes of the sessions that count."""
    return set(latest_verdicts(study).filter(accepted=True).values_list("session__code", flat=True))


def excluded_counts(study: Study) -> dict[str, int]:
    """Sessions that do not count, by their first reason, so that the counts add up; the most frequent first."""
    alike = _few(study, Q(accepted=False)).values_list("reasons").annotate(n=Count("pk"), first=Min("pk"))
    counts: Counter[str] = Counter()
    for reasons, n, _first in sorted(alike, key=itemgetter(2)):
        counts[reasons[0] if reasons else BY_HAND] += n
    return dict(counts.most_common())


def unjudged(study: Study) -> list[Session]:
    """Complete sessions without a verdict."""
    judged = Verdict.objects.filter(session__study=study).values("session_id")
    return list(Session.objects.filter(counting(), study=study, state__in=JUDGED_STATES).exclude(pk__in=judged))


def finished_count(study: Study) -> int:
    return Session.objects.filter(counting(), study=study, state__in=JUDGED_STATES).count()


def other_sessions(session: Session) -> list[Session]:
    """The same person's other finished sessions of the study family."""
    mine = experiments.counted_sessions(session.participant_id).filter(state__in=JUDGED_STATES)
    return list(mine.exclude(pk=session.pk).select_related("study").order_by("pk"))


def withdrawn_golds(study: Study) -> dict[str, WithdrawnGold]:
    """By the original's name."""
    return {gold.original: gold for gold in WithdrawnGold.objects.filter(study=study)}


def gold_performance(study: Study, rules: RuleSet | None = None) -> list[Gold]:
    """Every gold picture with how many of the otherwise accepted people answered it rightly; the hardest first."""
    rules = rules or RuleSet.from_dict(study.rule_set)
    counted = Verdict.objects.filter(counting("session"), session__study=study)
    judged = counted.filter(session__state__in=JUDGED_STATES).order_by("pk")
    latest = {session: found for session, *found in judged.values_list("session_id", "reasons", "evidence")}
    slack = {session: gold_slack(reasons, evidence, rules) for session, (reasons, evidence) in latest.items()}
    answers = experiments.gold_answers(study)
    return tally_golds(
        (slack.get(session), original, category, right) for session, original, category, right in answers
    )


def people_shown(study: Study, originals: Collection[str]) -> set[int]:
    """Participants to whom one of these originals was shown as a gold."""
    shown = Trial.objects.filter(session__study=study, role="gold", stimulus__source_image__key__in=originals)
    return set(shown.values_list("session__participant_id", flat=True))
