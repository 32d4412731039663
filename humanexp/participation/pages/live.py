"""What each session is doing, the steps of a study, and how many people took each: where others have stopped."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from django.core.paginator import Page
from django.db import models
from django.db.models import BooleanField, Case, CharField, Count, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce

from humanexp.core import clock
from humanexp.core.clock import Epoch
from humanexp.core.pages.navigation import tab_address
from humanexp.core.pages.rendering import KeyedPaginator
from humanexp.participation.answers import answers_of
from humanexp.participation.models import FINISHED, Session, SessionState
from humanexp.participation.pages.figures import Figures, kept_figures
from humanexp.participation.tallies import Tally
from humanexp.studies.models import Study

#: Who was not heard of for longer has fallen silent: between rounds people rest, but hardly ever that long.
SILENT_AFTER = timedelta(minutes=30)


class Activity(models.TextChoices):
    """What a session is doing now, whatever its state says."""

    UNDER_WAY = "under-way", "under way"
    SILENT = "silent", "silent"
    FINISHED = "finished", "finished"
    LEFT = "left", "left"


def standing_case() -> Case:
    """The standing of a session, told by the database."""
    finished = Q(state__in=FINISHED)
    return Case(
        When(finished, then=Value(Activity.FINISHED.value)),
        When(Q(state=SessionState.WITHDRAWN) | Q(left_at__isnull=False), then=Value(Activity.LEFT.value)),
        When(seen_at__gte=clock.now() - SILENT_AFTER, then=Value(Activity.UNDER_WAY.value)),
        default=Value(Activity.SILENT.value),
        output_field=CharField(),
    )


def seen_at() -> Coalesce:
    return Coalesce("last_seen_at", "opened_at")


#: Sessions that stand alike: blocks, cursor, state, where they ended early, whether they were opened, standing; and
#: how many.
Groups = list[tuple[Any, ...]]
#: What a session has behind it: ("agreed", 0), ("main", 2), ...
Key = tuple[str, int]
AGREED, OPENED, BEGUN = ("agreed", 0), ("opened", 0), ("begun", 0)
COMPLETED, SUBMITTED = ("completed", 0), ("submitted", 0)
_LABELS: Mapping[str, str] = {
    "agreed": "Agreed to take part",
    "opened": "Opened the study",
    "begun": "Read the instructions, answered once",
    "practice": "Practice done",
    "qualification": "Qualified",
    "main": "Round {number} done",
    "completed": "Finished",
    "submitted": "Submitted",
}


@dataclass(frozen=True, kw_only=True)
class BarPart:
    """A stretch of a bar."""

    kind: str
    x: float
    width: float


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step: how many reached it, and what became of those who got no further."""

    label: str
    reached: int
    #: of all who agreed, in [0, 1]
    share: float
    #: stand here now
    under_way: int
    silent: int
    left: int
    #: whose session ended here, because they did not pass the practice, or the qualification
    unpractised: int
    unqualified: int

    @property
    def parts(self) -> list[BarPart]:
        """The bar of this step, for a box that is 100 wide: who went on, and what became of the others."""
        gone = self.left + self.unpractised + self.unqualified
        counts = {
            "is-on": self.reached - self.under_way - self.silent - gone,
            "is-here": self.under_way,
            "is-silent": self.silent,
            "is-left": gone,
        }
        parts, x = [], 0.0
        for kind, count in counts.items():
            if count:
                width = 100 * self.share * count / self.reached
                parts.append(BarPart(kind=kind, x=round(x, 3), width=round(width, 3)))
                x += width
        return parts


def counts_by_standing(groups: Groups) -> dict[Activity, int]:
    counts = dict.fromkeys(Activity, 0)
    for *_place, standing, count in groups:
        counts[Activity(standing)] += count
    return counts


def steps_of(groups: Groups) -> list[Step]:
    """The way through the study, step by step. Nobody is counted before they agree: nothing is stored of them."""
    keys = _keys([blocks for blocks, *_ in groups])
    place = {key: number for number, key in enumerate(keys)}
    stand: Counter[tuple[int, str]] = Counter()
    for blocks, cursor, state, ended, is_opened, standing, count in groups:
        at = max(place[key] for key in _behind(blocks, cursor, state, ended, is_opened))
        stand[at, ended.partition(" ")[0] if ended and standing == Activity.FINISHED else standing] += count
    begun = sum(stand.values())
    steps, reached = [], begun
    for number, key in enumerate(keys):
        here = {what: stand[number, what] for what in (*Activity.values, "practice", "qualification")}
        steps.append(
            Step(
                label=_label(key),
                reached=reached,
                share=reached / begun if begun else 0.0,
                under_way=here[Activity.UNDER_WAY],
                silent=here[Activity.SILENT],
                left=here[Activity.LEFT],
                unpractised=here["practice"],
                unqualified=here["qualification"],
            )
        )
        reached -= sum(here.values())
    return steps


