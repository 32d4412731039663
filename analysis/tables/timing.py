"""What the browser measures of every trial."""

from __future__ import annotations

from analysis.tables.schema import Column, Kind


def _measured(name: str, description: str, *, unit: str = "", kind: Kind = "number") -> Column:
    """A column that engines before 2.0 did not measure: empty, or absent from a file, where there is none."""
    return Column(name=name, kind=kind, description=description, unit=unit, nullable=True, optional=True)


TIMING = (
    Column(
        name="t_refresh_median_ms",
        kind="number",
        description="median refresh interval; exports: of the nearest common rate",
        unit="ms",
        nullable=True,
    ),
    Column(
        name="t_refresh_mad_ms", kind="number", description="its median absolute deviation", unit="ms", nullable=True
    ),
    Column(name="frames_target", kind="integer", description="frames the stimulus should stay", nullable=True),
    Column(name="frames_shown", kind="integer", description="frames it stayed, by timestamps", nullable=True),
    Column(name="dur_stim_ms", kind="number", description="stimulus duration", unit="ms", nullable=True),
    Column(name="dur_mask_ms", kind="number", description="mask duration", unit="ms", nullable=True),
    Column(name="dur_fix_ms", kind="number", description="fixation duration", unit="ms", nullable=True),
    Column(name="isi_frames", kind="integer", description="blank frames between stimulus and mask", nullable=True),
    _measured("dur_stim_taken_ms", "from the browser's taking of the stimulus to that of what follows", unit="ms"),
    _measured("isi_frames_target", "blank frames that the protocol asks for", kind="integer"),
    _measured("dur_isi_taken_ms", "the same for the blank between stimulus and mask", unit="ms"),
    Column(name="ts_fix_on", kind="number", description="fixation onset on the page's clock", unit="ms", nullable=True),
    Column(
        name="ts_stim_on", kind="number", description="stimulus onset on the page's clock", unit="ms", nullable=True
    ),
    Column(name="ts_mask_on", kind="number", description="mask onset on the page's clock", unit="ms", nullable=True),
    Column(
        name="ts_grid_on", kind="number", description="choices shown, on the page's clock", unit="ms", nullable=True
    ),
    Column(
        name="max_frame_gap_ms",
        kind="number",
        description="longest frame, stimulus to mask end",
        unit="ms",
        nullable=True,
    ),
    Column(name="n_long_frames", kind="integer", description="frames over 1.5 refresh intervals", nullable=True),
    _measured("n_ramp_steps_missed", "steps of the contrast ramp that were not drawn", kind="integer"),
    _measured("n_onset_waits", "late callbacks in which the stimulus was due and waited", kind="integer"),
    Column(name="callback_lag_max_ms", kind="number", description="largest callback delay", unit="ms", nullable=True),
    _measured("callback_lag_median_ms", "median delay of the callbacks of the trial", unit="ms"),
    _measured("lag_fix_on_ms", "delay of the callback that drew the fixation", unit="ms"),
    _measured("lag_stim_on_ms", "delay of the callback that drew the stimulus", unit="ms"),
    _measured("lag_stim_off_ms", "delay of the callback that removed the stimulus", unit="ms"),
    _measured("lag_mask_on_ms", "delay of the callback that drew the mask", unit="ms"),
    _measured("lag_mask_off_ms", "delay of the callback that removed the mask", unit="ms"),
    _measured("taken_stim_on_ms", "from the frame's begin to the browser's taking of the stimulus", unit="ms"),
    _measured("taken_stim_off_ms", "the same for what followed the stimulus", unit="ms"),
    _measured("taken_mask_on_ms", "the same for the mask", unit="ms"),
    _measured("taken_mask_off_ms", "the same for what followed the mask", unit="ms"),
    Column(name="visible_whole_trial", kind="boolean", description="the page was visible throughout", nullable=True),
    Column(name="focused_whole_trial", kind="boolean", description="the page had the focus throughout", nullable=True),
    _measured("focus_lost_ms", "when the page first lost focus or visibility, from the first fixation", unit="ms"),
    _measured("last_input_ms", "last input, from the first fixation; negative = earlier", unit="ms"),
    _measured("input_watched_ms", "until when the page waited for input, from the choices' onset", unit="ms"),
    Column(name="fullscreen", kind="boolean", description="full screen", nullable=True),
    Column(name="resized", kind="boolean", description="the window changed size", nullable=True),
    Column(
        name="dpr",
        kind="number",
        description="device pixels per CSS pixel; exports: to the nearest half",
        nullable=True,
    ),
    Column(
        name="css_px",
        kind="number",
        description="side of the picture in CSS pixels; exports: to the nearest 50",
        unit="px",
        nullable=True,
    ),
    Column(
        name="canvas_px", kind="integer", description="side of the picture in device pixels", unit="px", nullable=True
    ),
    _measured("pixel_scale", "device pixels per picture pixel, along a side", kind="integer"),
    _measured(
        "viewport_width_px",
        "width of the window in CSS pixels; exports: to the next lower 200",
        unit="px",
        kind="integer",
    ),
    _measured(
        "viewport_height_px",
        "height of the window in CSS pixels; exports: to the next lower 200",
        unit="px",
        kind="integer",
    ),
    _measured("pointer_start_x_px", "pointer when the choices appeared, right of the window's middle", unit="px"),
    _measured("pointer_start_y_px", "pointer when the choices appeared, below the window's middle", unit="px"),
    Column(name="decode_ok", kind="boolean", description="all pictures were decoded before the trial", nullable=True),
    Column(
        name="n_clicks", kind="integer", description="answers given before the one that counts was fixed", nullable=True
    ),
    _measured("click_policy", "which click is the answer: first or last", kind="text"),
    _measured("rt_first_click_ms", "first click, from the choices' onset", unit="ms"),
    _measured("rt_last_click_ms", "last click, from the choices' onset", unit="ms"),
    Column(
        name="rt_from_stim_ms",
        kind="number",
        description="answer counted from stimulus onset",
        unit="ms",
        nullable=True,
    ),
    _measured("timer_resolution_ms", "smallest step of the page's clock", unit="ms"),
    _measured("cross_origin_isolated", "the page had the finer clock of isolated pages", kind="boolean"),
    _measured("client_seq", "how many trials this page had shown, this one included", kind="integer"),
    _measured("client_epoch_ms", "the computer's own date and time at the answer, since 1970", unit="ms"),
    Column(name="engine_version", kind="text", description="version of the trial engine", nullable=True),
)
#: Names of the columns that the browser measures.
TIMING_COLUMNS: tuple[str, ...] = tuple(column.name for column in TIMING)
