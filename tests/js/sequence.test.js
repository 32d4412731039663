import assert from "node:assert/strict";
import test from "node:test";
import { Sequence, contrastOf } from "../../static/js/participation/trial/sequence.js";
import { Canvas, Display, PROTOCOL } from "./support.js";

const PICTURE = { name: "stimulus" };
const MASK = { name: "mask" };

/** Plays a sequence on a display to its end. */
function play({ hz = 60, protocol = {}, missedBefore = () => 0, lagOf, showings = [{ stimulus: PICTURE, mask: MASK }], measuredHz = hz }) {
  const display = new Display({ hz });
  const canvas = new Canvas(display);
  const responses = [];
  const sequence = new Sequence({
    showings,
    protocol: { ...PROTOCOL, ...protocol },
    refreshMs: 1000 / measuredHz,
    surface: canvas,
    clock: display.clock,
    afterFrame: display.afterFrame,
    onResponse: (ts) => responses.push(ts),
  });
  const onFrame = (ts) => {
    if (sequence.frame(ts)) display.raf(onFrame);
  };
  display.raf(onFrame);
  display.run({ missedBefore, lagOf });
  return { display, canvas, sequence, responses, timing: sequence.timing };
}

const near = (actual, expected, within = 1e-6) => assert.ok(Math.abs(actual - expected) <= within, `${actual} is not ${expected}`);

for (const [hz, frames] of [[60, 12], [75, 15], [90, 18], [120, 24], [144, 29], [165, 33], [240, 48]]) {
  test(`${hz} Hz: the stimulus stays ${frames} frames, the mask follows in the same callback`, () => {
    const { canvas, timing } = play({ hz });
    assert.deepEqual(canvas.drawn.map(({ what }) => what), ["clear", "fixation", "stimulus", "mask", "clear"]);
    assert.equal(timing.frames_target, frames);
    assert.equal(timing.frames_shown, frames);
    near(timing.dur_stim_ms, (frames * 1000) / hz);
    near(canvas.of("mask").ts - canvas.of("stimulus").ts, timing.dur_stim_ms);
    assert.equal(canvas.of("mask").callback - canvas.of("stimulus").callback, frames);
    assert.equal(timing.n_long_frames, 0);
    assert.equal(timing.isi_frames, 0);
    near(timing.max_frame_gap_ms, 1000 / hz);
    assert.ok(Math.abs(timing.dur_stim_ms - 200) <= 500 / hz, "within half a frame of the target");
  });
}

test("every onset is the timestamp of the frame that drew it", () => {
  const { canvas, timing, responses } = play({ hz: 120 });
  assert.equal(timing.ts_fix_on, canvas.of("fixation").ts);
  assert.equal(timing.ts_stim_on, canvas.of("stimulus").ts);
  assert.equal(timing.ts_mask_on, canvas.of("mask").ts);
  assert.deepEqual(responses, [timing.ts_grid_on]);
  near(timing.dur_fix_ms, 300);
  near(timing.dur_mask_ms, 200);
  near(timing.callback_lag_max_ms, 0.4);
});

test("the loop runs at least 50 ms before the fixation square", () => {
  const { canvas } = play({ hz: 60 });
  assert.ok(canvas.of("fixation").ts - canvas.of("clear").ts >= 50 - 1e-9);
});

for (const blanks of [1, 2, 5]) {
  test(`${blanks} blank frames are shown between stimulus and mask, and no more`, () => {
    const { canvas, timing } = play({ protocol: { blank_frames: blanks } });
    assert.deepEqual(canvas.drawn.map(({ what }) => what), ["clear", "fixation", "stimulus", "clear", "mask", "clear"]);
    near(canvas.shownFor[3].ms, (blanks * 1000) / 60);
    assert.equal(timing.isi_frames, blanks);
    assert.equal(timing.frames_shown, 12);
  });
}

/** Callbacks of play() at 60 Hz: 0 = warm-up on, 3 = fixation on, 21 = stimulus on, 33 = stimulus off, 45 = mask off. */
const lagAt = (lags) => (count) => lags[count];

for (const [hz, frames] of [[60, 12], [75, 15], [90, 18], [120, 24], [144, 29], [165, 33], [240, 48]]) {
  test(`${hz} Hz: on an idle machine the stimulus is taken for as long as it is timed`, () => {
    const { timing } = play({ hz });
    near(timing.dur_stim_taken_ms, (frames * 1000) / hz);
    for (const at of ["stim_on", "stim_off", "mask_on", "mask_off"]) {
      near(timing[`lag_${at}_ms`], 0.4);
      near(timing[`taken_${at}_ms`], 1);
    }
    near(timing.lag_fix_on_ms, 0.4);
    near(timing.callback_lag_median_ms, 0.4);
    assert.equal(timing.n_onset_waits, 0);
    assert.equal(timing.n_ramp_steps_missed, 0);
    assert.equal(timing.dur_isi_taken_ms, null, "there was no blank");
  });
}

