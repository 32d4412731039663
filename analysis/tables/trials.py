"""Answered trials: what was answered, what the browser measured, and the answers of observers asked in words."""

from __future__ import annotations

from analysis.labels.lists import ACCEPTED, COMPETING, OPTIONS
from analysis.tables.schema import Column, Kind, TableSchema
from analysis.tables.stimuli import PREDICTIONS


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


#: What an answer was given with.
INPUT_KINDS = ("pointer", "touch", "key")

TRIALS = TableSchema(
    name="trials",
    description="One row an answered trial.",
    key=("study", "session", "position"),
    columns=(
        Column(name="study", kind="text", description="slug of the study"),
        Column(name="participant", kind="text", description="the observer's code"),
        Column(name="session", kind="text", description="the session's code"),
        Column(name="position", kind="integer", description="place of the trial in its session, from 0", minimum=0),
        Column(name="block", kind="integer", description="block of the session, from 0", minimum=0),
        Column(
            name="task",
            kind="text",
            description="what was asked",
            levels=("categorisation", "discrimination", "abx", "validation"),
        ),
        Column(
            name="role",
            kind="text",
            description="why the trial was there; person: a sentinel of persons, which enters no curve, rule or pay",
            levels=(
                "practice",
                "qualification",
                "main",
                "clean",
                "gold",
                "negative",
                "consistency_first",
                "consistency_second",
                "person",
            ),
        ),
        Column(name="original", kind="text", description="picture the stimulus was made from"),
        Column(name="stimulus", kind="text", description="picture that was shown"),
        Column(name="category", kind="text", description="true category"),
        Column(name="corruption", kind="text", description="corruption function; none = clean"),
        Column(
            name="visual_change", kind="number", description="Δv of what was shown", nullable=True, minimum=0, maximum=1
        ),
        Column(name="condition", kind="text", description="condition of an imported trial", nullable=True),
        Column(name="second_original", kind="text", description="original of the pair's second picture", nullable=True),
        Column(name="second_stimulus", kind="text", description="the pair's second picture", nullable=True),
        Column(name="second_corruption", kind="text", description="corruption of the second picture", nullable=True),
        Column(name="third_original", kind="text", description="ABX: original of X", nullable=True, optional=True),
        Column(name="third_stimulus", kind="text", description="ABX: picture X", nullable=True, optional=True),
        Column(
            name="third_corruption",
            kind="text",
            description="ABX: corruption of X",
            nullable=True,
            optional=True,
        ),
        Column(
            name="wanted",
            kind="text",
            description="validation: the category that the picture was compared with",
            nullable=True,
            optional=True,
        ),
        Column(
            name="response",
            kind="text",
            description="the answer; na = none in time; ABX: a, b; validation: shows one? usable as one?, as yes-no",
        ),
        Column(
            name="correct",
            kind="boolean",
            description="whether the answer is right, na is wrong; empty where nobody knows the right one",
            nullable=True,
        ),
        Column(
            name="rt_ms",
            kind="number",
            description="response time from the choices' onset",
            unit="ms",
            nullable=True,
            minimum=0,
        ),
        Column(name="timing_ok", kind="boolean", description="derived by the rule named in timing_rule", nullable=True),
        Column(
            name="timing_rule",
            kind="text",
            description="name and version of the rule behind timing_ok",
            nullable=True,
            optional=True,
        ),
        Column(
            name="set_aside",
            kind="boolean",
            description="whether nobody could see and answer the trial: the page lost the focus, or no input came; "
            "such a trial enters no curve and no count; empty = not decided",
            nullable=True,
            optional=True,
        ),
        Column(
            name="input_kind",
            kind="text",
            description="what gave the answer; empty = no answer, or not kept",
            levels=INPUT_KINDS,
            nullable=True,
            optional=True,
        ),
        Column(name="accepted", kind="boolean", description="whether the session counts"),
        Column(name="simulated", kind="boolean", description="whether a script answered"),
        *TIMING,
        Column(
            name="clicks_json",
            kind="text",
            description="every click: choice, time from the choices' onset in ms, pointer or key; JSON",
            nullable=True,
            optional=True,
        ),
        Column(
            name="stim_sha256",
            kind="text",
            description="digest of the bytes of the picture that was sent",
            nullable=True,
            optional=True,
        ),
        Column(name="mask_seed", kind="integer", description="seed of the noise mask", nullable=True, optional=True),
        Column(
            name="server_received_at",
            kind="text",
            description="when the server stored the answer, ISO 8601, UTC",
            nullable=True,
            optional=True,
        ),
        Column(
            name="grid_order",
            kind="text",
            description="categories on the participant's grid, row by row; empty = the published order",
            nullable=True,
            optional=True,
        ),
        Column(
            name=OPTIONS,
            kind="text",
            description="ids that the trial offered, in the order shown, separated by blanks, `none` among them where "
            "none of these could be answered; empty = all labels",
            nullable=True,
            optional=True,
        ),
        Column(
            name=ACCEPTED,
            kind="text",
            description="ids that are right for the picture, separated by blanks; where any picture has some, one "
            "without is in no curve and no count; empty everywhere = the category",
            nullable=True,
            optional=True,
        ),
        Column(
            name=COMPETING,
            kind="text",
            description="ids that compete with the right ones, as the texture of a cue conflict, separated by blanks; "
            "empty everywhere = as the picture's name says",
            nullable=True,
            optional=True,
        ),
    ),
)


