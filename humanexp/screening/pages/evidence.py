"""The evidence of a verdict as pictures: a strip of trials, response times, and small pictures of one session.

They show what rules may read, and nothing else: a session is never judged by the outcome. What other apps show beside
it, such as the pay of a session, they register; screening imports none of them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Any

from django.db.models import QuerySet

from analysis.acceptance.record import WITHDRAWN_GOLD, AnsweredTrial, SessionRecord
from analysis.labels.space import NO_ANSWER, NONE_OF_THESE, LabelSpace
from humanexp.core.models import User
from humanexp.participation.models import Session


@dataclass(frozen=True, kw_only=True)
class Narrowing:
    """A choice above the list of sessions."""

    key: str
    label: str
    narrow: Callable[[QuerySet[Session]], QuerySet[Session]]


@dataclass(frozen=True, kw_only=True)
class SessionTag:
    """A word about a session in the list."""

    text: str
    #: good, warn, bad or plain
    tone: str = "plain"


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One app's part of the review."""

    #: stands beside the evidence; sees the page's context, and what `facts_of` adds
    template: str
    facts_of: Callable[[Session, User], Mapping[str, Any]]
    #: by the session's primary key
    marks_of: Callable[[Sequence[Session]], Mapping[int, SessionTag]]
    narrowings: tuple[Narrowing, ...] = ()


_PANELS: list[Panel] = []


def register_panel(panel: Panel) -> None:
    _PANELS.append(panel)


def panels() -> list[Panel]:
    return list(_PANELS)


def narrowings() -> dict[str, Narrowing]:
    return {narrowing.key: narrowing for panel in _PANELS for narrowing in panel.narrowings}


def marks_of(sessions: Sequence[Session]) -> dict[int, list[SessionTag]]:
    found: dict[int, list[SessionTag]] = {}
    for panel in _PANELS:
        for pk, mark in panel.marks_of(sessions).items():
            found.setdefault(pk, []).append(mark)
    return found


#: Colours of the strip; the shapes differ as well: what failed is taller.
GOOD, BAD, WARN, PLAIN, FAINT, ACCENT = "#17693f", "#a4221b", "#b26a00", "#b4bec8", "#e3e8ed", "#0b5cad"
#: Of the strip and of the pictures, in their own units.
HEIGHT = 10.0
#: Times beyond this are drawn at the edge: after a glance, and where there is no time limit.
LONGEST_RT_MS, LONGEST_JUDGING_MS = 4000.0, 30_000.0


@dataclass(frozen=True)
class StripMark:
    """One trial of the strip, or a column of a picture, in a box of one unit each and this height."""

    x: int
    y: float
    height: float
    fill: str
    title: str


@dataclass(frozen=True)
class Dot:
    """One response time, in a box of 100 x 40."""

    x: float
    y: float
    fill: str
    title: str


@dataclass(frozen=True, kw_only=True)
class RuleRow:
    """What one rule found, in words."""

    reason: str
    severity: str
    passed: bool | None
    measured: str
    threshold: str
    trials: int
    positions: str


@dataclass(frozen=True)
class Evidence:
    """Of one session. Each part is drawn when a page shows it: lists hold many strips, and nothing else of this."""

    record: SessionRecord
    outcomes: Sequence[Mapping[str, Any]]

    @property
    def width(self) -> int:
        return max(1, len(self.record.trials))

    @cached_property
    def marks(self) -> list[StripMark]:
        shapes = zip(self.record.trials, self._shapes, strict=True)
        return [
            StripMark(x=number, y=HEIGHT - height, height=height, fill=fill, title=_title(trial))
            for number, (trial, (fill, height)) in enumerate(shapes)
        ]

    @property
    def outlines(self) -> dict[str, str]:
        """The strip as one SVG path a colour, without titles."""
        paths: dict[str, list[str]] = {}
        for number, (fill, height) in enumerate(self._shapes):
            paths.setdefault(fill, []).append(f"M{number} {HEIGHT - height:g}h.8v{height:g}h-.8z")
        return {fill: "".join(parts) for fill, parts in paths.items()}

    @cached_property
    def dots(self) -> list[Dot]:
        return _dots(self.record)

    @cached_property
    def rules(self) -> list[RuleRow]:
        return [_rule(outcome) for outcome in self.outcomes]

    @property
    def _shapes(self) -> list[tuple[str, float]]:
        failed = (outcome["positions"] for outcome in self.outcomes if outcome["passed"] is False)
        against, changed = {position for positions in failed for position in positions}, _changed(self.record)
        return [_shape(trial, against, changed) for trial in self.record.trials]


