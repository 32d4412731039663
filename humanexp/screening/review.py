"""What the review pages show: every finished session with its verdict, who is excluded and why, how the golds do."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.acceptance import Gold, RuleSet, Withdrawal, withdrawal_of
from humanexp.experiments import selectors as experiments
from humanexp.experiments.models import Session, Study
from humanexp.screening import selectors
from humanexp.screening.evidence import Evidence, evidence_of
from humanexp.screening.models import Verdict

#: Sessions on one page.
PAGE_SIZE = 50
#: From so many answers on, a gold that under this share of careful people name is marked; whether and when it is
#: withdrawn, the rule set says.
GOLD_NOTICED, GOLD_FLOOR = 8, 0.9


@dataclass(frozen=True)
class Row:
    session: Session
    verdict: Verdict | None
    evidence: Evidence | None


@dataclass(frozen=True)
class GoldRow:
    gold: Gold
    is_withdrawn: bool

    @property
    def is_doubtful(self) -> bool:
        return not self.is_withdrawn and self.gold.shown >= GOLD_NOTICED and self.gold.share < GOLD_FLOOR


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
    golds: list[GoldRow]
    #: those that count for nobody any more
    withdrawn: list[GoldRow]
    #: when the study's rules withdraw a gold, if they do
    withdrawal: Withdrawal | None

    @property
    def doubtful(self) -> list[GoldRow]:
        return [row for row in self.golds if row.is_doubtful]

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
    answers, found = experiments.rows_of(on_page, study), selectors.verdicts_on(on_page)
    withdrawn = selectors.withdrawn_golds(study)
    rules = RuleSet.from_dict(study.rule_set)
    golds = [GoldRow(gold, gold.original in withdrawn) for gold in selectors.gold_performance(study, rules)]
    rows = []
    for session in on_page:
        verdict = found.get(session.pk)
        against = verdict.evidence if verdict else []
        rows.append(Row(session, verdict, evidence_of(answers[session.code], against, withdrawn=withdrawn)))
    return Review(
        rows=rows,
        finished=len(sessions),
        accepted=sum(verdict.accepted for verdict in verdicts.values()),
        flagged=sum(bool(verdict.flags) and not verdict.is_by_person for verdict in verdicts.values()),
        by_hand=sum(verdict.is_by_person for verdict in verdicts.values()),
        unjudged=len(sessions) - len(verdicts),
        excluded=selectors.excluded_counts(study, verdicts.values()),
        shown=shown,
        page=page,
        pages=pages,
        golds=[row for row in golds if not row.is_withdrawn],
        withdrawn=[row for row in golds if row.is_withdrawn],
        withdrawal=withdrawal_of(rules),
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