def groups_of(study: Study) -> Groups:
    """Sessions that stand alike, counted by the database: as many rows as there are places to stand.

    Whoever has finished stands at the end, whatever their blocks are: those are read of one session of each kind.
    """
    sessions = Session.objects.filter(study=study).order_by()
    finished = sessions.filter(state__in=FINISHED).values(*_KIND)
    groups, others = [], Q(state__in=(SessionState.OPEN, SessionState.WITHDRAWN))
    for kind in finished.annotate(count=Count("*")):
        count = kind.pop("count")
        # `in` and no plain condition: SQLite looks up in an index what it is compared with
        alike = Q(*((f"{name}__in", [value]) if value is not None else (name, None) for name, value in kind.items()))
        if kind["qualified"] is False or not kind["blocks_digest"]:
            others |= alike
            continue
        # whose every trial is answered stands behind the last one
        for shown in sessions.filter(alike).values_list("blocks", "total")[:1]:
            groups.append((*shown, kind["state"], "", True, Activity.FINISHED.value, count))
    # by their keys, which an index tells: no row of the many is read
    return groups + _one_by_one(Session.objects.filter(pk__in=sessions.filter(others)))


#: What finished sessions stand alike in, in the order of an index.
_KIND = ("state", "is_verified", "qualified", "holds_slot", "blocks_digest")


def _one_by_one(sessions: QuerySet[Session]) -> Groups:
    """Every row of them is read."""
    is_opened = Case(When(Q(lease=""), then=Value(False)), default=Value(True), output_field=BooleanField())
    alike = sessions.order_by().annotate(seen_at=seen_at(), is_opened=is_opened, standing=standing_case())
    # the second practice follows answers that count
    ended = Case(
        When(qualified=False, practised=False, confirmed_at=None, then=Value("practice 1")),
        When(qualified=False, practised=False, then=Value("practice 2")),
        When(qualified=False, then=Value("qualification 1")),
        default=Value(""),
        output_field=CharField(),
    )
    columns = alike.annotate(ended=ended).values_list("blocks", "cursor", "state", "ended", "is_opened", "standing")
    return list(columns.annotate(count=Count("pk")))


def _ends(blocks: Sequence[Mapping[str, Any]]) -> dict[Key, int]:
    """The last position of every step that is a round of trials; the tries of a qualification are one step, and so is
    all practice of a task."""
    ends: dict[Key, int] = {}
    counted: Counter[str] = Counter()
    known = set()
    for block in blocks:
        kind, task = block["kind"], block["task"]
        counted[kind] += kind == "main" or (kind, task) not in known
        known.add((kind, task))
        ends[kind, counted[kind]] = block["last"]
    return ends


def _keys(plans: Sequence[Sequence[Mapping[str, Any]]]) -> list[Key]:
    """Every step in order. Sessions of one study differ by a round at most; the longest gives the order."""
    longest = max(plans, key=len, default=[])
    rounds = list(_ends(longest))
    others = {key for blocks in plans for key in _ends(blocks)} - set(rounds)
    return [AGREED, OPENED, BEGUN, *rounds, *sorted(others), COMPLETED, SUBMITTED]


def _behind(blocks: Sequence[Mapping[str, Any]], cursor: int, state: str, ended: str, is_opened: bool) -> list[Key]:
    """The steps that a session has behind it."""
    keys = [AGREED]
    if is_opened or cursor:
        keys.append(OPENED)
    if cursor:
        keys.append(BEGUN)
    for key, last in _ends(blocks).items():
        if ended == f"{key[0]} {key[1]}":
            return keys  # the cursor is at the end without having been there
        if cursor > last:
            keys.append(key)
    if state in FINISHED:
        keys.append(COMPLETED)
    if state == SessionState.SUBMITTED:
        keys.append(SUBMITTED)
    return keys


def _label(key: Key) -> str:
    kind, number = key
    if kind == "main":
        return _LABELS[kind].format(number=number)
    return _LABELS[kind] if number < 2 else f"{_LABELS[kind]} ({number})"


#: Sessions on a page.
ROWS = 50
#: When an answer came, in seconds, and whether its picture was shown as planned; None where nobody judged that.
Answer = tuple[float, bool | None]
#: A pause between two answers is activity up to this long: people look away, or rest between rounds.
LONGEST_PAUSE_S = 60.0


@dataclass(frozen=True, kw_only=True)
class SessionRow:
    participant: str
    session: str
    standing: Activity
    #: where it is, in words: kind of the present block, and its number among those of its kind
    kind: str
    number: int
    of: int
    #: trials behind it; of a session that ended early, those that were answered
    answered: int
    total: int
    #: what it ended with before the task: practice or qualification; else empty
    ended: str
    opened_at: datetime
    seen_at: datetime
    #: seconds between answers, long pauses cut; None before the second answer
    active_s: float | None
    #: share of judged trials whose timing was in order; None where none was judged
    timing_share: float | None

    @property
    def tone(self) -> str:
        return "plain" if self.ended else _TONES[self.standing]


_TONES = {Activity.UNDER_WAY: "", Activity.SILENT: "warn", Activity.FINISHED: "good", Activity.LEFT: "plain"}