def evidence_of(
    rows: Sequence[Mapping[str, Any]], outcomes: Sequence[Mapping[str, Any]], *, withdrawn: Collection[str] = ()
) -> Evidence:
    """From the stored answers and a verdict's evidence; shows no more of corrupted trials than the rules may read.

    Golds of withdrawn originals are shown as trials like others.
    """
    return Evidence(SessionRecord.from_rows(rows, withdrawn=withdrawn), outcomes)


def _changed(record: SessionRecord) -> set[int]:
    firsts = {trial.stimulus: trial.response for trial in record.with_role("consistency_first")}
    return {
        trial.position
        for trial in record.with_role("consistency_second")
        if trial.stimulus in firsts
        and NO_ANSWER not in (firsts[trial.stimulus], trial.response)
        and firsts[trial.stimulus] != trial.response
    }


_ROLE_NAMES: Mapping[str, str] = {
    "practice": "practice",
    "qualification": "qualification",
    "main": "main",
    "clean": "clean",
    "gold": "gold",
    WITHDRAWN_GOLD: "withdrawn gold",
    "negative": "negative",
    "consistency_first": "first showing",
    "consistency_second": "second showing",
}


_SENTINELS = ("qualification", "gold", "negative")


def _is_known(trial: AnsweredTrial) -> bool:
    """A sentinel whose right answer is known."""
    return trial.role in _SENTINELS and trial.correct is not None


def _is_mistimed(trial: AnsweredTrial) -> bool:
    """Shown otherwise than planned, where nothing else is told of the trial."""
    told = trial.role in ("practice", "consistency_second") or _is_known(trial)
    return trial.timing_ok is False and not told


def _shape(trial: AnsweredTrial, against: set[int], changed: set[int]) -> tuple[str, float]:
    """Fill and height."""
    fill, height = PLAIN, 5.0
    if trial.role == "practice":
        fill, height = FAINT, 5.0
    elif _is_known(trial):
        fill, height = (GOOD, 7.0) if trial.correct else (BAD, 10.0)
    elif trial.role == "consistency_second":
        fill, height = (BAD, 10.0) if trial.position in changed else (GOOD, 7.0)
    elif _is_mistimed(trial):
        fill, height = WARN, 8.0
    if trial.position in against and fill not in (BAD, WARN):
        fill, height = WARN, 8.0
    return fill, height


def _title(trial: AnsweredTrial) -> str:
    said = f": {trial.response}" if trial.response is not None else ""
    title = f"{trial.position + 1}, {_ROLE_NAMES.get(trial.role, trial.role)}{said}"
    if _is_known(trial) and not trial.correct:
        title += f" ({trial.category})"
    if trial.is_set_aside:
        title += f", {'set aside'}"
    if _is_mistimed(trial):
        title += f", {'timing'}"
    return title


def _dots(record: SessionRecord) -> list[Dot]:
    timed = [(number, trial) for number, trial in enumerate(record.trials) if trial.rt_ms is not None]
    width = max(1, len(record.trials))
    longest = LONGEST_JUDGING_MS if any(trial.task == "validation" for trial in record.trials) else LONGEST_RT_MS
    return [
        Dot(
            x=100 * (number + 0.5) / width,
            y=40 - 40 * min(longest, trial.rt_ms or 0.0) / longest,
            fill=BAD if (trial.rt_ms or 0.0) < 300 else ACCENT,
            title=f"{trial.position + 1}: {trial.rt_ms:.0f} ms",
        )
        for number, trial in timed
    ]


#: Rules that measure a share; the others count, or measure bits.
_SHARES = frozenset({"timing", "timing_unknown", "unfetched", "one_key", "fast", "misses"})


