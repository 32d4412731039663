"""The timing certificate: how well the pictures of many trials were timed.

The timing certificate: how well the pictures of many trials were timed, for everybody and for each participant.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import computed_field

from analysis.entry import Entry
from analysis.tables.sessions import nearest_rate_hz
from analysis.timing.rules import TIMING_RULE, timing_ok

#: Edges of the distribution of departures, in frames; departures beyond the ends are counted in the outer bins.
EDGES = tuple(round(-3 + 0.25 * step, 2) for step in range(25))


class TimingSummary(Entry):
    """How a set of trials was timed. Shares are of the trials with a record; percentiles are empty without one.

    Attributes
    ----------
    trials, recorded : int
        Answered trials, and those among them whose stimulus was timed.
    within_half_frame : float or None
        Share of recorded trials whose stimulus lasted within half a refresh interval of the planned frames, by what the
        browser took (engines before 2.0: by timestamps).
    within_half_frame_by_timestamps : float or None
        The same by the timestamps of animation frames alone, which do not show callbacks that ran late.
    ok, not_ok, unknown : int
        Trials by the verdict of `rule`.
    departure_frames : dict of str to float
        Percentiles of (duration - plan) / T.
    departure_ms : dict of str to float
        Percentiles of duration - plan in ms.
    histogram : tuple of int
        Recorded trials by departure in frames, between `EDGES`.
    trials_with_long_frames, long_frames : int
        Trials with a gap of over 1.5 T between animation frames from stimulus onset to mask offset, and all such gaps.
    lag_ms : dict of str to float
        Percentiles of the larger of the two callback lags at stimulus onset and offset.
    onset_waits : int
        Late callbacks in which a stimulus was due and waited.
    refresh_hz : dict of str to int
        Trials by refresh rate.
    pixel_ratios : dict of str to int
        Trials by device pixels per CSS pixel.
    engines : dict of str to int
        Trials by version of the trial engine.
    fullscreen : float or None
        Share of recorded trials in full screen.
    """

    rule: str
    trials: int
    recorded: int
    within_half_frame: float | None
    within_half_frame_by_timestamps: float | None
    ok: int
    not_ok: int
    unknown: int
    departure_frames: dict[str, float]
    departure_ms: dict[str, float]
    histogram: tuple[int, ...]
    trials_with_long_frames: int
    long_frames: int
    lag_ms: dict[str, float]
    onset_waits: int
    refresh_hz: dict[str, int]
    pixel_ratios: dict[str, int]
    engines: dict[str, int]
    fullscreen: float | None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def ok_share(self) -> float | None:
        """Share of the trials with known timing that the rule finds in order."""
        judged = self.ok + self.not_ok
        return self.ok / judged if judged else None


class TimingCertificate(Entry):
    """The summary over all trials, and one for each participant by code."""

    rule: str
    histogram_edges_frames: tuple[float, ...]
    all: TimingSummary
    participants: dict[str, TimingSummary]


Record = Mapping[str, Any]

PERCENTILES = (1, 5, 25, 50, 75, 95, 99)
UNKNOWN = "unknown"


def certify(records: Iterable[Record], *, rule: str = TIMING_RULE) -> TimingCertificate:
    """Sum up the timing of many trials.

    Parameters
    ----------
    records : iterable of mapping
        One mapping a trial: timing columns of ``tables.trials.TIMING_COLUMNS``, and ``participant`` where summaries
        by participant are wanted. A missing column is unknown.
    rule : str
        Name of a rule of ``timing.rules.TIMING_RULES``, applied to the raw columns whatever rule judged before.

    Returns
    -------
    TimingCertificate
    """
    everybody = _Sum()
    by_participant: dict[str, _Sum] = {}
    for row in records:
        trial = _measured(row, rule)
        everybody.add(trial)
        if row.get("participant"):
            by_participant.setdefault(str(row["participant"]), _Sum()).add(trial)
    return TimingCertificate(
        rule=rule,
        histogram_edges_frames=EDGES,
        all=everybody.summary(rule),
        participants={code: mine.summary(rule) for code, mine in sorted(by_participant.items())},
    )


def summarise(rows: Iterable[Record], *, rule: str = TIMING_RULE) -> TimingSummary:
    """Summary of some trials; see `TimingSummary`."""
    found = _Sum()
    for row in rows:
        found.add(_measured(row, rule))
    return found.summary(rule)


class _Frames(NamedTuple):
    """What a summary needs of a timed trial."""

    refresh_ms: float
    planned_frames: float
    duration_ms: float
    by_timestamps_ms: float
    lag_ms: float
    rate: str
    pixel_ratio: str
    engine: str
    long_frames: int
    onset_waits: int
    fullscreen: bool


def _measured(row: Record, rule: str) -> tuple[bool | None, _Frames | None]:
    """The rule's verdict, and what was measured where the stimulus was timed."""
    duration_ms = _duration(row)
    if duration_ms is None:
        return timing_ok(row, rule), None
    return timing_ok(row, rule), _Frames(
        refresh_ms=row["t_refresh_median_ms"],
        planned_frames=row["frames_target"],
        duration_ms=duration_ms,
        by_timestamps_ms=_number(row, "dur_stim_ms"),
        lag_ms=_lag(row),
        rate=str(nearest_rate_hz(row["t_refresh_median_ms"])),
        pixel_ratio=UNKNOWN if row.get("dpr") is None else f"{row['dpr']:g}",
        engine=str(row.get("engine_version") or UNKNOWN),
        long_frames=int(row.get("n_long_frames") or 0),
        onset_waits=int(row.get("n_onset_waits") or 0),
        fullscreen=bool(row.get("fullscreen")),
    )