_OF_THE_STIMULUS = ("classifier", "stimulus", "original", "category", "corruption", "visual_change")

ANSWERS = TableSchema(
    name="answers",
    description="One row a question to an observer that answers in words.",
    key=("classifier", "stimulus", "wording", "order", "repeat", "purpose"),
    columns=(
        *(column for column in PREDICTIONS.columns if column.name in _OF_THE_STIMULUS),
        Column(name="wording", kind="text", description="name of the wording of the question"),
        Column(name="order", kind="integer", description="number of the order of the labels", minimum=0),
        Column(name="repeat", kind="integer", description="number of the repeat of the question", minimum=0),
        Column(name="shown", kind="text", description="labels in the order shown, separated by blanks"),
        Column(
            name="kind",
            kind="text",
            description="what became of the question",
            levels=("label", "miss", "refusal", "unreadable", "outside", "error"),
        ),
        Column(name="response", kind="text", description="label that was named; na = none"),
        Column(name="correct", kind="boolean", description="whether it is the true category"),
        Column(name="text", kind="text", description="the reply as it came", nullable=True),
        Column(name="tokens_in", kind="integer", description="tokens of question and picture", minimum=0),
        Column(name="tokens_out", kind="integer", description="tokens of the reply", minimum=0),
        Column(name="fingerprint", kind="text", description="version as the observer calls itself", nullable=True),
        Column(
            name="purpose",
            kind="text",
            description="what the question is for: the answer to a trial stands for its stimulus; grey, wrong: another "
            "picture than the trial's was shown; empty = earlier versions, in which the first one is the trial",
            levels=("trial", "wording", "order", "repeat", "consistency", "rotation", "canary", "grey", "wrong"),
            nullable=True,
            optional=True,
        ),
        Column(
            name="pictured",
            kind="text",
            description="stimulus that was shown, if not the trial's own; grey = a grey picture",
            nullable=True,
            optional=True,
        ),
        Column(
            name="finish_reason",
            kind="text",
            description="why the reply ended, as the server says; length = at the most tokens that it may have",
            nullable=True,
            optional=True,
        ),
        Column(
            name="tokens_thought",
            kind="integer",
            description="of the reply's tokens, those of thoughts, where the server tells",
            nullable=True,
            optional=True,
            minimum=0,
        ),
        Column(
            name="tokens_picture",
            kind="integer",
            description="of the question's tokens, those of the picture, where the server tells",
            nullable=True,
            optional=True,
            minimum=0,
        ),
        Column(
            name="server_model",
            kind="text",
            description="model that answered, as the server calls it",
            nullable=True,
            optional=True,
        ),
        Column(
            name="granted",
            kind="text",
            description="decoding that the server took, of that which was asked for; JSON",
            nullable=True,
            optional=True,
        ),
        Column(
            name="answered_at",
            kind="text",
            description="when the server answered, ISO 8601, UTC; questions are not all asked in the order of the rows",
            nullable=True,
            optional=True,
        ),
        Column(
            name="scores",
            kind="text",
            description="log-probability of each label as the reply, in the order shown; of models that score labels",
            nullable=True,
            optional=True,
        ),
        Column(
            name="mass",
            kind="number",
            description="probability that the reply begins with a label; of models that score labels",
            nullable=True,
            optional=True,
            minimum=0,
            maximum=1,
        ),
    ),
)
