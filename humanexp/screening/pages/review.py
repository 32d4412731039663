"""What the pages of timing and review show: how well pictures were timed, finished sessions with their verdicts page by
page, who is excluded and why, the golds.

Everything about all sessions is counted in the database; answers are read of the sessions on the page alone.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from urllib.parse import quote

from django.core.paginator import Page
from django.db.models import Max, QuerySet
from pydantic import JsonValue

from analysis.acceptance.golds import Gold, Withdrawal, withdrawal_of
from analysis.study.rules import RuleSet
from analysis.timing.certificate import EDGES, TimingSummary
from analysis.timing.rules import TIMING_RULE
from humanexp.core.pages.rendering import KeyedPaginator
from humanexp.jobs.registry import Progress
from humanexp.participation.answers import rule_rows_of
from humanexp.participation.models import Session
from humanexp.participation.tallies import Counted, Kind, Tally, tally_of
from humanexp.screening import selectors
from humanexp.screening.models import Verdict
from humanexp.screening.pages import evidence
from humanexp.screening.pages.evidence import Evidence, SessionTag, evidence_of
from humanexp.screening.selectors import VerdictCounts, certificate_of
from humanexp.studies.models import Study

WIDTH, HEIGHT, GAP = 640.0, 120.0, 3.0
#: A column with any presentation at all can be seen.
LEAST = 3.0
#: Participants in the page's table; all of them are in the file.
SHOWN = 100


@dataclass(frozen=True, kw_only=True)
class Column:
    """Presentations whose departure lies in one bin, in the units of the chart's view box."""

    x: float
    y: float
    width: float
    height: float
    low: float
    high: float
    count: int
    is_within: bool


@dataclass(frozen=True, kw_only=True)
class TimingPage:
    tally: Tally
    rule: str
    #: None: a large study that was not counted yet
    all: TimingSummary | None = None
    columns: tuple[Column, ...] = ()
    most: int = 0
    #: worst first
    participants: list[tuple[str, TimingSummary]] = field(default_factory=list)
    #: those in the file alone
    others: int = 0
    view_box: str = f"0 0 {WIDTH:g} {HEIGHT:g}"


def _counted_trials(study: Study, report: Progress) -> Counted:
    certificate = certificate_of(study, report)
    people = sorted(
        certificate.participants.items(),
        key=lambda entry: (1.0 if entry[1].ok_share is None else entry[1].ok_share, entry[0]),
    )
    whole = {"study": study.slug, **certificate.to_json()}
    return Counted(
        content={
            "rule": certificate.rule,
            "all": _kept(certificate.all),
            "participants": [[code, _kept(summary)] for code, summary in people[:SHOWN]],
            "people": len(people),
        },
        whole=json.dumps(whole, indent=2, allow_nan=False).encode(),
    )


def _kept(summary: TimingSummary) -> dict[str, JsonValue]:
    return summary.model_dump(mode="json", exclude={"ok_share"})


TIMING = Kind(name="timing", count=_counted_trials, url_name="screening:timing")


def timing_page(study: Study) -> TimingPage:
    tally = tally_of(study, TIMING.name)
    if tally.content is None:
        return TimingPage(tally=tally, rule=TIMING_RULE)
    everybody = TimingSummary.model_validate(tally.content["all"], extra="ignore")
    people = [
        (code, TimingSummary.model_validate(summary, extra="ignore")) for code, summary in tally.content["participants"]
    ]
    return TimingPage(
        tally=tally,
        rule=tally.content["rule"],
        all=everybody,
        columns=_columns(everybody.histogram),
        most=max(everybody.histogram),
        participants=people,
        others=tally.content["people"] - len(people),
    )


def _columns(histogram: tuple[int, ...]) -> tuple[Column, ...]:
    most = max(histogram) or 1
    width = WIDTH / len(histogram)
    columns = []
    for place, count in enumerate(histogram):
        low, high = EDGES[place], EDGES[place + 1]
        height = max(LEAST, round(HEIGHT * count / most, 2)) if count else 0.0
        columns.append(
            Column(
                x=round(place * width + GAP / 2, 2),
                y=HEIGHT - height,
                width=round(width - GAP, 2),
                height=height,
                low=low,
                high=high,
                count=count,
                is_within=abs(low + high) / 2 < 0.5,
            )
        )
    return tuple(columns)


#: Sessions on one page.
PAGE_SIZE = 25
_CHOICES = (("", "All"), ("excluded", "Excluded"), ("flagged", "Flagged"), ("accepted", "Counting"))
#: From so many answers on, a gold that under this share of careful people name is marked; whether and when it is
#: withdrawn, the rule set says.
GOLD_NOTICED, GOLD_FLOOR = 8, 0.9


@dataclass(frozen=True)
class Row:
    session: Session
    verdict: Verdict | None
    evidence: Evidence | None
    marks: list[SessionTag] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Review:
    rows: list[Row]
    counts: VerdictCounts
    #: what the list is restricted to: "", "excluded", "flagged", "accepted", "unjudged", a reason, or what a panel adds
    shown: str
    #: what it can be restricted to, with the words for it
    choices: list[tuple[str, str]]
    page: Page[Session]

    @property
    def query(self) -> str:
        return _query(self.shown)