def page_of(study: Study, *, shown: Activity | None, number: str, count: int) -> Page[SessionRow]:
    """Sessions, those heard of last first; `count`: how many are shown on all pages."""
    sessions = _sessions(study)
    if shown is not None:
        sessions = sessions.filter(standing=shown.value)
    # Ended sessions lie in this order in an index; the others are few. The database merges both, up to the page.
    ended, under_way = (sessions.filter(completed_at__isnull=has_none).order_by() for has_none in (False, True))
    keys = ended.values_list("pk", "seen_at").union(under_way.values_list("pk", "seen_at"), all=True)
    shown_of = ("code", "blocks", "cursor", "total", "opened_at", "participant__code", "practised", "qualified")
    ordered = sessions.select_related("participant").only(*shown_of).order_by("-seen_at", "-pk")
    page = KeyedPaginator(ordered, ROWS, count=count, keys=keys.order_by("-seen_at", "-pk")).get_page(number)
    page.object_list = _rows(list(page.object_list))
    return page


def _sessions(study: Study) -> QuerySet[Any]:
    return Session.objects.filter(study=study).annotate(seen_at=seen_at()).annotate(standing=standing_case())


def _rows(sessions: Collection[Any]) -> list[SessionRow]:
    answered = _answered([session.pk for session in sessions])
    return [_row(session, answered[session.pk]) for session in sessions]


def _row(session: Any, answers: Sequence[Answer]) -> SessionRow:
    block = next((block for block in session.blocks if session.cursor <= block["last"]), None)
    ended = ""
    if session.standing == Activity.FINISHED and session.qualified is False:
        ended = "practice" if session.practised is False else "qualification"
    kinds = [other["index"] for other in session.blocks if block and other["kind"] == block["kind"]]
    return SessionRow(
        participant=session.participant.code,
        session=session.code,
        standing=Activity(session.standing),
        kind=block["kind"] if block else "",
        number=kinds.index(block["index"]) + 1 if block else 0,
        of=len(kinds),
        answered=len(answers) if ended else session.cursor,
        total=session.total,
        ended=ended,
        opened_at=session.opened_at,
        seen_at=session.seen_at,
        active_s=_active_s([at_s for at_s, _timing_ok in answers]),
        timing_share=_timing_share([timing_ok for _at_s, timing_ok in answers if timing_ok is not None]),
    )


def _answered(pks: Collection[int]) -> Mapping[int, Sequence[Answer]]:
    """Of each of these sessions, in the order of its answers."""
    answers: defaultdict[int, list[Answer]] = defaultdict(list)
    stored = answers_of(pks).order_by("session_id", "position")
    for session, at_s, timing_ok in stored.values_list("session_id", Epoch("received_at"), "timing_ok"):
        answers[session].append((at_s, timing_ok))
    return answers


def _active_s(times_s: Sequence[float]) -> float | None:
    steps = [min(max(later - earlier, 0.0), LONGEST_PAUSE_S) for earlier, later in pairwise(times_s)]
    return sum(steps) if steps else None


def _timing_share(judged: Sequence[bool]) -> float | None:
    return sum(judged) / len(judged) if judged else None


#: From so many sessions on, the page asks less often.
MANY = 2000


@dataclass(frozen=True, kw_only=True)
class LivePage:
    #: sessions by standing
    counts: dict[Activity, int]
    steps: list[Step]
    tally: Tally
    #: None: a large study that was not counted yet
    figures: Figures | None
    rows: Page[SessionRow]
    #: which standing the rows are of; None = all
    shown: Activity | None
    #: address of the study's timing certificate; empty where there is none
    certificate: str

    @property
    def begun(self) -> int:
        return sum(self.counts.values())

    @property
    def every_s(self) -> int:
        """How often the page asks: ten thousand sessions take half a second to be counted."""
        return 10 if self.begun < MANY else 30

    @property
    def under_way(self) -> int:
        return self.counts[Activity.UNDER_WAY]

    @property
    def unpractised(self) -> int:
        """Whose session ended with the practice."""
        return sum(step.unpractised for step in self.steps)

    @property
    def unqualified(self) -> int:
        return sum(step.unqualified for step in self.steps)

    @property
    def finished(self) -> int:
        """Who came to the end of the task."""
        return self.counts[Activity.FINISHED] - self.unpractised - self.unqualified

    @property
    def lost(self) -> int:
        """Who has left, or is not heard of any more."""
        return self.counts[Activity.LEFT] + self.counts[Activity.SILENT]

    @property
    def lost_share(self) -> float:
        return self.lost / self.begun if self.begun else 0.0


def live_page(study: Study, *, show: str = "", number: str = "1") -> LivePage:
    """The page of a study; `show` is a standing or nothing, `number` a page of its sessions."""
    shown = Activity(show) if show in Activity.values else None
    tally, figures = kept_figures(study)
    groups = groups_of(study)
    counts = counts_by_standing(groups)
    count = sum(counts.values()) if shown is None else counts[shown]
    return LivePage(
        counts=counts,
        steps=steps_of(groups),
        tally=tally,
        figures=figures,
        rows=page_of(study, shown=shown, number=number, count=count),
        shown=shown,
        certificate=tab_address("timing", study.slug),
    )
