"""What the Sessions page tells of all answers: how pictures were timed, and on what. Counted by jobs and kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Case, CharField, Count, FloatField, IntegerField, Q, Value, When
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Round

from humanexp.core.sessions import FAMILIES
from humanexp.jobs.registry import Progress
from humanexp.participation.models import Response, Session, counting
from humanexp.participation.tallies import Counted, Kind, Tally, tally_of
from humanexp.studies.models import Study

#: Lowest share of trials in order of each class of sessions.
CLASSES = (0.99, 0.95, 0.9, 0.0)


@dataclass(frozen=True, kw_only=True)
class TimingClass:
    low: float
    high: float
    sessions: int
    #: of all sessions that were timed
    share: float


@dataclass(frozen=True, kw_only=True)
class TimingShares:
    """Trials whose timing was in order, over all sessions and by session."""

    ok: int
    judged: int
    sessions: int
    classes: list[TimingClass]

    @classmethod
    def from_dict(cls, kept: dict[str, Any]) -> TimingShares:
        return cls(**{**kept, "classes": [TimingClass(**one) for one in kept["classes"]]})

    @property
    def share(self) -> float | None:
        return self.ok / self.judged if self.judged else None


def timing_shares(study: Study) -> TimingShares:
    """Sessions by the share of their judged trials that were in order, of the sessions that count."""
    answers = Response.objects.filter(counting("session"), session__study=study)
    ok, judged = Count("pk", filter=Q(timing_ok=True)), Count("pk", filter=Q(timing_ok__isnull=False))
    by_session = answers.order_by().values("session_id").annotate(ok=ok, judged=judged).filter(judged__gt=0)
    rows = list(by_session.values_list("ok", "judged"))
    sessions = Counter(next(low for low in CLASSES if count_ok >= low * count) for count_ok, count in rows)
    return TimingShares(
        ok=sum(count_ok for count_ok, _ in rows),
        judged=sum(count for _, count in rows),
        sessions=len(rows),
        classes=[
            TimingClass(low=low, high=high, sessions=sessions[low], share=sessions[low] / len(rows) if rows else 0.0)
            for low, high in zip(CLASSES, (1.0, *CLASSES), strict=False)
        ],
    )


#: Refresh rates that screens have; a measured one belongs to the next of these within 6 %.
RATES = (50, 60, 72, 75, 90, 100, 120, 144, 165, 240, 360)
#: Lower ends of classes of windows, CSS pixels.
WIDTHS = (0, 640, 1024, 1280, 1536, 1920, 2560)


Rows = Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Share:
    label: str
    sessions: int
    #: of those where it is known
    share: float


@dataclass(frozen=True, kw_only=True)
class Devices:
    #: from the first answer on
    rates: list[Share]
    ratios: list[Share]
    #: from the end of a session on
    families: list[Share]
    windows: list[Share]

    @property
    def is_known(self) -> bool:
        return bool(self.rates or self.families)


def devices_of(*, screens: Rows, browsers: Rows) -> Devices:
    """In classes, in words of the reader's language.

    `screens` holds the refresh interval in 0.1 ms, the pixel ratio in 0.01, and how many sessions had both at their
    first answer; `browsers` the family, the lower end of the window's class, and how many sessions have told of both.
    """
    families = Counter[str]()
    for family, _width, count in browsers:
        families[family] += count
    return Devices(
        rates=_in_order((_rate(tenths), count) for tenths, _hundredths, count in screens),
        ratios=_in_order((_ratio(hundredths), count) for _tenths, hundredths, count in screens),
        families=_shares((name, count) for name, count in families.most_common() if name),
        windows=_in_order((_window(width), count) for _family, width, count in browsers),
    )


def _ratio(hundredths: float | None) -> tuple[float, str] | None:
    """Device pixels a CSS pixel."""
    return (hundredths, f"{hundredths / 100:g}") if hundredths else None


def _rate(tenths_ms: float | None) -> tuple[float, str] | None:
    """The screen's refresh rate, by the interval between frames."""
    if not tenths_ms:
        return None
    measured = 10_000 / tenths_ms
    nearest = min(RATES, key=lambda rate: abs(rate - measured))
    if abs(nearest - measured) > 0.06 * nearest:
        return 1000.0, "other"
    return nearest, f"{nearest} Hz"


def _window(low: int | None) -> tuple[float, str] | None:
    """The width of the window."""
    if low is None:
        return None
    higher = [width for width in WIDTHS if width > low]
    return low, f"{low}\u2013{higher[0] - 1} px" if higher else f"\u2265 {low} px"


def _in_order(counted: Iterable[tuple[tuple[float, str] | None, int]]) -> list[Share]:
    """Classes of something measured, from small to large; what is not known is left out."""
    counts: Counter[float] = Counter()
    labels: dict[float, str] = {}
    for measured, count in counted:
        if measured:
            order = measured[0]
            labels[order] = measured[1]
            counts[order] += count
    return _shares((labels[order], counts[order]) for order in sorted(counts))


def _shares(counted: Iterable[tuple[str, int]]) -> list[Share]:
    counts = list(counted)
    total = sum(count for _label, count in counts)
    return [Share(label, count, count / total) for label, count in counts]


def _screens(study: Study) -> Rows:
    first = Response.objects.filter(counting("session"), session__study=study, position=0)
    return list(
        first.order_by()
        .annotate(
            # Whole numbers: PostgreSQL rounds floats to nothing else.
            interval=Round(10 * Cast(KT("timing__t_refresh_median_ms"), FloatField())),
            ratio=Round(100 * Cast(KT("timing__dpr"), FloatField())),
        )
        .values_list("interval", "ratio")
        .annotate(count=Count("pk"))
    )


def _browsers(study: Study) -> Rows:
    told = Session.objects.filter(counting(), study=study).exclude(environment={})
    family = Case(
        *(When(agent__contains=part, then=Value(name)) for part, name in FAMILIES),
        When(Q(agent__isnull=True), then=Value("")),
        default=Value("other"),
        output_field=CharField(),
    )
    width = Case(
        *(When(wide__gte=low, then=Value(low)) for low in reversed(WIDTHS)), default=None, output_field=IntegerField()
    )
    return list(
        told.order_by()
        .annotate(agent=KT("environment__user_agent"), wide=Cast(KT("environment__window_px__0"), FloatField()))
        .annotate(family=family, width=width)
        .values_list("family", "width")
        .annotate(count=Count("pk"))
    )


@dataclass(frozen=True, kw_only=True)
class Figures:
    timing: TimingShares
    devices: Devices


def kept_figures(study: Study) -> tuple[Tally, Figures | None]:
    """As they were last counted."""
    tally = tally_of(study, SESSIONS.name)
    if tally.content is None:
        return tally, None
    timing, devices = TimingShares.from_dict(tally.content["timing"]), devices_of(**tally.content["devices"])
    return tally, Figures(timing=timing, devices=devices)


def _counted(study: Study, report: Progress) -> Counted:
    devices = {"screens": _screens(study), "browsers": _browsers(study)}
    content = {"timing": asdict(timing_shares(study)), "devices": devices}
    report(1, 1)
    return Counted(content=content)


def _finished(_study: Study, ended: int) -> str:
    """A session tells of its browser when it ends."""
    return str(ended)


SESSIONS = Kind(name="sessions", count=_counted, beside=_finished, url_name="participation:live")