def review_of(study: Study, *, shown: str = "", page: int = 1) -> Review:
    chosen, counts = sessions_shown(study, shown), selectors.verdict_counts(study)
    paginator = KeyedPaginator(_listed(chosen), PAGE_SIZE, count=_told(shown, counts))
    on_page = paginator.get_page(max(1, page))
    return Review(
        rows=_rows(study, list(on_page)),
        counts=counts,
        shown=shown,
        choices=[*_CHOICES, *((one.key, one.label) for one in evidence.narrowings().values())],
        page=on_page,
    )


def _query(shown: str) -> str:
    """What follows the address of a session, so that its neighbours are those of the list."""
    return f"?show={quote(shown)}" if shown else ""


def _listed(sessions: QuerySet[Session]) -> QuerySet[Session]:
    """With what the list says of each, and no more."""
    return sessions.select_related("participant").only("code", "completed_at", "participant__code")


def _told(shown: str, counts: VerdictCounts) -> int | None:
    """How many sessions the list has, where a count of the page says it; None for what a panel narrows it to."""
    if shown in evidence.narrowings() or shown == selectors.BY_HAND:
        return None
    by_verdict = {
        "": counts.finished,
        "accepted": counts.accepted,
        "excluded": counts.excluded,
        "flagged": counts.flagged,
        "unjudged": counts.unjudged,
    }
    return by_verdict[shown] if shown in by_verdict else counts.reasons.get(shown, 0)


def sessions_shown(study: Study, shown: str) -> QuerySet[Session]:
    """Finished sessions as the list is narrowed."""
    narrowing = evidence.narrowings().get(shown)
    if narrowing is not None:
        return narrowing.narrow(selectors.finished_sessions(study))
    return selectors.finished_sessions(study, shown=shown)


def _rows(study: Study, sessions: list[Session]) -> list[Row]:
    answers, found = rule_rows_of(sessions), selectors.verdicts_on(sessions)
    withdrawn, marks = selectors.withdrawn_golds(study), evidence.marks_of(sessions)
    rows = []
    for session in sessions:
        verdict = found.get(session.pk)
        against = verdict.evidence if verdict else []
        shown = evidence_of(answers[session.pk], against, withdrawn=withdrawn)
        rows.append(Row(session, verdict, shown, marks.get(session.pk, [])))
    return rows


@dataclass(frozen=True, kw_only=True)
class Place:
    """The place of a session among those that are looked through, one after the other."""

    shown: str
    number: int
    of: int
    previous: str
    following: str

    @property
    def query(self) -> str:
        return _query(self.shown)


def place_of(session: Session, shown: str = "") -> Place:
    """Its neighbours; a session that has left the list by a decision still has them."""
    queue = sessions_shown(session.study, shown).order_by("pk")
    before, after = queue.filter(pk__lt=session.pk), queue.filter(pk__gt=session.pk)
    is_in = queue.filter(pk=session.pk).exists()
    return Place(
        shown=shown,
        number=before.count() + is_in,
        of=queue.count(),
        previous=before.order_by("-pk").values_list("code", flat=True).first() or "",
        following=after.values_list("code", flat=True).first() or "",
    )


@dataclass(frozen=True)
class GoldRow:
    gold: Gold
    is_withdrawn: bool

    @property
    def is_doubtful(self) -> bool:
        return not self.is_withdrawn and self.gold.shown >= GOLD_NOTICED and self.gold.share < GOLD_FLOOR


@dataclass(frozen=True, kw_only=True)
class Golds:
    """How the gold pictures of a study do."""

    tally: Tally
    in_use: list[GoldRow]
    #: those that count for nobody any more
    withdrawn: list[GoldRow]
    #: when the study's rules withdraw a gold, if they do
    withdrawal: Withdrawal | None

    @property
    def doubtful(self) -> list[GoldRow]:
        return [row for row in self.in_use if row.is_doubtful]


def golds_of(study: Study) -> Golds:
    """As they were last counted; what is withdrawn, as it is now."""
    rules = RuleSet.from_dict(study.rule_set)
    withdrawn = selectors.withdrawn_golds(study)
    tally = tally_of(study, GOLDS.name)
    kept = (tally.content or {"golds": []})["golds"]
    rows = [GoldRow(Gold(**gold), gold["original"] in withdrawn) for gold in kept]
    return Golds(
        tally=tally,
        in_use=[row for row in rows if not row.is_withdrawn],
        withdrawn=[row for row in rows if row.is_withdrawn],
        withdrawal=withdrawal_of(rules),
    )


def _counted(study: Study, report: Progress) -> Counted:
    performance = selectors.gold_performance(study)
    report(1, 1)
    return Counted(content={"golds": [asdict(gold) for gold in performance]})


def _newest_verdict(study: Study, _ended: int) -> str:
    newest = Verdict.objects.filter(study=study).aggregate(newest=Max("pk"))["newest"]
    return str(newest or 0)


GOLDS = Kind(name="golds", count=_counted, beside=_newest_verdict, url_name="screening:golds")
