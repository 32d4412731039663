"""What the review pages show: every finished session with its verdict, who is excluded and why, how the golds do."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from humanexp.experiments import selectors as experiments
from humanexp.experiments.models import Session, Study
from humanexp.screening import selectors
from humanexp.screening.evidence import Evidence, evidence_of
from humanexp.screening.models import Verdict

#: Sessions on one page.
PAGE_SIZE = 50
#: A gold that fewer of the otherwise accepted people pass is no easy picture.
GOLD_FLOOR = 0.9
#: Fewer showings say nothing about a gold.
GOLD_MINIMUM = 8


@dataclass(frozen=True)
class Row:
    session: Session
    verdict: Verdict | None
    evidence: Evidence | None


@dataclass(frozen=True)
class Gold:
    original: str
    category: str
    shown: int
    right: int

    @property
    def share(self) -> float:
        return self.right / self.shown if self.shown else 0.0

    @property
    def is_doubtful(self) -> bool:
        return self.shown >= GOLD_MINIMUM and self.share < GOLD_FLOOR


@dataclass(frozen=True, kw_only=True)
class Review:
    rows: list[Row]
    finished: int
    accepted: int
    flagged: int
    by_hand: int
    unjudged: int
    excluded: dict[str, int]
    #: what the list is restricted to: "", "excluded", "flagged", "accepted" or a reason
    shown: str
    page: int
    pages: int
    golds: list[Gold]

    @property
    def excluded_total(self) -> int:
        return sum(self.excluded.values())


def review_of(study: Study, *, shown: str = "", page: int = 1) -> Review:
    verdicts = selectors.current_verdicts(study)
    sessions = list(
        study.sessions.filter(state__in=selectors.JUDGED_STATES).select_related("participant").order_by("pk")
    )
    chosen = [session for session in sessions if _is_shown(verdicts.get(session.pk), shown)]
    pages = max(1, -(-len(chosen) // PAGE_SIZE))
    page = min(max(1, page), pages)
    on_page = chosen[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
    answers = experiments.rows_of(on_page, study)
    rows = []
    for session in on_page:
        verdict = verdicts.get(session.pk)
        rows.append(Row(session, verdict, evidence_of(answers[session.code], verdict.evidence if verdict else [])))
    return Review(
        rows=rows,
        finished=len(sessions),
        accepted=sum(verdict.accepted for verdict in verdicts.values()),
        flagged=sum(bool(verdict.flags) and not verdict.is_by_person for verdict in verdicts.values()),
        by_hand=sum(verdict.is_by_person for verdict in verdicts.values()),
        unjudged=len(sessions) - len(verdicts),
        excluded=selectors.excluded_counts(study),
        shown=shown,
        page=page,
        pages=pages,
        golds=gold_performance(study),
    )


def _is_shown(verdict: Verdict | None, shown: str) -> bool:
    match shown:
        case "":
            return True
        case "accepted":
            return verdict is not None and verdict.accepted
        case "excluded":
            return verdict is not None and not verdict.accepted
        case "flagged":
            return verdict is not None and bool(verdict.flags) and not verdict.is_by_person
    return verdict is not None and shown in verdict.reasons


def gold_performance(study: Study) -> list[Gold]:
    """Every gold picture with how many of the otherwise accepted people answered it rightly; the worst first.

    Otherwise accepted: nothing but golds speaks against the session, so a bad gold cannot hide behind its own failures.
    """
    kept = {
        session_id
        for session_id, verdict in selectors.current_verdicts(study).items()
        if verdict.accepted or set(verdict.reasons) == {"gold trials failed"}
    }
    shown: Counter[tuple[str, str]] = Counter()
    right: defaultdict[tuple[str, str], int] = defaultdict(int)
    for session_id, original, category, correct in experiments.gold_answers(study):
        if session_id in kept:
            shown[original, category] += 1
            right[original, category] += correct
    golds = [
        Gold(original, category, count, right[original, category]) for (original, category), count in shown.items()
    ]
    return sorted(golds, key=lambda gold: (gold.share, gold.original))
