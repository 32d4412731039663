"""The timing certificate: how well the pictures of many trials were timed."""

from __future__ import annotations

from pydantic import computed_field

from analysis.entry import Entry

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