def _rule(outcome: Mapping[str, Any]) -> RuleRow:
    kind, value, threshold = outcome["kind"], outcome["value"], outcome["threshold"]
    if kind in _SHARES:
        measured, bound = f"{100 * value:.0f}\u202f%", f"at most {100 * threshold:.0f}\u202f%"
    elif kind == "entropy":
        measured, bound = f"{value:.2f} bits", f"at least {threshold:g} bits"
    elif kind in ("sentinels", "qualification"):
        measured = _right(value, outcome["trials"], outcome.get("sessions", 1))
        bound = f"at least {threshold:g}"
    else:
        measured, bound = f"{value:g}", f"at most {threshold:g}"
    return RuleRow(
        reason=outcome["reason"],
        severity=outcome["severity"],
        passed=outcome["passed"],
        measured=measured,
        threshold=bound,
        trials=outcome["trials"],
        positions=", ".join(str(position + 1) for position in outcome["positions"][:12]),
    )


def _right(value: float, trials: int, sessions: int) -> str:
    where = f" in {sessions} sessions of this person" if sessions > 1 else ""
    return f"{value:g} of {trials} right{where}"


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Columns side by side, and what they say in numbers."""

    columns: tuple[StripMark, ...]
    good: int
    of: int

    @property
    def width(self) -> int:
        return max(1, len(self.columns))


#: How answers were given.
_GIVEN: Mapping[str, str] = {
    "pointer": "by pointer",
    "touch": "by touch",
    "key": "by keyboard",
}


@dataclass(frozen=True, kw_only=True)
class Portrait:
    """A session at a glance."""

    sentinels: Picture
    timing: Picture
    shape: Picture
    #: over the trials whose times the rules may read: what the answers were given with, and their median
    median_rts: tuple[tuple[str, float], ...]


def portrait_of(
    rows: Sequence[Mapping[str, Any]], *, withdrawn: Collection[str] = (), space: LabelSpace | None = None
) -> Portrait:
    """From the stored answers of one session among these labels."""
    record = SessionRecord.from_rows(rows, withdrawn=withdrawn, space=space)
    times: defaultdict[str, list[float]] = defaultdict(list)
    for trial in record.trials:
        if trial.rt_ms is not None and trial.role != "practice":
            times[trial.input_kind].append(trial.rt_ms)
    return Portrait(
        sentinels=sentinels(record),
        timing=timing(record),
        shape=shape(record),
        median_rts=tuple((str(_GIVEN.get(kind, "")), median(own)) for kind, own in sorted(times.items())),
    )


def sentinels(record: SessionRecord) -> Picture:
    """Every sentinel with a known answer, in order: low and green when right, tall and red when wrong."""
    trials = [trial for trial in record.trials if trial.role in _SENTINELS and trial.correct is not None]
    columns = (
        _column(x, 0.6 if trial.correct else 1.0, GOOD if trial.correct else BAD, f"{trial.position + 1}: {trial.role}")
        for x, trial in enumerate(trials)
    )
    return Picture(columns=tuple(columns), good=sum(bool(trial.correct) for trial in trials), of=len(trials))


def timing(record: SessionRecord) -> Picture:
    """Every trial whose timing is known: low in order, tall when it was shown otherwise than planned."""
    trials = [trial for trial in record.trials if trial.timing_ok is not None]
    columns = (
        _column(x, 0.4 if trial.timing_ok else 1.0, PLAIN if trial.timing_ok else BAD, f"{trial.position + 1}")
        for x, trial in enumerate(trials)
    )
    return Picture(columns=tuple(columns), good=sum(bool(trial.timing_ok) for trial in trials), of=len(trials))


def shape(record: SessionRecord) -> Picture:
    """How often each category was answered to pictures that show plainly what they are; `good` is the most frequent."""
    answers = Counter(trial.response for trial in record.shape_trials())
    total = sum(answers.values())
    if not total:
        return Picture(columns=(), good=0, of=0)
    most = max(answers.values())
    none = (NONE_OF_THESE,) if answers[NONE_OF_THESE] else ()
    columns = (
        _column(x, answers[choice] / most, ACCENT if choice != NO_ANSWER else BAD, f"{choice}: {answers[choice]}")
        for x, choice in enumerate((*record.space.in_grid, *none, NO_ANSWER))
    )
    return Picture(columns=tuple(columns), good=most, of=total)


def _column(x: int, share: float, fill: str, title: str) -> StripMark:
    height = round(HEIGHT * share, 2)
    return StripMark(x, HEIGHT - height, height, fill, title)
