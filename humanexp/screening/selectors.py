"""Questions about verdicts: which is current, who is excluded and why, what the evidence looks like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from analysis.acceptance import Gold, RuleSet, gold_slack, tally_golds
from humanexp.experiments import selectors as experiments
from humanexp.experiments.models import Session, SessionState, Study, Trial
from humanexp.screening.models import Verdict, WithdrawnGold

#: Sessions that are judged.
JUDGED_STATES = (SessionState.COMPLETED, SessionState.SUBMITTED)
#: The reason counted for sessions that a person excluded.
BY_HAND = "excluded by hand"


def current_verdicts(study: Study) -> dict[int, Verdict]:
    """The latest verdict of every session of the study that has one, by its primary key; evidence on demand."""
    verdicts = Verdict.objects.filter(session__study=study, session__state__in=JUDGED_STATES).defer("evidence")
    return {verdict.session_id: verdict for verdict in verdicts.select_related("decided_by").order_by("pk")}


def verdicts_on(sessions: Collection[Session]) -> dict[int, Verdict]:
    """The latest verdicts on some sessions with their evidence, by the session's primary key."""
    verdicts = Verdict.objects.filter(session__in=list(sessions)).select_related("decided_by").order_by("pk")
    return {verdict.session_id: verdict for verdict in verdicts}


def history(session: Session) -> list[Verdict]:
    """Every verdict on a session, the current one first."""
    return list(Verdict.objects.filter(session=session).select_related("decided_by").order_by("-pk"))


def accepted_sessions(study: Study) -> set[str]:
    """Codes of the sessions that count."""
    accepted = [pk for pk, verdict in current_verdicts(study).items() if verdict.accepted]
    return set(Session.objects.filter(pk__in=accepted).values_list("code", flat=True))


def excluded_counts(study: Study, verdicts: Iterable[Verdict] | None = None) -> dict[str, int]:
    """Sessions that do not count, by their first reason, so that the counts add up; the most frequent first."""
    counts: Counter[str] = Counter()
    for verdict in current_verdicts(study).values() if verdicts is None else verdicts:
        if not verdict.accepted:
            counts[verdict.reasons[0] if verdict.reasons else BY_HAND] += 1
    return dict(counts.most_common())


def unjudged(study: Study) -> list[Session]:
    """Complete sessions without a verdict."""
    judged = Verdict.objects.filter(session__study=study).values("session_id")
    return list(Session.objects.filter(study=study, state__in=JUDGED_STATES).exclude(pk__in=judged))


def finished_count(study: Study) -> int:
    return Session.objects.filter(study=study, state__in=JUDGED_STATES).count()


def other_sessions(session: Session) -> list[Session]:
    """The same person's other finished sessions of the study family."""
    mine = Session.objects.filter(participant_id=session.participant_id, state__in=JUDGED_STATES)
    return list(mine.exclude(pk=session.pk).select_related("study").order_by("pk"))


def withdrawn_golds(study: Study) -> dict[str, WithdrawnGold]:
    """By the original's name."""
    return {gold.original: gold for gold in WithdrawnGold.objects.filter(study=study)}


def gold_performance(study: Study, rules: RuleSet | None = None) -> list[Gold]:
    """Every gold picture with how many of the otherwise accepted people answered it rightly; the hardest first."""
    rules = rules or RuleSet.from_dict(study.rule_set)
    judged = Verdict.objects.filter(session__study=study, session__state__in=JUDGED_STATES).order_by("pk")
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