test("a late callback at the offset: its timestamp is faultless, the moment it was taken is not", () => {
  const { timing } = play({ lagOf: lagAt({ 33: 14 }) });
  near(timing.dur_stim_ms, 200);
  assert.equal(timing.frames_shown, 12);
  assert.equal(timing.n_long_frames, 0);
  near(timing.lag_stim_off_ms, 14);
  near(timing.dur_stim_taken_ms, 213.6);
});

test("a stimulus does not begin in a late callback: the fixation stays a frame longer", () => {
  const { timing, canvas } = play({ lagOf: lagAt({ 21: 12, 22: 6 }) });
  assert.equal(timing.n_onset_waits, 2);
  near(timing.dur_fix_ms, 300 + 2 * (1000 / 60));
  near(timing.dur_stim_ms, 200);
  near(timing.dur_stim_taken_ms, 200);
  assert.equal(canvas.of("stimulus").callback, 24);
});

test("a machine whose callbacks are always late shows the stimulus at once", () => {
  const { timing } = play({ lagOf: () => 9 });
  assert.equal(timing.n_onset_waits, 0);
  near(timing.dur_stim_taken_ms, 200);
});

test("a stimulus waits 200 ms at most for a callback on time", () => {
  const { timing } = play({ lagOf: (count) => (count >= 21 && count < 60 ? 10 : undefined) });
  assert.equal(timing.n_onset_waits, 12);
  near(timing.dur_fix_ms, 500);
});

test("the mask never waits: a late callback ends the stimulus as soon as it runs", () => {
  const { canvas } = play({ lagOf: lagAt({ 33: 14 }) });
  assert.equal(canvas.of("mask").callback - canvas.of("stimulus").callback, 12);
});

test("without word from the browser the next callback bounds the moment of taking", () => {
  const display = new Display({ hz: 60 });
  const sequence = new Sequence({
    showings: [{ stimulus: PICTURE, mask: MASK }],
    protocol: PROTOCOL,
    refreshMs: 1000 / 60,
    surface: new Canvas(display),
    clock: display.clock,
  });
  const onFrame = (ts) => {
    if (sequence.frame(ts)) display.raf(onFrame);
  };
  display.raf(onFrame);
  display.run();
  near(sequence.timing.taken_stim_on_ms, 1000 / 60 + 0.4);
  near(sequence.timing.dur_stim_taken_ms, 200);
  assert.equal(sequence.timing.taken_mask_off_ms, null, "no callback follows the last switch");
});

test("blank frames are timed by taking, too", () => {
  const { timing } = play({ protocol: { blank_frames: 1 }, lagOf: lagAt({ 34: 10 }) });
  near(timing.dur_stim_taken_ms, 200);
  near(timing.dur_isi_taken_ms, 1000 / 60 + 9.6);
});

test("two showings: the record keeps the taking that departs most", () => {
  const { timing } = play({ showings: TWO, lagOf: lagAt({ 33: 14 }) });
  near(timing.dur_stim_taken_ms, 213.6);
  near(timing.lag_stim_off_ms, 0.4);
});

test("a ramp whose steps were lost to drops is counted", () => {
  const ramp = { contrast_ramp: "tapered-cosine" };
  assert.equal(play({ protocol: ramp }).timing.n_ramp_steps_missed, 0);
  assert.equal(play({ protocol: ramp, missedBefore: (count) => (count === 22 ? 1 : 0) }).timing.n_ramp_steps_missed, 1);
  assert.equal(play({ protocol: ramp, missedBefore: (count) => (count === 33 ? 1 : 0) }).timing.n_ramp_steps_missed, 0);
  assert.equal(play({ protocol: ramp, missedBefore: (count) => (count === 31 ? 2 : 0) }).timing.n_ramp_steps_missed, 2);
});

// Callbacks of play(): 0 = warm-up on, 3 = fixation on, 21 = stimulus on, 33 = stimulus off at 60 Hz.
test("a frame dropped inside the stimulus does not stretch it, and is counted", () => {
  const { timing } = play({ missedBefore: (count) => (count === 27 ? 1 : 0) });
  assert.equal(timing.frames_shown, 12);
  near(timing.dur_stim_ms, 200);
  assert.equal(timing.n_long_frames, 1);
  near(timing.max_frame_gap_ms, 2000 / 60);
});

test("three frames dropped at the offset lengthen the stimulus, and the record says by how much", () => {
  const { timing } = play({ missedBefore: (count) => (count === 33 ? 3 : 0) });
  assert.equal(timing.frames_target, 12);
  assert.equal(timing.frames_shown, 15);
  near(timing.dur_stim_ms, 250);
  assert.equal(timing.n_long_frames, 1);
});

test("drops during fixation are no fault of the stimulus", () => {
  const { timing } = play({ missedBefore: (count) => (count === 10 ? 4 : 0) });
  assert.equal(timing.n_long_frames, 0);
  near(timing.dur_fix_ms, 300);
  near(timing.dur_stim_ms, 200);
});