class _Sum:
    """A few numbers of each trial, so that millions of trials fit into memory."""

    def __init__(self) -> None:
        self.refresh_ms, self.planned_frames, self.duration_ms = array("d"), array("d"), array("d")
        self.by_timestamps_ms, self.lag_ms = array("d"), array("d")
        self.verdicts: Counter[bool | None] = Counter()
        self.rates: Counter[str] = Counter()
        self.pixel_ratios: Counter[str] = Counter()
        self.engines: Counter[str] = Counter()
        self.trials_with_long_frames = self.long_frames = self.onset_waits = self.fullscreen = 0

    def add(self, trial: tuple[bool | None, _Frames | None]) -> None:
        verdict, frames = trial
        self.verdicts[verdict] += 1
        if frames is None:
            return
        self.refresh_ms.append(frames.refresh_ms)
        self.planned_frames.append(frames.planned_frames)
        self.duration_ms.append(frames.duration_ms)
        self.by_timestamps_ms.append(frames.by_timestamps_ms)
        self.lag_ms.append(frames.lag_ms)
        self.rates[frames.rate] += 1
        self.pixel_ratios[frames.pixel_ratio] += 1
        self.engines[frames.engine] += 1
        self.trials_with_long_frames += frames.long_frames > 0
        self.long_frames += frames.long_frames
        self.onset_waits += frames.onset_waits
        self.fullscreen += frames.fullscreen

    def summary(self, rule: str) -> TimingSummary:
        refresh = np.array(self.refresh_ms, dtype=np.float64)
        planned = np.array(self.planned_frames, dtype=np.float64) * refresh
        departure_ms = np.array(self.duration_ms, dtype=np.float64) - planned
        by_timestamps = np.array(self.by_timestamps_ms, dtype=np.float64) - planned
        recorded = len(refresh)
        frames = departure_ms / refresh if recorded else departure_ms
        lags = np.array(self.lag_ms, dtype=np.float64)
        counts, _ = np.histogram(np.clip(frames, EDGES[0], EDGES[-1]), bins=EDGES)
        return TimingSummary(
            rule=rule,
            trials=self.verdicts.total(),
            recorded=recorded,
            within_half_frame=_share(np.abs(frames) <= 0.5),
            within_half_frame_by_timestamps=_share(np.abs(by_timestamps / refresh) <= 0.5) if recorded else None,
            ok=self.verdicts[True],
            not_ok=self.verdicts[False],
            unknown=self.verdicts[None],
            departure_frames=_percentiles(frames),
            departure_ms=_percentiles(departure_ms),
            histogram=tuple(int(count) for count in counts),
            trials_with_long_frames=self.trials_with_long_frames,
            long_frames=self.long_frames,
            lag_ms=_percentiles(lags[~np.isnan(lags)]),
            onset_waits=self.onset_waits,
            refresh_hz=dict(self.rates.most_common()),
            pixel_ratios=dict(self.pixel_ratios.most_common()),
            engines=dict(self.engines.most_common()),
            fullscreen=self.fullscreen / recorded if recorded else None,
        )


def _duration(row: Record) -> float | None:
    """How long the stimulus lasted, as well as the engine knew; None where that or its plan is unknown."""
    refresh_ms = row.get("t_refresh_median_ms")
    if not refresh_ms or refresh_ms <= 0 or row.get("frames_target") is None:
        return None
    taken = row.get("dur_stim_taken_ms")
    return taken if taken is not None else row.get("dur_stim_ms")


def _number(row: Record, column: str) -> float:
    value = row.get(column)
    return float("nan") if value is None else float(value)


def _lag(row: Record) -> float:
    return max(_number(row, "lag_stim_on_ms"), _number(row, "lag_stim_off_ms"))


def _share(holds: NDArray[np.bool_]) -> float | None:
    return float(np.mean(holds)) if len(holds) else None


def _percentiles(values: NDArray[np.float64]) -> dict[str, float]:
    if not len(values):
        return {}
    return {f"p{q}": float(value) for q, value in zip(PERCENTILES, np.percentile(values, PERCENTILES), strict=True)}