test("a tab hidden for five seconds during the stimulus: mask and response still follow in order", () => {
  const { canvas, timing } = play({ missedBefore: (count) => (count === 25 ? 300 : 0) });
  assert.deepEqual(canvas.drawn.map(({ what }) => what), ["clear", "fixation", "stimulus", "mask", "clear"]);
  assert.ok(timing.dur_stim_ms > 5000);
  assert.ok(timing.frames_shown > 300);
  assert.equal(timing.n_long_frames, 1);
  near(timing.dur_mask_ms, 200);
});

test("a stall before the stimulus never swallows it: it is shown for its full time", () => {
  const { timing } = play({ missedBefore: (count) => (count === 20 ? 60 : 0) });
  near(timing.dur_stim_ms, 200);
  assert.equal(timing.frames_shown, 12);
});

test("a slightly wrong refresh estimate still gives the right number of frames", () => {
  for (const measuredHz of [59.2, 59.94, 60.02, 60.8]) assert.equal(play({ measuredHz }).timing.frames_shown, 12, `${measuredHz} Hz`);
});

test("jitter of a millisecond in the timestamps changes no frame count", () => {
  const display = new Display({ hz: 60 });
  const canvas = new Canvas(display);
  const sequence = new Sequence({ showings: [{ stimulus: PICTURE, mask: MASK }], protocol: PROTOCOL, refreshMs: 1000 / 60, surface: canvas, clock: display.clock });
  let count = 0;
  const jitter = () => ((count * 7919) % 21) / 10 - 1;
  for (; sequence.frame(1000 + (count * 1000) / 60 + jitter()); count += 1);
  assert.equal(sequence.timing.frames_shown, 12);
  assert.equal(sequence.timing.n_long_frames, 0);
});

test("without a mask the response follows the stimulus at once", () => {
  const { canvas, timing } = play({ showings: [{ stimulus: PICTURE, mask: null }] });
  assert.deepEqual(canvas.drawn.map(({ what }) => what), ["clear", "fixation", "stimulus", "clear"]);
  assert.equal(timing.dur_mask_ms, null);
  assert.equal(timing.ts_mask_on, null);
  near(timing.ts_grid_on - timing.ts_stim_on, 200);
});

test("without fixation the first onset is the stimulus", () => {
  const { timing } = play({ protocol: { fixation_ms: 0 } });
  assert.equal(timing.ts_fix_on, null);
  assert.equal(timing.dur_fix_ms, null);
  near(timing.dur_stim_ms, 200);
});

const TWO = [
  { stimulus: { name: "first" }, mask: MASK },
  { stimulus: { name: "second" }, mask: MASK },
];

test("two showings: each picture is followed by its mask; the onsets are those of the second", () => {
  const { canvas, timing } = play({ showings: TWO });
  assert.deepEqual(canvas.drawn.map(({ what }) => what), ["clear", "fixation", "first", "mask", "fixation", "second", "mask", "clear"]);
  assert.equal(timing.ts_stim_on, canvas.of("second").ts);
  assert.equal(timing.ts_fix_on, canvas.of("fixation").ts);
  near(timing.ts_grid_on - timing.ts_stim_on, 400);
});

test("two showings: the record keeps the one that departs most from its target", () => {
  // First stimulus on at callback 21, off at 33; three refreshes are lost before its offset.
  const { timing } = play({ showings: TWO, missedBefore: (count) => (count === 33 ? 3 : 0) });
  assert.equal(timing.frames_shown, 15);
  near(timing.dur_stim_ms, 250);
  assert.equal(timing.n_long_frames, 1);
});

test("a tapered-cosine ramp: symmetric, full in the middle half, never empty; every frame is drawn once with its contrast", () => {
  const { canvas, timing } = play({ protocol: { contrast_ramp: "tapered-cosine" } });
  const levels = canvas.drawn.filter(({ what }) => what === "stimulus").map(({ contrast }) => contrast);
  assert.equal(levels.length, 12);
  levels.forEach((level, frame) => near(level, levels[11 - frame]));
  assert.deepEqual(levels.slice(3, 9), Array(6).fill(1));
  near(levels[0], 0.5 * (1 - Math.cos(Math.PI / 6)));
  near(levels[1], 0.5);
  assert.ok(levels.every((level) => level > 0));
  assert.equal(timing.frames_shown, 12);
  assert.equal(canvas.drawn.filter(({ what }) => what === "mask").length, 12);
});

test("a dropped frame skips its step of the ramp instead of delaying the rest", () => {
  const { canvas } = play({ protocol: { contrast_ramp: "tapered-cosine" }, missedBefore: (count) => (count === 22 ? 1 : 0) });
  const levels = canvas.drawn.filter(({ what }) => what === "stimulus").map(({ contrast }) => contrast);
  assert.equal(levels.length, 11);
  near(levels[1], contrastOf("tapered-cosine", 2, 12));
});

test("without a ramp pictures are drawn once, at full contrast", () => {
  const { canvas } = play({});
  assert.deepEqual(canvas.drawn.filter(({ what }) => what === "stimulus").map(({ contrast }) => contrast), [1]);
});
